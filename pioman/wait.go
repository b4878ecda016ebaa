package pioman

import (
	"context"
	"time"

	"github.com/pm2-go/pm2/asm"
	"github.com/pm2-go/pm2/sched"
)

// Wait blocks the calling thread or goroutine until any of bits is set. First it polls, for Params.BusyWait, 5 us. What
// it does then depends on the caller:
//
//   - A thread of a hooked engine sleeps, and leaves the polling to the hooks.
//   - A goroutine polls on, for at most 1.5 ms, and less if that was vain lately. It stops as soon as others want its P
//     or its CPU, or poll. Then it sleeps in the kernel until a source or a signal wakes it; one waiter does that for all
//     others. While the VPs of a hooked engine are awake the goroutine leaves that to them.
//   - A thread of an engine that is not hooked does as a goroutine does, but lets other threads run between its polls.
//
// e is the engine that makes the progress, nil: Default. Any number of threads and goroutines may wait at the same
// time. Wait allocates nothing in steady state. Errors: ErrInHandler inside a handler of e, ErrNoBits if bits is 0,
// ErrClosed, and ErrPanicked if a task that was to set bits has panicked.
//
// After an error the completion is as it was, and the signal may still come: the owner must not reuse the memory before
// it has ruled that out.
func (c *Completion) Wait(e *Engine, bits uint32) error {
	return c.await(e, want{bits: bits}, waitForm{})
}

// WaitAll is Wait until all of bits are set.
func (c *Completion) WaitAll(e *Engine, bits uint32) error {
	return c.await(e, want{bits, true}, waitForm{})
}

// WaitContext is Wait until ctx is done; then it returns the cause (context.Cause). If ctx is done before the call it
// returns the cause even if the bits are set. A wait that has to sleep under a context that can be done allocates what
// context.AfterFunc does.
func (c *Completion) WaitContext(ctx context.Context, e *Engine, bits uint32) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return c.await(e, want{bits: bits}, waitForm{ctx: ctx})
}

// WaitOrCancel is Wait until the calling thread is canceled (marcel.Thread.Cancel); then it returns ErrCanceled. The
// caller puts its state in order, and ends the thread by marcel.TestCancel. The other forms of Wait are no cancellation
// points.
func (c *Completion) WaitOrCancel(e *Engine, bits uint32) error {
	return c.await(e, want{bits: bits}, waitForm{cancel: true})
}

// Park is Wait for a waiter that has polled for the bits itself: it leaves out the polls of Params.BusyWait. A thread
// of a hooked engine sleeps at once. Any other caller first polls on for at most 1.5 ms, as in Wait.
func (c *Completion) Park(e *Engine, bits uint32) error {
	return c.await(e, want{bits: bits}, waitForm{polled: true})
}

// ParkAs is Park as a wait for a reason, which Waiters gives.
func (c *Completion) ParkAs(e *Engine, bits uint32, why Reason) error {
	return c.await(e, want{bits: bits}, waitForm{polled: true, why: why})
}

// WaitAs is Wait as a wait for a reason, which Waiters gives.
func (c *Completion) WaitAs(e *Engine, bits uint32, why Reason) error {
	return c.await(e, want{bits: bits}, waitForm{why: why})
}

// waitForm is the form of a wait.
type waitForm struct {
	ctx    context.Context // its end ends the wait; nil: none
	cancel bool            // a cancel of the thread ends the wait
	polled bool            // the caller has polled: leave out the polls of Params.BusyWait
	why    Reason          // for Waiters
}

// await is Wait in all its forms.
func (c *Completion) await(e *Engine, n want, form waitForm) error {
	if n.bits != 0 && n.met(c.Status()) {
		return c.result()
	}
	if e == nil {
		e = Default()
	}
	w := wait{engine: e, completion: c, want: n, waitForm: form}
	if err := w.check(); err != nil {
		return err
	}
	w.onThread, w.vp, w.polite, w.looks = sched.OnThread(), e.here(), e.shared(), 1
	if a := e.attached.Load(); a != nil && !form.polled {
		a.notePoll(asm.Cycles())
	}
	if !form.polled && sched.Poll(e.params.BusyWait, w.polite, w.look) {
		return c.result()
	}
	return w.block()
}

// result is the error of a wait whose bits are set.
func (c *Completion) result() error {
	if c.Test(Failed) {
		return ErrPanicked
	}
	return nil
}

// wait is one Wait in progress. Only its caller uses it.
type wait struct {
	engine     *Engine
	completion *Completion
	want       want
	waitForm

	triedKernel     bool // it has tried to sleep in the kernel, so other waiters may rely on it to poll: see leave
	lastUndisturbed bool // the last sleep in the kernel has ended by its limit
	hasNews         bool // something has happened in its polls since its last sleep in the kernel

	onThread bool // the caller is one of marcel's threads
	crowded  bool // a goroutine that has given up polling because others poll, or want its P

	vp     int  // of the caller, for Engine.poll
	polite bool // other processes use the CPU
	looks  int  // polls in the next look
}

// check returns the error of a wait that must not begin.
func (w *wait) check() error {
	switch {
	case w.want.bits == 0:
		return ErrNoBits
	case w.engine.inHandler():
		return ErrInHandler
	}
	return nil
}

// met reports whether the bits are set.
func (w *wait) met() bool { return w.want.met(w.completion.Status()) }

// done reports whether the context of the wait is done.
func (w *wait) done() bool { return w.ctx != nil && w.ctx.Err() != nil }

// look is one turn of sched.Poll: it polls the engine, once the first time, later four times, which takes about as long
// as the work of sched.Poll between two looks.
func (w *wait) look() sched.Found {
	for range w.looks {
		out := w.engine.poll(w.vp)
		w.hasNews = w.hasNews || out == roundMoved
		if w.met() {
			return sched.FoundArrived
		}
		if out < roundPolled {
			asm.Pause()
		}
	}
	if w.done() {
		return sched.FoundEnough
	}
	if !w.polite {
		w.looks = 4
	}
	return sched.FoundNothing
}

// block waits after the first polls. The wait itself counts as a pending request, so that pollers poll.
func (w *wait) block() error {
	e := w.engine
	e.admit()
	p := parking.get(e)
	now := asm.Cycles()
	p.note(&w.why, now)
	defer w.leave(p, now)
	if w.ctx != nil && w.ctx.Done() != nil {
		defer context.AfterFunc(w.ctx, p.poke)() // a wake is a hint, so it does no harm if it comes late
	}
	for !w.met() {
		var err error
		switch {
		case e.closed.Load():
			err = ErrClosed
		case w.done():
			err = context.Cause(w.ctx)
		case w.cancel && sched.Canceled():
			err = ErrCanceled
		case w.onThread && e.Hooked():
			w.sleepCovered(p)
		case !w.lastUndisturbed && w.insist():
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
	return w.completion.result()
}

// leave ends block, which has begun at that time (asm.Cycles).
func (w *wait) leave(p *parker, began int64) {
	e := w.engine
	p.unnote()
	parking.put(p)
	e.dismiss()
	if !w.onThread && w.met() {
		e.unhookedWaits.Took(asm.Cycles()-began, e.ticks.explicitSpin)
	}
	if !w.triedKernel {
		return
	}
	if e.attend(); !e.Hooked() && e.sleeper.holder.Load() == 0 {
		parking.wakeOne(e) // another waiter polls from now on
	}
}

// vpsAwake reports whether some VP runs threads or polls. Then a goroutine does not sleep in the kernel for all: each
// message for a thread would wake the goroutine.
func (e *Engine) vpsAwake() bool {
	a := e.attached.Load()
	if a == nil || e.closed.Load() {
		return false
	}
	for vp := range a.vps {
		if idle, awake := a.scheduler.Idle(vp); !idle || awake {
			return true
		}
	}
	return false
}

// attend wakes the progressor of a hooked engine if requests are pending: while a waiter sleeps in the kernel for all
// the progressor is off.
func (e *Engine) attend() {
	if a := e.attached.Load(); a != nil && e.load.view().pending() != 0 {
		a.progressor.wake()
	}
}

// Hooked reports whether the hooks of a scheduler, or the progressor, poll for pending requests (AddPending).
// Otherwise the program has to call Poll or Wait. It is two loads; stop can change the answer at any time.
func (e *Engine) Hooked() bool { return e.attached.Load() != nil && !e.closed.Load() }

// covered reports whether a waiter may sleep on its semaphore, since hooks poll, or another thread sleeps in the kernel
// for all.
func (e *Engine) covered() bool {
	return (e.attached.Load() != nil || e.sleeper.holder.Load() != 0) && !e.closed.Load()
}

// sleepCovered sleeps on the semaphore while the engine is covered. It returns on a signal, and perhaps earlier: the
// caller looks again. A thread that makes covered false wakes the parkers afterwards, and the waiter calls covered
// after prepare: so either the waiter sees the change, or that thread sees the parker.
func (w *wait) sleepCovered(p *parker) {
	p.prepare(onSemaphore, !w.onThread)
	if !w.completion.enlist(p, w.want) {
		p.cancel()
		return
	}
	woken := false
	switch {
	case !w.engine.covered(), w.done(): // the end of ctx may have poked the parker before prepare
	case w.cancel:
		woken = p.sem.AcquireOrCancel()
	default:
		p.sem.Acquire()
		woken = true
	}
	w.completion.withdraw(p)
	if !woken {
		p.cancel()
	}
}

// insist polls on for the window of Engine.unhookedWaits, for a waiter for which no hook polls. A goroutine stops as
// soon as another one wants its P or its CPU, or polls (sched.Poll): then the progressor polls. A thread, whose engine
// is not hooked, lets others run, and goes on. insist reports whether the caller is to look again, for whatever
// reason; otherwise the caller sleeps.
func (w *wait) insist() bool {
	e := w.engine
	for began, window := asm.Cycles(), e.unhookedWaits.ProbeWindow(e.ticks.explicitSpin); ; {
		left := window - (asm.Cycles() - began)
		if left <= 0 {
			return false
		}
		if sched.Poll(time.Duration(asm.Nanos(left)), w.polite, w.look) {
			return true
		}
		if w.done() || e.closed.Load() {
			return true
		}
		if !w.onThread {
			w.crowded = calls.Crowded()
			return false
		}
		if e.attached.Load() != nil {
			return true
		}
		if sched.OthersReady() {
			sched.Yield()
		} else {
			yieldCPU()
		}
	}
}

// sleepInKernel sleeps for all waiters in the kernel. If another waiter does that already it sleeps on the semaphore,
// until that one leaves and wakes another waiter.
func (w *wait) sleepInKernel(p *parker) {
	e := w.engine
	_ = w.engine.sleeper.open() // if that fails the sleeps are short, and need no descriptors
	p.prepare(onKernel, !w.onThread)
	if !w.completion.enlist(p, w.want) {
		p.cancel()
		return
	}
	p.limit = w.engine.params.explicitSleep
	if w.cancel {
		calls.OnCancel(p.poke)
		defer calls.OnCancel(nil)
	}
	if w.done() || w.cancel && sched.Canceled() {
		p.limit = 0
	}
	w.triedKernel = true
	p.hasNews, w.hasNews = w.hasNews, false
	sched.Blocking(p.sleep)
	w.completion.withdraw(p)
	p.cancel()
	w.lastUndisturbed = p.outcome == sleepUndisturbed
	if p.outcome == sleepRefused && !w.met() {
		e.attend()
		w.sleepCovered(p)
	}
}
