package sched

import "errors"

// ErrNotThread is returned where a plain goroutine asked for what only a thread
// can do.
var ErrNotThread = errors.New("marcel: the caller is a plain goroutine, not a thread")

// callbacks are what a thread has asked for. Its own alone, except after, which
// finish takes.
type callbacks struct {
	cleanups []func() // pushed and not yet popped
	atExit   []func()
	after    []func()
	onSwitch func()
	locals   []local // values of keys
	rounds   int     // of destructors so far
}

// destructorRounds is how often destructors are run if they set values in their
// turn, as in POSIX (_POSIX_THREAD_DESTRUCTOR_ITERATIONS).
const destructorRounds = 4

// next takes the next call of those due at the end of the thread: cleanup
// handlers, at-exit callbacks, destructors; nil: none is left. Each is taken
// before it is called, so that one which panics or exits is not called again.
func (b *callbacks) next() func() {
	for _, list := range []*[]func(){&b.cleanups, &b.atExit} {
		if f := popLast(list); f != nil {
			return f
		}
	}
	for ; b.rounds < destructorRounds; b.rounds++ {
		for i := range b.locals {
			if b.locals[i].round == b.rounds {
				b.locals[i].round++
				if f := b.locals[i].drop(); f != nil {
					return f
				}
			}
		}
	}
	b.locals = nil
	return nil
}

func popLast(list *[]func()) (f func()) {
	if n := len(*list) - 1; n >= 0 {
		f, (*list)[n] = (*list)[n], nil
		*list = (*list)[:n]
	}
	return f
}

// conclude calls what the thread wanted to be called at its end. If one of these
// calls panics or exits, run comes here again for the others.
func (c *co) conclude(x *rare) {
	if !x.ending {
		c.close(x)
	}
	for f := x.next(); f != nil; f = x.next() {
		f()
	}
}

// startPostExit spawns the thread that makes the post-exit calls, for the one that ends.
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

// back runs on a thread that has a rare part and got its VP back, in user mode.
func (c *co) back(x *rare) {
	c.renew(x)
	if f := x.onSwitch; f != nil {
		f()
	}
}

// renew is back where the thread has not been away: it begins, or its code goes on
// after a call of Blocking.
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

// PushCleanup has f called when the calling thread ends, in whichever way, unless
// PopCleanup takes it away before. Handlers are called last in, first out, on the
// thread, after the deferred calls of its functions; they may wait. On a plain
// goroutine it returns ErrNotThread.
func PushCleanup(f func()) error {
	x, err := ownRare()
	if err == nil && f != nil {
		x.cleanups = append(x.cleanups, f)
	}
	return err
}

// PopCleanup takes away the handler that was pushed last, and calls it if run is
// set. Without one it does nothing.
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

// AtExit has f called on the calling thread when it ends, in whichever way, after
// its deferred calls and cleanup handlers and before the destructors of its keys;
// last in, first out. Join waits for it. f may wait, and a panic of f is one of
// the thread. On a plain goroutine AtExit returns ErrNotThread.
func AtExit(f func()) error {
	x, err := ownRare()
	if err == nil && f != nil {
		x.atExit = append(x.atExit, f)
	}
	return err
}

// AfterExit has f called once the calling thread has ended and no longer uses its
// stack: joiners have been woken, none of its frames is left. f runs on a thread
// made for these calls, which come last in, first out. On a plain goroutine
// AfterExit returns ErrNotThread.
func AfterExit(f func()) error {
	x, err := ownRare()
	if err == nil && f != nil {
		x.after = append(x.after, f)
	}
	return err
}

// OnSwitch has f called on the calling thread each time that it runs again after
// it has waited or yielded, before the call in which it did so returns: Marcel's
// post-switch callback. f may be called on another VP than last time. It must
// neither wait nor yield. Nil ends it. On a plain goroutine OnSwitch returns
// ErrNotThread.
func OnSwitch(f func()) error {
	x, err := ownRare()
	if err == nil {
		x.onSwitch = f
	}
	return err
}
