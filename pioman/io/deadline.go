package pio

import (
	"time"

	"github.com/pm2-go/pm2/marcel"
)

// deadline is the time at which the operations of a direction end at the latest. It sets and clears the bit
// expired of direction.news; operations look only at that bit.
//
// The timer is the Go runtime's: it needs no scheduler of marcel, and it fires on a plain
// goroutine. A late firing looks at the deadline under mu, and finds one that was moved meanwhile.
type deadline struct {
	mu    marcel.Mutex
	at    time.Time   // zero: none; mu
	timer *time.Timer // nil: there was no future deadline yet; mu
}

// setDeadline moves the deadline; zero: there is none. A deadline in the past ends the operation in
// progress. setDeadline allocates at the first future deadline only.
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

// expireOrWait ends the operations if the deadline has passed; else it sets the timer for the rest of the time, since
// the deadline, or the wall clock, may have moved. The caller holds limit.mu.
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

// setDeadlines moves the deadlines of some directions.
func (d *descriptor) setDeadlines(t time.Time, directions ...*direction) error {
	return d.control("set", func(int) error {
		for _, dir := range directions {
			dir.setDeadline(t)
		}
		return nil
	})
}

// SetDeadline implements net.Conn: from t on operations, those in progress included, end with os.ErrDeadlineExceeded. A
// zero t means never.
func (d *descriptor) SetDeadline(t time.Time) error { return d.setDeadlines(t, &d.rd, &d.wr) }
