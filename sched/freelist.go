package sched

import (
	"sync/atomic"

	"github.com/pm2-go/pm2/asm"
)

// freeList keeps objects that are not in use, some for each CPU. Objects are taken and given back under a Spin, so a
// sync.Pool would not do: it takes a mutex now and then, which a thread may hold that was preempted, on a VP
// where another one waits for that Spin. A freeList waits for nothing: while another one is inside, there is none to
// be had, and none is kept.
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
