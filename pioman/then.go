package pioman

import (
	"fmt"
	"runtime/debug"
	"sync/atomic"

	"github.com/pm2-go/pm2/asm"
)

// Then makes a poller of e call fn, with the status, once any of bits is set, instead of waking a waiter. The poller calls
// it exactly once, outside of every lock and queue: at the end of the round in which a handler has set the bits, or, if
// another caller has set them, in its next round. e nil: Default. The functions of one engine are called one after the
// other, in the order in which they became due.
//
// fn may submit tasks, signal, start requests, and use Then again; it must not block, and a wait inside fails with
// ErrInHandler. It must be short, as a handler must. If it panics, or ends its goroutine, the engine reports that and goes
// on. Then itself allocates nothing, and may be called in a handler or a hook.
//
// Until fn begins it counts as a pending request, and the completion must not be reused; an owner that only wants to get
// rid of it signals a bit of its own. After e is closed, Signal itself calls the functions that it makes due. The errors
// are ErrNoBits, and ErrNotInitialised without a function.
func (c *Completion) Then(e *Engine, bits uint32, fn func(status uint32)) error {
	switch {
	case bits == 0:
		return fmt.Errorf("then: %w", ErrNoBits)
	case fn == nil:
		return fmt.Errorf("then: %w", ErrNotInitialised)
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

// due are the functions whose bits are set, as parkers.
//
//	in the list of a completion ───▶ due ───────────────▶ called, its parker free
//	     fire: a signaller, or a leaver  │ callDue: a poller
//	                                     └── called by fire, if the engine is closed
//
// Close waits until none is due and none is being called. Later a signaller that has pushed, and then finds closed, calls
// them itself, or finds another holder: that one looks for more once it has let go of holder. (testdata/spin/then.pml)
type due struct {
	head   atomic.Uint32  // index of the newest, 0: none; signallers push, the holder takes all
	holder atomic.Uintptr // asm.G of the poller that calls them, 0: none
}

// busy tells whether there are some, or one is being called.
func (d *due) busy() bool { return d.head.Load() != 0 || d.holder.Load() != 0 }

func (d *due) push(p *parker) {
	for {
		h := d.head.Load()
		p.link = h
		if d.head.CompareAndSwap(h, p.index) {
			return
		}
	}
}

// fire makes the function of a parker due. For the caller that holds p; from the push on another one may use it.
func (p *parker) fire(status uint32) {
	e := p.e.Load()
	p.status = status
	p.listed.Store(false)
	e.due.push(p)
	if v := e.load.posted(); v.asleep() {
		e.wakePoller(v)
	}
	if e.closed.Load() {
		e.callDue()
	}
}

// callDue calls the functions that are due, but not those that become due meanwhile, unless the engine is
// closed: then no other round follows. It skips them while another poller calls some.
func (e *Engine) callDue() (out roundOutcome) {
	for e.due.head.Load() != 0 {
		if e.due.holder.Load() != 0 || !e.due.holder.CompareAndSwap(0, asm.G()) {
			return max(out, skipped)
		}
		e.callAll()
		if out = moved; !e.closed.Load() {
			break
		}
	}
	return out
}

// callAll is the holder's.
func (e *Engine) callAll() {
	list := uint32(0) // the oldest first
	for i := e.due.head.Swap(0); i != 0; {
		p := parking.at(i)
		i, p.link, list = p.link, list, i
	}
	defer func() {
		for list != 0 { // a function has ended the goroutine: the others stay due
			p := parking.at(list)
			list = p.link
			e.due.push(p)
		}
		e.due.holder.Store(0)
	}()
	for list != 0 {
		p := parking.at(list)
		fn, status := p.fn, p.status
		p.fn, list = nil, p.link
		parking.put(p)
		e.call(fn, status)
	}
}

// call calls one function, whatever becomes of it.
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
