package shelf

import (
	"sync/atomic"

	"github.com/pm2-go/pm2/asm"
)

// Free keeps objects that are not in use, up to Most for each of 8 groups of CPUs. Its callers hold a spin lock, or are
// inside a hook, so they cannot use sync.Pool: that takes a mutex now and then, and a preempted thread may hold the
// mutex on a VP where another thread waits for the spin lock. Free never waits: while another caller is inside, Get
// finds nothing and Put leaves the object to the collector. Any thread, goroutine or hook may call both. It must not be
// copied after first use.
type Free[T any] struct {
	Most   int // the caller sets it before first use
	shards [8]struct {
		busy atomic.Uint32 // 1: a caller is inside
		free []*T          // only the caller that is inside uses it
		_    [96]byte
	}
}

// Get takes an object out; nil: there is none.
func (f *Free[T]) Get() (x *T) {
	s := &f.shards[uint(asm.CPU())%uint(len(f.shards))]
	if !s.busy.CompareAndSwap(0, 1) {
		return nil
	}
	if n := len(s.free) - 1; n >= 0 {
		x, s.free[n], s.free = s.free[n], nil, s.free[:n]
	}
	s.busy.Store(0)
	return x
}

// Put gives x, which nothing uses any more, to a later Get.
func (f *Free[T]) Put(x *T) {
	s := &f.shards[uint(asm.CPU())%uint(len(f.shards))]
	if !s.busy.CompareAndSwap(0, 1) {
		return
	}
	if len(s.free) < f.Most {
		s.free = append(s.free, x)
	}
	s.busy.Store(0)
}
