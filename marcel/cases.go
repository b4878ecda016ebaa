package marcel

import (
	"context"
	"slices"
	"time"

	"github.com/pm2-go/pm2/sched"
)

// Case returns the case "Acquire": it takes a unit.
func (s *Semaphore) Case() Case {
	_ = &s.mu // nil panics here
	return (*semaphoreCase)(s)
}

// semaphoreCase is the Case of a Semaphore.
type semaphoreCase Semaphore

func (a *semaphoreCase) Try() bool { return (*Semaphore)(a).TryAcquire() }

func (a *semaphoreCase) Enlist(w *sched.Waiter) bool {
	return enlist(&a.queue, &a.mu, w, func() bool { return a.n <= 0 })
}

func (a *semaphoreCase) Withdraw(w *sched.Waiter) { withdraw(&a.queue, &a.mu, w) }
func (a *semaphoreCase) Taken(*sched.Waiter) bool { return true }

// enlist puts w at the end of q if waits, which it calls under mu, says that the waiter has to wait. It reports whether
// it did.
func enlist(q *sched.WaitQueue, mu *sched.Spin, w *sched.Waiter, waits func() bool) bool {
	c := sched.Visit()
	mu.Lock()
	ok := waits()
	if ok {
		q.Add(w)
	}
	mu.Unlock()
	c.Leave()
	return ok
}

// withdraw takes w out of q. If the wait of w ended for w, its waker has taken w out before.
func withdraw(q *sched.WaitQueue, mu *sched.Spin, w *sched.Waiter) {
	if w.Won() {
		return
	}
	c := sched.Visit()
	mu.Lock()
	q.Remove(w)
	mu.Unlock()
	c.Leave()
}

// Case returns the case "Wait". L is to be locked when Select is called, which unlocks it while it waits, and returns
// with L locked, whichever case was taken; if it does not have to wait L stays locked all the time. The case is taken
// by a Signal or Broadcast that comes while Select waits, so it is never ready at once. Cases of several conditions may
// share an L. Select panics if L is not locked.
//
// Beside a case that may be woken for nothing (a pioman.Completion, of which another bit was set) it may be taken
// without a signal: wait in a loop, as always.
func (c *Cond) Case() Case {
	_ = &c.mu
	return (*condCase)(c)
}

// condCase is the Case of a Cond.
type condCase Cond

func (s *condCase) Try() bool { return false }

func (s *condCase) Enlist(w *sched.Waiter) bool {
	return enlist(&s.queue, &s.mu, w, func() bool { return true })
}

func (s *condCase) Withdraw(w *sched.Waiter) { withdraw(&s.queue, &s.mu, w) }
func (s *condCase) Taken(*sched.Waiter) bool { return true }
func (s *condCase) guard() *Mutex            { return s.L }

func (s *condCase) check() {
	if s.L.state.Load()&mutexLocked == 0 {
		panic("marcel: Select with a Cond whose Mutex is not locked")
	}
}

// guarded is a Case with a mutex that Select unlocks while it waits.
type guarded interface {
	guard() *Mutex
	check() // panics if it is not locked
}

// eachGuard calls do once for each mutex of the cases.
func eachGuard(cases []Case, do func(*Mutex)) {
	for i, c := range cases {
		x, ok := c.(guarded)
		if ok && !slices.ContainsFunc(cases[:i], func(former Case) bool {
			y, ok := former.(guarded)
			return ok && y.guard() == x.guard()
		}) {
			do(x.guard())
		}
	}
}

// firstGuarded returns the index of the first case with a mutex; -1: there is none.
func firstGuarded(cases []Case) int {
	return slices.IndexFunc(cases, func(c Case) bool { _, ok := c.(guarded); return ok })
}

// After returns a case that can be taken d after the beginning of each Select that waits for it; at once if d <= 0.
func After(d time.Duration) Case { return &afterCase{d} }

// afterCase is the Case of After.
type afterCase struct{ d time.Duration }

func (a *afterCase) Try() bool { return a.d <= 0 }

func (a *afterCase) Enlist(w *sched.Waiter) bool {
	w.BoundedWait().Expire(w, a.d)
	return true
}

func (a *afterCase) Withdraw(*sched.Waiter)   {}
func (a *afterCase) Taken(*sched.Waiter) bool { return true }

// Done returns a case that can be taken when ctx is done, as often as it is asked for. On a thread a Select that has to
// wait for it allocates (context.AfterFunc).
func Done(ctx context.Context) Case {
	if ctx == nil {
		panic("marcel: Done of a nil context")
	}
	return &doneCase{ctx}
}

// doneCase is the Case of Done.
type doneCase struct{ ctx context.Context }

func (d *doneCase) Try() bool                   { return d.ctx.Err() != nil }
func (d *doneCase) Enlist(w *sched.Waiter) bool { return w.BoundedWait().Watch(w, d.ctx) }
func (d *doneCase) Withdraw(w *sched.Waiter)    { w.BoundedWait().Unwatch(w) }
func (d *doneCase) Taken(*sched.Waiter) bool    { return true }

// Ended returns a case that can be taken when t has ended, also long after that. t.Join, which then does not wait,
// tells how it ended. For a thread alone there are JoinTimeout and JoinContext.
func Ended(t Thread) Case { return &endedCase{t} }

// endedCase is the Case of Ended.
type endedCase struct{ thread Thread }

func (e *endedCase) Try() bool                   { return e.thread.Ended() }
func (e *endedCase) Enlist(w *sched.Waiter) bool { return calls.WatchEnd(e.thread, w) }
func (e *endedCase) Withdraw(w *sched.Waiter)    { calls.UnwatchEnd(e.thread, w) }
func (e *endedCase) Taken(*sched.Waiter) bool    { return true }
