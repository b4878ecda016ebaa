package pioman

import (
	"fmt"
	"time"

	"github.com/pm2-go/pm2/asm"
)

// Wait returns once any of bits is set. First it polls, for 5 us (as long as no other
// thread is ready on the caller's virtual processor; where other processes use
// the processor it yields to the kernel between polls). Then, the engine being hooked,
// it sleeps and leaves the polling to the hooks. Otherwise it goes on polling, lets other
// threads run in between, and after 1.5 ms without success sleeps in the
// kernel until a source or a signal wakes it: then one waiter sleeps for all.
//
// e is the engine that makes the progress, nil: Default. For threads and plain goroutines;
// allocates nothing. ErrInHandler inside a handler of e, ErrTwoWaiters if
// somebody else sleeps here, ErrNoBits, ErrClosed, and ErrPanicked if the task
// that was to set the bits panicked.
func (c *Completion) Wait(e *Engine, bits uint32) error { return c.WaitTimeout(e, bits, forever) }

// WaitTimeout is Wait for at most limit; then ErrTimeout. A signal may still come
// afterwards: the object is not free for reuse before that is ruled out.
func (c *Completion) WaitTimeout(e *Engine, bits uint32, limit time.Duration) error {
	if c.Test(bits) {
		return c.result()
	}
	if e == nil {
		e = Default()
	}
	w := wait{e: e, c: c, bits: bits}
	if err := w.check(); err != nil {
		return fmt.Errorf("wait: %w", err)
	}
	if limit < forever {
		w.timed, w.end = true, asm.Cycles()+asm.ToCycles(int64(max(limit, 0)))
	}
	if w.spin() {
		return c.result()
	}
	if err := w.rest(); err != nil {
		return fmt.Errorf("wait: %w", err)
	}
	return c.result()
}

func (c *Completion) result() error {
	if c.Test(Failed) {
		return fmt.Errorf("wait: %w", ErrPanicked)
	}
	return nil
}

// wait is one Wait in progress.
type wait struct {
	e     *Engine
	c     *Completion
	bits  uint32
	timed bool
	held  bool  // the kernel's descriptors are retained
	led   bool  // others may rely on us to poll: see rest
	calm  bool  // nothing happened in the last sleep
	end   int64 // timed: in cycles
}

func (w *wait) check() error {
	switch {
	case w.bits == 0:
		return ErrNoBits
	case w.e.inHandler():
		return ErrInHandler
	case w.c.hasWaiter():
		return ErrTwoWaiters
	}
	return nil
}

func (w *wait) over(now int64) bool { return w.timed && now >= w.end }

// spin polls for a fixed time; true: a bit is set. The clock is looked at in every
// fourth round only, since it costs as much as a round.
func (w *wait) spin() bool {
	e := w.e
	shared, vp, began := e.shared(), e.here(), asm.Cycles()
	for i := 0; ; i++ {
		out := e.poll(vp)
		if w.c.Test(w.bits) {
			return true
		}
		if i%4 == 0 || shared {
			now := asm.Cycles()
			if now-began >= e.ticks.spin || w.over(now) || othersReady() {
				return false
			}
		}
		if shared {
			yieldCPU()
		} else if out < polled {
			asm.Pause()
		}
	}
}

// rest waits after the spin. The wait itself counts as a pending request, lest nobody poll.
func (w *wait) rest() error {
	e := w.e
	e.Need()
	p := e.parkers.get(e)
	defer w.leave(p)
	for !w.c.Test(w.bits) {
		var err error
		switch {
		case e.closed.Load():
			err = ErrClosed
		case w.over(asm.Cycles()):
			err = ErrTimeout
		case e.attached.Load() != nil:
			err = w.sleepUntil(p, (*Engine).hooked)
		case w.calm || !w.insist():
			err = w.sleepInKernel(p)
		}
		if err != nil && !w.c.Test(w.bits) {
			return err
		}
	}
	return nil
}

func (w *wait) leave(p *parker) {
	e := w.e
	e.parkers.put(p)
	e.Done()
	if w.held {
		e.sleeper.release()
	}
	if w.led && e.sleeper.holder.Load() == 0 {
		e.parkers.wakeOne() // somebody else's turn to poll
	}
}

// hooked tells whether the hooks of a scheduler poll.
func (e *Engine) hooked() bool { return e.attached.Load() != nil && !e.closed.Load() }

// watched tells whether an explicit waiter sleeps in the kernel for all.
func (e *Engine) watched() bool {
	return e.sleeper.holder.Load() != 0 && e.attached.Load() == nil && !e.closed.Load()
}

// sleepUntil sleeps on the semaphore while somebody else polls, which covered tells. It
// returns on a signal, but possibly earlier: the caller looks again. Whoever makes covered
// false wakes the parkers afterwards, and covered is asked after prepare: so either
// we see it, or he sees us.
func (w *wait) sleepUntil(p *parker, covered func(*Engine) bool) error {
	p.prepare(onSemaphore)
	ok, err := w.c.enlist(p, w.bits)
	if !ok {
		p.cancel()
		return err
	}
	woken := false
	switch {
	case !covered(w.e):
	case !w.timed:
		p.sem.Acquire()
		woken = true
	default:
		left := time.Duration(asm.Nanos(max(w.end-asm.Cycles(), 0)))
		woken = p.sem.AcquireTimeout(left)
	}
	w.c.withdraw()
	if !woken {
		p.cancel()
	}
	return nil
}

// insist polls for explicitSpin, letting others run. true: look again, whatever the reason.
func (w *wait) insist() bool {
	e := w.e
	shared, vp, began := e.shared(), e.here(), asm.Cycles()
	ready, polite := false, shared
	for i := 0; ; i++ {
		out := e.poll(vp)
		if w.c.Test(w.bits) {
			return true
		}
		if i%4 == 0 || ready || polite {
			now := asm.Cycles()
			if now-began >= e.ticks.explicitSpin {
				return false
			}
			if w.over(now) || e.attached.Load() != nil || e.closed.Load() {
				return true
			}
			ready = othersReady()
			polite = shared || now-began >= e.ticks.politeAfter
		}
		switch {
		case ready, polite && i%2 != 0:
			yield()
		case polite:
			yieldCPU()
		case out < polled:
			asm.Pause()
		}
	}
}

// sleepInKernel sleeps for all waiters in the kernel, or, if somebody does that already,
// on the semaphore until he hands over, which he does when he leaves.
func (w *wait) sleepInKernel(p *parker) error {
	if !w.held {
		w.held = w.e.sleeper.hold() == nil // refused: short sleeps without it
	}
	p.prepare(onKernel)
	ok, err := w.c.enlist(p, w.bits)
	if !ok {
		p.cancel()
		return err
	}
	p.limit = w.e.params.ExplicitSleep
	if w.timed {
		p.limit = min(p.limit, time.Duration(asm.Nanos(max(w.end-asm.Cycles(), 0))))
	}
	w.led = true
	blocking(p.nap)
	w.c.withdraw()
	p.cancel()
	w.calm = p.went == undisturbed
	if p.went != refused || w.c.Test(w.bits) {
		return nil
	}
	return w.sleepUntil(p, (*Engine).watched)
}
