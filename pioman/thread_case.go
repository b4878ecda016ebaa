package pioman

import (
	"fmt"

	"github.com/pm2-go/pm2/asm"
	"github.com/pm2-go/pm2/marcel"
	"github.com/pm2-go/pm2/sched"
)

// CompletionCase is a case of marcel.Select for a Completion. It is a value, and may be copied.
type CompletionCase struct {
	completion *Completion
	engine     *Engine
	bits       uint32
}

var (
	_ marcel.Case        = CompletionCase{}
	_ marcel.PollingCase = CompletionCase{}
)

// Case returns the case of a marcel.Select that can be taken once any of bits is set, or the engine is closed.
// Then Wait returns at once, and tells which of the two. e is the engine that makes the progress, nil:
// Default.
//
// Any number of Selects and Waits may wait for one completion. Select panics with ErrInHandler inside a handler of e,
// and with ErrNoBits if bits is 0. A waiting Select counts as a pending request. If the engine is hooked Select leaves
// the polling to the hooks; else it polls itself, for 1.5 ms all the time, then every 50 us.
func (c *Completion) Case(e *Engine, bits uint32) CompletionCase {
	if e == nil {
		e = Default()
	}
	return CompletionCase{c, e, bits}
}

// Try is for Select. It polls once.
func (x CompletionCase) Try() bool {
	if x.done() {
		return true
	}
	x.engine.Poll()
	return x.done()
}

// done reports whether the case can be taken.
func (x CompletionCase) done() bool { return x.completion.Test(x.bits) || x.engine.closed.Load() }

// Poll is for Select: it polls an engine that is not hooked.
func (x CompletionCase) Poll() bool {
	e := x.engine
	if e.closed.Load() || e.attached.Load() != nil {
		return false
	}
	if e.Poll(); e.shared() {
		yieldCPU()
	}
	return true
}

// Enlist is for Select. It enters the queue of a parker's semaphore, so that a signaler wakes a Select as it wakes a
// Wait.
func (x CompletionCase) Enlist(w *sched.Waiter) bool { return x.EnlistAs(w, Reason{}) }

// EnlistAs is Enlist as a wait for a reason, which Waiters gives.
func (x CompletionCase) EnlistAs(w *sched.Waiter, why Reason) bool {
	if x.done() {
		return false
	}
	check := wait{engine: x.engine, completion: x.completion, want: want{bits: x.bits}}
	if err := check.check(); err != nil {
		panic(fmt.Errorf("pioman: Select: %w", err))
	}
	p := parking.get(x.engine)
	p.prepare(onSemaphore, false)
	if x.completion.enlist(p, check.want) {
		if p.sem.Case().Enlist(w) {
			x.engine.admit()
			p.note(&why, asm.Cycles())
			w.SetNote(p)
			return true
		}
		x.completion.withdraw(p)
	}
	p.cancel()
	parking.put(p)
	return false
}

// Withdraw is for Select. If w has not won by the parker's wake it cancels the sleep, and takes the unit of a late
// wake.
func (x CompletionCase) Withdraw(w *sched.Waiter) {
	p := w.Note().(*parker)
	w.SetNote(nil)
	p.sem.Case().Withdraw(w)
	x.completion.withdraw(p)
	if !w.Won() {
		p.cancel()
	}
	p.unnote()
	e := p.engine.Load() // the engine of Enlist: the caller's case may name another one by now
	parking.put(p)
	e.dismiss()
}

// Taken tells Select whether the case can be taken: a parker may also be woken only to look again.
func (x CompletionCase) Taken(*sched.Waiter) bool { return x.done() }
