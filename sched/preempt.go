package sched

import (
	"os"
	"strconv"
	"strings"
)

// A non-preemptible thread has noPreempt in co.inside while it runs user code (co.inUser). Code that takes a
// VP from a running thread then finds the thread inside the scheduler, and leaves the VP to it. A VP that
// steals may still borrow the VP: it takes ready threads, not the running one.

// asyncPreemptOff is true if GODEBUG sets asyncpreemptoff=1 at the start of the program: the runtime then
// ignores the clock's stop requests.
var asyncPreemptOff = saysAsyncPreemptOff(os.Getenv("GODEBUG"))

// saysAsyncPreemptOff reads GODEBUG as the runtime does: of settings that repeat the last one counts.
func saysAsyncPreemptOff(godebug string) (off bool) {
	for setting := range strings.SplitSeq(godebug, ",") {
		if value, ok := strings.CutPrefix(setting, "asyncpreemptoff="); ok {
			if n, err := strconv.Atoi(value); err == nil {
				off = n != 0
			}
		}
	}
	return off
}

// preemptOff counts the calls of DisablePreemption that EnablePreemption has not undone yet. The thread alone uses it.
type preemptOff struct{ depth int }

// DisablePreemption keeps takers from the VP of the calling thread until EnablePreemption. Calls nest. On a plain
// goroutine it returns ErrNotThread.
func (moduleCalls) DisablePreemption() error {
	x, err := callerExtras()
	if err != nil {
		return err
	}
	if x.preemptOff.depth++; x.preemptOff.depth == 1 {
		lookup().setInUser(noPreempt)
	}
	return nil
}

// EnablePreemption undoes one DisablePreemption of the calling thread; without one it does nothing. On a plain
// goroutine it returns ErrNotThread.
func (moduleCalls) EnablePreemption() error {
	x, err := callerExtras()
	if err != nil {
		return err
	}
	switch {
	case x.preemptOff.depth > 1:
		x.preemptOff.depth--
	case x.preemptOff.depth == 1:
		x.preemptOff.depth = 0
		lookup().setInUser(0)
	}
	return nil
}

// setInUser sets the value of co.inside for user code: noPreempt, or 0. The thread on c calls it.
func (c *co) setInUser(inside uint32) {
	c.enter()
	c.inUser = inside
	c.Leave()
}
