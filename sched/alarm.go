package sched

import "time"

// Alarm is an event in a scheduler's timer wheel, for packages that build timers. It is a field of its owner, so
// starting and stopping it allocates nothing. The owner guards it with a Spin, and holds that while it calls Start,
// StartFunc, Stop and Round. The zero value is not pending.
type Alarm struct {
	_  [0]Spin // go vet reports copies
	tm timer
}

// Ringer is notified by an Alarm. The clock calls it and holds no lock. A Ringer must be short and must not block; it
// may wake threads. The alarm may have been stopped, or started again, just before: round tells which start the call
// belongs to (see Alarm.Round).
type Ringer interface {
	Ring(round uint32) // the alarm's time is over
	Drop(round uint32) // the scheduler was stopped before the alarm's time was over
}

// Current returns the scheduler of the calling thread; on a plain goroutine, and if that scheduler has been stopped,
// the default one, which Current starts if need be. The caller holds no lock.
func Current() *Scheduler {
	if c := lookup(); c != nil && !c.vpHint().sched.stopping.Load() {
		return c.vpHint().sched
	}
	return Default()
}

// Start makes scheduler s notify r after d. It uses the wheel of the VP that the caller holds, if that is one of s. The
// alarm must not be pending. Start returns false if s has been stopped.
func (a *Alarm) Start(c *Co, s *Scheduler, d time.Duration, r Ringer) bool {
	return a.start(c, s, d, r)
}

// StartFunc is Start for a function, which a new thread of s runs.
func (a *Alarm) StartFunc(c *Co, s *Scheduler, d time.Duration, f func()) bool {
	return a.start(c, s, d, f)
}

// Restart is Start with the Ringer or function of the last start.
func (a *Alarm) Restart(c *Co, s *Scheduler, d time.Duration) bool {
	return a.start(c, s, d, a.tm.owner)
}

func (a *Alarm) start(c *Co, s *Scheduler, d time.Duration, owner any) bool {
	var v *vp
	if c != nil && c.l.vp.sched == s {
		v = c.l.vp
	} else {
		v = s.vps[int(s.nextVP.Add(1)-1)%len(s.vps)]
	}
	at := after(d)
	ts := &v.timers
	ts.mu.Lock()
	ok := !ts.closed
	if ok {
		a.tm.owner = owner
		ts.start(&a.tm, at)
	}
	ts.mu.Unlock()
	return ok
}

// Stop takes the alarm back, and reports whether it was pending: then no Ringer will be told, nor a function started.
// If not, its Ringer may be told just now, or a thread have been started for its function.
func (a *Alarm) Stop() bool { return a.tm.stop() }

// Round numbers the starts of the alarm.
func (a *Alarm) Round() uint32 { return a.tm.round }

// ForFunc reports whether the last start was for a function.
func (a *Alarm) ForFunc() bool {
	_, ok := a.tm.owner.(func())
	return ok
}

// PopAllGiveFirst is PopAll with Give for the one that has waited longest.
func (moduleCalls) PopAllGiveFirst(wq *WaitQueue) *Waiter {
	first := wq.PopAll()
	if first != nil {
		first.given = true
	}
	return first
}

// Given reports whether the waker of w, a node of a BoundedWait, used Give, and forgets it.
func (moduleCalls) Given(w *Waiter) (given bool) {
	given, w.given = w.given, false
	return given
}
