package pioman

import (
	"runtime"
	"sync/atomic"
	"time"
)

// goroutine is the waiting of a plain goroutine: Go's scheduler knows what to do when it
// blocks, and nothing tells whether others wait for its processor.
type goroutine struct{}

func (goroutine) ready() bool       { return false }
func (goroutine) yield()            { runtime.Gosched() }
func (goroutine) blocking(f func()) { f() }

func (goroutine) release(s *semaphore) {
	s.unit <- struct{}{}
	readied.Add(1)
}

// readied counts the goroutines that were woken: see handsOver.
var readied atomic.Uint64

// handsOver is what an attachment may ask of a scheduler beyond Scheduler: to have the goroutines run at
// once that the caller, a poller, has made ready. They lie in the Go scheduler's queue for
// its P, and other Ms that look for work leave it a few microseconds to run them itself: a
// nanosleep, which the kernel makes 60 us of.
type handsOver interface{ HandOver() }

// handOver is for a poller that holds no queue, and has read readied before it polled.
func (a *attachment) handOver(before uint64) {
	if readied.Load() != before {
		if h, ok := a.s.(handsOver); ok {
			h.HandOver()
		}
	}
}

func (g goroutine) acquireOrCancel(s *semaphore) bool { return g.acquire(s, forever) }

func (goroutine) acquire(s *semaphore, limit time.Duration) bool {
	if limit == forever {
		<-s.unit
		return true
	}
	select {
	case <-s.unit:
		return true
	default:
	}
	if limit <= 0 {
		return false
	}
	if s.timer == nil {
		s.timer = time.NewTimer(limit)
	} else {
		s.timer.Reset(limit)
	}
	defer s.timer.Stop()
	select {
	case <-s.unit:
		return true
	case <-s.timer.C:
		return false
	}
}
