package sched

import (
	"sync/atomic"
	"time"
)

// timers is the timer wheel of a VP. A thread starts a timer on the wheel of the VP that it holds. So only two others
// compete for the lock: the clock, which expires timers, and a thread that stops a timer after it has moved to another
// VP. Which locks come before its own is in README.md, section 11.
type timers struct {
	vp      *vp
	mu      Spin         // guards all but next
	serving bool         // a thread takes functions from the list due, or is about to
	closed  bool         // the scheduler has ended
	next    atomic.Int64 // ns: a lower bound of when the next timer is over; written under mu, read by the clock
	wheel
}

// after returns the time d from now, in ns as nanotime, at most maxAt.
func after(d time.Duration) int64 {
	if at := nanotime() + max(int64(d), 0); 0 <= at && at < maxAt {
		return at
	}
	return maxAt
}

// start makes tm, which is not pending, pending until time at. Under ts.mu.
func (ts *timers) start(tm *timer, at int64) {
	tm.at, tm.home = at, ts
	tm.round++
	ts.insert(tm)
	if at < ts.next.Load() {
		ts.next.Store(at)
		ts.vp.sched.clock.hurry(at)
	}
}

// stop takes tm out if it is pending, and reports whether it was. A caller that is a thread holds its VP. If the clock
// has fired tm before, the caller sees what it has written.
func (tm *timer) stop() (pending bool) {
	ts := tm.home
	if ts == nil {
		return false
	}
	ts.mu.Lock()
	pending = ts.remove(tm)
	ts.mu.Unlock()
	return pending
}

const (
	// expiredAtOnce and stepsAtOnce bound how long the clock keeps the lock: one or two microseconds.
	expiredAtOnce = 16
	stepsAtOnce   = 64
)

// expiredTimer is a timer that has fired, for the clock to tell its owner outside of the lock.
type expiredTimer struct {
	owner any
	round uint32
}

// fire takes timers that are over at time now out of the wheel, expiredAtOnce at most, tells their owners, and returns
// when to look again. On the clock.
func (ts *timers) fire(now int64) (next int64) {
	var over [expiredAtOnce]expiredTimer
	n, work, serve := 0, stepsAtOnce, false
	ts.mu.Lock()
	for n < len(over) {
		tm := ts.expired(uint64(now)>>tickBits, &work)
		if tm == nil {
			break
		}
		switch o := tm.owner.(type) {
		case func():
			ts.push(tm, due)
			continue
		case *BoundedWait:
			if !o.claimFor(o.expiry, o.ticket.Load()) {
				continue // it is being woken, or its owner has closed it
			}
		}
		over[n] = expiredTimer{tm.owner, tm.round}
		n++
	}
	if !ts.lists[due].Empty() && !ts.serving {
		ts.serving, serve = true, true
	}
	next = ts.soon()
	ts.next.Store(next)
	ts.mu.Unlock()
	for _, r := range over[:n] {
		switch o := r.owner.(type) {
		case *BoundedWait:
			o.wakeUnder(nil)
		case Ringer:
			o.Ring(r.round)
		}
	}
	if serve {
		ts.vp.sched.spawnAfter(ts)
	}
	return next
}

// spawnAfter spawns the thread that runs serve, on the VP of ts, unless the scheduler has ended meanwhile.
func (s *Scheduler) spawnAfter(ts *timers) {
	if !s.admitted() {
		return
	}
	t := newThread()
	t.body, t.vp = funcBody(ts.serve), ts.vp
	t.vp.post(t)
}

// funcsAtOnce is how many threads serve spawns before it yields. They then end, and their descriptors serve the
// next ones.
const funcsAtOnce = 64

// serve spawns a thread for each function that is due, and runs the last function itself: a single function costs one
// thread.
func (ts *timers) serve() {
	for n := 1; ; n++ {
		c := Enter()
		ts.mu.Lock()
		tm := ts.lists[due].First()
		if tm == nil {
			ts.serving = false
			ts.mu.Unlock()
			c.Leave()
			return
		}
		f := tm.owner.(func())
		ts.remove(tm)
		last := ts.lists[due].Empty()
		if last {
			ts.serving = false
		}
		ts.mu.Unlock()
		c.Leave()
		if last {
			f()
			return
		}
		Spawn(f)
		if n%funcsAtOnce == 0 {
			Yield()
		}
	}
}

// fireTimers expires timers of all VPs and returns when to look again. If there are many it expires some, and returns a
// time that is over.
func (s *Scheduler) fireTimers(now int64) (next int64) {
	next = maxAt
	for _, v := range s.vps {
		at := v.timers.next.Load()
		if at <= now {
			at = v.timers.fire(now)
		}
		next = min(next, at)
	}
	return next
}

// nextTimer is a lower bound of when the next timer is over.
func (s *Scheduler) nextTimer() (next int64) {
	next = maxAt
	for _, v := range s.vps {
		next = min(next, v.timers.next.Load())
	}
	return next
}

// closeTimers drops the alarms that are still pending when all threads have ended, and tells their
// owners (Ringer.Drop). The clock calls it at its end.
func (s *Scheduler) closeTimers() {
	for _, v := range s.vps {
		v.timers.close()
	}
}

// close drops all timers of the wheel, and refuses later ones.
func (ts *timers) close() {
	ts.mu.Lock()
	ts.closed = true
	for p := range ts.lists {
		for tm := ts.lists[p].First(); tm != nil; tm = ts.lists[p].First() {
			o, round := tm.owner, tm.round
			ts.remove(tm)
			if r, ok := o.(Ringer); ok {
				ts.mu.Unlock()
				r.Drop(round)
				ts.mu.Lock()
			}
		}
	}
	ts.next.Store(maxAt)
	ts.mu.Unlock()
}
