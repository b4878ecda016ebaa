package limit

import (
	"context"
	"sync"
	"time"
)

// steps is the number of timers, one after the other, by which a limit counts its time. A stop of the process, however
// long, counts as one step at most.
const steps = 20

// Limit is a timer that counts only time in which this process could run. Safe for concurrent use.
//
//	running --- the last step is over ---> expired: f was called
//	running --- Stop ---> stopped: f is never called
type Limit struct {
	step time.Duration
	f    func()

	mu        sync.Mutex // guards the fields below; held while f runs
	remaining int        // steps; 0: expired or stopped
	timer     *time.Timer
}

// After calls f once this process has been able to run for d, unless Stop is called before. f runs in a goroutine of
// its own and must not block, nor call Stop. It runs not before d has passed, and at most a twentieth of d later, not
// counting time in which the process could not run.
func After(d time.Duration, f func()) *Limit {
	l := &Limit{step: d / steps, f: f, remaining: steps}
	l.mu.Lock() // the first step may be over before timer is set
	defer l.mu.Unlock()
	l.timer = time.AfterFunc(l.step, l.countStep)
	return l
}

// countStep runs when a step is over.
func (l *Limit) countStep() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.remaining == 0 {
		return
	}
	if l.remaining--; l.remaining == 0 {
		l.f()
		return
	}
	l.timer.Reset(l.step)
}

// Stop ends the limit. When Stop returns, f has been called and has returned, or will never be called. Calling Stop
// again does nothing.
func (l *Limit) Stop() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.remaining = 0
	l.timer.Stop()
}

// Context returns a copy of ctx that also ends, with the cause context.DeadlineExceeded, once this process has been
// able to run for d. stop ends the copy; the caller must call it.
func Context(ctx context.Context, d time.Duration) (bounded context.Context, stop func()) {
	bounded, cancel := context.WithCancelCause(ctx)
	l := After(d, func() { cancel(context.DeadlineExceeded) })
	return bounded, func() {
		l.Stop()
		cancel(context.Canceled)
	}
}

// Past is a deadline that lies in the past: reads and writes fail at once.
var Past = time.Unix(1, 0)

// Bound makes all reads and writes of c fail with os.ErrDeadlineExceeded, also those that are under way, once this
// process has been able to run for d. After Stop the caller may set deadlines of its own.
func Bound(c interface{ SetDeadline(time.Time) error }, d time.Duration) *Limit {
	return After(d, func() { _ = c.SetDeadline(Past) }) // fails if c is closed: then reads and writes fail as well
}
