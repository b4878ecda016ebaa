// Package profile makes threads known to Go's own tools, by the goroutine on which each runs.
//
//	remove, err := profile.Label()   // then pprof.StartCPUProfile, or net/http/pprof
//	go tool pprof -tags cpu.pprof    // marcel_thread: the thread's name
//	go tool pprof -tagfocus marcel_thread=worker cpu.pprof
//
// Label gives each thread the pprof label marcel_thread; a goroutine started by a thread inherits it, as Go's labels
// are. Region surrounds each thread by a region of runtime/trace, in a task of its own: go tool trace lists them under
// "user-defined tasks" and "regions" by the thread's name.
//
// Both are off unless asked for, and then cost a few hundred nanoseconds at each start of a thread (labels are kept by
// the goroutine, so a switch costs nothing), and allocate. They apply to threads that start from then on.
package profile
