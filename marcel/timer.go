package marcel

import (
	"context"
	"time"

	"github.com/pm2-go/pm2/sched"
)

// Timer is one event in the future, after time.Timer, for threads and goroutines alike. Threads wait
// for a timer made by NewTimer with Wait, or with Case in a Select. A timer made by AfterFunc runs a
// function. An expiry is taken once: by one Wait, by one Select, or by Stop or Reset. So no thread
// gets a stale expiry. The zero Timer is not running: start it with Reset. It must not be copied after
// first use.
//
// A timer is never early. Starting and stopping it allocates nothing and costs the same however many
// are pending: it is an entry in the timer wheel (Varghese and Lauck, 1987) of the VP on which it is
// started. It belongs to the scheduler of the thread that starts it, or to the default one; if that is
// stopped meanwhile, so is the timer.
type Timer struct {
	mu    sched.Spin // guards the fields below
	state timerState
	queue sched.WaitQueue // callers of Wait, while it runs, and Selects
	alarm sched.Alarm     // pending while it runs
}

// timerState of a Timer made by NewTimer. That of one made by AfterFunc is its alarm's.
//
//	idle ─── Reset ──────────────────────────────► running
//	running ─ its time is over, no waiter ───────► expired
//	running ─ its time is over, some waiters ────► idle: the first waiter gets the expiry
//	running ─ Stop ──────────────────────────────► idle
//	expired ─ Wait, Select, Stop ────────────────► idle
//	expired ─ Reset ─────────────────────────────► running
type timerState uint8

const (
	idle timerState = iota
	running
	expired
)

// NewTimer returns a timer that expires after d; if d <= 0 it has expired.
func NewTimer(d time.Duration) *Timer {
	t := &Timer{}
	t.Reset(d)
	return t
}

// AfterFunc runs f on a new thread after d: a thread of the caller's scheduler, or of the default one
// if the caller is a plain goroutine. The thread is like one that Spawn makes. The timer can be
// stopped and reset, not waited for. A pending function does not keep Stop of the scheduler from
// returning; it is dropped then.
func AfterFunc(d time.Duration, f func()) *Timer {
	if f == nil {
		panic("marcel: AfterFunc of a nil function")
	}
	t := &Timer{}
	t.start(func(c *sched.Co, s *sched.Scheduler) bool { return t.alarm.StartFunc(c, s, d, f) })
	return t
}

// start calls begin under the lock, with the scheduler whose timers are to be used, until that has not been stopped in
// the meantime.
func (t *Timer) start(begin func(*sched.Co, *sched.Scheduler) bool) {
	for ok := false; !ok; {
		s := sched.Current()
		c := sched.Visit()
		t.mu.Lock()
		ok = begin(c, s)
		t.mu.Unlock()
		c.Leave()
	}
}

// Stop keeps the timer from expiring. It returns true if the timer was running, or had expired and its
// expiry was not taken; with AfterFunc, if f will not run. The waiters return. It never blocks, and
// does not wait for a function that runs.
func (t *Timer) Stop() bool {
	_ = &t.mu // nil panics here, not while the VP is held
	c := sched.Visit()
	t.mu.Lock()
	active := t.takeBack()
	w := t.queue.PopAll()
	t.mu.Unlock()
	c.WakeAll(w)
	c.Leave()
	return active
}

// Reset stops the timer and starts it again: it will expire after d. It returns what Stop would
// return; waiters go on waiting. With AfterFunc, f runs once more; if f runs at the time of the call,
// the two runs may overlap. It never blocks.
func (t *Timer) Reset(d time.Duration) (active bool) {
	_ = &t.mu
	var w *sched.Waiter
	t.start(func(c *sched.Co, s *sched.Scheduler) bool {
		active = t.takeBack() || active
		switch {
		case t.alarm.ForFunc():
			return t.alarm.Restart(c, s, d)
		case d <= 0:
			w = t.expire()
			return true
		}
		t.state = running
		return t.alarm.Start(c, s, d, (*timerRinger)(t))
	})
	if w != nil {
		wakeAll(w)
	}
	return active
}

// wakeAll wakes the waiters that PopAll has returned.
func wakeAll(w *sched.Waiter) {
	c := sched.Visit()
	c.WakeAll(w)
	c.Leave()
}

// takeBack makes t idle, or an alarm for a function not pending, and reports whether there was anything to take back.
// Under the lock.
func (t *Timer) takeBack() bool {
	if t.alarm.ForFunc() {
		return t.alarm.Stop()
	}
	active := t.state != idle
	if t.state == running {
		t.alarm.Stop() // if it is ringing already, the Ringer finds that its round is over
	}
	t.state = idle
	return active
}

// expire gives the expiry to the first waiter, if there is one, and returns all waiters, for the caller to wake. Under
// mu.
func (t *Timer) expire() *sched.Waiter {
	w := calls.PopAllGiveFirst(&t.queue)
	if t.state = idle; w == nil {
		t.state = expired
	}
	return w
}

// timerRinger is the sched.Ringer of a Timer's alarm.
type timerRinger Timer

// Ring ends the timer: its time is over.
func (r *timerRinger) Ring(round uint32) { r.end(round, true) }

// Drop ends the timer: its scheduler has been stopped.
func (r *timerRinger) Drop(round uint32) { r.end(round, false) }

// end ends the timer, unless it was stopped or started again since the round.
func (r *timerRinger) end(round uint32, over bool) {
	t := (*Timer)(r)
	holding(&t.mu, func() *sched.Waiter {
		switch {
		case t.state != running || t.alarm.Round() != round:
			return nil
		case over:
			return t.expire()
		}
		t.state = idle
		return t.queue.PopAll()
	})
}

// Wait waits until the timer expires, takes the expiry, and returns true. It returns false if the
// timer does not run: it was never started, or was stopped, or another thread has taken the expiry. If
// several threads wait the first gets the expiry. It panics if the timer was made by AfterFunc.
func (t *Timer) Wait() bool {
	took, _ := t.wait(nil)
	return took
}

// WaitTimeout is Wait for at most d; false also if the timer has not expired in time. If d <= 0 it does not wait.
func (t *Timer) WaitTimeout(d time.Duration) bool {
	took, _ := t.wait(within(d))
	return took
}

// WaitContext is Wait until ctx is done: then it returns false and the cause, also if the timer has expired.
func (t *Timer) WaitContext(ctx context.Context) (bool, error) {
	lim, err := under(ctx)
	if err != nil {
		return false, err
	}
	return t.wait(lim)
}

// wait is Wait within lim; nil: without a limit.
func (t *Timer) wait(lim *sched.Limit) (took bool, err error) {
	_ = &t.mu
	c := sched.EnterLibrary()
	t.mu.Lock()
	switch {
	case t.alarm.ForFunc():
		t.mu.Unlock()
		c.Leave()
		panic(waitForFunc)
	case t.state != running:
		took = t.state == expired
		t.state = idle
		t.mu.Unlock()
		c.Leave()
		return took, nil
	}
	if c.As(sched.InTimer); lim == nil {
		return c.Wait(&t.queue, &t.mu), nil
	}
	return c.WaitUntil(&t.queue, &t.mu, *lim)
}

const waitForFunc = "marcel: wait for a Timer made by AfterFunc"

// TryWait takes the expiry if there is one. It never blocks.
func (t *Timer) TryWait() (took bool) {
	holding(&t.mu, func() *sched.Waiter {
		if took = t.state == expired; took {
			t.state = idle
		}
		return nil
	})
	return took
}

// Case returns the case "the timer expires, and this Select takes the expiry". A timer that is not running is never
// ready. It panics if the timer was made by AfterFunc.
func (t *Timer) Case() Case {
	forFunc := false
	holding(&t.mu, func() *sched.Waiter {
		forFunc = t.alarm.ForFunc()
		return nil
	})
	if forFunc {
		panic(waitForFunc)
	}
	return (*timerCase)(t)
}

// timerCase is the Case of a Timer.
type timerCase Timer

func (e *timerCase) Try() bool { return (*Timer)(e).TryWait() }

func (e *timerCase) Enlist(w *sched.Waiter) bool {
	calls.Given(w) // forget what the last use of w has left
	return enlist(&e.queue, &e.mu, w, func() bool { return e.state != expired })
}

func (e *timerCase) Withdraw(w *sched.Waiter)   { withdraw(&e.queue, &e.mu, w) }
func (e *timerCase) Taken(w *sched.Waiter) bool { return calls.Given(w) }

// SleepUntil is Sleep until time t. A t with a monotonic reading (from time.Now) is met whatever becomes of the wall
// clock.
func SleepUntil(t time.Time) { Sleep(time.Until(t)) }

// SleepContext is Sleep until ctx is done: then it returns the cause, at once if ctx is done already; nil after d.
func SleepContext(ctx context.Context, d time.Duration) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if ctx.Done() == nil {
		Sleep(d)
		return nil
	}
	_, err := SelectContext(ctx, After(d))
	return err
}
