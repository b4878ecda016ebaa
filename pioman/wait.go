package pioman

import (
	"context"
	"time"

	"github.com/pm2-go/pm2/asm"
	"github.com/pm2-go/pm2/sched"
)

// Wait returns once any of bits is set. First it polls, for 5 us (sched.Poll). Then, the engine being hooked,
// it sleeps and leaves the polling to the hooks. Otherwise it goes on polling, lets other
// threads run in between, and after 1.5 ms without success sleeps in the
// kernel until a source or a signal wakes it: then one waiter sleeps for all.
//
// e is the engine that makes the progress, nil: Default. For threads and plain goroutines,
// any number of them at a time; allocates nothing. ErrInHandler inside a handler of e, ErrNoBits,
// ErrClosed, and ErrPanicked if a task that was to set bits panicked.
//
// A wait that gives up leaves the completion as it was. The signal may still come
// afterwards: the object is not free for reuse before that is ruled out.
func (c *Completion) Wait(e *Engine, bits uint32) error { return c.await(e, want{bits: bits}, how{}) }

// WaitAll is Wait until all of bits are set.
func (c *Completion) WaitAll(e *Engine, bits uint32) error {
	return c.await(e, want{bits, true}, how{})
}

// WaitContext is Wait until ctx is done: then it returns the cause (context.Cause), if ctx is
// done already also when there is nothing to wait for. A wait that has to sleep
// under a context that can be done allocates what context.AfterFunc does.
func (c *Completion) WaitContext(ctx context.Context, e *Engine, bits uint32) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return c.await(e, want{bits: bits}, how{ctx: ctx})
}

// WaitOrCancel is Wait until the calling thread is cancelled (marcel.Thread.Cancel): then ErrCanceled. The caller puts its
// state in order, and ends by marcel.TestCancel. The other forms of Wait are no cancellation points.
func (c *Completion) WaitOrCancel(e *Engine, bits uint32) error {
	return c.await(e, want{bits: bits}, how{cancel: true})
}

// Park is Wait for a waiter that has polled for the bits itself: it sleeps at once.
func (c *Completion) Park(e *Engine, bits uint32) error {
	return c.await(e, want{bits: bits}, how{polled: true})
}

// ParkFor is Park for a reason that Waiters gives.
func (c *Completion) ParkFor(e *Engine, bits uint32, why Reason) error {
	return c.await(e, want{bits: bits}, how{polled: true, why: why})
}

// WaitFor is Wait for a reason that Waiters gives.
func (c *Completion) WaitFor(e *Engine, bits uint32, why Reason) error {
	return c.await(e, want{bits: bits}, how{why: why})
}

// how is what makes one form of Wait differ from the others.
type how struct {
	ctx    context.Context // its end ends the wait; nil: none
	cancel bool            // a cancel of the thread does
	polled bool            // the caller has polled, and is to sleep at once
	why    Reason          // of Waiters
}

func (c *Completion) await(e *Engine, n want, h how) error {
	if n.bits != 0 && n.met(c.Status()) {
		return c.result()
	}
	if e == nil {
		e = Default()
	}
	w := wait{e: e, c: c, want: n, how: h}
	if err := w.check(); err != nil {
		return err
	}
	w.onThread, w.vp, w.polite, w.looks = sched.OnThread(), e.here(), e.shared(), 1
	if a := e.attached.Load(); a != nil && !h.polled {
		a.notePoll(asm.Cycles())
	}
	if !h.polled && sched.Poll(e.params.BusyWait, w.polite, w.look) {
		return c.result()
	}
	return w.block()
}

func (c *Completion) result() error {
	if c.Test(Failed) {
		return ErrPanicked
	}
	return nil
}

// wait is one Wait in progress.
type wait struct {
	e    *Engine
	c    *Completion
	want want
	how

	led   bool // others may rely on us to poll: see block
	still bool // nothing happened in the last sleep
	news  bool // something happened in a poll of ours since we last tried to sleep in the kernel

	onThread bool // the caller is one of marcel's threads
	crowded  bool // a goroutine has given up polling because others poll, or want its P

	vp     int  // of the caller, as far as queues depend on it
	polite bool // other processes use the CPU
	looks  int  // polls of the next look
}

func (w *wait) check() error {
	switch {
	case w.want.bits == 0:
		return ErrNoBits
	case w.e.inHandler():
		return ErrInHandler
	}
	return nil
}

// met is the condition that is waited for.
func (w *wait) met() bool { return w.want.met(w.c.Status()) }

// over tells whether the wait is to be given up.
func (w *wait) over() bool { return w.ctx != nil && w.ctx.Err() != nil }

// look polls the engine, once the first time, then four times, which costs as much as what happens between two looks.
func (w *wait) look() sched.Found {
	for range w.looks {
		out := w.e.poll(w.vp)
		w.news = w.news || out == moved
		if w.met() {
			return sched.Arrived
		}
		if out < polled {
			asm.Pause()
		}
	}
	if w.over() {
		return sched.Enough
	}
	if !w.polite {
		w.looks = 4
	}
	return sched.Nothing
}

// block waits after the spin. The wait itself counts as a pending request, so that pollers poll.
func (w *wait) block() error {
	e := w.e
	e.admit()
	p := parking.get(e)
	now := asm.Cycles()
	p.note(&w.why, now)
	defer w.leave(p, now)
	if w.ctx != nil && w.ctx.Done() != nil {
		defer context.AfterFunc(w.ctx, p.poke)() // a hint, also if it comes too late
	}
	for !w.met() {
		var err error
		switch {
		case e.closed.Load():
			err = ErrClosed
		case w.over():
			err = context.Cause(w.ctx)
		case w.cancel && sched.Canceled():
			err = ErrCanceled
		case w.onThread && e.Hooked():
			w.sleepCovered(p)
		case !w.still && w.insist():
		case w.crowded && e.Hooked() || e.vpsAwake():
			e.attend()
			w.sleepCovered(p)
		default:
			w.sleepInKernel(p)
		}
		if err != nil && !w.met() {
			return err
		}
	}
	return w.c.result()
}

// leave ends block, which began at the moment given.
func (w *wait) leave(p *parker, began int64) {
	e := w.e
	p.unnote()
	parking.put(p)
	e.dismiss()
	if !w.onThread && w.met() {
		e.outside.Took(asm.Cycles()-began, e.ticks.explicitSpin)
	}
	if !w.led {
		return
	}
	if e.attend(); !e.Hooked() && e.sleeper.holder.Load() == 0 {
		parking.wakeOne(e) // another waiter is to poll
	}
}

// vpsAwake tells whether some virtual processor runs threads or polls. A goroutine does not sleep in the kernel for all
// beside it: each message of its threads would wake the goroutine.
func (e *Engine) vpsAwake() bool {
	a := e.attached.Load()
	if a == nil || e.closed.Load() {
		return false
	}
	for vp := range a.vps {
		if idle, awake := a.s.Idle(vp); !idle || awake {
			return true
		}
	}
	return false
}

// attend has the progressor of a hooked engine attend to what is pending: it is off while a waiter sleeps in the kernel
// for all.
func (e *Engine) attend() {
	if a := e.attached.Load(); a != nil && e.load.view().pending() != 0 {
		a.progressor.wake()
	}
}

// Hooked tells whether the hooks of a scheduler, or the progressor, poll for pending requests (Need).
// Otherwise a thread has to Poll or Wait. It is one load; stop can change the answer at any time.
func (e *Engine) Hooked() bool { return e.attached.Load() != nil && !e.closed.Load() }

// covered tells whether a waiter may sleep on its semaphore, since something else polls, or sleeps in the kernel for all.
func (e *Engine) covered() bool {
	return (e.attached.Load() != nil || e.sleeper.holder.Load() != 0) && !e.closed.Load()
}

// sleepCovered sleeps on the semaphore while the engine is covered. It
// returns on a signal, but possibly earlier: the caller looks again. A thread that makes covered
// false wakes the parkers afterwards, and the waiter asks after prepare: so either
// the waiter sees it, or that thread sees the waiter.
func (w *wait) sleepCovered(p *parker) {
	p.prepare(onSemaphore, !w.onThread)
	if !w.c.enlist(p, w.want) {
		p.cancel()
		return
	}
	woken := false
	switch {
	case !w.e.covered(), w.over(): // the end of ctx pokes the waiter, perhaps before prepare
	case w.cancel:
		woken = p.sem.AcquireOrCancel()
	default:
		p.sem.Acquire()
		woken = true
	}
	w.c.withdraw(p)
	if !woken {
		p.cancel()
	}
}

// insist polls on, for as long as that is worth it (Engine.outside), if nothing hooked polls for the waiter. A goroutine
// gives up as soon as its P or its CPU is wanted, or if others poll (sched.Poll): the progressor sees to it then. A thread
// of an engine that is not hooked lets others run, and goes on. true: look again, whatever the reason.
func (w *wait) insist() bool {
	e := w.e
	for began, window := asm.Cycles(), e.outside.ProbeWindow(e.ticks.explicitSpin); ; {
		left := window - (asm.Cycles() - began)
		if left <= 0 {
			return false
		}
		if sched.Poll(time.Duration(asm.Nanos(left)), w.polite, w.look) {
			return true
		}
		if w.over() || e.closed.Load() {
			return true
		}
		if !w.onThread {
			w.crowded = calls.Crowded()
			return false
		}
		if e.attached.Load() != nil {
			return true
		}
		if sched.Ready() {
			sched.Yield()
		} else {
			yieldCPU()
		}
	}
}

// sleepInKernel sleeps for all waiters in the kernel, or, if another waiter does that already,
// on the semaphore until that one leaves, and so hands over.
func (w *wait) sleepInKernel(p *parker) {
	e := w.e
	_ = w.e.sleeper.open() // refused: short sleeps without it
	p.prepare(onKernel, !w.onThread)
	if !w.c.enlist(p, w.want) {
		p.cancel()
		return
	}
	p.limit = w.e.params.explicitSleep
	if w.cancel {
		calls.OnCancel(p.poke)
		defer calls.OnCancel(nil)
	}
	if w.over() || w.cancel && sched.Canceled() {
		p.limit = 0
	}
	w.led = true
	p.news, w.news = w.news, false
	sched.Blocking(p.sleep)
	w.c.withdraw(p)
	p.cancel()
	w.still = p.went == undisturbed
	if p.went == refused && !w.met() {
		e.attend()
		w.sleepCovered(p)
	}
}
