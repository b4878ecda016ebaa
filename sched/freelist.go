package sched

import (
	"sync/atomic"

	"github.com/pm2-go/pm2/asm"
)

// freeList keeps objects that are not in use, some for each CPU. Its callers hold a Spin, so they cannot use
// sync.Pool: that takes a mutex now and then, and a preempted thread may hold the mutex on a VP
// where another thread waits for the Spin. A freeList never waits: while another caller is inside, get returns nil and
// put drops the object.
type freeList[T any] struct {
	shards [8]struct {
		busy atomic.Uint32
		free []*T
		_    [96]byte
	}
}

// keptFree bounds what is kept for each CPU.
const keptFree = 256

// get returns nil if there is none.
func (l *freeList[T]) get() (x *T) {
	s := &l.shards[uint(asm.CPU())%uint(len(l.shards))]
	if !s.busy.CompareAndSwap(0, 1) {
		return nil
	}
	if n := len(s.free) - 1; n >= 0 {
		x, s.free[n], s.free = s.free[n], nil, s.free[:n]
	}
	s.busy.Store(0)
	return x
}

func (l *freeList[T]) put(x *T) {
	s := &l.shards[uint(asm.CPU())%uint(len(l.shards))]
	if !s.busy.CompareAndSwap(0, 1) {
		return
	}
	if len(s.free) < keptFree {
		s.free = append(s.free, x)
	}
	s.busy.Store(0)
}
