package sched

import (
	"testing"
	"time"
)

// A canceler that has read the kind of an earlier wait must not end the wait of another kind that has begun
// meanwhile: here the thread's own note of the kind is the old one, as the canceler sees it then.
func TestCancelGoesByTheKindOfTheWaitItEnds(t *testing.T) {
	_ = patient(t).Spawn(Attr{}, func() {
		for _, it := range []struct {
			name       string
			old, kind  Kind
			isCanceled bool
		}{
			{"a mutex after a semaphore", InSemaphore, InMutex, false},
			{"uninterruptible after a semaphore", InSemaphore, InSemaphore | Uninterruptible, false},
			{"a semaphore after a mutex", InMutex, InSemaphore, true},
		} {
			var mu Spin
			var q WaitQueue
			woken := false
			h := Spawn(func() {
				c := Enter()
				mu.Lock()
				_, err := c.As(it.kind).WaitUntil(&q, &mu, Limit{Timeout: time.Hour})
				woken = err == nil
			})
			for !firstIsParked(&q, &mu) {
				Yield()
			}
			h.thread.waiter.kind = it.old
			if err := h.Cancel(); err != nil {
				t.Error(err)
			}
			c := Enter()
			mu.Lock()
			w := q.Pop()
			mu.Unlock()
			if w != nil {
				c.Wake(w)
			}
			c.Leave()
			_ = h.Join()
			if woken == it.isCanceled {
				t.Errorf("%s: the wait was ended by the cancel: %v", it.name, !woken)
			}
		}
	}).Join()
}

// firstIsParked tells whether the owner of a BoundedWait stands first in q, and has parked.
func firstIsParked(q *WaitQueue, mu *Spin) (parked bool) {
	c := Visit()
	mu.Lock()
	parked = !q.Empty() // it holds mu until it is parked
	mu.Unlock()
	c.Leave()
	return parked
}
