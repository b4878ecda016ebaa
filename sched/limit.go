package sched

import (
	"context"
	"time"
)

// Limit says when a wait is to be given up, and where in its queue it stands. The
// zero Limit: never, at the end.
type Limit struct {
	Context context.Context // when it is done, with its cause; nil: none
	Timeout time.Duration   // after that, with context.DeadlineExceeded; 0: none; negative: at once
	First   bool            // at the front of the queue, for one that has waited before
	Note    any             // for the waker of the caller: see Waiter.Note
}

// WaitUntil is Wait with a Limit: for threads and for plain goroutines (nil c).
// As with Wait the caller holds mu, which guards q and is unlocked on return, and
// the operation that Enter began is over.
//
// Either a waker has woken the caller: the error is nil, given tells whether
// with Give, and whatever the waker did on behalf of one waiter is the
// caller's now, even if the limit has been reached in the meantime. Or the wait
// was given up: the error says why, the caller stands in q no more, no waker has
// woken it and none will, and Pop has gone on, or will go on, to the next in
// line. Nothing has then been taken in the caller's name and nothing is to be
// given back; what the caller itself noted when it began to wait (a count of
// waiters, a claim to be the next) it takes back itself, under mu again.
//
// The methods of the context are called with neither mu nor the VP held. A
// thread that waits under a context allocates (context.AfterFunc) unless that
// can never be done; a time limit alone does not.
func (c *co) WaitUntil(q *WaitQueue, mu *Spin, lim Limit) (given bool, err error) {
	if lim.Timeout < 0 {
		mu.Unlock()
		c.Leave()
		return false, context.DeadlineExceeded
	}
	if lim.Context == context.Background() || lim.Context == context.TODO() {
		lim.Context = nil
	}
	if lim.Context == nil && lim.Timeout == 0 && lim.Note == nil {
		if lim.First {
			return c.WaitFirst(q, mu), nil
		}
		return c.Wait(q, mu), nil
	}
	if lim.Context == nil && lim.Timeout > 0 && c != nil {
		return c.waitTimed(q, mu, lim)
	}
	g := calls{}.NewMultiWait(limitNodes)
	if c != nil {
		g.kind = c.cur.w.kind
		c.cur.w.kind = InOther
	}
	g.Open()
	w := g.Node(0)
	w.note = lim.Note
	if lim.First {
		q.pushFront(w)
	} else {
		q.push(w)
	}
	mu.Unlock()
	c.Leave()
	b := bounded{g: g, q: q, mu: mu}
	defer b.leave() // also if a method of the context panics
	return b.wait(lim)
}

// The nodes of a WaitUntil: in the queue, for the context, for the time limit.
const (
	inQueue = iota
	forContext
	forTimeout
	limitNodes
)

// bounded is a WaitUntil in progress.
type bounded struct {
	g    *MultiWait
	q    *WaitQueue
	mu   *Spin
	over bool // it has been ended
}

func (b *bounded) wait(lim Limit) (given bool, err error) {
	g := b.g
	if lim.Timeout > 0 {
		g.Expire(g.Node(forTimeout), lim.Timeout)
	}
	if lim.Context != nil && !g.Watch(g.Node(forContext), lim.Context) {
		if b.over = g.Close(); b.over {
			return false, context.Cause(lim.Context)
		}
	}
	w := g.Wait()
	b.over = true
	switch w {
	case nil:
		if g.kind.onCancel() == unwinds {
			lookup().EndWait()
		}
		return false, ErrCanceled
	case g.Node(inQueue):
		return w.given, nil
	case g.Node(forTimeout):
		return false, context.DeadlineExceeded
	}
	return false, context.Cause(lim.Context)
}

// leave takes what is left of the wait out of the way.
func (b *bounded) leave() {
	g := b.g
	if !b.over && !g.Close() {
		g.Wait()
	}
	g.Unwatch(g.Node(forContext))
	w := g.Node(inQueue)
	if g.won != w {
		c := Visit()
		b.mu.Lock()
		b.q.remove(w)
		b.mu.Unlock()
		c.Leave()
	}
	w.given, w.note = false, nil
	g.Free()
}
