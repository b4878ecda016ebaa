package sched

import (
	"os"
	"strconv"
	"strings"
)

// A non-preemptible thread has isFirm in co.inside while it runs user code (co.inUser). Code that takes a
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

// firm is on a thread that is not to be preempted: how many times that was asked for and not taken back. The thread's own alone.
type firm struct{ depth int }

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
	if x.firm.depth++; x.firm.depth == 1 {
		c := Enter()
		c.inUser = isFirm
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
	case x.firm.depth > 1:
		x.firm.depth--
	case x.firm.depth == 1:
		x.firm.depth = 0
		c := Enter()
		c.inUser = 0
		c.Leave()
	}
	return nil
}

// stiffen is for a thread that begins with preemption disabled.
func (c *co) stiffen() {
	c.enter()
	c.inUser = isFirm
	c.Leave()
}
