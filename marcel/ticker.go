package marcel

import (
	"context"
	"math"
	"time"

	"github.com/pm2-go/pm2/sched"
)

// Ticker ticks at fixed times, every period after its start: it does not drift, however late a tick is
// noticed. Ticks are counted, not queued: a thread that comes late gets the number of all ticks that
// have passed, so none is lost and none comes twice. While no thread waits for a tick a Ticker costs
// nothing. The zero Ticker is stopped. It must not be copied after first use.
type Ticker struct {
	mu         sched.Spin // guards the fields below
	armed      bool       // the alarm is pending, or ringing
	period     int64      // ns; 0: stopped
	begin      time.Time  // of the first period
	takenTicks int64      // ticks that callers have got since begin
	queue      sched.WaitQueue
	alarm      sched.Alarm // rings at the next tick, while a thread waits for it
}

// NewTicker returns a ticker whose first tick is d from now. It panics if d <= 0.
func NewTicker(d time.Duration) *Ticker {
	t := &Ticker{}
	t.Reset(d)
	return t
}

// Reset makes the ticker tick every d from now on; ticks that were not taken are forgotten. It also
// starts a ticker that was stopped. It panics if d <= 0.
func (t *Ticker) Reset(d time.Duration) {
	if d <= 0 {
		panic("marcel: a Ticker needs a period above 0")
	}
	t.set(int64(d))
}

// Stop ends the ticks. Waiters return 0.
func (t *Ticker) Stop() { t.set(0) }

// set starts the ticker with a period, in ns, or stops it with 0. It wakes all waiters, which look at the ticker again.
func (t *Ticker) set(period int64) {
	now := time.Now()
	holding(&t.mu, func() *sched.Waiter {
		t.period, t.begin, t.takenTicks = period, now, 0
		if t.armed {
			t.armed = false
			t.alarm.Stop()
		}
		return t.queue.PopAll()
	})
}

// Wait waits for the next tick, unless some have passed that were not taken, and returns their number, at least 1; 0:
// the ticker was stopped. If several wait, each tick goes to one of them.
func (t *Ticker) Wait() int {
	n, _ := t.wait(nil)
	return n
}

// WaitTimeout is Wait for at most d; 0 also if there was no tick in time. If d <= 0 it is TryWait.
func (t *Ticker) WaitTimeout(d time.Duration) int {
	if d <= 0 {
		return t.TryWait()
	}
	n, _ := t.wait(within(d))
	return n
}

// WaitContext is Wait until ctx is done: then it returns 0 and the cause, also if ticks have passed.
func (t *Ticker) WaitContext(ctx context.Context) (int, error) {
	lim, err := under(ctx)
	if err != nil {
		return 0, err
	}
	return t.wait(lim)
}

// wait is Wait within lim; nil: without a limit. Another thread may take the ticks first; then it waits again, under
// the same limit.
func (t *Ticker) wait(lim *sched.Limit) (int, error) {
	var end time.Time
	timed := lim != nil && lim.Timeout > 0
	if timed {
		end = time.Now().Add(lim.Timeout)
	}
	for {
		if n, more := t.take(); !more {
			return n, nil
		}
		s := sched.Current()
		c := sched.EnterLibrary()
		t.mu.Lock()
		if !t.await(c, s) {
			t.mu.Unlock()
			c.Leave()
			continue
		}
		if err := wait(c.As(sched.InTicker), &t.queue, &t.mu, lim); err != nil {
			return 0, err
		}
		if timed {
			lim.Timeout = timeLeft(end)
		}
	}
}

// TryWait returns the number of ticks that have passed and were not taken, and takes them. It never blocks.
func (t *Ticker) TryWait() int {
	n, _ := t.take()
	return n
}

// take takes the ticks that have passed. wait: there are none, and the ticker runs.
func (t *Ticker) take() (n int, wait bool) {
	holding(&t.mu, func() *sched.Waiter {
		if n = t.passed(); n > 0 {
			t.takenTicks += int64(n)
		}
		wait = n == 0 && t.period != 0
		return nil
	})
	return n, wait
}

// passed returns the number of ticks that have passed and were not taken. Under mu.
func (t *Ticker) passed() int {
	if t.period == 0 {
		return 0
	}
	return int(int64(time.Since(t.begin))/t.period - t.takenTicks)
}

// await has the alarm ring at the next tick. It returns false if there is no tick to wait for, or s has been stopped:
// then the caller looks again. Under mu.
func (t *Ticker) await(c *sched.Co, s *sched.Scheduler) bool {
	if t.period == 0 || t.passed() > 0 {
		return false
	}
	if !t.armed {
		t.armed = t.alarm.Start(c, s, t.untilNext(), (*tickerRinger)(t))
	}
	return t.armed
}

// untilNext returns the time until the next tick that was not taken. Under mu.
func (t *Ticker) untilNext() time.Duration {
	if t.takenTicks >= math.MaxInt64/t.period {
		return math.MaxInt64
	}
	return time.Duration((t.takenTicks+1)*t.period) - time.Since(t.begin)
}

// tickerRinger is the sched.Ringer of a Ticker's alarm.
type tickerRinger Ticker

// Ring wakes all waiters. The first to look has the ticks, the others wait on.
func (r *tickerRinger) Ring(round uint32) {
	t := (*Ticker)(r)
	holding(&t.mu, func() *sched.Waiter {
		if !t.armed || t.alarm.Round() != round {
			return nil
		}
		t.armed = false
		return t.queue.PopAll()
	})
}

// Drop wakes all waiters, since the scheduler of the alarm has been stopped. They start the alarm on another scheduler.
func (r *tickerRinger) Drop(round uint32) { r.Ring(round) }

// Case returns the case "a tick": Select takes all that have passed and were not taken. A ticker that was stopped is
// never ready.
func (t *Ticker) Case() *TickerCase {
	_ = &t.mu
	return &TickerCase{ticker: t}
}

// TickerCase is the case of a Ticker. It may be used by one Select at a time, again and again; it must not be copied.
type TickerCase struct {
	_      [0]sched.Spin // go vet reports copies
	Ticks  int           // how many were taken, after the case was
	ticker *Ticker
}

// Try implements Case.
func (k *TickerCase) Try() bool {
	n := k.ticker.TryWait()
	if n > 0 {
		k.Ticks = n
	}
	return n > 0
}

// Enlist implements Case.
func (k *TickerCase) Enlist(w *sched.Waiter) bool {
	t := k.ticker
	_ = &t.mu // nil of the zero case
	s := sched.Current()
	c := sched.Visit()
	t.mu.Lock()
	ok := t.period == 0 || t.await(c, s)
	if ok {
		t.queue.Add(w)
	}
	t.mu.Unlock()
	c.Leave()
	return ok
}

// Withdraw implements Case.
func (k *TickerCase) Withdraw(w *sched.Waiter) { withdraw(&k.ticker.queue, &k.ticker.mu, w) }

// Taken implements Case: the waiter was woken because it is time, but others were, too.
func (k *TickerCase) Taken(*sched.Waiter) bool { return k.Try() }
