package sched

import (
	"runtime"
	"sync/atomic"

	"github.com/pm2-go/pm2/sched/direct"
)

// stopper follows each thread that the clock has asked to stop until the request is answered or withdrawn: the thread
// may have lost its VP before it stops, where clock.inspect does not look for it, or may stop inside the scheduler.
//
//	none ── inspect: the clock asks the thread that keeps the VP ──────────► asked
//	asked ── it has stopped; claimStopped ─────────────────────────────────► none: the base has its OS thread, or
//	                                                                         it goes on, stopped inside
//	asked ── it has stopped, and cannot be claimed for claimWait ──────────► none: it goes on
//	asked ── it does not stop for signalGap: the signal met code that
//	         has no safe point ────────────────────────────────────────────► asked: it is sent another
//	asked ── it does not stop for askAgain; withdrawn, so that it will not ► none
//
// A thread that has stopped inside the scheduler or the Go runtime may hold a lock there, for which the clock may be
// waiting. So this is an OS thread of its own, which waits for no lock, allocates nothing, and calls nothing that does.
type stopper struct {
	sched      *Scheduler
	started    bool          // the clock's
	word       atomic.Uint32 // futex: 1 if there is a thread to follow, or the scheduler stops
	sleepState sleepState
}

// pursuit is the state of the request to the thread of a VP to stop.
type pursuit struct {
	target     atomic.Pointer[co] // the thread that was asked to stop; nil: none. The clock sets it, the stopper clears it
	askedAt    int64              // ns: when the thread was asked; the clock writes it before target
	signaledAt int64              // ns: when the latest signal was sent; the clock writes it before target, then the stopper
	stoppedAt  int64              // ns: when the stopper first saw it stopped; 0: not yet. Only the stopper uses it
}

const (
	stopWait  = 15_000    // ns: for so long the stopper looks without sleeping: twice what a signal takes
	claimWait = 50_000    // ns: after so long the stopper lets a thread go on that has stopped and cannot be claimed
	signalGap = 50_000    // ns: between two signals to a thread that does not stop
	askAgain  = 5_000_000 // ns: after so long the stopper withdraws the request; the clock may ask anew
	followGap = 20_000    // ns: between two looks
)

// pursue asks c, which was found running on v, to stop, and has the stopper follow it. The clock calls it; v has no
// pursuit.
func (sp *stopper) pursue(v *vp, c *co, now int64) {
	if !sp.started {
		sp.started = true
		sp.sched.lwps.done.Add(1)
		go sp.main()
	}
	if !v.ask(c) {
		return
	}
	v.pursuit.askedAt, v.pursuit.signaledAt = now, now
	v.pursuit.target.Store(c) // not before: the stopper would find one that was not asked
	sp.wake()
}

func (sp *stopper) wake() {
	sp.word.Store(1)
	futexWake(&sp.word)
}

func (sp *stopper) main() {
	runtime.LockOSThread() // exits locked: whatever was set on the OS thread goes with it
	defer sp.sched.lwps.done.Done()
	exactTimers()
	sp.sched.setPolicy(0, schedOther, sliceVP)
	for spin := int64(0); ; {
		sp.word.Store(0)
		now := nanotime()
		switch {
		case sp.look(now):
			if spin == 0 {
				spin = now + stopWait
			}
			if now < spin { // a sleep takes longer
				relax()
				continue
			}
			futexWaitFor(&sp.word, &sp.sleepState, followGap)
		case sp.sched.stopping.Load():
			return
		default:
			futexWait(&sp.word, &sp.sleepState)
			spin = 0
		}
	}
}

// look looks at all threads that were asked to stop, and reports whether some are still to be followed.
func (sp *stopper) look(now int64) (left bool) {
	for _, v := range sp.sched.vps {
		if c := v.pursuit.target.Load(); c != nil && v.follow(c, now) {
			left = true
		}
	}
	return left
}

// follow looks at c, which was asked to stop, and settles the request if it can. It reports whether c is to be followed
// on.
func (v *vp) follow(c *co, now int64) bool {
	u := &v.pursuit
	g := c.gHint()
	stopped := direct.Status(g) == direct.Preempted
	switch {
	case stopped && v.claimStopped(c):
	case stopped && (u.stoppedAt == 0 || now-u.stoppedAt < claimWait):
		if u.stoppedAt == 0 {
			u.stoppedAt = now
		}
		return true
	case stopped || now-u.askedAt > askAgain:
		if direct.Withdraw(g) {
			direct.Ready(g)
		} else if direct.AskedToStop(g) {
			return true
		}
	case direct.AskedToStop(g):
		if now-u.signaledAt >= signalGap {
			u.signaledAt = now
			v.remind(c)
		}
		return true
	}
	u.stoppedAt = 0
	u.target.Store(nil)
	return false
}
