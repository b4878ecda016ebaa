package sched

import (
	"context"
	"math"
	"sync"
	"sync/atomic"
	"time"

	"github.com/pm2-go/pm2/internal/shelf"
)

// MultiWait is one wait of one thread or goroutine in several queues
// at a time, each with a lock of its own. The waiter is in all of them before it parks. The wait
// has one ticket. See README.md, "Waiting for one of several".
//
//	closed ── Open: the owner, in no queue ─────────────────────────────► open
//	open ──── a claim: Pop of a queue it stands in, the timer, a
//	          context, or the owner itself (Close) ─────────────────────► claimed
//	claimed ─ Wake, by the one that has claimed ────────────────────────► woken
//	woken ─── the owner: Wait returns, it leaves all queues, Free ──────► closed
//
// The claim is a compare-and-swap on the ticket, so one claimer wins, and only
// the winner gives anything. Wake and await meet under mu:
// the second finds what the first has left, so the owner may
// be woken before it parks. After Wake only the owner touches the MultiWait:
// a claim that comes too late finds that the number of its wait is over.
type MultiWait struct {
	t      *thread       // the waiter; nil: a goroutine, which waits on ch
	ch     chan struct{} // of capacity 1
	latch  *sync.Mutex   // of a goroutine in a synctest bubble, instead of ch: see inBubble
	kind   Kind          // of the wait
	ticket atomic.Uint64 // number of the wait << 1 | open
	won    *Waiter       // the claimer writes it, the owner reads it once it is woken
	mu     Spin
	woken  bool // under mu
	parked bool // under mu
	limit  limit
	clock  *time.Timer // a goroutine's, kept for the next wait

	began  int64   // monotonic ns, 0: not asked for yet; Expire counts from here
	at     int64   // when the time limit is over
	expiry *Waiter // the node for which it was set, nil: none

	done    <-chan struct{} // of a goroutine's context, nil: none
	doneFor *Waiter

	last  Waiter
	nodes [multiInline]Waiter
	more  []Waiter
}

// multiInline is how many queues a MultiWait stands in without further memory.
const multiInline = 8

// multiWaits holds the MultiWaits that are not in use.
var multiWaits = shelf.Free[MultiWait]{Most: keptFree}

func newMultiWait() *MultiWait {
	if g := multiWaits.Get(); g != nil {
		return g
	}
	g := &MultiWait{ch: make(chan struct{}, 1)}
	g.adopt(g.nodes[:])
	g.last.g, g.last.timed = g, true
	return g
}

func (g *MultiWait) adopt(nodes []Waiter) {
	g.mu.ranked(rankMulti)
	for i := range nodes {
		nodes[i].g, nodes[i].timed = g, true
	}
}

// NewMultiWait returns a closed MultiWait with n nodes, Node(0) to Node(n-1),
// for a wait of the calling thread or goroutine. Only the caller may call its methods; other
// threads may call those of its nodes. With more than 8 nodes it may allocate.
func (calls) NewMultiWait(n int) *MultiWait {
	c := lookup()
	thread := c != nil && !c.base
	var g *MultiWait
	if !thread && inBubble() {
		g = &MultiWait{latch: latched()}
		g.adopt(g.nodes[:])
		g.last.g, g.last.timed = g, true
	} else {
		g = newMultiWait()
	}
	if n -= multiInline; n > len(g.more) {
		g.more = make([]Waiter, n)
		g.adopt(g.more)
	}
	if thread {
		g.t = c.cur
	}
	return g
}

// As sets the kind of the wait. The owner calls it before Wait. If a cancel of the owner
// ends the wait, Wait returns nil, and the owner calls EndWait when its own state is in
// order again.
func (g *MultiWait) As(k Kind) { g.kind = k }

// Node returns node i.
func (g *MultiWait) Node(i int) *Waiter {
	if i < multiInline {
		return &g.nodes[i]
	}
	return &g.more[i-multiInline]
}

// Last returns one more node, for a limit of the wait as a whole.
func (g *MultiWait) Last() *Waiter { return &g.last }

// Open starts a wait. From now on a waker that pops or fires one of the nodes may
// end the wait.
func (g *MultiWait) Open() {
	g.expiry = nil
	g.ticket.Store(g.ticket.Load() + 2 | 1)
}

// Close ends the wait on behalf of the owner, so that no waker can. It returns false if
// a waker has ended the wait already: then the owner calls Wait.
func (g *MultiWait) Close() bool { return g.claimFor(nil, g.ticket.Load()) }

// Expire sets a time limit, which ends the wait for node w: d after the first call of Expire since NewMultiWait.
// Of several time limits the earliest counts. The owner calls it before Wait.
func (g *MultiWait) Expire(w *Waiter, d time.Duration) {
	g.needsTime()
	if g.began == 0 {
		g.began = nanotime()
	}
	at := g.began + int64(d)
	if d > 0 && at < 0 {
		at = math.MaxInt64
	}
	if g.expiry == nil || at < g.at {
		g.at, g.expiry = at, w
	}
}

// Elapsed returns the time since the first Expire.
func (g *MultiWait) Elapsed() time.Duration { return time.Duration(nanotime() - g.began) }

// Expired tells whether a time limit of this wait is over.
func (g *MultiWait) Expired() bool { return g.expiry != nil && nanotime() >= g.at }

// Claimed tells whether the wait has been ended: Wait returns soon.
func (g *MultiWait) Claimed() bool { return g.ticket.Load()&1 == 0 }

// Watch makes ctx end the wait for node w when it is done. It returns false if ctx is done already.
// The owner calls Unwatch afterwards. Watch calls methods of ctx, and allocates on a thread unless
// ctx can never be done.
func (g *MultiWait) Watch(w *Waiter, ctx context.Context) bool {
	done := ctx.Done()
	if done == nil {
		return true
	}
	g.needsTime()
	if ctx.Err() != nil {
		return false
	}
	if g.t == nil && g.done == nil {
		g.done, g.doneFor = done, w
		return true
	}
	n := g.ticket.Load() | 1
	w.note = context.AfterFunc(ctx, func() { w.Fire(n) })
	return true
}

// Unwatch ends what Watch began.
func (g *MultiWait) Unwatch(w *Waiter) {
	if g.doneFor == w {
		g.done, g.doneFor = nil, nil
	}
	if stop, ok := w.note.(func() bool); ok {
		w.note = nil
		stop()
	}
}

// Wait parks the caller until the wait has been ended, and returns the node for
// which it was. The other nodes may still stand in their queues.
func (g *MultiWait) Wait() *Waiter {
	n := g.ticket.Load() | 1 // it may be over already
	var left int64
	if g.expiry != nil {
		if left = g.at - nanotime(); left <= 0 && g.claimFor(g.expiry, n) {
			return g.won
		}
	}
	switch {
	case g.t == nil:
		g.sleep(n, time.Duration(left))
	case g.expiry == nil:
		g.await(Enter())
	default:
		c := Enter()
		g.limit.start(c, g.expiry, n, nil, min(g.at, maxAt))
		g.await(c)
		c.enter()
		g.limit.stop()
		c.Leave()
	}
	return g.won
}

// sleep is the wait of a goroutine.
func (g *MultiWait) sleep(n uint64, d time.Duration) {
	if g.latch != nil {
		g.latch.Lock()
		return
	}
	var late <-chan time.Time
	if g.expiry != nil {
		if g.clock == nil {
			g.clock = time.NewTimer(d)
		} else {
			g.clock.Reset(d)
		}
		defer g.clock.Stop()
		late = g.clock.C
	}
	mine := false
	select {
	case <-g.ch:
		return
	case <-late:
		mine = g.claimFor(g.expiry, n)
	case <-g.done:
		mine = g.claimFor(g.doneFor, n)
	}
	if !mine {
		<-g.ch // a waker was first
	}
}

// claimFor ends wait number n for node w, unless another claim was first. It tells whether it did.
func (g *MultiWait) claimFor(w *Waiter, n uint64) bool {
	if n&1 == 0 || !g.ticket.CompareAndSwap(n, n&^1) {
		return false
	}
	g.won = w
	return true
}

// wake makes the owner ready again, or tells it not to park. Only the winner of the claim calls
// it.
func (g *MultiWait) wake(c *co) {
	t := g.t
	if t == nil {
		if g.latch != nil {
			g.latch.Unlock()
		} else {
			g.ch <- struct{}{}
		}
		return
	}
	g.mu.Lock()
	parked := g.parked
	g.woken = true
	g.mu.Unlock()
	if parked {
		c.ready(t)
	}
}

// await parks the owner, a thread, until wake. It ends the operation of c.
func (g *MultiWait) await(c *co) {
	t := c.cur
	t.w.kind = g.kind
	if x := t.x.Load(); x != nil && x.due(g.kind) && g.Close() {
		x.mu.Lock()
		x.hit = true
		x.mu.Unlock()
		c.Leave()
		return
	}
	t.multi.Store(g)
	if c.joiner != nil {
		c.settleJoiner() // its lock comes before mu
	}
	g.mu.Lock()
	if g.woken {
		g.mu.Unlock()
		c.Leave()
	} else {
		g.parked = true
		c.park(&g.mu)
	}
	t.multi.Store(nil)
	g.woken, g.parked = false, false // it is the owner's alone again
}

// Free gives g back for use by later waits. g must be closed, and none of its nodes may stand in a
// queue or be watched.
func (g *MultiWait) Free() {
	g.t, g.won, g.began, g.kind = nil, nil, 0, InOther
	if g.latch == nil {
		multiWaits.Put(g)
	}
}

// Ticket returns the number of w's wait, for Fire.
func (w *Waiter) Ticket() uint64 { return w.g.ticket.Load() | 1 }

// Fire ends the wait with that number for w, a node of a MultiWait, and makes the
// owner ready. It returns false if the wait has ended already. It
// never blocks. Any thread, goroutine or hook may call it at any time. w must not stand in a queue.
func (w *Waiter) Fire(ticket uint64) bool {
	g := w.g
	if !g.claimFor(w, ticket) {
		return false
	}
	c := Visit()
	g.wake(c)
	c.Leave()
	return true
}

// MultiWait returns the MultiWait that w is a node of.
func (w *Waiter) MultiWait() *MultiWait { return w.g }

// Won tells whether the wait of w, a node of a MultiWait, was ended for it.
func (w *Waiter) Won() bool { return w.g.won == w }

// Note returns the note that the waiter has left for its waker.
func (w *Waiter) Note() any {
	if o, ok := w.note.(*outsider); ok {
		return o.note
	}
	return w.note
}

// SetNote sets the note of w, a node of a MultiWait. The owner calls it before w stands in a queue.
func (w *Waiter) SetNote(x any) { w.note = x }

// Add puts w, a node of a MultiWait, at the end. Under the lock.
func (wq *WaitQueue) Add(w *Waiter) { wq.push(w) }

// Remove takes w out if it is in. Under the lock.
func (wq *WaitQueue) Remove(w *Waiter) { wq.remove(w) }

// Others tells whether a waiter of another wait than w's stands in q. Under the
// lock. That wait may have ended already.
func (calls) Others(wq *WaitQueue, w *Waiter) bool {
	for x := wq.head; x != nil; x = x.next {
		if x.g == nil || x.g != w.g {
			return true
		}
	}
	return false
}

// WatchEnd puts w, a node of a MultiWait, among the waiters for the thread's end. It returns
// false if the thread has ended. The owner calls UnwatchEnd afterwards. A thread that watches its own
// end waits for ever.
func (calls) WatchEnd(h Thread, w *Waiter) bool {
	if h.Ended() {
		return false
	}
	_ = &w.t // nil panics here, while nothing is held
	c := Visit()
	alive := h.t.life(h.gen)
	if alive {
		h.t.joiners.push(w)
	}
	h.t.mu.Unlock()
	c.Leave()
	return alive
}

// UnwatchEnd takes w out of the joiners' queue if it is still there. The descriptor may
// serve another thread by now.
func (calls) UnwatchEnd(h Thread, w *Waiter) {
	_, _ = &h.t.mu, &w.t // nil panics here
	c := Visit()
	h.t.mu.Lock()
	h.t.joiners.remove(w)
	h.t.mu.Unlock()
	c.Leave()
}
