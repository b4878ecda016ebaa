package pioman

import (
	"sync/atomic"
	"testing"

	"github.com/pm2-go/pm2/hooks"
)

// handing is a scheduler that is asked to let goroutines run.
type handing struct {
	*byHand
	asked atomic.Int32
	held  atomic.Bool // the queue was held then
	e     *Engine
}

func (h *handing) HandOver() {
	h.asked.Add(1)
	if h.e.root.holder.Load() != 0 {
		h.held.Store(true)
	}
}

// One that has woken a goroutine while it polled lets it run once it holds no queue; one that has not,
// polls on.
func TestPollersHandOver(t *testing.T) {
	e := engine(t, Config{})
	s := &handing{byHand: newByHand(1), e: e}
	attach(t, e, s)
	once := func(c *Completion) {
		var task Task
		task.Init("once", func(*Task) Status { return Done }, OneShot)
		task.Notify(c, 1)
		submit(t, e, &task)
		for !c.Test(1) {
			s.set.Fire(hooks.Idle, 0)
		}
	}
	var c, d Completion
	once(&c)
	if n := s.asked.Load(); n != 0 {
		t.Errorf("asked %d times though no thread waited", n)
	}
	done := make(chan error, 1)
	go func() { done <- d.Wait(e, 1) }()
	eventually(t, "a thread waits", d.hasWaiter)
	once(&d)
	finishes(t, "wait", func() {
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
	if n := s.asked.Load(); n != 1 || s.held.Load() {
		t.Errorf("asked %d times for one goroutine, holding the queue: %v", n, s.held.Load())
	}
}
