// Package inflight lets Close come while other threads are inside a link: their calls
// end undisturbed, a call that comes later fails, and what they used is
// freed once the last one has returned. No call ever waits.
//
// It exists because a file descriptor must not be closed under a system call in
// progress elsewhere: its number may by then belong to another file. It is the
// idea of the reference count in Go's internal/poll fdMutex, split into one
// counter for each caller, so that callers on different cores share no line.
package inflight
