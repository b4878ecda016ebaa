package sched

import "errors"

// ErrNotThread is returned where a plain goroutine asked for what only a thread
// can do.
var ErrNotThread = errors.New("marcel: the caller is a plain goroutine, not a thread")

// callbacks are the functions that a thread wants called, and its values of keys. Only the thread uses them, except
// after, which startPostExit takes.
type callbacks struct {
	cleanups []func() // pushed and not yet popped
	atExit   []func()
	after    []func()
	onSwitch func()
	locals   []local // values of keys
	rounds   int     // of destructors so far
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

// PushCleanup registers f to be called when the calling thread ends, in whichever way, unless
// PopCleanup takes it away before. The handlers run last in, first out, on the
// thread, after the deferred calls of its functions; they may wait. On a plain
// goroutine PushCleanup returns ErrNotThread.
func PushCleanup(f func()) error {
	x, err := ownRare()
	if err == nil && f != nil {
		x.cleanups = append(x.cleanups, f)
	}
	return err
}

// PopCleanup takes away the handler that was pushed last, and calls it if run is
// set. If there is no handler it does nothing.
func PopCleanup(run bool) error {
	x, err := ownRare()
	if err != nil {
		return err
	}
	if f := popLast(&x.cleanups); f != nil && run {
		f()
	}
	return nil
}

// AtExit registers f to be called on the calling thread when it ends, in whichever way, after
// its deferred calls and cleanup handlers and before the destructors of its keys;
// last in, first out. Join waits for these calls. f may wait. A panic of f counts as a panic of
// the thread. On a plain goroutine AtExit returns ErrNotThread.
func AtExit(f func()) error {
	x, err := ownRare()
	if err == nil && f != nil {
		x.atExit = append(x.atExit, f)
	}
	return err
}

// AfterExit registers f to be called once the calling thread has ended and no longer uses its
// stack: its joiners have been woken, and none of its frames is left. f runs on a thread
// made for these calls, last in, first out. On a plain goroutine
// AfterExit returns ErrNotThread.
func AfterExit(f func()) error {
	x, err := ownRare()
	if err == nil && f != nil {
		x.after = append(x.after, f)
	}
	return err
}

// OnSwitch registers f to be called on the calling thread each time that it runs again after
// it has waited or yielded, before that call returns. It is Marcel's
// post-switch callback. f may be called on another VP than last time. It must
// neither wait nor yield. OnSwitch(nil) ends the calls. On a plain goroutine OnSwitch returns
// ErrNotThread.
func OnSwitch(f func()) error {
	x, err := ownRare()
	if err == nil {
		x.onSwitch = f
	}
	return err
}
