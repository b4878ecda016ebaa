// Package gate lets Close come while other threads are inside a link: they
// leave undisturbed, a call that comes later is turned away, and what they used is
// freed once the last one is out. No call ever waits.
//
// It exists because a file descriptor must not be closed under a system call in
// progress elsewhere: its number may by then belong to another file. It is the
// idea of the reference count in Go's internal/poll fdMutex, split into one
// counter for each caller, so that callers on different cores share no line.
package gate
