package nmad

import "github.com/pm2-go/pm2/marcel"

// freeList keeps up to 16 objects that are not in use. A hook may take one, which a sync.Pool
// would not do for: that takes a mutex now and then, which a thread may hold that was preempted, behind the hook.
type freeList[T any] struct {
	mu   marcel.SpinLock
	free []*T
}

const keptFree = 16

func (l *freeList[T]) get() *T {
	l.mu.Lock()
	n := len(l.free) - 1
	if n < 0 {
		l.mu.Unlock()
		return new(T)
	}
	x := l.free[n]
	l.free[n], l.free = nil, l.free[:n]
	l.mu.Unlock()
	return x
}

func (l *freeList[T]) put(x *T) {
	l.mu.Lock()
	if len(l.free) < keptFree {
		l.free = append(l.free, x)
	}
	l.mu.Unlock()
}
