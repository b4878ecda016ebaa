package pio

import (
	"time"

	"github.com/pm2-go/pm2/marcel"
)

// deadline is when a side's operations end at the latest. It sets the side's bit
// expired and takes it back; what is in the word is all that operations look at.
//
// The timer is the Go runtime's: it needs no scheduler of ours, and it fires on a plain
// goroutine. A firing that comes too late, for a deadline that was moved
// meanwhile, finds that under mu.
type deadline struct {
	mu    marcel.Mutex
	at    time.Time // zero: none
	timer *time.Timer
}

// setDeadline moves the deadline; zero: none. One that has passed ends the operation in
// progress. It allocates at the first future deadline only.
func (s *side) setDeadline(t time.Time) {
	l := &s.limit
	l.mu.Lock()
	defer l.mu.Unlock()
	l.at = t
	if l.timer != nil {
		l.timer.Stop()
	}
	if t.IsZero() {
		s.word.And(^expired)
		return
	}
	left := time.Until(t)
	if left <= 0 {
		s.wake(expired)
		return
	}
	s.word.And(^expired)
	if l.timer == nil {
		l.timer = time.AfterFunc(left, s.expire)
	} else {
		l.timer.Reset(left)
	}
}

// expire is what the timer calls.
func (s *side) expire() {
	l := &s.limit
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.at.IsZero() {
		return
	}
	if left := time.Until(l.at); left > 0 {
		l.timer.Reset(left) // moved meanwhile, or the wall clock was
		return
	}
	s.wake(expired)
}
