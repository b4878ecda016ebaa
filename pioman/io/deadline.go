package pio

import (
	"time"

	"github.com/pm2-go/pm2/marcel"
)

// deadline is when the operations of a direction end at the latest. It sets the bit
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
func (dir *direction) setDeadline(t time.Time) {
	l := &dir.limit
	l.mu.Lock()
	defer l.mu.Unlock()
	l.at = t
	if l.timer != nil {
		l.timer.Stop()
	}
	dir.news.Clear(expired)
	dir.expireOrWait()
}

// expire is what the timer calls.
func (dir *direction) expire() {
	dir.limit.mu.Lock()
	defer dir.limit.mu.Unlock()
	dir.expireOrWait()
}

// expireOrWait ends operations, or sets the timer for the rest of the time: the deadline, or the wall clock, may have
// moved. The caller holds limit.mu.
func (dir *direction) expireOrWait() {
	l := &dir.limit
	left := time.Until(l.at)
	switch {
	case l.at.IsZero():
	case left <= 0:
		dir.news.Signal(expired)
	case l.timer == nil:
		l.timer = time.AfterFunc(left, dir.expire)
	default:
		l.timer.Reset(left)
	}
}

// setDeadlines moves the deadlines of those directions.
func (d *descriptor) setDeadlines(t time.Time, directions ...*direction) error {
	return d.control("set", func(int) error {
		for _, dir := range directions {
			dir.setDeadline(t)
		}
		return nil
	})
}

// SetDeadline ends operations, those in progress, too, with os.ErrDeadlineExceeded at t. Zero: never.
func (d *descriptor) SetDeadline(t time.Time) error { return d.setDeadlines(t, &d.rd, &d.wr) }
