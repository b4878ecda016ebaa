//go:build linux && !portable

package asm

import "runtime"

// haveTPIDR is settled at start.
var haveTPIDR = chooseTPIDR()

// ThreadID identifies the OS thread that the caller runs on: different from that of
// every other living thread of the process, never 0, constant for the life of the
// thread. It is the thread pointer where the C library sets one for every
// thread, else the kernel's thread id.
func ThreadID() uintptr {
	if haveTPIDR {
		return tpidr()
	}
	return gettid()
}

// chooseTPIDR compares two living threads. Without cgo Go leaves the register
// as the thread inherited it: 0, or, in a position-independent executable, what
// the dynamic loader gave the first one, hence the same in all.
func chooseTPIDR() bool {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	mine, other := tpidr(), make(chan uintptr)
	go func() { // our thread is taken: this runs on another one
		other <- tpidr()
	}()
	theirs := <-other
	return mine != 0 && theirs != 0 && mine != theirs
}

//go:noescape
func tpidr() uintptr
