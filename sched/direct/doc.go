// Package direct switches goroutines straight from stack to stack, on one OS thread and without the Go scheduler.
//
//	direct.Switch(next)   the caller parks, next goes on: 15 ns
//
// It does what the runtime does for a coroutine switch, in thirty instructions of its own: it saves the caller in its
// g, hands the OS thread and the lock on it to next, changes the status of both, and loads next's stack. On the same
// ground an OS thread is taken back from a goroutine that blocks in Go (Repossess), and a goroutine that never yields
// is stopped by the runtime's own asynchronous preemption and resumed by Switch (AskStop, ClaimStopped).
//
// All of it depends on where the runtime keeps things: offsets.go has that, for the Go releases that it names.
// Supported compares the running program with it. On other releases, other systems, arm64 with cgo, and with the build
// tag portable, Supported is false, and goroutines are switched by HandOver, through the Go scheduler.
//
// Words: a g is the address of a goroutine's descriptor, an m that of an OS thread's. Both stay where they are for the
// life of the process.
//
// The rules, each of which has a test:
//
//   - A g that is switched to is parked by Switch, Park, Go or ClaimStopped, and is the
//     caller's: no other one resumes it.
//   - The caller is locked to its OS thread, once.
//   - A goroutine must not return, nor call Goexit, while it is locked to the OS thread of
//     another one: that would end the OS thread.
//   - At no moment may the thread-local g name one without an m, since signal handlers read
//     it; nor is the old stack touched once its g waits, since the collector may move it.
//     Hence the order of the stores in the assembly.
//   - A function that holds the scan bit of a g's status is pinned, and calls no function that the Go scheduler
//     may stop. A goroutine that is preempted with it held hangs the next stop of the world.
package direct
