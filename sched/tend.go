package sched

import (
	"sync/atomic"
	"time"

	"github.com/pm2-go/pm2/asm"
	"github.com/pm2-go/pm2/hooks"
)

// A thread that polls does by itself what the clock ticks for: what is to be found by hooks
// it finds, or sees to it that they are fired, and it looks whether others are ready. It says so
// with Tend, and does the clock's part with Tick:
//
//	thread   store tended, the end of its promise    the clock's tick: tended? then no hooks for this VP
//	         Tick: once a period, the Timer hooks
//
// While all VPs that are awake are tended at tick after tick the clock makes pauses. On a
// virtual machine an interrupt takes 45 us from who computes or copies beside it: at one a
// millisecond that was 4 to 7 % of the bandwidth of long messages, and every hundredth message
// of some microseconds. The word is a hint: who has promised and computes instead has its hooks
// fired up to longestPause periods later, once.

// Tend says that the calling thread will poll, and call Tick, for d from now on. A few nanoseconds; does nothing on a
// plain goroutine, and for a thread that has lost its VP.
func Tend(d time.Duration) {
	if c := lookup(); c != nil && !c.base && c.where().current() == c {
		c.where().tend(asm.Cycles(), d)
	}
}

// Tick is Tend, and fires the Timer hooks of the caller's VP if the last time is a period ago. The caller holds no lock that a
// hook may want.
func Tick(d time.Duration) {
	c := lookup()
	if c == nil || c.base || c.where().current() != c {
		return
	}
	v, now := c.where(), asm.Cycles()
	v.tend(now, d)
	if now-int64(atomic.LoadUint64(&v.fired)) >= v.sched.period {
		storeRel64(&v.fired, uint64(now))
		v.fire(hooks.Timer)
	}
}

// tend is for the thread that has v. Both words are stored atomically: it may lose v at any moment.
func (v *vp) tend(now int64, d time.Duration) {
	storeRel64(&v.tended, uint64(now+asm.ToCycles(int64(d))))
}

// isTended tells the clock whether v's thread has promised to poll.
func (v *vp) isTended() bool { return asm.Cycles() < int64(atomic.LoadUint64(&v.tended)) }

// pause is how many periods the next tick may be away, after so many in a row at which all was tended:
// at most half as long as that has lasted, lest a thread that then computes wait for its first tick for long.
func pause(tended int) int64 {
	switch {
	case tended < 5:
		return 1
	case tended < 7:
		return 2
	}
	return longestPause
}

// longestPause is in periods.
const longestPause = 4
