package sched

import (
	"context"
	"time"
)

// Limit says when a waiter gives up, and where in its queue it stands. With the zero Limit the waiter never gives up,
// and stands at the end.
type Limit struct {
	Context context.Context // the waiter gives up when it is done, with its cause as the error; nil: no context
	Timeout time.Duration   // the waiter gives up after that, with context.DeadlineExceeded; 0: no limit; negative: at once
	First   bool            // the waiter stands at the front of the queue: it has waited before
	Note    any             // what the waker of this waiter finds: see Waiter.Note
}

// WaitUntil is Wait with a Limit: for threads and for plain goroutines (nil c). As with Wait the caller holds mu, which
// guards q and is unlocked on return, and the operation that Enter began is over.
//
// There are two outcomes. If a waker has woken the caller the error is nil, given reports whether the waker used Give,
// and what the waker did for this waiter is the caller's, even if the limit has been reached meanwhile. If the caller
// has given up the error says why; the caller stands in q no more, no waker has woken it and none will, and Pop goes on
// to the next waiter. Then no unit and no message was taken for the caller, so it has nothing to give back; but what it
// has noted itself when it began to wait, such as a count of waiters, it takes back itself, under mu.
//
// The methods of the context are called with neither mu nor the VP held. A thread that waits under a context allocates
// (context.AfterFunc) unless that can never be done; a time limit alone does not.
func (c *co) WaitUntil(q *WaitQueue, mu *Spin, lim Limit) (given bool, err error) {
	if lim.Timeout < 0 {
		mu.Unlock()
		c.Leave()
		return false, context.DeadlineExceeded
	}
	if lim.Context == context.Background() || lim.Context == context.TODO() {
		lim.Context = nil
	}
	if lim.Context == nil && lim.Timeout == 0 {
		if c == nil {
			return waitOutside(q, mu, lim.First, lim.Note), nil
		}
		c.cur.waiter.note = lim.Note
		if lim.First {
			return c.waitFirst(q, mu), nil
		}
		return c.Wait(q, mu), nil
	}
	b := c.boundedWait(lim)
	if b.synctestLock != nil {
		mu.Unlock()
		b.needsTime()
	}
	if c != nil && lim.Context == nil {
		b.lock = mu
	}
	b.Open()
	b.first.note = lim.Note
	if lim.First {
		q.pushFront(&b.first)
	} else {
		q.push(&b.first)
	}
	if lim.Timeout > 0 {
		b.Expire(&b.last, lim.Timeout)
	}
	if b.lock != nil {
		b.await(c)
		return b.outcome(lim.Context, q, mu)
	}
	mu.Unlock()
	if lim.Context != nil {
		c.Leave()
		return b.waitUnder(lim.Context, q, mu)
	}
	b.sleep()
	return b.outcome(lim.Context, q, mu)
}

// waitOutside is the fast wait of a goroutine: only its waker ends it, so there is no ticket. Of a BoundedWait it uses
// the first node, and the channel on which a goroutine sleeps. Inlined, it would widen the frame of a thread's fast
// wait.
//
//go:noinline
func waitOutside(q *WaitQueue, mu *Spin, first bool, note any) (given bool) {
	b := newBoundedWait(nil, 1)
	w := &b.first
	w.bounded, w.note = false, note
	if first {
		q.pushFront(w)
	} else {
		q.push(w)
	}
	mu.Unlock()
	if b.synctestLock != nil {
		b.synctestLock.Lock()
	} else {
		<-b.ch
	}
	given = w.given
	w.bounded, w.given, w.note = true, false, nil
	if b.synctestLock == nil {
		boundedWaits.Put(b)
	}
	return given
}

// boundedWait returns the closed BoundedWait of a WaitUntil. Its first node stands in the queue, its last one is for
// the time limit, and node 1 for a context.
func (c *co) boundedWait(lim Limit) (b *BoundedWait) {
	var t *thread
	if c != nil {
		t = c.cur
	}
	if lim.Context != nil {
		b = newBoundedWait(t, 2)
	} else {
		b = newBoundedWait(t, 1)
	}
	if t != nil {
		b.kind, t.waiter.kind = t.waiter.kind, InOther
	}
	return b
}

// waitUnder is the wait of a WaitUntil with a context, of which a method may panic.
func (b *BoundedWait) waitUnder(ctx context.Context, q *WaitQueue, mu *Spin) (given bool, err error) {
	w, over := b.Node(1), false
	defer func() {
		if !over {
			if !b.Close() {
				b.Wait()
			}
			b.Unwatch(w)
			_, _ = b.outcome(ctx, q, mu)
		}
	}()
	if b.Watch(w, ctx) || !b.claimFor(w, b.ticket.Load()) {
		b.Wait()
	}
	over = true
	b.Unwatch(w)
	return b.outcome(ctx, q, mu)
}

// outcome takes the first node out of q if it still stands there, frees b, and tells how the WaitUntil ended.
func (b *BoundedWait) outcome(ctx context.Context, q *WaitQueue, mu *Spin) (given bool, err error) {
	w, won, kind := &b.first, b.winner, b.kind
	if won != w {
		visitUnder(mu, func() { q.remove(w) })
	}
	given = w.given
	w.given, w.note = false, nil
	b.Free()
	switch won {
	case w:
		return given, nil
	case nil:
		if kind.cancelEffect() == cancelUnwinds {
			lookup().EndWait()
		}
		return false, ErrCanceled
	case &b.last:
		return false, context.DeadlineExceeded
	}
	return false, context.Cause(ctx)
}

// Nap is Sleep that Cancel does not end.
func (moduleCalls) Nap(d time.Duration) { sleep(d, InSleep|Uninterruptible) }

// Sleep suspends the calling thread or goroutine for at least d, and is a cancellation point. If d <= 0 it is Yield.
func (moduleCalls) Sleep(d time.Duration) { sleep(d, InSleep) }

// sleep is Sleep, as a wait of kind k.
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
	b := newBoundedWait(c.cur, 0)
	b.kind = k
	b.Open()
	b.Expire(&b.last, d)
	b.await(c)
	ended := b.winner != nil
	b.Free()
	if !ended && k.cancelEffect() == cancelUnwinds {
		c.EndWait()
	}
}
