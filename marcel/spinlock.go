package marcel

import (
	"context"
	"sync/atomic"
	"time"

	"github.com/pm2-go/pm2/sched"
)

// SpinLock is a lock for sections of some tens of nanoseconds, for threads, goroutines and hooks: a
// waiter never parks. It is not FIFO, and a thread may in theory wait for ever. The holder must
// neither wait nor yield. It may lose its CPU, so a waiter lets others run now and then: the threads
// of its VP, goroutines, and other OS threads on its CPU. For longer sections a Mutex is better. The
// zero value is unlocked. It takes 4 bytes and must not be copied after first use.
type SpinLock struct {
	v atomic.Uint32
}

// Lock takes the lock, spinning until it can.
func (s *SpinLock) Lock() {
	for n := 1; !s.TryLock(); n++ {
		sched.Backoff(n)
	}
}

// TryLock takes the lock if it is free, and reports whether it was.
func (s *SpinLock) TryLock() bool { return s.v.Load() == 0 && s.v.CompareAndSwap(0, 1) }

// LockTimeout is Lock for at most d: it returns false if the lock was not to be had in time. If d <= 0 it is TryLock.
func (s *SpinLock) LockTimeout(d time.Duration) bool {
	end := time.Now().Add(d)
	return s.TryLock() || d > 0 && s.lockUnless(func() bool { return !time.Now().Before(end) })
}

// LockContext is Lock until ctx is done: then it returns the cause, also if the lock was free.
func (s *SpinLock) LockContext(ctx context.Context) error {
	over := func() bool { return ctx.Err() != nil }
	if over() || !s.lockUnless(over) {
		return context.Cause(ctx)
	}
	return nil
}

// lockUnless is Lock until over, which it calls now and then, returns true. It reports whether it has the lock.
func (s *SpinLock) lockUnless(over func() bool) bool {
	for n := 1; !s.TryLock(); n++ {
		if n%16 == 0 && over() {
			return false
		}
		sched.Backoff(n)
	}
	return true
}

// Unlock frees the lock. It panics if it is not locked.
func (s *SpinLock) Unlock() {
	if s.v.Swap(0) == 0 {
		panic("marcel: unlock of an unlocked SpinLock")
	}
}
