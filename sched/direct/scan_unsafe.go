//go:build go1.26 && !go1.28 && linux && (amd64 || (arm64 && !cgo)) && !goexperiment.staticlockranking && !goexperiment.runtimesecret && !valgrind && !portable

package direct

import (
	"runtime"
	"sync/atomic"
)

// The functions of this file act on a g whose status they hold by its scan bit, as the collector does: meanwhile no
// other party readies the g, resumes it, or scans its stack. A function holds the bit for some ten instructions. It is
// pinned from before it sets the bit until it has cleared it, and calls only functions without a prologue (nosplit, or
// assembly) in between, so that the Go scheduler does not stop it: a stop of the world would wait for it for ever.
//
// The race detector does not see these accesses: the runtime, which is not instrumented, makes the other ones.

// statusOf returns the status of g.
//
//go:norace
//go:nosplit
func statusOf(gp uintptr) *uint32 { return (*uint32)(address(gp + gStatus)) }

// word returns the word of the runtime's at that address: see load.
//
//go:norace
//go:nosplit
func word(at uintptr) *uintptr { return (*uintptr)(address(at)) }

// octet returns the byte of the runtime's at that address: see load.
//
//go:norace
//go:nosplit
func octet(at uintptr) *uint8 { return (*uint8)(address(at)) }

// hold sets the scan bit of g, and returns false if g is not in that status, or another party holds it.
//
//go:norace
//go:nosplit
func hold(gp uintptr, status uint32) bool {
	return atomic.CompareAndSwapUint32(statusOf(gp), status, status|scanBit)
}

// release clears the scan bit that hold has set, and leaves g in that status.
//
//go:norace
//go:nosplit
func release(gp uintptr, status uint32) { atomic.StoreUint32(statusOf(gp), status) }

// sleepsFor reports whether the OS thread m, which is locked to g, sleeps because g does not run. The OS thread writes
// mBlocked last of all: what it has done before is seen by the caller.
//
//go:norace
//go:nosplit
func sleepsFor(m, gp uintptr) bool {
	const atByte = mBlocked % 4
	isBlocked := loadAcquire((*uint32)(address(m+mBlocked-atByte))) >> (8 * atByte) & 0xff
	return isBlocked == 1 && load(m+mLockedg) == gp && load(m+mCurg) == 0
}

// unask takes back that g was asked to stop. The caller holds g, which has stopped.
//
//go:norace
//go:nosplit
func unask(gp uintptr) { *octet(gp + gPreemptStop), *octet(gp + gPreempt) = 0, 0 }

// give passes the OS thread m from g, which is locked to it, to base.
//
//go:norace
//go:nosplit
func give(m, gp, base uintptr) {
	*word(gp + gLockedm), *word(m + mLockedg), *word(base + gLockedm) = 0, base, m
}

// Repossess takes the OS thread m back from g, which is locked to it and waits in Go, and gives it to base, which is
// parked: base is to be readied. g goes on as a goroutine like any other, and *id is lost. Repossess refuses if g
// does not wait, waits for the collector, or if *inside is not 0.
//
//go:norace
func Repossess(gp, m, base uintptr, inside, id *uint32, lost uint32) (ok bool) {
	procPin()
	if hold(gp, Waiting) {
		reason := *octet(gp + gWaitreason)
		if sleepsFor(m, gp) && load(gp+gLockedm) == m && load(m+mLockedExt) == Held && *inside == 0 &&
			load(gp+gBubble) == 0 && reason != waitPreempted && reason != waitSwitched {
			*id = lost
			unask(gp)
			give(m, gp, base)
			ok = true
		}
		release(gp, Waiting)
	}
	procUnpin()
	return ok
}

// Deprive writes holder to *word while g is held in its status (Waiting or Syscall), unless *inside is not 0. g keeps
// its OS thread.
//
//go:norace
func Deprive(gp uintptr, status uint32, inside, word *uint32, holder uint32) (ok bool) {
	procPin()
	if hold(gp, status) {
		if *inside == 0 && (*octet(gp + gWaitreason) != waitSwitched || status != Waiting) {
			*octet(gp + gPreemptStop) = 0 // a request to stop that would not be answered
			*word = holder
			ok = true
		}
		release(gp, status)
	}
	procUnpin()
	return ok
}

// AskStop asks that g, which runs, be stopped at its next safe point. SIGURG to its OS thread has to follow, then
// ClaimStopped until that says something else than NotStopped; Withdraw takes it back.
//
//go:norace
func AskStop(gp uintptr) (ok bool) {
	procPin()
	if hold(gp, Running) {
		if m := load(gp + gM); m != 0 && load(gp+gLockedm) == m && load(m+mLockedExt) == Held {
			if p := load(m + mP); p != 0 {
				*octet(gp + gPreemptStop), *octet(p + pPreempt) = 1, 1
				ok = true
			}
		}
		release(gp, Running)
	}
	procUnpin()
	return ok
}

// Withdraw takes back what AskStop has asked for. It reports whether g has been stopped: then g is to be readied. It
// does nothing if another party holds g at this moment.
//
//go:norace
func Withdraw(gp uintptr) (stopped bool) {
	procPin()
	switch status := loadAcquire(statusOf(gp)); {
	case status == Preempted:
		if stopped = hold(gp, Preempted); stopped {
			unask(gp)
			*octet(gp + gSyncSafePoint) = 0
			release(gp, Waiting)
		}
	case status <= Waiting: // Runnable, Running, Syscall
		if hold(gp, status) {
			*octet(gp + gPreemptStop) = 0
			release(gp, status)
		}
	}
	procUnpin()
	return stopped
}

// ClaimStopped parks g if it has been stopped, and gives its OS thread m to base.
//
//go:norace
func ClaimStopped(gp, m, base uintptr, inside, id *uint32, lost uint32) (s Stop) {
	procPin()
	// Only the party that moves a g out of the status Preempted may ready it: once held, g is the caller's.
	if sleepsFor(m, gp) && hold(gp, Preempted) {
		unask(gp)
		*octet(gp + gSyncSafePoint) = 0
		*octet(gp + gWaitreason) = waitSwitched
		s = StoppedInside
		// g may have locked its OS thread since it was asked. On arm64 it may have stopped in a call, perhaps one of the
		// runtime's own, which holds a lock.
		if *inside == 0 && load(m+mLockedExt) == Held && (runtime.GOARCH == "amd64" || *octet(gp + gAsyncSafePoint) == 1) &&
			sleepsFor(m, gp) {
			*id = lost
			give(m, gp, base)
			s = Stopped
		}
		release(gp, Waiting)
	}
	procUnpin()
	return s
}

// take takes the goroutine that the caller has started last out of the queue of the caller's P, parks it, and returns
// it; 0 if it is not there any more. parent is the caller's number, pc where that goroutine begins.
//
//go:norace
func take(parent uint64, pc uintptr) (gp uintptr) {
	procPin() // the caller keeps its P between the look and the exchange, and the goroutine is in no queue for a moment
	next := word(load(load(Current()+gM)+mP) + pRunnext)
	g := *next
	// A goroutine that has not begun has its entry as gPc; of the caller's children only the latest has not.
	if g != 0 && load(g+gParentGoid) == uintptr(parent) && load(g+gStartpc) == pc && load(g+gPc) == pc &&
		atomic.CompareAndSwapUintptr(next, g, 0) {
		*octet(g + gWaitreason) = waitSwitched
		for !atomic.CompareAndSwapUint32(statusOf(g), Runnable, Waiting) { // the collector scans it at this moment
		}
		gp = g
	}
	procUnpin()
	return gp
}

// passLock gives the OS thread of g, which has just parked, to next. It runs on the system stack of that OS thread.
//
//go:norace
//go:nosplit
func passLock(gp, next uintptr) {
	if m := load(Current() + gM); load(m+mLockedg) == gp {
		give(m, gp, next)
		*octet(gp + gPreemptStop) = 0
	}
}
