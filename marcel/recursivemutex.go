package marcel

import (
	"context"
	"sync/atomic"
	"time"
)

// RecursiveMutex is a Mutex that its owner may lock again: it is free when the owner has unlocked it
// as often as it has locked it. The owner is a thread or a goroutine; a later thread or goroutine is
// never mistaken for the owner, even if it uses the same memory. Waiters are served as by a Mutex. If
// the owner ends without unlocking, the mutex stays locked for ever. The zero value is unlocked. It
// takes 48 bytes and must not be copied after first use.
type RecursiveMutex struct {
	mutex Mutex
	// owner is the CallerID of the owner; 0: none. The owner writes it, after it has locked and before it unlocks m.
	// Other callers read it at any time, and never find their own number.
	owner atomic.Uint64
	depth int // how many further times the owner has locked; only the owner uses it
}

// Lock takes the mutex, or waits until it can. The owner locks it once more.
func (r *RecursiveMutex) Lock() {
	if me := calls.CallerID(); !r.relock(me) {
		r.mutex.Lock()
		r.owner.Store(me)
	}
}

// TryLock is Lock if that is possible at once, and reports whether it was. It does not block.
func (r *RecursiveMutex) TryLock() bool {
	me := calls.CallerID()
	return r.relock(me) || r.own(me, r.mutex.TryLock())
}

// LockTimeout is Lock for at most d: it returns false if the mutex was not to be had in time. If d <= 0 it is TryLock.
func (r *RecursiveMutex) LockTimeout(d time.Duration) bool {
	me := calls.CallerID()
	return r.relock(me) || r.own(me, r.mutex.LockTimeout(d))
}

// LockContext is Lock until ctx is done: then it returns the cause, also if the mutex was free or the caller's own.
func (r *RecursiveMutex) LockContext(ctx context.Context) error {
	me := calls.CallerID()
	if _, err := under(ctx); err != nil || r.relock(me) {
		return err
	}
	err := r.mutex.LockContext(ctx)
	r.own(me, err == nil)
	return err
}

// relock locks once more if the caller, whose CallerID is me, is the owner. It reports whether it is.
func (r *RecursiveMutex) relock(me uint64) bool {
	mine := r.owner.Load() == me
	if mine {
		r.depth++
	}
	return mine
}

// own makes the caller, whose CallerID is me, the owner, if it has locked m. It returns has.
func (r *RecursiveMutex) own(me uint64, has bool) bool {
	if has {
		r.owner.Store(me)
	}
	return has
}

// Unlock undoes one Lock. It never blocks. It panics if the caller is not the owner.
func (r *RecursiveMutex) Unlock() {
	switch {
	case r.owner.Load() != calls.CallerID():
		panic("marcel: unlock of a RecursiveMutex by one that does not hold it")
	case r.depth > 0:
		r.depth--
	default:
		r.owner.Store(0)
		r.mutex.Unlock()
	}
}
