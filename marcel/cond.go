package marcel

import (
	"context"
	"time"

	"github.com/pm2-go/pm2/sched"
)

// Cond is a condition variable, as sync.Cond, for threads and goroutines alike. L is held when Wait is called and while
// the condition changes. Waiters are woken in order of arrival; a signal is never spent on one whose time is over. It
// is ready when L is set, takes 32 bytes, and must not be copied after first use.
type Cond struct {
	L     *Mutex
	mu    sched.Spin
	queue sched.WaitQueue
}

// NewCond returns a condition guarded by l.
func NewCond(l *Mutex) *Cond { return &Cond{L: l} }

// Wait unlocks L, waits for Signal or Broadcast, and locks L again. There are no spurious wake-ups, but the condition
// may have changed again before L is locked: wait in a loop. It panics if L is not locked.
func (c *Cond) Wait() {
	t := c.enqueue()
	t.Wait(&c.queue, &c.mu)
	c.L.Lock()
	t.EndWait()
}

// WaitTimeout is Wait for at most d and, after that, until L can be locked: it returns false if the caller was not
// woken in time (at once if d <= 0). L is locked either way.
func (c *Cond) WaitTimeout(d time.Duration) bool {
	t := c.enqueue()
	err := wait(t, &c.queue, &c.mu, within(d))
	c.L.Lock()
	t.EndWait()
	return err == nil
}

// WaitContext is Wait until ctx is done and, after that, until L can be locked; it returns the cause if the caller was
// not woken before, also if ctx was done from the start. L is locked either way.
func (c *Cond) WaitContext(ctx context.Context) error {
	lim, err := under(ctx)
	if err != nil {
		c.check()
		return err
	}
	t := c.enqueue()
	err = wait(t, &c.queue, &c.mu, lim)
	c.L.Lock()
	t.EndWait()
	return err
}

// enqueue locks the queue and then unlocks L, so that no signal comes in between. Order of locks: Cond.mu, Mutex.mu. It
// panics if L is not locked, with nothing held.
func (c *Cond) enqueue() *sched.Co {
	c.check()
	t := sched.EnterLibrary()
	c.mu.Lock()
	if c.L.unlock(t) {
		return t.As(sched.InCond)
	}
	c.mu.Unlock()
	t.Leave()
	panic(condUnlocked)
}

// check panics if L is not locked.
func (c *Cond) check() {
	if c.L.state.Load()&mutexLocked == 0 {
		panic(condUnlocked)
	}
}

const condUnlocked = "marcel: wait on a Cond whose Mutex is not locked"

// Signal wakes the one that has waited longest, if any. It never blocks; the caller may hold L or not.
func (c *Cond) Signal() {
	_ = &c.mu // nil panics here, not while the VP is held
	t := sched.Visit()
	c.mu.Lock()
	w := c.queue.Pop()
	c.mu.Unlock()
	if w != nil {
		t.Wake(w)
	}
	t.Leave()
}

// Broadcast wakes all that wait. It never blocks; the caller may hold L or not.
func (c *Cond) Broadcast() {
	_ = &c.mu
	t := sched.Visit()
	c.mu.Lock()
	w := c.queue.PopAll()
	c.mu.Unlock()
	t.WakeAll(w)
	t.Leave()
}
