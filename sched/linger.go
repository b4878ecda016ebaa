package sched

import (
	"sync/atomic"

	"github.com/pm2-go/pm2/asm"
	"github.com/pm2-go/pm2/hooks"
)

// A thread that begins to wait while its VP has nothing else to do lingers: it stays on
// its runner for a microsecond or two, holding the VP, and looks whether it is woken.
// If it is woken it goes on. That saves two switches, to the base and back, and spares
// its waker the inbox. This is the spin-then-block of Karlin et al. (Empirical Studies of
// Competitive Spinning, SOSP 1991); the idle loop would spin at this time anyway.
//
// The thread must not be queued as ready before it is parked. But it has to unlock the wait queue, so that
// it can be woken at all. So Waiter.lingers of its descriptor tells the waker
// whether to queue it:
//
//	parked ──── linger: the thread, with the queue locked ─────────────► lingering
//	lingering ─ wakeLingering: its waker, compare-and-swap ────────────► woken
//	lingering ─ endLinger: the next co to run, the thread is parked, CAS ► parked
//	woken ───── the thread sees it and goes on ────────────────────────► parked
//	woken ───── endLinger: it has given up; posted as by its waker ────► parked
//
// Each wait has one waker: the thread that took the waiter out of its queue, or claimed
// its ticket. It calls ready, which tries the second transition, and queues the waiter only if
// that fails. Each waker, a time limit and a canceller too,
// takes the queue's lock first, which was freed after the first transition.
//
// Meanwhile the VP is held, as in any operation: no spare seizes it, no thief
// borrows it. A request to the VP (a post, DisableVP, a sort, a Kick) goes to
// the inbox, which ends the lingering. A request to the thread itself (its set,
// its level, its bubble, a suspension, a cancel) takes effect when it goes on, as for a thread that
// was switched to.
//
// A thread does not linger where an idle VP would not spin: with Config.Shared, or while threads of this VP run without
// it or are in Blocking. Nor does it linger while idle hooks have something to do. On a VP
// whose threads linger in vain it lingers hardly ever (Estimator): so the idle loop, which looks for
// threads to steal, is late by little.

// The states of Waiter.lingers.
const (
	isParked uint32 = iota
	isLingering
	isWoken
)

// lingerNs is for how long, in ns, a thread lingers at most: about what two switches and the wake of a parked thread cost.
const lingerNs = 2000

// lingerSample is how many waits pass for each one that the Estimator is told of: telling it takes a third as long as
// a short wait.
const lingerSample = 8

// linger is for the calling thread, which stands in a queue guarded by mu, holds mu,
// and has no other thread to run on its VP. If woken is true the thread holds the VP and goes on. Else
// it must switch to next, with o.
func (c *co) linger(mu *Spin) (next *thread, o op, woken bool) {
	v, t := c.l.vp, c.cur
	if !v.mayLinger() {
		return nil, opUnlock, false
	}
	learns := v.tick%lingerSample == 0 || v.lingers.Window(v.sched.linger) == 0
	window := v.lingers.Tries(v.sched.linger)
	if window == 0 {
		return nil, opUnlock, false
	}
	storeRel(&t.w.lingers, isLingering) // after it is in its queue, before the lock is free: see quiet, wakeLingering
	mu.Unlock()
	began := asm.Cycles()
	if !c.spin(window, Nothing, false, func() Found {
		switch {
		case atomic.LoadUint32(&t.w.lingers) == isWoken:
			return Arrived
		case !v.sched.hooks.Silent(hooks.Idle):
			return Enough
		}
		relax()
		return Nothing
	}) {
		if learns {
			v.lingers.Took(v.sched.linger+1, v.sched.linger)
		}
		return v.pop(), opLinger, false
	}
	if learns {
		v.lingers.Took(asm.Cycles()-began, v.sched.linger)
	}
	storeRel(&t.w.lingers, isParked)
	v.sched.rouseClock() // a kick has left it to us
	if !t.belongs(v) {
		return v.pop(), opMove, false
	}
	storeRel64(&v.tick, v.tick+1)
	if t.woken != 0 {
		v.ran(t)
	}
	return nil, opNone, true
}

// mayLinger tells whether an idle VP would spin, and has no hooks to fire. Under a trace threads do not linger: the trace
// shows which VPs are idle.
func (v *vp) mayLinger() bool {
	return !v.sched.Shared() && v.seized.Load() == 0 && v.away.Load() == 0 && v.trace.Load() == nil && v.sched.hooks.Silent(hooks.Idle)
}

// wakeLingering wakes t if it lingers. If it returns true the waker must not queue t.
func (t *thread) wakeLingering() bool {
	return atomic.LoadUint32(&t.w.lingers) == isLingering && atomic.CompareAndSwapUint32(&t.w.lingers, isLingering, isWoken)
}

// endLinger is for t, which has given up lingering and is parked now: from here on its waker may
// queue it. Holder only.
func (v *vp) endLinger(t *thread) {
	if !atomic.CompareAndSwapUint32(&t.w.lingers, isLingering, isParked) {
		storeRel(&t.w.lingers, isParked) // woken just before: we do what its waker would have done
		v.post(t)
	}
}
