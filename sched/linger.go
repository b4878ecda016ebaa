package sched

import (
	"sync/atomic"

	"github.com/pm2-go/pm2/asm"
	"github.com/pm2-go/pm2/hooks"
)

// A thread that begins to wait while its VP has nothing else to do lingers: it stays on
// its runner for a microsecond or two, holding the VP, and looks whether it is woken.
// If it is, it goes on, and has saved two switches, to the base and back, and
// its waker the inbox. This is the spin-then-block of Karlin et al. (Empirical Studies of
// Competitive Spinning, SOSP 1991), done where the idle loop would spin anyway.
//
// Nothing is published before it is parked; but the queue's lock has to be freed, so that
// the thread can be woken at all. Therefore Waiter.lingers of its descriptor says
// whether it may be published:
//
//	parked ──── linger: the thread, with the queue locked ─────────────► lingering
//	lingering ─ wakeLingering: its waker, compare-and-swap ────────────► woken
//	lingering ─ endLinger: the next one to run, it being parked, CAS ──► parked
//	woken ───── the thread sees it and goes on ────────────────────────► parked
//	woken ───── endLinger: it has given up; posted as by its waker ────► parked
//
// Each wait has one waker, the one that took the thread out of its queue (or has claimed
// its ticket): it calls ready, which does nothing but the second transition where that
// succeeds, and else what it always does. All of them, a time limit and a canceller too,
// get there by way of the queue's lock, which was freed after the first transition.
//
// Meanwhile the word of the VP is held(L), as in any operation: no spare seizes it, no thief
// borrows it, and what is wanted of it (a post, DisableVP, a sort, a Kick) is left
// in the inbox, which ends the lingering. What changes for the thread itself (its set,
// its level, its bubble, a suspension, a cancel) it heeds when it goes on, as one that
// was switched to does.
//
// It does not linger where an idle VP would not spin (Config.Shared, threads that go on without the VP or
// threads in Blocking on this CPU), nor while idle hooks have something to do, and on a VP
// whose threads linger in vain hardly ever (Estimator): so that what the idle loop looks
// for, such as threads to steal, is late by little.

// The states of Waiter.lingers.
const (
	isParked uint32 = iota
	isLingering
	isWoken
)

// lingerNs is for how long, in ns, a thread lingers at most: what its two switches and those that find it cost.
const lingerNs = 2000

// lingerSample: of so many waits the Estimator is told of one, since to tell it takes a third as long as a short wait.
const lingerSample = 8

// linger is for the calling thread, which stands in a queue that mu guards, with mu
// locked, while its VP has nothing to run. If woken it holds the VP and may go on, else
// it is to switch to next, with o.
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

// mayLinger: an idle VP would spin, and has no hooks to fire. Not under a trace, which is to show which VPs are idle.
func (v *vp) mayLinger() bool {
	return !v.sched.shared && v.seized.Load() == 0 && v.away.Load() == 0 && v.trace.Load() == nil && v.sched.hooks.Silent(hooks.Idle)
}

// wakeLingering wakes t, if it lingers: it is not to be queued.
func (t *thread) wakeLingering() bool {
	return atomic.LoadUint32(&t.w.lingers) == isLingering && atomic.CompareAndSwapUint32(&t.w.lingers, isLingering, isWoken)
}

// endLinger is for t, which has given up and is parked now: from here on it may be
// published. Holder only.
func (v *vp) endLinger(t *thread) {
	if !atomic.CompareAndSwapUint32(&t.w.lingers, isLingering, isParked) {
		storeRel(&t.w.lingers, isParked) // woken just before: we do what its waker would have done
		v.post(t)
	}
}
