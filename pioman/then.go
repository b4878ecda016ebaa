package pioman

import (
	"fmt"
	"runtime/debug"
	"sync/atomic"

	"github.com/pm2-go/pm2/asm"
)

// Then makes a poller of e call fn, with the status, once any of bits is set; it wakes no waiter. The poller calls fn
// exactly once, outside of every lock and queue: at the end of the round in which a handler has set the bits, or, if
// another thread has set them, of its next round. e nil: Default. Pollers call the functions of one engine one after
// the other, in the order in which they became due.
//
// fn may submit tasks, signal, start requests, and use Then again; it must not block, and a wait inside fails with
// ErrInHandler. It must be short, as a handler must. If it panics, or ends its goroutine, the engine reports that and
// goes on. Then itself allocates nothing but, rarely, parkers, and may be called in a handler or a hook.
//
// Until fn has begun it counts as a pending request, and the owner must not reuse the completion; an owner that gives
// up signals a bit of its own. After e is closed, Signal itself calls the functions that it makes due. Errors:
// ErrNoBits, and ErrNoFunction without a function.
func (c *Completion) Then(e *Engine, bits uint32, fn func(status uint32)) error {
	switch {
	case bits == 0:
		return fmt.Errorf("then: %w", ErrNoBits)
	case fn == nil:
		return fmt.Errorf("then: %w", ErrNoFunction)
	case e == nil:
		e = Default()
	}
	p := parking.get(e)
	p.fn = fn
	e.admit()
	if !c.enlist(p, want{bits: bits}) {
		p.fire(c.Status())
	}
	return nil
}

// dueCalls is the list of the functions of Then whose bits are set, as parkers.
//
//	in the list of a completion ───▶ due ───────────────▶ called, its parker free
//	     fire: the holder of that list   │ callDue: a poller
//	                                     └── callDue: fire itself, if the engine is closed
//
// Close waits until no function is due and none runs. A signaler that pushes one later, and then finds the engine
// closed, calls it itself, or finds another holder, which looks for more after it has cleared holder.
// (testdata/spin/then.pml)
type dueCalls struct {
	head   atomic.Uint32  // index of the newest parker, 0: none; fire pushes, the holder takes all
	holder atomic.Uintptr // asm.G of the goroutine that calls the functions, 0: none; a try-lock
}

// busy reports whether a function is due, or runs.
func (d *dueCalls) busy() bool { return d.head.Load() != 0 || d.holder.Load() != 0 }

// push puts the function of a parker into the list. From then on its parker may serve another waiter.
func (d *dueCalls) push(p *parker) {
	for {
		h := d.head.Load()
		p.link = h
		if d.head.CompareAndSwap(h, p.index) {
			return
		}
	}
}

// fire makes the function of a parker due. The caller holds the list that p is in, or has p in none.
func (p *parker) fire(status uint32) {
	e := p.engine.Load()
	p.status = status
	p.listed.Store(false)
	e.dueCalls.push(p)
	if v := e.load.posted(); v.asleep() {
		e.wakePoller(v)
	}
	if e.closed.Load() {
		e.callDue()
	}
}

// callDue calls the functions that are due. It leaves those that become due meanwhile to the next round, unless the
// engine is closed, and no round follows. If another thread calls functions at this moment callDue returns skipped.
func (e *Engine) callDue() (out roundOutcome) {
	for e.dueCalls.head.Load() != 0 {
		if e.dueCalls.holder.Load() != 0 || !e.dueCalls.holder.CompareAndSwap(0, asm.G()) {
			return max(out, roundSkipped)
		}
		e.callAll()
		if out = roundMoved; !e.closed.Load() {
			break
		}
	}
	return out
}

// callAll takes the list and calls its functions, the oldest first. The caller is the holder, and is not after it.
func (e *Engine) callAll() {
	list := uint32(0)
	for i := e.dueCalls.head.Swap(0); i != 0; {
		p := parking.at(i)
		i, p.link, list = p.link, list, i
	}
	defer func() {
		for list != 0 { // a function has ended the goroutine: the other functions stay due
			p := parking.at(list)
			list = p.link
			e.dueCalls.push(p)
		}
		e.dueCalls.holder.Store(0)
	}()
	for list != 0 {
		p := parking.at(list)
		fn, status := p.fn, p.status
		p.fn, list = nil, p.link
		parking.put(p)
		e.call(fn, status)
	}
}

// call calls one function, and reports a panic, or the end of the goroutine.
func (e *Engine) call(fn func(uint32), status uint32) {
	returned := false
	defer func() {
		if !returned {
			e.panicked(&PanicError{Task: "Then", Value: recover(), Stack: debug.Stack()})
		}
		e.dismiss()
	}()
	fn(status)
	returned = true
}
