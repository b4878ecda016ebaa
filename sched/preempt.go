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

// DisablePreemption keeps the VP from being taken from the calling thread until
// EnablePreemption: neither the end of its slice nor a thread of higher priority
// takes it. Between its scheduling points no other thread of its VP runs, nor
// does it come to another VP, so that data of a VP (CurrentVP) need no lock
// between threads that all disable it. (One that does not may have lost the VP
// before, and goes on beside this one to its next scheduling point.) Where it
// waits, yields or calls Blocking, the others run as ever. Calls nest. A thread that
// blocks in this state without telling (in a Go channel, a system call) keeps all others
// of its VP from running. On a plain goroutine it returns ErrNotThread.
func DisablePreemption() error {
	x, err := ownRare()
	if err != nil {
		return err
	}
	if x.preemptOff.depth++; x.preemptOff.depth == 1 {
		c := Enter()
		c.inUser = noPreempt
		c.Leave()
	}
	return nil
}

// EnablePreemption ends what as many calls of DisablePreemption began; more do
// nothing. Threads made with Attr.NonPreemptible begin with one such call. On a
// plain goroutine it returns ErrNotThread.
func EnablePreemption() error {
	x, err := ownRare()
	if err != nil {
		return err
	}
	switch {
	case x.preemptOff.depth > 1:
		x.preemptOff.depth--
	case x.preemptOff.depth == 1:
		x.preemptOff.depth = 0
		c := Enter()
		c.inUser = 0
		c.Leave()
	}
	return nil
}

// disablePreemption is for a thread that begins with preemption disabled.
func (c *co) disablePreemption() {
	c.enter()
	c.inUser = noPreempt
	c.Leave()
}
