package sched

import (
	"sync/atomic"

	"github.com/pm2-go/pm2/asm"
	"github.com/pm2-go/pm2/hooks"
)

// A thread that begins to wait while its VP has nothing else to do spins first: it stays on its runner for a
// microsecond or two, holding the VP, and looks whether it is woken. If it is woken it goes on. That saves two
// switches, to the base and back, and spares its waker the inbox. This is the spin-then-block of Karlin et al.
// (Empirical Studies of Competitive Spinning, SOSP 1991); the idle loop would spin at this time anyway.
//
// The thread must not be queued as ready before it is parked. But it has to unlock the wait queue, so that it can be
// woken at all. So Waiter.spins of its descriptor tells the waker whether to queue it:
//
//	parked ──── spinFirst: the thread, with the queue locked ───────────► spinning
//	spinning ── wakeSpinning: its waker, compare-and-swap ──────────────► woken
//	spinning ── endSpin: the next co to run, the thread is parked, CAS ─► parked
//	woken ───── the thread sees it and goes on ─────────────────────────► parked
//	woken ───── endSpin: it had given up, so endSpin posts it ──────────► parked
//
// Each wait has one waker: the thread that took the waiter out of its queue, or claimed its ticket. It calls ready,
// which tries the second transition, and queues the waiter only if that fails. Each waker, a time limit and a canceler
// too, takes the queue's lock first, which was freed after the first transition.
//
// Meanwhile the VP is held, as in any operation: no spare seizes it, no thief borrows it. A request to the VP (a post,
// DisableVP, a sort, a Kick) goes to the inbox, which ends the spinning. A request to the thread itself (its set, its
// level, its bubble, a suspension, a cancel) takes effect when it goes on, as for a thread that was switched to.
//
// A thread does not spin where an idle VP would not: with Config.SharedCPUs, or while threads of this VP run without it
// or are in Blocking. Nor does it spin while idle hooks have something to do. On a VP whose threads spin in vain
// threads hardly ever spin (Estimator), so the idle loop, which looks for threads to steal, begins only a little later.

// The states of Waiter.spins.
const (
	isParked uint32 = iota
	isSpinning
	isWoken
)

// spinNs is for how long, in ns, a thread spins at most: about what two switches and the wake of a parked thread cost.
const spinNs = 2000

// spinSample is how many waits pass for each one that the Estimator is told of: telling it takes a third as long as
// a short wait.
const spinSample = 8

// spinFirst is for the calling thread, which stands in a queue guarded by mu, holds mu, and has no other thread to run
// on its VP. If woken is true the thread holds the VP and goes on. Else it must switch to next, with o.
func (c *co) spinFirst(mu *Spin) (next *thread, o switchOp, woken bool) {
	v, t := c.l.vp, c.cur
	if !v.maySpin() {
		return nil, opUnlock, false
	}
	learns := v.tick%spinSample == 0 || v.spins.Window(v.sched.spinTime) == 0
	window := v.spins.ProbeWindow(v.sched.spinTime)
	if window == 0 {
		return nil, opUnlock, false
	}
	storeRel(&t.waiter.spins, isSpinning) // after it is in its queue, before the lock is free: see quiet, wakeSpinning
	mu.Unlock()
	began := asm.Cycles()
	if !c.spin(window, FoundNothing, false, func() Found {
		switch {
		case atomic.LoadUint32(&t.waiter.spins) == isWoken:
			return FoundArrived
		case !v.sched.hooks.Silent(hooks.Idle):
			return FoundEnough
		}
		relax()
		return FoundNothing
	}) {
		if learns {
			v.spins.Took(v.sched.spinTime+1, v.sched.spinTime)
		}
		return v.pop(), opEndSpin, false
	}
	if learns {
		v.spins.Took(asm.Cycles()-began, v.sched.spinTime)
	}
	storeRel(&t.waiter.spins, isParked)
	v.sched.wakeClock() // a kick during the spin has left this to the thread
	if !t.belongs(v) {
		return v.pop(), opMove, false
	}
	storeRel64(&v.tick, v.tick+1)
	if t.wokenAt != 0 {
		v.sampleWake(t)
	}
	return nil, opNone, true
}

// maySpin reports whether an idle VP would spin, and has no hooks to fire. Under a trace threads do not spin: the trace
// shows which VPs are idle.
func (v *vp) maySpin() bool {
	return !v.sched.SharedCPUs() && v.numSeized.Load() == 0 && v.numBlocking.Load() == 0 && v.trace.Load() == nil && v.sched.hooks.Silent(hooks.Idle)
}

// wakeSpinning wakes t if it spins. If it returns true the waker must not queue t.
func (t *thread) wakeSpinning() bool {
	return atomic.LoadUint32(&t.waiter.spins) == isSpinning && atomic.CompareAndSwapUint32(&t.waiter.spins, isSpinning, isWoken)
}

// endSpin is for t, which has given up spinning and is parked now: from here on its waker may queue it. Holder only.
func (v *vp) endSpin(t *thread) {
	if !atomic.CompareAndSwapUint32(&t.waiter.spins, isSpinning, isParked) {
		storeRel(&t.waiter.spins, isParked) // its waker came just before: post it as the waker would have done
		v.post(t)
	}
}
