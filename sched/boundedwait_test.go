package sched

import (
	"sync/atomic"
	"testing"
	"time"
)

// A waiter that parks under its queue's lock is not made ready before that is unlocked, whichever claimer has not
// popped it. Here the owner is a thread that has not begun: made ready too early, it runs.
func TestClaimerWaitsForTheQueuesLock(t *testing.T) {
	s := patient(t)
	for _, it := range []struct {
		name  string
		claim func(b *BoundedWait)
	}{
		{"a context", func(b *BoundedWait) { b.first.Fire(b.first.Ticket()) }},
		{"the clock", func(b *BoundedWait) {
			ts := &s.vps[0].timers
			b.limit.owner, b.expiry = b, &b.last
			ts.mu.Lock()
			ts.start(&b.limit, nanotime())
			ts.mu.Unlock()
		}},
		{"a canceler", func(b *BoundedWait) {
			b.kind, b.thread.currentWait = InSemaphore, b
			if err := (Thread{b.thread, b.thread.id}).Cancel(); err != nil {
				t.Error(err)
			}
		}},
	} {
		var ran atomic.Bool
		if !s.admitted() {
			t.Fatal("the scheduler has ended")
		}
		owner := newThread()
		owner.body, owner.vp = funcBody(func() { ran.Store(true) }), s.vps[0]
		owner.extras.Store(&extras{id: owner.id})
		var mu Spin
		mu.Lock()
		b := newBoundedWait(owner, 1)
		b.lock = &mu
		b.Open()
		go it.claim(b)
		for !b.Claimed() {
			time.Sleep(time.Millisecond)
		}
		time.Sleep(10 * time.Millisecond)
		if ran.Load() {
			t.Errorf("%s has made the owner ready while the lock was held", it.name)
		}
		mu.Unlock()
		for end := time.Now().Add(time.Minute); !ran.Load(); time.Sleep(time.Millisecond) {
			if time.Now().After(end) {
				t.Fatalf("%s has not made the owner ready", it.name)
			}
		}
	}
}
