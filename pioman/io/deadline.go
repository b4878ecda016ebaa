package pio

import (
	"time"

	"github.com/pm2-go/pm2/marcel"
)

// deadline is when a side's operations end at the latest. It sets the side's bit
// expired and takes it back; what is in news is all that operations look at.
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
func (s *direction) setDeadline(t time.Time) {
	l := &s.limit
	l.mu.Lock()
	defer l.mu.Unlock()
	l.at = t
	if l.timer != nil {
		l.timer.Stop()
	}
	s.news.Clear(expired)
	s.expireOrWait()
}

// expire is what the timer calls.
func (s *direction) expire() {
	s.limit.mu.Lock()
	defer s.limit.mu.Unlock()
	s.expireOrWait()
}

// expireOrWait ends operations, or sets the timer for the rest of the time: the deadline, or the wall clock, may have
// moved. The caller holds limit.mu.
func (s *direction) expireOrWait() {
	l := &s.limit
	left := time.Until(l.at)
	switch {
	case l.at.IsZero():
	case left <= 0:
		s.news.Signal(expired)
	case l.timer == nil:
		l.timer = time.AfterFunc(left, s.expire)
	default:
		l.timer.Reset(left)
	}
}

// setDeadlines moves the deadlines of the sides given.
func (d *descriptor) setDeadlines(t time.Time, sides ...*direction) error {
	return d.control("set", func(int) error {
		for _, s := range sides {
			s.setDeadline(t)
		}
		return nil
	})
}

// SetDeadline ends operations, those in progress, too, with os.ErrDeadlineExceeded at t. Zero: never.
func (d *descriptor) SetDeadline(t time.Time) error { return d.setDeadlines(t, &d.rd, &d.wr) }
