package sched

import "errors"

// ErrNotThread is the error of functions that only a thread may call, where a plain goroutine calls them.
var ErrNotThread = errors.New("marcel: the caller is a plain goroutine, not a thread")

// callbacks are the functions that a thread has registered, and its values of keys. Only the thread uses them, except
// afterExit, which startPostExit takes when the thread has ended.
type callbacks struct {
	cleanups  []func() // pushed and not yet popped
	atExit    []func()
	afterExit []func()
	onSwitch  func()
	locals    []local // of SetLocal
	rounds    int     // rounds of destructors so far
}

// local is a value that a thread keeps for a key.
type local struct {
	key   *byte // the value's type is known to the owner of that byte
	value any
	drop  func() func() // takes the value away and returns the call of its destructor, nil: none
	round int           // rounds of destructors that it has been through
}

// destructorRounds is how often destructors run if they set values again, as in POSIX
// (_POSIX_THREAD_DESTRUCTOR_ITERATIONS).
const destructorRounds = 4

// nextEndCall takes the next call that is due at the end of the thread out: cleanup handlers, then at-exit callbacks,
// then destructors; nil: none is left. So a call that panics or exits is not repeated.
func (cb *callbacks) nextEndCall() func() {
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

// popLast takes the last function out of a list; nil: the list is empty.
func popLast(list *[]func()) (f func()) {
	if n := len(*list) - 1; n >= 0 {
		f, (*list)[n] = (*list)[n], nil
		*list = (*list)[:n]
	}
	return f
}

// runEndCalls makes the calls at the end of the thread. If one of them panics or exits, run calls runEndCalls again for
// the others.
func (c *co) runEndCalls(x *extras) {
	if !x.ending {
		c.makeUncancelable(x)
	}
	for f := x.nextEndCall(); f != nil; f = x.nextEndCall() {
		f()
	}
}

// startPostExit spawns the thread that makes the post-exit calls (AfterExit) of the thread that ends.
// Holder only.
func (v *vp) startPostExit(x *extras) {
	calls := x.afterExit
	if len(calls) == 0 {
		return
	}
	x.afterExit = nil
	t := newThread()
	t.vp = v
	t.body = funcBody(func() {
		for f := popLast(&calls); f != nil; f = popLast(&calls) {
			f()
		}
	})
	storeRel64(&v.spawned, v.spawned+1)
	v.ready(t, true)
}

// runSwitchCallbacks is called by a thread with extras when it runs again after a switch, in user mode.
func (c *co) runSwitchCallbacks(x *extras) {
	c.renew(x)
	if f := x.onSwitch; f != nil {
		f()
	}
}

// renew is called by a thread with extras, in user mode, when it begins, and when it goes on after a switch or a
// call of Blocking: a suspended thread parks, and preemption is disabled again if it was.
func (c *co) renew(x *extras) {
	if x.requests.Load() != 0 {
		c.parkSuspended(x)
	}
	if x.preemptOff.depth > 0 && c.inUser == 0 {
		c.setInUser(noPreempt)
	}
}

// callerExtras returns the extras of the calling thread, which gets them if it has none; ErrNotThread on a plain
// goroutine.
func callerExtras() (*extras, error) {
	if x := Self().makeExtras(); x != nil {
		return x, nil
	}
	return nil, ErrNotThread
}

// PushCleanup registers f to be called when the calling thread ends, unless PopCleanup removes it before. The calls are
// made on the thread, the last registered first. On a plain goroutine PushCleanup returns ErrNotThread.
func (moduleCalls) PushCleanup(f func()) error {
	x, err := callerExtras()
	if err == nil && f != nil {
		x.cleanups = append(x.cleanups, f)
	}
	return err
}

// PopCleanup removes the cleanup handler that the calling thread registered last, and calls it if run is set. Without a
// handler it does nothing. On a plain goroutine it returns ErrNotThread.
func (moduleCalls) PopCleanup(run bool) error {
	x, err := callerExtras()
	if err != nil {
		return err
	}
	if f := popLast(&x.cleanups); f != nil && run {
		f()
	}
	return nil
}

// AtExit registers f to be called on the calling thread when it ends, after its cleanup handlers and before its
// destructors, the last registered first. Joiners wait for these calls. On a plain goroutine AtExit returns
// ErrNotThread.
func (moduleCalls) AtExit(f func()) error {
	x, err := callerExtras()
	if err == nil && f != nil {
		x.atExit = append(x.atExit, f)
	}
	return err
}

// AfterExit registers f to be called after the calling thread has ended and its joiners have been woken, on a thread
// made for these calls, the last registered first. On a plain goroutine AfterExit returns ErrNotThread.
func (moduleCalls) AfterExit(f func()) error {
	x, err := callerExtras()
	if err == nil && f != nil {
		x.afterExit = append(x.afterExit, f)
	}
	return err
}

// OnSwitch has f called on the calling thread each time that it runs again after a wait or a yield; nil: no call from
// now on. f must neither wait nor yield. On a plain goroutine OnSwitch returns ErrNotThread.
func (moduleCalls) OnSwitch(f func()) error {
	x, err := callerExtras()
	if err == nil {
		x.onSwitch = f
	}
	return err
}

// SetLocal has the calling thread keep a value for the key, for which it has none yet. When the thread ends, after its
// at-exit callbacks, it calls drop, which takes the value away and returns the call of the destructor; nil: there is
// nothing to destroy. If destructors set values again the thread calls drop again, destructorRounds times at most. On a
// plain goroutine SetLocal returns ErrNotThread.
func (moduleCalls) SetLocal(key *byte, value any, drop func() func()) error {
	x, err := callerExtras()
	if err == nil {
		x.locals = append(x.locals, local{key, value, drop, x.rounds})
	}
	return err
}

// Local returns what the calling thread keeps for the key; nil: nothing, or the caller is a plain goroutine.
func (moduleCalls) Local(key *byte) any {
	if c := lookup(); c != nil && c.cur != nil {
		if x := c.cur.extras.Load(); x != nil {
			for i := range x.locals {
				if x.locals[i].key == key {
					return x.locals[i].value
				}
			}
		}
	}
	return nil
}
