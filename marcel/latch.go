package marcel

import (
	"context"
	"fmt"
	"time"

	"github.com/pm2-go/pm2/sched"
)

// Latch opens when it has been counted down to zero, and stays open. Threads and goroutines wait for it; they and hooks
// count it down. All waiters go on at once, in no order. The zero value is open. It takes 32 bytes and must not be
// copied after first use.
type Latch struct {
	n countdown
}

// NewLatch returns a latch that opens after n calls of CountDown; it panics unless n is 0 to 1<<62 - 1.
func NewLatch(n int) *Latch {
	l := &Latch{}
	if !l.n.add(int64(n)) {
		panic(fmt.Sprintf("marcel: a latch of %d: 0 to %d can be", n, mostCounted))
	}
	return l
}

// CountDown counts one event and opens the latch with the last one. It never blocks. If the latch is open it does
// nothing.
func (l *Latch) CountDown() { l.n.add(-1) }

// Count returns how many calls of CountDown are missing until the latch opens; 0: it is open.
func (l *Latch) Count() int { return int(l.n.state.Load() >> 1) }

// Wait waits until the latch is open.
func (l *Latch) Wait() { _ = l.n.wait(sched.InLatch, nil) }

// TryWait reports whether the latch is open. It does not block.
func (l *Latch) TryWait() bool { return l.n.zero() }

// WaitTimeout is Wait for at most d: it returns false if the latch did not open in time. If d <= 0 it is TryWait.
func (l *Latch) WaitTimeout(d time.Duration) bool { return l.n.wait(sched.InLatch, within(d)) == nil }

// WaitContext is Wait until ctx is done: then it returns the cause, also if the latch was open.
func (l *Latch) WaitContext(ctx context.Context) error {
	return until(ctx, func(lim *sched.Limit) error { return l.n.wait(sched.InLatch, lim) })
}

// Case returns the case "Wait": it can be taken when the latch is open, as often as it is asked for.
func (l *Latch) Case() Case {
	_ = &l.n // nil panics here
	return (*zeroCase)(&l.n)
}
