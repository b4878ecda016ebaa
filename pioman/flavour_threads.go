package pioman

import (
	"runtime"
	"time"
)

// goroutine is the waiting of a plain goroutine: Go's scheduler knows what to do when it
// blocks, and nothing tells whether others wait for its processor.
type goroutine struct{}

func (goroutine) ready() bool       { return false }
func (goroutine) yield()            { runtime.Gosched() }
func (goroutine) blocking(f func()) { f() }

func (goroutine) release(s *semaphore) { s.unit <- struct{}{} }

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
