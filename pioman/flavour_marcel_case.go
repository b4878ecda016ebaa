package pioman

import (
	"fmt"

	"github.com/pm2-go/pm2/marcel"
	"github.com/pm2-go/pm2/sched"
)

// CompletionCase is what marcel.Select waits for a Completion by. A value: it may
// be copied, and its methods be called on the copy.
type CompletionCase struct {
	c    *Completion
	e    *Engine
	bits uint32
}

var (
	_ marcel.Case   = CompletionCase{}
	_ marcel.Poller = CompletionCase{}
)

// Case returns the case of a Select that can be taken once any of bits is set, or
// the engine is closed. Afterwards Wait says which, at once. e is the engine
// that makes the progress, nil: Default.
//
// As in Wait there is one waiter at a time: Select panics with ErrTwoWaiters if
// somebody else sleeps here, with ErrInHandler inside a handler of e, and with
// ErrNoBits. While it waits the request counts as pending. A hooked engine
// leaves the polling to the hooks; else Select polls itself, for 1.5 ms all the
// time, then every 50 us.
func (c *Completion) Case(e *Engine, bits uint32) CompletionCase {
	if e == nil {
		e = Default()
	}
	return CompletionCase{c, e, bits}
}

// Try is for Select. It polls once.
func (x CompletionCase) Try() bool {
	if x.over() {
		return true
	}
	x.e.Poll()
	return x.over()
}

func (x CompletionCase) over() bool { return x.c.Test(x.bits) || x.e.closed.Load() }

// Poll is for Select.
func (x CompletionCase) Poll() bool {
	e := x.e
	if e.closed.Load() || e.attached.Load() != nil {
		return false
	}
	if e.Poll(); e.shared() {
		yieldCPU()
	}
	return true
}

// Enlist is for Select. The caller stands in line on a parker's semaphore: whoever
// signals knows nothing of Selects.
func (x CompletionCase) Enlist(w *sched.Waiter) bool {
	if x.over() {
		return false
	}
	check := wait{e: x.e, c: x.c, bits: x.bits}
	err := check.check()
	if err != nil {
		panic(fmt.Errorf("pioman: Select: %w", err))
	}
	p := x.e.parkers.get(x.e)
	p.prepare(onSemaphore)
	ok, err := x.c.enlist(p, x.bits)
	if ok {
		if p.sem.Case().Enlist(w) {
			x.e.Need()
			w.SetNote(p)
			return true
		}
		x.c.withdraw()
	}
	p.cancel()
	x.e.parkers.put(p)
	if err != nil {
		panic(fmt.Errorf("pioman: Select: %w", err))
	}
	return false
}

// Withdraw is for Select. If the parker's wake was not what won, its unit is still
// there, or on its way.
func (x CompletionCase) Withdraw(w *sched.Waiter) {
	p := w.Note().(*parker)
	w.SetNote(nil)
	p.sem.Case().Withdraw(w)
	x.c.withdraw()
	if !w.Won() {
		p.cancel()
	}
	x.e.parkers.put(p)
	x.e.Done()
}

// Taken is for Select: a parker is also woken for nothing, to look again.
func (x CompletionCase) Taken(*sched.Waiter) bool { return x.over() }
