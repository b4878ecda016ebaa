package flow

import "sync/atomic"

// freeList keeps up to 16 objects that are not in use. No caller waits for another one, so hooks may take one: a caller
// that finds the list in use by another one gets a new object, or leaves its own to the collector.
type freeList[T any] struct {
	busy atomic.Bool // a caller is inside
	free []*T        // belongs to that caller
}

const keptFree = 16

func (l *freeList[T]) get() *T {
	if !l.busy.CompareAndSwap(false, true) {
		return new(T)
	}
	defer l.busy.Store(false)
	n := len(l.free) - 1
	if n < 0 {
		return new(T)
	}
	x := l.free[n]
	l.free[n], l.free = nil, l.free[:n]
	return x
}

func (l *freeList[T]) put(x *T) {
	if !l.busy.CompareAndSwap(false, true) {
		return
	}
	if len(l.free) < keptFree {
		l.free = append(l.free, x)
	}
	l.busy.Store(false)
}
