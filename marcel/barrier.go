package marcel

import (
	"context"
	"fmt"
	"time"

	"github.com/pm2-go/pm2/sched"
)

// Barrier lets n threads or goroutines wait for each other, again and again: a phase ends when n have
// arrived. A caller may arrive (Arrive) and wait (Phase.Wait) in two steps, as with C++'s std::barrier,
// and work in between. All waiters of a phase go on at once, in no order. The zero value lets every
// caller pass. It takes 48 bytes and must not be copied after first use.
type Barrier struct {
	n       int        // parties
	mu      sched.Spin // guards the fields below
	arrived int        // parties that have arrived in this phase
	phase   uint64     // phases that have ended
	queue   sched.WaitQueue
}

// NewBarrier returns a barrier for n parties; it panics if n < 1.
func NewBarrier(n int) *Barrier {
	if n < 1 {
		panic(fmt.Sprintf("marcel: a barrier of %d parties", n))
	}
	return &Barrier{n: n}
}

// Phase is one phase of a Barrier. A thread that has arrived waits for the end of its phase. A Phase
// is a value, valid for ever. The zero Phase has ended.
type Phase struct {
	barrier *Barrier
	n       uint64 // Barrier.phase while the phase lasts
}

// Arrive counts the caller as arrived and returns the phase, for the caller to wait for its end. Arrive never blocks.
func (b *Barrier) Arrive() Phase {
	_ = &b.mu // nil panics here, not while the VP is held
	c := sched.Visit()
	b.mu.Lock()
	p := Phase{b, b.phase}
	var w *sched.Waiter
	if b.arrived++; b.arrived >= b.n {
		w = b.advance()
	}
	b.mu.Unlock()
	c.WakeAll(w)
	c.Leave()
	return p
}

// advance ends the phase and returns its waiters. Under mu.
func (b *Barrier) advance() *sched.Waiter {
	b.arrived = 0
	b.phase++
	return b.queue.PopAll()
}

// Wait arrives, and waits until the phase ends; the last one to arrive does not block, wakes the others and gets true.
// The barrier is then ready for the next phase.
func (b *Barrier) Wait() (last bool) {
	last, _ = b.wait(nil)
	return last
}

// TryWait is Wait if the caller is the last one to arrive: then it returns true. Otherwise it returns false, and the
// caller does not count as arrived. It does not block.
func (b *Barrier) TryWait() (last bool) {
	holding(&b.mu, func() *sched.Waiter {
		if last = b.arrived+1 >= b.n; last {
			return b.advance()
		}
		return nil
	})
	return last
}

// WaitTimeout is Wait for at most d: it returns false if the phase did not end in time, and the caller does not count
// as arrived. If d <= 0 it is TryWait.
func (b *Barrier) WaitTimeout(d time.Duration) bool {
	if d <= 0 {
		return b.TryWait()
	}
	_, err := b.wait(within(d))
	return err == nil
}

// WaitContext is Wait until ctx is done: then it returns the cause, and the caller does not count as arrived.
func (b *Barrier) WaitContext(ctx context.Context) error {
	return until(ctx, func(lim *sched.Limit) error {
		_, err := b.wait(lim)
		return err
	})
}

// wait is Wait within lim; nil: without a limit.
func (b *Barrier) wait(lim *sched.Limit) (last bool, err error) {
	_ = &b.mu
	c := sched.EnterLibrary()
	b.mu.Lock()
	if b.arrived++; b.arrived >= b.n {
		w := b.advance()
		b.mu.Unlock()
		c.WakeAll(w)
		c.Leave()
		return true, nil
	}
	p := b.phase
	if err = wait(c.As(sched.InBarrier), &b.queue, &b.mu, lim); err == nil {
		return false, nil
	}
	holding(&b.mu, func() *sched.Waiter {
		if b.phase != p {
			err = nil // it ended with our arrival after all
		} else {
			b.arrived--
		}
		return nil
	})
	return false, err
}

// Wait waits until the phase has ended: until all parties have arrived.
func (p Phase) Wait() { _ = p.wait(nil) }

// TryWait reports whether the phase has ended. It does not block.
func (p Phase) TryWait() (over bool) {
	if p.barrier == nil {
		return true
	}
	holding(&p.barrier.mu, func() *sched.Waiter {
		over = p.barrier.phase != p.n
		return nil
	})
	return over
}

// WaitTimeout is Wait for at most d: it returns false if the phase has not ended in time. The arrival stands, and p may
// be waited for again. If d <= 0 it is TryWait.
func (p Phase) WaitTimeout(d time.Duration) bool { return p.wait(within(d)) == nil }

// WaitContext is Wait until ctx is done: then it returns the cause, also if the phase had ended. The arrival stands,
// and p may be waited for again.
func (p Phase) WaitContext(ctx context.Context) error { return until(ctx, p.wait) }

func (p Phase) wait(lim *sched.Limit) error {
	b := p.barrier
	if b == nil {
		return nil
	}
	c := sched.EnterLibrary()
	b.mu.Lock()
	if b.phase != p.n {
		b.mu.Unlock()
		c.Leave()
		return nil
	}
	return wait(c.As(sched.InBarrier), &b.queue, &b.mu, lim)
}
