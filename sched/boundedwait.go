package sched

import (
	"context"
	"math"
	"sync"
	"sync/atomic"
	"time"

	"github.com/pm2-go/pm2/internal/shelf"
)

// BoundedWait is a wait with a ticket: every one that is not the fast wait in one queue (wait.go). It has
// a time limit, or is bounded by a context, or stands in several queues at once, each with a lock of its own, or in
// none (Sleep). See README.md, "The two waits".
//
//	closed ── Open: the waiter, in no queue ─────────────────────────────► open
//	open ──── a claim: Pop of a queue it stands in, the clock, a
//	          context, a canceler, or the waiter itself (Close) ─────────► claimed
//	claimed ─ Wake, by the one that has claimed ─────────────────────────► woken
//	woken ─── the waiter: Wait returns, it leaves all queues, Free ──────► closed
//
// The claim is a compare-and-swap on the ticket, so one claimer wins, and only the winner gives the waiter anything.
// Wake and await both lock mu: the second of them finds what the first has written, so the waiter may be woken before
// it parks. A waiter that stands in one queue, with a time limit alone, parks under the lock of that queue, as in a
// fast wait: the waker that pops it holds the lock, and any other claimer takes the lock before it wakes the waiter,
// which is parked by then. After Wake only the waiter touches the BoundedWait: a claim that comes too late finds
// another number in the ticket.
type BoundedWait struct {
	thread *thread       // the waiter; nil: a goroutine, which waits on ch
	kind   Kind          // of the wait
	ticket atomic.Uint64 // number of the wait << 1 | open
	winner *Waiter       // the claimer writes it, the waiter reads it once it is woken
	lock   *Spin         // of the queue: the waiter locks it before Open and parks under it; nil: the waiter parks under mu
	mu     Spin
	woken  bool // under mu
	parked bool // under mu

	began  int64   // monotonic ns: from here Expire counts; 0: no Expire yet
	limit  timer   // its at is when the time limit is over
	expiry *Waiter // the node that the time limit ends the wait for; nil: no limit

	ch           chan struct{}   // of a goroutine, of capacity 1
	synctestLock *sync.Mutex     // of a goroutine inside testing/synctest, instead of ch: locked, and its waker unlocks it; see inSynctest
	goTimer      *time.Timer     // a goroutine's, kept for the next wait
	done         <-chan struct{} // of a goroutine's context, nil: none
	doneNode     *Waiter

	last, first Waiter
	otherNodes  []Waiter
}

// boundedWaits keeps unused BoundedWaits: for goroutines, and for threads that wait within a wait.
var boundedWaits = shelf.Free[BoundedWait]{Most: 256}

// NewBoundedWait returns a closed BoundedWait with n nodes, Node(0) to Node(n-1), for a wait of the calling thread or
// goroutine. Only the caller may call its methods; other threads may call those of its nodes. It may allocate if the
// caller has not waited in so many queues before.
func (moduleCalls) NewBoundedWait(n int) *BoundedWait {
	if c := lookup(); c != nil && !c.base {
		return newBoundedWait(c.cur, n)
	}
	return newBoundedWait(nil, n)
}

// newBoundedWait is NewBoundedWait for thread t, the caller, or for a goroutine if t is nil. A thread keeps one
// BoundedWait for life. While that is in use, as in a Select that polls, a further wait takes another one.
func newBoundedWait(t *thread, n int) (b *BoundedWait) {
	switch {
	case t != nil && t.bounded == nil:
		b = (&BoundedWait{}).adopt()
		t.bounded = b
	case t != nil && t.bounded.thread == nil:
		b = t.bounded
	case t == nil && inSynctest():
		b = (&BoundedWait{synctestLock: newSynctestLock()}).adopt()
	default:
		if b = boundedWaits.Get(); b == nil {
			b = (&BoundedWait{ch: make(chan struct{}, 1)}).adopt()
		}
	}
	if n--; n > len(b.otherNodes) {
		b.otherNodes = make([]Waiter, n)
		for i := range b.otherNodes {
			b.otherNodes[i].adopt(b)
		}
	}
	b.thread = t
	return b
}

// adopt prepares a new b: its lock, and the nodes that it embeds.
func (b *BoundedWait) adopt() *BoundedWait {
	b.mu.ranked(rankBounded)
	b.first.adopt(b)
	b.last.adopt(b)
	return b
}

// adopt makes w a node of b.
func (w *Waiter) adopt(b *BoundedWait) { w.b, w.bounded = b, true }

// As sets the kind of the wait, which says whether Cancel ends it. The waiter calls As before Wait.
func (b *BoundedWait) As(k Kind) { b.kind = k }

// Node returns node i.
func (b *BoundedWait) Node(i int) *Waiter {
	if i == 0 {
		return &b.first
	}
	return &b.otherNodes[i-1]
}

// Last returns one more node, for a limit of the wait as a whole.
func (b *BoundedWait) Last() *Waiter { return &b.last }

// Open starts a wait. From now on a waker that pops or fires one of the nodes may end the wait.
func (b *BoundedWait) Open() {
	b.expiry = nil
	b.ticket.Store(b.ticket.Load() + 2 | 1)
}

// Close ends the wait on behalf of the waiter, so that no waker can. It returns false if a waker has ended the wait
// already: then the waiter calls Wait.
func (b *BoundedWait) Close() bool { return b.claimFor(nil, b.ticket.Load()) }

// Expire sets a time limit, which ends the wait for node w: d after the first call of Expire since NewBoundedWait.
// Of several time limits the earliest counts. The waiter calls it before Wait.
func (b *BoundedWait) Expire(w *Waiter, d time.Duration) {
	b.needsTime()
	if b.began == 0 {
		b.began = nanotime()
	}
	at := b.began + int64(d)
	if d > 0 && at < 0 {
		at = math.MaxInt64
	}
	if b.expiry == nil || at < b.limit.at {
		b.limit.at, b.expiry = at, w
	}
}

// Elapsed returns the time since the first Expire.
func (b *BoundedWait) Elapsed() time.Duration { return time.Duration(nanotime() - b.began) }

// Expired reports whether a time limit of this wait is over.
func (b *BoundedWait) Expired() bool { return b.expiry != nil && nanotime() >= b.limit.at }

// Claimed reports whether the wait has been ended: Wait returns soon.
func (b *BoundedWait) Claimed() bool { return b.ticket.Load()&1 == 0 }

// Watch makes ctx end the wait for node w when it is done. It returns false if ctx is done already.
// The waiter calls Unwatch afterwards. Watch calls methods of ctx, and allocates on a thread unless
// ctx can never be done.
func (b *BoundedWait) Watch(w *Waiter, ctx context.Context) bool {
	done := ctx.Done()
	if done == nil {
		return true
	}
	b.needsTime()
	if ctx.Err() != nil {
		return false
	}
	if b.thread == nil && b.done == nil {
		b.done, b.doneNode = done, w
		return true
	}
	n := b.ticket.Load() | 1
	w.note = context.AfterFunc(ctx, func() { w.Fire(n) })
	return true
}

// Unwatch ends what Watch has begun.
func (b *BoundedWait) Unwatch(w *Waiter) {
	if b.doneNode == w {
		b.done, b.doneNode = nil, nil
	}
	if stop, ok := w.note.(func() bool); ok {
		w.note = nil
		stop()
	}
}

// Wait parks the caller until the wait has been ended, and returns the node for which it was ended. The other nodes may
// still stand in their queues. Wait returns nil if Cancel has ended the wait: then the waiter takes its nodes out of
// the queues, and calls EndWait when its own state is consistent again.
func (b *BoundedWait) Wait() *Waiter {
	switch {
	case b.Expired() && b.claimFor(b.expiry, b.ticket.Load()):
	case b.thread == nil:
		b.sleep()
	default:
		b.await(Enter())
	}
	return b.winner
}

// sleep blocks the waiter, a goroutine, until the wait is over.
func (b *BoundedWait) sleep() {
	if b.synctestLock != nil {
		b.synctestLock.Lock()
		return
	}
	if b.expiry == nil && b.done == nil {
		<-b.ch
		return
	}
	var late <-chan time.Time
	if b.expiry != nil {
		if d := time.Duration(b.limit.at - nanotime()); b.goTimer == nil {
			b.goTimer = time.NewTimer(d)
		} else {
			b.goTimer.Reset(d)
		}
		defer b.goTimer.Stop()
		late = b.goTimer.C
	}
	mine := false
	select {
	case <-b.ch:
		return
	case <-late:
		mine = b.claimFor(b.expiry, b.ticket.Load())
	case <-b.done:
		mine = b.claimFor(b.doneNode, b.ticket.Load())
	}
	if !mine {
		<-b.ch // a waker was first
	}
}

// claimFor ends wait number n for node w, unless another claim was first. It reports whether it did.
func (b *BoundedWait) claimFor(w *Waiter, n uint64) bool {
	if n&1 == 0 || !b.ticket.CompareAndSwap(n, n&^1) {
		return false
	}
	b.winner = w
	return true
}

// wake makes the waiter ready again, or tells it not to park. Only the winner of the claim calls it.
func (b *BoundedWait) wake(c *co) {
	t := b.thread
	if t == nil {
		if b.synctestLock != nil {
			b.synctestLock.Unlock()
		} else {
			b.ch <- struct{}{}
		}
		return
	}
	if b.lock == nil {
		b.mu.Lock()
		parked := b.parked
		b.woken = true
		b.mu.Unlock()
		if !parked {
			return
		}
	}
	c.ready(t)
}

// wakeUnder is wake by a winner that has not popped the waiter. If the waiter parks under its queue's lock, wakeUnder
// waits until it is parked.
func (b *BoundedWait) wakeUnder(c *co) {
	if mu := b.lock; mu != nil {
		mu.Lock()
		//lint:ignore SA2001 the waiter unlocks it once it is parked
		mu.Unlock()
	}
	b.wake(c)
}

// await parks the waiter, a thread, until wake. It ends the operation of c.
func (b *BoundedWait) await(c *co) {
	t := c.cur
	if x := t.extras.Load(); x != nil && x.due(b.kind) && b.Close() {
		if b.lock != nil {
			b.lock.Unlock()
		}
		c.refuse(x, InOther) // the waiter calls EndWait
		return
	}
	t.waiter.kind = b.kind
	t.currentWait = b // published by the lock under which it parks
	if b.expiry != nil {
		ts := &c.l.vp.timers
		ts.mu.Lock()
		b.limit.owner = b
		ts.start(&b.limit, min(b.limit.at, maxAt))
		ts.mu.Unlock()
	}
	parks := true
	if b.lock != nil {
		c.pause(b.lock)
	} else {
		parks = b.meet(c)
	}
	if b.expiry != nil {
		b.limit.stop() // after its lock the clock has finished with it
	}
	if parks {
		c.resumed()
	} else {
		c.Leave()
		t.waiter.kind = InOther
	}
	t.currentWait = nil
}

// meet parks the waiter under its own lock, unless it has been woken before.
func (b *BoundedWait) meet(c *co) (parks bool) {
	if c.joiner != nil {
		c.settleJoiner() // its lock comes before mu
	}
	b.mu.Lock()
	parks = !b.woken
	b.parked = parks
	switch {
	case !parks:
		b.mu.Unlock()
	case b.kind&^(Uninterruptible|Returning) == InSleep: // no waker is on its way
		c.parkNow(&b.mu)
	default:
		c.pause(&b.mu)
	}
	b.woken, b.parked = false, false // it is the waiter's alone again
	return parks
}

// Free gives b back, for later waits to use. b must be closed, and none of its nodes may stand in a queue or be
// watched.
func (b *BoundedWait) Free() {
	t := b.thread
	b.thread, b.winner, b.lock, b.began, b.kind = nil, nil, nil, 0, InOther
	if b.synctestLock == nil && (t == nil || t.bounded != b) {
		boundedWaits.Put(b)
	}
}

// Ticket returns the number of w's wait, for Fire.
func (w *Waiter) Ticket() uint64 { return w.b.ticket.Load() | 1 }

// Fire ends the wait with that number for w, a node of a BoundedWait, and makes the waiter ready. It returns false if
// the wait has ended already. It never blocks. Any thread, goroutine or hook may call it at any time. w must not stand
// in a queue.
func (w *Waiter) Fire(ticket uint64) bool {
	b := w.b
	if !b.claimFor(w, ticket) {
		return false
	}
	c := Visit()
	b.wakeUnder(c)
	c.Leave()
	return true
}

// BoundedWait returns the BoundedWait that w is a node of.
func (w *Waiter) BoundedWait() *BoundedWait { return w.b }

// Won reports whether the wait of w, a node of a BoundedWait, was ended for it.
func (w *Waiter) Won() bool { return w.b.winner == w }

// Note returns the note that the waiter has left for its waker.
func (w *Waiter) Note() any { return w.note }

// SetNote sets the note of w, a node of a BoundedWait. The waiter calls it before w stands in a queue.
func (w *Waiter) SetNote(x any) { w.note = x }

// Add puts w, a node of a BoundedWait, at the end of wq. Under the lock of wq.
func (wq *WaitQueue) Add(w *Waiter) { wq.push(w) }

// Remove takes w out of wq if it stands there. Under the lock of wq.
func (wq *WaitQueue) Remove(w *Waiter) { wq.remove(w) }

// Others reports whether a node of another wait than w's stands in wq; that wait may have ended already. Under the lock
// of wq.
func (moduleCalls) Others(wq *WaitQueue, w *Waiter) bool {
	for x := wq.head; x != nil; x = x.next {
		if x.b == nil || x.b != w.b {
			return true
		}
	}
	return false
}
