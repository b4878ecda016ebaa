package limit

import (
	"context"
	"sync"
	"time"
)

// steps is how many parts a limit is counted in: a stop, however long, counts as one at most.
const steps = 20

// Limit is a time that runs out. Safe for concurrent use.
//
//	running --- steps seen ---> over: the function is called
//	running --- Stop ---> stopped: it is not
type Limit struct {
	step time.Duration
	f    func()

	mu    sync.Mutex // held while f is called
	left  int        // steps; 0: over or stopped
	timer *time.Timer
}

// After calls f, which must not block, once this process has seen d go by, unless Stop is
// called before. That is not earlier than d, and a twentieth of it later at most but for the
// time in which the process could not run.
func After(d time.Duration, f func()) *Limit {
	l := &Limit{step: d / steps, f: f, left: steps}
	l.mu.Lock() // a step may be seen before the timer is kept
	defer l.mu.Unlock()
	l.timer = time.AfterFunc(l.step, l.seen)
	return l
}

// seen counts a step.
func (l *Limit) seen() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.left == 0 {
		return
	}
	if l.left--; l.left == 0 {
		l.f()
		return
	}
	l.timer.Reset(l.step)
}

// Stop ends the limit. When it returns, the function of the limit has been called and has
// returned, or never will be called.
// Calling it again does nothing.
func (l *Limit) Stop() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.left = 0
	l.timer.Stop()
}

// Context is a copy of ctx that also ends once this process has seen d go by; then context.Cause says
// context.DeadlineExceeded. stop ends it, and must be called.
func Context(ctx context.Context, d time.Duration) (bounded context.Context, stop func()) {
	bounded, cancel := context.WithCancelCause(ctx)
	l := After(d, func() { cancel(context.DeadlineExceeded) })
	return bounded, func() {
		l.Stop()
		cancel(context.Canceled)
	}
}

// Conn is what Bound needs of a net.Conn.
type Conn interface {
	SetDeadline(time.Time) error
}

// Past is a deadline that is over.
var Past = time.Unix(1, 0)

// Bound has all reads and writes of c fail with os.ErrDeadlineExceeded, those under way
// included, once this process has seen d go by. After Stop the deadlines are the caller's.
func Bound(c Conn, d time.Duration) *Limit {
	return After(d, func() { _ = c.SetDeadline(Past) }) // closed meanwhile: as well
}
