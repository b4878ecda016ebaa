package marcel

import (
	"context"
	"fmt"
	"math"
	"time"

	"github.com/pm2-go/pm2/sched"
)

// Semaphore is a counting semaphore for threads, goroutines and hooks, after Dijkstra. Waiters are
// served in order of arrival; a unit that is released while threads wait goes straight to the first
// waiter, so no thread overtakes it. The zero value has no units. It takes 32 bytes and must not be
// copied after first use.
type Semaphore struct {
	mu        sched.Spin      // guards n and q
	kindFlags sched.Kind      // added to the kind of waits; constant after first use
	n         int             // units; below 0: so many releases come before the first unit
	queue     sched.WaitQueue // not empty: n <= 0
}

// NewSemaphore returns a semaphore with n units. If n is negative, that many releases come before the first unit:
// NewSemaphore(1-n) waits for n events.
func NewSemaphore(n int) *Semaphore { return &Semaphore{n: n} }

// SetUninterruptible makes the waits for a unit no cancellation points: for code that Thread.Cancel must not end there.
// The caller calls it before first use.
func (s *Semaphore) SetUninterruptible() { s.kindFlags = sched.Uninterruptible }

// Acquire takes a unit, or waits until there is one.
func (s *Semaphore) Acquire() {
	_ = &s.mu // nil panics here, not while the VP is held
	_ = s.acquire(nil)
}

// AcquireOrCancel is Acquire that Thread.Cancel does not end but returns from, whether SetUninterruptible was called or
// not: for a caller that has to clean up first. It returns false if the thread was canceled, and has no unit;
// TestCancel then ends it.
func (s *Semaphore) AcquireOrCancel() bool {
	_ = s.acquireAs(sched.InSemaphore|sched.Returning, nil)
	return !calls.Interrupted()
}

// TryAcquire takes a unit if there is one. It does not block.
func (s *Semaphore) TryAcquire() bool {
	_ = &s.mu
	c := sched.Visit()
	s.mu.Lock()
	ok := s.n > 0
	if ok {
		s.n--
	}
	s.mu.Unlock()
	c.Leave()
	return ok
}

// AcquireTimeout is Acquire for at most d: it returns false if there was no unit in time. If d <= 0 it is TryAcquire.
func (s *Semaphore) AcquireTimeout(d time.Duration) bool { return s.acquire(within(d)) == nil }

// AcquireContext is Acquire until ctx is done: then it returns the cause, also if there was a unit.
func (s *Semaphore) AcquireContext(ctx context.Context) error { return until(ctx, s.acquire) }

func (s *Semaphore) acquire(lim *sched.Limit) error {
	return s.acquireAs(sched.InSemaphore|s.kindFlags, lim)
}

// acquireAs is Acquire as a wait of the kind, within lim; nil: without a limit.
func (s *Semaphore) acquireAs(kind sched.Kind, lim *sched.Limit) error {
	_ = &s.mu
	c := sched.EnterLibrary()
	s.mu.Lock()
	if s.n > 0 {
		s.n--
		s.mu.Unlock()
		c.Leave()
		return nil
	}
	return wait(c.As(kind), &s.queue, &s.mu, lim)
}

var tooManyUnits = fmt.Sprintf("marcel: Semaphore.Release above its limit of %d units", math.MaxInt)

// Release gives a unit. It never blocks. It does not touch the semaphore after it has woken a waiter:
// the waiter may reuse or free the semaphore. It panics, and changes nothing, if there are math.MaxInt units.
func (s *Semaphore) Release() {
	_ = &s.mu
	c := sched.Visit()
	s.mu.Lock()
	var w *sched.Waiter
	if s.n >= 0 {
		w = s.queue.Pop()
	}
	if w == nil {
		if s.n == math.MaxInt {
			s.mu.Unlock()
			c.Leave()
			panic(tooManyUnits)
		}
		s.n++
	}
	s.mu.Unlock()
	if w != nil {
		c.Wake(w)
	}
	c.Leave()
}
