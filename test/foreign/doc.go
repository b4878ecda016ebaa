// Package foreign tests what C code does with threads: C threads that Go does not know, made with pthread_create, call
// back into Go and use marcel there. Such a call runs on a goroutine that is locked to the C thread; so to marcel it is
// a plain goroutine, which blocks the C thread while it waits: for threads of marcel, and for messages, while engine
// and session under it are stopped and closed.
//
// The tests need cgo, and are left out without it.
package foreign
