package marcel

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"time"

	"github.com/pm2-go/pm2/internal/shelf"
	"github.com/pm2-go/pm2/sched"
)

// ErrChanged means that WaitContext did not wait, because the word had another value.
var ErrChanged = errors.New("marcel: the word has another value")

// Futex is a queue in which threads wait while a word has a certain value. Other primitives can be
// built from it, as from the kernel's futex (Franke, Russell, Kirkwood: Fuss, Futexes and Furwocks,
// Ottawa Linux Symposium 2002), for threads, goroutines and hooks. The thread that changes the word
// then calls Wake. The waiters are woken in order of arrival; a wake-up is never spent on a waiter
// that has given up. The zero value is empty. It takes 24 bytes, and each waiter uses 64 bytes from a
// pool. It must not be copied after first use.
type Futex struct {
	mu     sched.Spin // guards line
	places shelf.List[queuePlace]
}

// queuePlace is the place of one waiting thread or goroutine. It stands in the list of one Futex at a time, which
// Requeue may change; so its waiter parks in a sched.WaitQueue of its own, whose lock stays the same.
//
// Order of locks: Futex.mu, queuePlace.mu. Of two Futexes, Requeue only tries the lock of the second one.
//
//	queue nil ─ Wait, under the lock of q: into q's list ────────► queue q; the waiter parks before
//	                                                                queuePlace.mu is free again
//	queue q ─── Requeue, under both locks ───────────────────────► queue is the other one
//	queue q ─── Wake, under the lock of q ───────────────────────► queue nil: woken, or it had given up
//	queue q ─── its waiter has given up: under the lock of q ────► queue nil
//
// While queue is nil only the waiter uses the place, once Wake has popped it.
type queuePlace struct {
	queue  atomic.Pointer[Futex]  // the queue in whose list the place stands; changed under the lock of that queue
	node   shelf.Node[queuePlace] // under the same lock
	mu     sched.Spin             // guards q
	waiter sched.WaitQueue        // the waiter stands here, alone
	popped *sched.Waiter          // what Wake has popped from q; only Wake uses it
}

var placePool = sync.Pool{New: func() any { return &queuePlace{} }}

// Wait waits until it is woken if *word is old; else it returns false at once. A change of *word that was followed by a
// Wake is never missed. After a wake-up the word may have any value: call it in a loop.
func (q *Futex) Wait(word *atomic.Uint32, old uint32) (woken bool) {
	return q.wait(word, old, nil) == nil
}

// WaitTimeout is Wait for at most d (it does not wait if d <= 0): it returns false if *word was not old, or the caller
// was not woken in time.
func (q *Futex) WaitTimeout(word *atomic.Uint32, old uint32, d time.Duration) (woken bool) {
	return q.wait(word, old, within(d)) == nil
}

// WaitContext is Wait until ctx is done: then it returns the cause. It returns ErrChanged if *word was not old.
func (q *Futex) WaitContext(ctx context.Context, word *atomic.Uint32, old uint32) error {
	return until(ctx, func(lim *sched.Limit) error { return q.wait(word, old, lim) })
}

// wait is Wait within lim; nil: without a limit.
func (q *Futex) wait(word *atomic.Uint32, old uint32, lim *sched.Limit) error {
	_ = &q.mu // nil panics here, not while the VP is held
	if word.Load() != old {
		return ErrChanged
	}
	p := placePool.Get().(*queuePlace)
	c := sched.EnterLibrary()
	q.mu.Lock()
	if word.Load() != old { // a thread that changes it now finds us in the list
		q.mu.Unlock()
		c.Leave()
		placePool.Put(p)
		return ErrChanged
	}
	q.push(p)
	p.mu.Lock()
	q.mu.Unlock()
	err := wait(c.As(sched.InFutex), &p.waiter, &p.mu, lim)
	if err != nil {
		p.leave()
	}
	placePool.Put(p)
	return err
}

// leave takes p, whose waiter has given up, out of the queue in which it stands by now.
func (p *queuePlace) leave() {
	c := sched.Enter()
	for {
		q := p.queue.Load()
		if q == nil {
			break
		}
		q.mu.Lock()
		here := p.queue.Load() == q
		if here {
			q.places.Remove(&p.node)
			p.queue.Store(nil)
		}
		q.mu.Unlock()
		if here {
			break
		}
	}
	c.Leave()
}

// Wake wakes up to n of the waiters, and returns how many they were. It never blocks.
func (q *Futex) Wake(n int) (woken int) {
	_ = &q.mu
	c := sched.Visit()
	q.mu.Lock()
	all, woken := q.take(n)
	q.mu.Unlock()
	wake(c, all)
	c.Leave()
	return woken
}

// WakeAll wakes all waiters, and returns how many they were. It never blocks.
func (q *Futex) WakeAll() (woken int) { return q.Wake(-1) }

// Requeue wakes up to n of the waiters, and moves up to m of the others to the end of another queue,
// without waking them; a negative n or m stands for all. So waiters that would only wait again, for a
// lock that one of them gets, need not run. Some of the moved waiters may be about to give up. It never
// blocks.
func (q *Futex) Requeue(to *Futex, n, m int) (woken, moved int) {
	_, _ = &q.mu, &to.mu
	if q == to {
		return q.Wake(n), 0
	}
	var c *sched.Co
	for turn := 1; ; turn++ { // two calls in opposite directions must not wait for each other
		c = sched.Visit()
		q.mu.Lock()
		if to.mu.TryLock() {
			break
		}
		q.mu.Unlock()
		c.Leave()
		sched.Backoff(turn)
	}
	all, woken := q.take(n)
	for ; moved != m && !q.places.Empty(); moved++ {
		p := q.places.First()
		q.places.Remove(&p.node)
		to.push(p)
	}
	to.mu.Unlock()
	q.mu.Unlock()
	wake(c, all)
	c.Leave()
	return woken, moved
}

// take takes out up to n places whose waiters have not given up; all if n is negative. Under the lock.
func (q *Futex) take(n int) (all shelf.List[queuePlace], taken int) {
	for p := q.places.First(); taken != n && p != nil; p = q.places.First() {
		q.places.Remove(&p.node)
		p.mu.Lock()
		w := p.waiter.Pop()
		p.mu.Unlock()
		if w != nil { // else the waiter has given up, and will find that p stands in no queue
			p.popped = w
			all.Push(&p.node, p)
			taken++
		}
		p.queue.Store(nil)
	}
	return all, taken
}

// wake wakes the waiters that take has returned. After that only the waiters use their places.
func wake(c *sched.Co, all shelf.List[queuePlace]) {
	for p := all.First(); p != nil; p = all.First() {
		all.Remove(&p.node)
		w := p.popped
		p.popped = nil
		c.Wake(w)
	}
}

// push puts p at the end of the list. Under the lock.
func (q *Futex) push(p *queuePlace) {
	q.places.Push(&p.node, p)
	p.queue.Store(q)
}
