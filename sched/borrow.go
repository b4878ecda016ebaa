package sched

import "sync/atomic"

// vpMode of a VP, as others see it: a hint.
type vpMode uint32

const (
	vpFree     vpMode = iota // no LWP holds it
	vpUser                   // its thread runs user code
	vpHeld                   // its thread, or the base, is inside the scheduler
	vpBorrowed               // a taker has it for a moment
)

func (v *vp) mode() vpMode {
	switch x := v.word.load(); {
	case x == 0:
		return vpFree
	case x&borrowBit != 0:
		return vpBorrowed
	case v.current().isInside():
		return vpHeld
	}
	return vpUser
}

// current is the co that runs on v, a hint for all but the holder.
//
//go:norace
func (v *vp) current() *co {
	c := v.cur
	raceSawBirth()
	return c
}

// isInside reports whether c is inside the scheduler, a hint for all but c.
func (c *co) isInside() bool { return atomic.LoadUint32(&c.inside)&isIn != 0 }

// borrow takes v for the caller for a moment. The caller is neither v's holder nor a thread that runs on v. borrow
// fails if the thread on v is inside the scheduler. old is for giveBack. Until giveBack v's queue is the caller's, and
// the thread on v waits where it would enter the scheduler.
//
// Enter stores co.inside, then loads the word, without a barrier in between. The barrier is here: fence makes each CPU
// of the process pass one. After it, either Enter sees borrowBit, or the borrower sees inside. An operation that was
// under way before may have switched to another co; the borrower sees that by cur and tick: each switch moves tick
// first, then cur.
func (v *vp) borrow() (old uint32, ok bool) {
	if x := v.word.load(); x&borrowBit != 0 || x != 0 && v.current().isInside() {
		return x, false
	}
	old, ok = v.word.borrow()
	if !ok || old == 0 {
		return old, ok
	}
	fence()
	tick := atomic.LoadUint64(&v.tick)
	c := v.current()
	if l := c.lwpHint(); l != nil {
		raceAcquire(l)
	}
	if c.isInside() || v.current() != c || atomic.LoadUint64(&v.tick) != tick {
		v.giveBack(old)
		return old, false
	}
	return old, true
}

// giveBack ends what borrow began.
func (v *vp) giveBack(old uint32) {
	v.word.giveBack(old)
	if old == 0 {
		v.wakeIfDue(false) // a post may have taken us for a holder
	}
}

// fence is a full barrier for all CPUs that run a thread of this process.
func fence() {
	if !fenced {
		membarrier()
	}
}

// announce is the store of Enter, and a barrier.
func (c *co) announce() { atomic.SwapUint32(&c.inside, c.inUser|isIn) }
