package rma

import (
	"context"
	"sync"
	"sync/atomic"

	"github.com/pm2-go/pm2/internal/shelf"
	"github.com/pm2-go/pm2/marcel"
	"github.com/pm2-go/pm2/pioman"
)

// bell wakes all threads that wait at it, and each looks at its condition again. The zero value is ready; any thread,
// goroutine or callback may ring it.
type bell struct {
	waiting atomic.Int32 // length of the list; a waiter writes it, ring reads it without the lock
	mu      marcel.SpinLock
	line    shelf.List[bellWaiter] // under mu
}

// bellWaiter is a thread in the list.
type bellWaiter struct {
	completion pioman.Completion
	node       shelf.Node[bellWaiter]
}

var bellWaiters = sync.Pool{New: func() any { return &bellWaiter{} }}

// wait sleeps until the bell rings, or ctx is done: then it returns the cause. It returns at once if met says true
// after the caller has entered the list. The other errors are those of pioman.Completion.Wait.
func (b *bell) wait(ctx context.Context, e *pioman.Engine, met func() bool) error {
	s := bellWaiters.Get().(*bellWaiter)
	s.completion.Reset()
	b.mu.Lock()
	b.line.Push(&s.node, s)
	b.mu.Unlock()
	b.waiting.Add(1) // a full fence before met
	var err error
	if !met() {
		if ctx.Done() == nil {
			err = s.completion.Park(e, 1)
		} else {
			err = s.completion.WaitContext(ctx, e, 1)
		}
	}
	b.waiting.Add(-1)
	b.mu.Lock() // after it no ring has s in hand
	b.line.Remove(&s.node)
	b.mu.Unlock()
	bellWaiters.Put(s)
	return err
}

// ring wakes all waiters. The caller has changed what they look at before, by an atomic operation. It does not block.
func (b *bell) ring() {
	if b.waiting.Load() == 0 {
		return
	}
	b.mu.Lock()
	for s := b.line.First(); s != nil; s = s.node.Next() {
		s.completion.Signal(1)
	}
	b.mu.Unlock()
}
