package sched

import "errors"

// ErrNotThread says that only a thread can do what was asked for, and the caller is a plain goroutine.
var ErrNotThread = errors.New("marcel: the caller is a plain goroutine, not a thread")

// callbacks are the functions that a thread wants called, and its values of keys. Only the thread uses them, except
// after, which startPostExit takes.
type callbacks struct {
	cleanups []func() // pushed and not yet popped
	atExit   []func()
	after    []func()
	onSwitch func()
	locals   []local // of SetLocal
	rounds   int     // of destructors so far
}

// local is a value that a thread keeps for a key.
type local struct {
	key   *byte // the value's type is known to the owner of that byte
	value any
	drop  func() func()
	round int // of destructors that it has been through
}

// destructorRounds is how often destructors run if they set values
// again, as in POSIX (_POSIX_THREAD_DESTRUCTOR_ITERATIONS).
const destructorRounds = 4

// next takes the next call that is due at the end of the thread: cleanup
// handlers, then at-exit callbacks, then destructors. It returns nil if none is left. Each is taken
// before it is called, so that a call which panics or exits is not repeated.
func (cb *callbacks) next() func() {
	for _, list := range []*[]func(){&cb.cleanups, &cb.atExit} {
		if f := popLast(list); f != nil {
			return f
		}
	}
	for ; cb.rounds < destructorRounds; cb.rounds++ {
		for i := range cb.locals {
			if cb.locals[i].round == cb.rounds {
				cb.locals[i].round++
				if f := cb.locals[i].drop(); f != nil {
					return f
				}
			}
		}
	}
	cb.locals = nil
	return nil
}

func popLast(list *[]func()) (f func()) {
	if n := len(*list) - 1; n >= 0 {
		f, (*list)[n] = (*list)[n], nil
		*list = (*list)[:n]
	}
	return f
}

// conclude makes the calls at the end of the thread. If one of these
// panics or exits, run calls conclude again for the others.
func (c *co) conclude(x *rare) {
	if !x.ending {
		c.close(x)
	}
	for f := x.next(); f != nil; f = x.next() {
		f()
	}
}

// startPostExit spawns the thread that makes the post-exit calls (AfterExit) of the thread that ends.
// Holder only.
func (v *vp) startPostExit(x *rare) {
	calls := x.after
	if len(calls) == 0 {
		return
	}
	x.after = nil
	t := newThread()
	t.vp = v
	t.body = plain(func() {
		for f := popLast(&calls); f != nil; f = popLast(&calls) {
			f()
		}
	})
	storeRel64(&v.born, v.born+1)
	v.ready(t, true)
}

// back is called by a thread with a rare part when it runs again after a switch, in user mode.
func (c *co) back(x *rare) {
	c.renew(x)
	if f := x.onSwitch; f != nil {
		f()
	}
}

// renew is called by a thread with a rare part, in user mode, when it begins, and when it goes on after a switch or a
// call of Blocking: a suspended thread parks, and preemption is disabled again if it was.
func (c *co) renew(x *rare) {
	if x.asks.Load() != 0 {
		c.parkSuspended(x)
	}
	if x.preemptOff.depth > 0 && c.inUser == 0 {
		c.disablePreemption()
	}
}

func ownRare() (*rare, error) {
	if x := Self().needRare(); x != nil {
		return x, nil
	}
	return nil, ErrNotThread
}

// PushCleanup is marcel.PushCleanup.
func (moduleCalls) PushCleanup(f func()) error {
	x, err := ownRare()
	if err == nil && f != nil {
		x.cleanups = append(x.cleanups, f)
	}
	return err
}

// PopCleanup is marcel.PopCleanup.
func (moduleCalls) PopCleanup(run bool) error {
	x, err := ownRare()
	if err != nil {
		return err
	}
	if f := popLast(&x.cleanups); f != nil && run {
		f()
	}
	return nil
}

// AtExit is marcel.AtExit.
func (moduleCalls) AtExit(f func()) error {
	x, err := ownRare()
	if err == nil && f != nil {
		x.atExit = append(x.atExit, f)
	}
	return err
}

// AfterExit is marcel.AfterExit.
func (moduleCalls) AfterExit(f func()) error {
	x, err := ownRare()
	if err == nil && f != nil {
		x.after = append(x.after, f)
	}
	return err
}

// OnSwitch is marcel.OnSwitch.
func (moduleCalls) OnSwitch(f func()) error {
	x, err := ownRare()
	if err == nil {
		x.onSwitch = f
	}
	return err
}

// SetLocal has the calling thread keep a value for the key, which it has none for yet. When the thread ends, after its at-exit callbacks, it calls
// drop, which takes the value away and returns the destructor's call; nil: there is nothing to destroy. If destructors
// leave values again drop is called again, destructorRounds times at most. On a plain goroutine SetLocal returns ErrNotThread.
func (moduleCalls) SetLocal(key *byte, value any, drop func() func()) error {
	x, err := ownRare()
	if err == nil {
		x.locals = append(x.locals, local{key, value, drop, x.rounds})
	}
	return err
}

// Local returns what the calling thread keeps for the key; nil: nothing, or the caller is a plain goroutine.
func (moduleCalls) Local(key *byte) any {
	if c := lookup(); c != nil && c.cur != nil {
		if x := c.cur.x.Load(); x != nil {
			for i := range x.locals {
				if x.locals[i].key == key {
					return x.locals[i].value
				}
			}
		}
	}
	return nil
}
