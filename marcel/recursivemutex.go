package marcel

import (
	"context"
	"sync/atomic"
	"time"

	"github.com/pm2-go/pm2/sched"
)

// RecursiveMutex is a Mutex that its owner may lock again: it is free when the owner has unlocked it
// as often as it has locked it. The owner is a thread or a goroutine; a later thread or goroutine is
// never mistaken for the owner, even if it uses the same memory. Waiters are served as by a Mutex. If
// the owner ends without unlocking, the mutex stays locked for ever. The zero value is unlocked. It
// takes 48 bytes and must not be copied after first use.
type RecursiveMutex struct {
	m Mutex
	// sched.CallerID of the owner; 0: none. The owner writes it, after it has locked
	// and before it unlocks m. Others may read anything but their own number.
	owner atomic.Uint64
	depth int // how often the owner has locked once more; the owner's alone
}

// Lock takes the mutex, or waits until it can; or locks it once more.
func (r *RecursiveMutex) Lock() {
	me := sched.CallerID()
	if r.owner.Load() == me {
		r.depth++
		return
	}
	r.m.Lock()
	r.owner.Store(me)
}

// TryLock is Lock if that is possible at once, and tells whether it was. It does not
// block.
func (r *RecursiveMutex) TryLock() bool {
	return r.take(func(m *Mutex) error {
		if !m.TryLock() {
			return context.DeadlineExceeded
		}
		return nil
	}) == nil
}

// LockTimeout is Lock for at most d; false: the mutex was not to be had in time.
// If d <= 0 it is TryLock.
func (r *RecursiveMutex) LockTimeout(d time.Duration) bool {
	return r.take(func(m *Mutex) error {
		if !m.LockTimeout(d) {
			return context.DeadlineExceeded
		}
		return nil
	}) == nil
}

// LockContext is Lock until ctx is done: then it returns the cause, also if the
// mutex was free or the caller's own.
func (r *RecursiveMutex) LockContext(ctx context.Context) error {
	if _, err := under(ctx); err != nil {
		return err
	}
	return r.take(func(m *Mutex) error { return m.LockContext(ctx) })
}

func (r *RecursiveMutex) take(lock func(*Mutex) error) error {
	me := sched.CallerID()
	if r.owner.Load() == me {
		r.depth++
		return nil
	}
	err := lock(&r.m)
	if err == nil {
		r.owner.Store(me)
	}
	return err
}

// Unlock undoes one Lock. It never blocks. It panics if the caller is not the
// owner.
func (r *RecursiveMutex) Unlock() {
	switch {
	case r.owner.Load() != sched.CallerID():
		panic("marcel: unlock of a RecursiveMutex by one that does not hold it")
	case r.depth > 0:
		r.depth--
	default:
		r.owner.Store(0)
		r.m.Unlock()
	}
}
