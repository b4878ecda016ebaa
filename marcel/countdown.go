package marcel

import (
	"math"
	"sync/atomic"

	"github.com/pm2-go/pm2/sched"
)

// countdown is a number from 0 to mostCounted, and the threads that wait until it is 0: what a Latch and a
// WaitGroup have in common.
//
// The state is the number, times two, plus one if there may be waiters. Changes are compare-and-swaps; the one to 0
// that ends a wait, and those that make a thread wait, are made under mu. So a wait belongs to the round in which it
// began, even if the number rises again at once.
type countdown struct {
	state atomic.Int64
	mu    sched.Spin // guards q
	queue sched.WaitQueue
}

// mostCounted is the largest number: the state has one more bit, for the waiters.
const mostCounted = math.MaxInt64 >> 1

// zero reports whether the number is 0.
func (d *countdown) zero() bool { return d.state.Load() < 2 }

// add changes the number by delta and wakes all waiters if it is 0 then. It returns false, and changes
// nothing, if the number would be negative, or too large.
func (d *countdown) add(delta int64) bool {
	for {
		s := d.state.Load()
		n := s>>1 + delta
		switch {
		case uint64(n) > mostCounted: // also a sum of two large ones, which wraps
			return false
		case n == 0 && s&1 != 0:
			return d.finish(delta)
		case d.state.CompareAndSwap(s, n<<1|s&1):
			return true
		}
	}
}

// finish is add under mu, for a change to 0 while there may be waiters.
func (d *countdown) finish(delta int64) (ok bool) {
	holding(&d.mu, func() *sched.Waiter {
		for {
			s := d.state.Load()
			n := s>>1 + delta
			if ok = uint64(n) <= mostCounted; !ok {
				return nil
			}
			switch {
			case n != 0 && d.state.CompareAndSwap(s, n<<1|s&1):
				return nil
			case n == 0 && d.state.CompareAndSwap(s, 0):
				return d.queue.PopAll()
			}
		}
	})
	return ok
}

// wait waits until the number is 0, or lim is reached; nil: no limit. kind says for which primitive.
func (d *countdown) wait(kind sched.Kind, lim *sched.Limit) error {
	if d.zero() {
		return nil
	}
	c := sched.EnterLibrary()
	d.mu.Lock()
	for {
		s := d.state.Load()
		if s < 2 {
			d.mu.Unlock()
			c.Leave()
			return nil
		}
		if s&1 != 0 || d.state.CompareAndSwap(s, s|1) {
			return wait(c.As(kind), &d.queue, &d.mu, lim)
		}
	}
}

// zeroCase is the case "the number is 0".
type zeroCase countdown

func (e *zeroCase) Try() bool { return (*countdown)(e).zero() }

func (e *zeroCase) Enlist(w *sched.Waiter) bool {
	return enlist(&e.queue, &e.mu, w, func() bool {
		s := e.state.Load()
		for s >= 2 && s&1 == 0 && !e.state.CompareAndSwap(s, s|1) {
			s = e.state.Load()
		}
		return s >= 2
	})
}

func (e *zeroCase) Withdraw(w *sched.Waiter) { withdraw(&e.queue, &e.mu, w) }
func (e *zeroCase) Taken(*sched.Waiter) bool { return true }
