package sched

import (
	"sync/atomic"
	"testing"

	"github.com/pm2-go/pm2/internal/test/effort"
)

// TestExtrasAtTheEnd: extras that an outsider makes for a thread that is about to end are not the next thread's.
func TestExtrasAtTheEnd(t *testing.T) {
	n := effort.Of(500_000)
	s := running(t, Config{VPs: 1})
	var target atomic.Pointer[Thread]
	var over atomic.Bool
	outsider := make(chan struct{})
	go func() {
		defer close(outsider)
		for !over.Load() {
			if h := target.Load(); h != nil {
				h.makeExtras()
			}
		}
	}()
	var wrong atomic.Int64
	<-s.Spawn(Attr{}, func() {
		hs := make([]Thread, 64)
		for range n / len(hs) {
			for i := range hs {
				hs[i] = Spawn(func() {
					h := Self()
					if x := h.thread.extras.Load(); x != nil && x.id != h.id {
						wrong.Add(1)
					}
					target.Store(&h)
				})
			}
			for _, h := range hs {
				_ = h.Join()
			}
		}
	}).done()
	over.Store(true)
	<-outsider
	if n := wrong.Load(); n != 0 {
		t.Errorf("%d threads had the extras of another one", n)
	}
}

// done is closed when the thread has ended.
func (h Thread) done() <-chan struct{} {
	c := make(chan struct{})
	go func() { _ = h.Join(); close(c) }()
	return c
}
