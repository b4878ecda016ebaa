package sched

import (
	"context"
	"time"
)

// waitTimed is WaitUntil of a thread under a time limit alone. It needs no MultiWait:
// it stands in one queue, and parks with the lock of that held.
func (c *co) waitTimed(q *WaitQueue, mu *Spin, lim Limit) (given bool, err error) {
	w := &c.cur.w
	if x := c.cur.x.Load(); x != nil && c.refused(x, mu) {
		return false, ErrCanceled
	}
	w.timed, w.mu, w.note = true, mu, lim.Note
	n := w.open()
	if lim.First {
		q.pushFront(w)
	} else {
		q.push(w)
	}
	l := c.cur.timeLimit()
	l.start(c, w, n, mu, after(lim.Timeout))
	c.pause(mu)
	if l.stop() {
		err = context.DeadlineExceeded
	}
	given = w.given
	w.timed, w.given, w.note = false, false, nil
	c.resumed()
	return given, err
}

// timeLimit returns the limit of t's timed waits, one at a time. Called by t itself.
func (t *thread) timeLimit() *limit {
	if t.limit == nil {
		t.limit = &limit{}
	}
	return t.limit
}

// Nap is Sleep that is no cancellation point.
func (calls) Nap(d time.Duration) { sleep(d, InSleep|Uninterruptible) }

// Sleep is marcel.Sleep.
func (calls) Sleep(d time.Duration) { sleep(d, InSleep) }

func sleep(d time.Duration, k Kind) {
	if d <= 0 {
		Yield()
		return
	}
	c := EnterLibrary()
	if c == nil {
		time.Sleep(d)
		return
	}
	// A sleeper has no waker, so it stands in no queue. The wheel's lock keeps the clock from
	// waking it before it is parked.
	w := &c.cur.w
	if x := c.cur.x.Load(); x != nil && x.due(k) {
		c.refuse(x, k)
	}
	ts := &c.l.vp.timers
	w.timed, w.kind, w.mu = true, k, &ts.mu
	n := w.open()
	at := after(d)
	if c.joiner != nil {
		c.settleJoiner() // its lock comes before that of the wheel
	}
	ts.mu.Lock()
	l := c.cur.timeLimit()
	l.set(w, n, nil)
	ts.start(&l.timer, at)
	c.l.unlock = &ts.mu
	c.switchTo(c.l.vp.pop(), opUnlock)
	l.stop()
	w.timed = false
	c.resumed()
}
