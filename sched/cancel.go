package sched

import (
	"errors"
	"runtime"
	"sync/atomic"
)

// Cancel ends a thread at its next cancellation point: TestCancel, or a wait of a kind that is one (kind.go), in which
// it may stand already.
//
//	               Cancel sets cancelBit in x.requests; then, under x.mu:
//	running ────── TestCancel, or when it would wait ─────────────► unwinds
//	waiting ────── cancelWait takes it out of its queue ──────────► unwinds
//	waiting, no cancellation point, or cancellation is disabled ──► goes on
//	woken before ─ it keeps what its waker has given it ──────────► goes on
//
// A wait is ended by its waker, by one of its bounds, or by the canceler. A BoundedWait is ended by a claim of its
// ticket; its Waiters may still stand in queues after that. A fast wait has no ticket, to spare its wakers the cost.
// There the lock of the queue decides: the thread that takes the Waiter out under the lock has ended the wait. The
// canceler has to lock that queue without knowing that it still exists:
//
//	canceler                               thread
//	C1 sets requests                       T1 writes w.mu, w.queue in Wait, parks
//	C2 waits until the operation in        T2 is taken out: w.queue = nil (by a waker)
//	   which the thread may be is over     T3 is switched to: a full barrier
//	C3 reads w.queue: nil? nothing to do   T4 reads requests: set? locks x.mu before
//	C4 locks w.mu                             it goes on
//
// C1 and T3 are full barriers; so either T4 sees requests, and the thread waits for the canceler, whose x.mu keeps it
// in its wait while the queue is locked, or C3 sees nil. A thread that begins to wait looks at requests first; if it
// looked before C1, C2 lets it finish what it is about to write.
//
// Order of locks: x.mu, then that of the queue. No caller takes x.mu with a queue locked.

// ErrCanceled is what Join returns for a thread that was canceled.
var ErrCanceled = errors.New("marcel: the thread was canceled")

// Cancel asks the thread to end at its next cancellation point, as by Exit. Its deferred calls, cleanup handlers,
// callbacks and destructors run, and Join returns ErrCanceled.
//
// Cancellation points are TestCancel and the waits in a semaphore, a condition (whose mutex the thread gets back
// first), a mailbox, Select, Join and Sleep, with and without time limits and contexts; of package pioman/io the waits
// for the kernel. A thread that is blocked in one of these ends at once. A mutex and a barrier are no cancellation
// points, nor is anything else that blocks (channels, system calls, messages of package nmad, whose waits have a
// context). If the thread has been given a unit or a message before, it gets that, and ends at its next cancellation
// point. While it has cancellation disabled the request is kept.
//
// Cancel does not wait for the end. Any thread or goroutine may call it, more than once. It returns ErrNoThread if the
// thread has ended.
func (h Thread) Cancel() error {
	x := h.makeExtras()
	if x == nil {
		return ErrNoThread
	}
	x.addRequest(cancelBit)
	if c := lookup(); c != nil && c.cur == h.thread {
		return nil
	}
	h.thread.awaitOperationEnd()
	c := Visit()
	x.mu.Lock()
	hit := h.thread.cancelWait(x)
	poke := x.onCancelCall
	x.mu.Unlock()
	if hit {
		c.ready(h.thread)
	}
	c.Leave()
	if poke != nil {
		poke()
	}
	return nil
}

// awaitOperationEnd waits until t has left the operation in which it may be. While t is in one its VP is held.
func (t *thread) awaitOperationEnd() {
	v := t.vpHint()
	tick := v.ticks()
	for n := 1; v.mode() == vpHeld && !t.parked() && v.ticks() == tick && t.vpHint() == v; n++ {
		spinPause(n)
	}
}

// parked is a racy hint: t is, or is about to be, parked on its runner, or spins.
//
//go:norace
func (t *thread) parked() bool {
	if atomic.LoadUint32(&t.waiter.spins) != isParked {
		return true
	}
	c := t.co
	if c == nil {
		return true // it has not started
	}
	raceSawBirth()
	return atomic.LoadUint32(&c.resumeAs) != ordinary || c.isInside() && c.l.vp.cur != c
}

// queueHint returns the queue, the lock and the kind of the fast wait that t is in: a racy hint.
//
//go:norace
func (t *thread) queueHint() (q *WaitQueue, mu *Spin, k Kind) {
	return t.waiter.queue, t.waiter.mu, t.waiter.kind
}

// currentWaitHint returns the BoundedWait in which t waits: a racy hint.
//
//go:norace
func (t *thread) currentWaitHint() *BoundedWait { return t.currentWait }

// kindHint returns the kind of the wait: a racy hint, unless the ticket is the same before and after, since the owner
// sets the kind before Open.
//
//go:norace
func (b *BoundedWait) kindHint() Kind { return b.kind }

// cancelWait ends the wait of t, if that is a cancellation point. It returns true if the caller has to make t ready.
// Under x.mu.
func (t *thread) cancelWait(x *extras) bool {
	if x.uncancelable || x.waitCanceled {
		return false
	}
	if b := t.currentWaitHint(); b != nil {
		// The kind is read after the ticket, so it is the kind of the wait that is claimed. The second currentWaitHint
		// tells whether b still is the wait of t, not that of another thread.
		if n := b.ticket.Load(); b.kindHint().cancelEffect() != cancelIgnored && t.currentWaitHint() == b && b.claimFor(nil, n) {
			x.waitCanceled = true
			b.wakeUnder(nil)
		}
		return false
	}
	q, mu, k := t.queueHint()
	if q == nil || k.cancelEffect() == cancelIgnored {
		return false
	}
	mu.Lock()
	there := t.waiter.queue == q
	if there {
		q.remove(&t.waiter)
	}
	mu.Unlock()
	if !there {
		return false
	}
	x.waitCanceled = true
	return true
}

// due reports whether the thread, which begins a wait of kind k, is to end instead.
func (x *extras) due(k Kind) bool {
	return x.requests.Load()&cancelBit != 0 && k.cancelEffect() != cancelIgnored && !x.uncancelable
}

// refuse ends a wait of kind k that has not begun, and the operation.
func (c *co) refuse(x *extras, k Kind) {
	x.mu.Lock()
	x.waitCanceled = true
	x.mu.Unlock()
	c.Leave()
	if k.cancelEffect() == cancelUnwinds {
		c.unwind(x)
	}
}

// EndWait ends the thread if a cancel has ended its last wait. A thread calls it after a wait of a kind that a cancel
// lets return, when the thread's own state is in order again.
func (c *co) EndWait() {
	if c != nil {
		if x := c.cur.extras.Load(); x != nil && x.waitCanceled {
			c.unwind(x)
		}
	}
}

// Interrupted tells, once, whether a cancel has ended the last wait of the caller, of a kind that Returning was added
// to. The thread was not woken then. It ends at its next cancellation point.
func (moduleCalls) Interrupted() bool {
	c := lookup()
	if c == nil {
		return false
	}
	x := c.cur.extras.Load()
	if x == nil || !x.waitCanceled {
		return false
	}
	c.enter()
	x.mu.Lock()
	x.waitCanceled = false
	x.mu.Unlock()
	c.Leave()
	return true
}

// OnCancel has each Cancel of the calling thread call f, which must not block, until OnCancel(nil): for waits that this
// package does not know, and that are to be cancellation points. f may still be called a moment later. After OnCancel
// the caller looks at Canceled: a cancel that came before is not told. On a plain goroutine OnCancel does nothing.
//
//	canceler                             thread
//	C1 sets requests                     T1 OnCancel: sets onCancelCall, under x.mu
//	C5 reads onCancelCall under x.mu     T2 Canceled: reads requests
//	   and calls it
//
// Either C5 comes after T1, or T2 after C1.
func (moduleCalls) OnCancel(f func()) {
	x, err := callerExtras()
	if err != nil {
		return
	}
	c := Enter()
	x.mu.Lock()
	x.onCancelCall = f
	x.mu.Unlock()
	c.Leave()
}

// EndWait is Co.EndWait for the calling thread.
func (moduleCalls) EndWait() { lookup().EndWait() }

// refused reports whether the calling thread, which is about to wait and has locked mu, was canceled. Then refused
// unlocks mu and ends the operation.
func (c *co) refused(x *extras, mu *Spin) bool {
	k := c.cur.waiter.kind
	if !x.due(k) {
		return false
	}
	mu.Unlock()
	c.refuse(x, k)
	return true
}

// unwind ends the calling thread, which was canceled.
func (c *co) unwind(x *extras) {
	c.makeUncancelable(x)
	x.err = ErrCanceled
	runtime.Goexit()
}

// makeUncancelable makes the calling thread uncancelable for the rest of its life.
func (c *co) makeUncancelable(x *extras) {
	c.enter()
	x.mu.Lock()
	x.uncancelable, x.ending, x.waitCanceled = true, true, false
	x.mu.Unlock()
	c.Leave()
}

// TestCancel ends the calling thread if Cancel was called for it and it has cancellation enabled. On a plain goroutine
// it does nothing.
func (moduleCalls) TestCancel() {
	if c, x := canceled(); x != nil {
		c.unwind(x)
	}
}

// Canceled reports whether TestCancel would end the caller.
func Canceled() bool {
	_, x := canceled()
	return x != nil
}

// canceled returns the caller and its extras if the caller was canceled and has cancellation enabled; otherwise
// nil.
func canceled() (*co, *extras) {
	if c := lookup(); c != nil && !c.base {
		if x := c.cur.extras.Load(); x != nil && x.requests.Load()&cancelBit != 0 && !x.uncancelable {
			return c, x
		}
	}
	return nil, nil
}

// SetCancelState enables or disables cancellation of the calling thread, and reports whether it was enabled. The calls
// at the end of a thread (cleanup handlers, callbacks, destructors) are never canceled. On a plain goroutine
// SetCancelState does nothing and returns false.
func (moduleCalls) SetCancelState(enabled bool) (was bool) {
	x, err := callerExtras()
	if err != nil {
		return false
	}
	if x.ending {
		return false
	}
	c := Enter()
	x.mu.Lock()
	was, x.uncancelable = !x.uncancelable, !enabled
	x.mu.Unlock()
	c.Leave()
	return was
}
