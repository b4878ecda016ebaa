package marcel

import (
	"context"
	"time"

	"github.com/pm2-go/pm2/sched"
)

// Every primitive that waits does so in up to four forms, which behave alike:
//
//	Lock                 until it can
//	TryLock              does not wait
//	LockTimeout(d)       for at most d; if d <= 0 it is the Try form. It returns false
//	                     if the time was over
//	LockContext(ctx)     until ctx is done; if it is done already it fails at once,
//	                     even if there was nothing to wait for. It returns
//	                     context.Cause(ctx)
//
// One that gives up has taken nothing, and nothing is lost by it: see
// sched.WaitUntil. A *sched.Limit of nil stands for no limit.

// within is the limit of the Timeout forms.
func within(d time.Duration) *sched.Limit {
	if d <= 0 {
		d = -1
	}
	return &sched.Limit{Timeout: d}
}

// under is the limit of the Context forms. It is called first of all, so that what
// is wrong with ctx comes out while nothing is held.
func under(ctx context.Context) (*sched.Limit, error) {
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	return &sched.Limit{Context: ctx}, nil
}

// until is the Context form of wait.
func until(ctx context.Context, wait func(*sched.Limit) error) error {
	lim, err := under(ctx)
	if err == nil {
		err = wait(lim)
	}
	return err
}

// timeLeft is the rest of a time limit, as sched.Limit has it: negative if it is
// over.
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

// holding calls do under mu, and wakes the waiters that it returns: for what never blocks, and may take 3 ns more than
// without a function. The address of a nil primitive's mu panics in the caller, not while the VP is held.
func holding(mu *sched.Spin, do func() *sched.Waiter) {
	c := sched.Visit()
	mu.Lock()
	w := do()
	mu.Unlock()
	c.WakeAll(w)
	c.Leave()
}
