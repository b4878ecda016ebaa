package marcel

import (
	"context"
	"time"

	"github.com/pm2-go/pm2/sched"
)

// Every primitive that waits does so in up to four forms, which behave alike:
//
//	Lock                 waits until it can
//	TryLock              does not wait
//	LockTimeout(d)       waits for at most d; if d <= 0 it is the Try form. It returns
//	                     false if the time was over
//	LockContext(ctx)     waits until ctx is done; if ctx is done already it fails at once,
//	                     even if there was nothing to wait for. It returns
//	                     context.Cause(ctx)
//
// A context is the first argument, a time the last one, but for a function or a list of cases, which stands behind it.
// A waiter that gives up has taken nothing, and no unit or message is lost: see sched.Co.WaitUntil. A nil *sched.Limit
// is no limit.

// within returns the limit of the Timeout forms.
func within(d time.Duration) *sched.Limit {
	if d <= 0 {
		d = -1
	}
	return &sched.Limit{Timeout: d}
}

// under returns the limit of the Context forms; an error: ctx is done already. Callers call it first, so that a nil ctx
// panics while nothing is held.
func under(ctx context.Context) (*sched.Limit, error) {
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	return &sched.Limit{Context: ctx}, nil
}

// until calls wait with the limit of the Context forms, unless ctx is done already.
func until(ctx context.Context, wait func(*sched.Limit) error) error {
	lim, err := under(ctx)
	if err == nil {
		err = wait(lim)
	}
	return err
}

// timeLeft returns the time until end as sched.Limit.Timeout has it: negative if end is over.
func timeLeft(end time.Time) time.Duration {
	if d := time.Until(end); d > 0 {
		return d
	}
	return -1
}

// wait parks c at the end of q until it is woken or lim is reached.
func wait(c *sched.Co, q *sched.WaitQueue, mu *sched.Spin, lim *sched.Limit) error {
	if lim == nil {
		c.Wait(q, mu)
		return nil
	}
	_, err := c.WaitUntil(q, mu, *lim)
	return err
}

// holding calls do under mu, and wakes the waiters that do returns. It never blocks. It takes 3 ns longer than the same
// code without a function, so hot paths do not use it. A caller that passes the mu of a nil primitive panics before it
// holds the VP.
func holding(mu *sched.Spin, do func() *sched.Waiter) {
	c := sched.Visit()
	mu.Lock()
	w := do()
	mu.Unlock()
	c.WakeAll(w)
	c.Leave()
}
