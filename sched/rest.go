package sched

import (
	"sync/atomic"
	"time"
)

// rest is the state of a VP that has no holder, or is about to have none, in one word, and the
// OS threads that sleep there.
//
//	held ──── lwp.sleep: fall, release ─────────────────► idle: it may be woken to help others
//	held ──── Blocking: release; the clock finds it: fall ► idle
//	idle ──── call: there is work, or a kick ────────────► idle, called: a spare is on its way
//	called ── lwp.obtain: arrived; it claims: rise ──────► held
//	called ── arrived; there is nothing, or another one has the VP ► as before the call
//	any ───── kick ──────────────────────────────────────► kicked, too: it is to get a holder even
//	                                                       without work, which fires the idle hooks
//	kicked ── lwp.obtain: takeKick ──────────────────────► looked at, once
//
// What a holder promises while it polls is in poll.go.
type rest struct {
	word atomic.Uint32

	mu     Spin   // guards the rest
	spares []*lwp // asleep; the last one sleeps for the shortest time
	fewest int    // of them since trim
}

// Spares. A VP keeps spareLWPs; what it has more, and has not needed once in
// Config.SpareTime, ends. sureLWPs are reserved for each VP, whatever others use.
const (
	spareLWPs        = 2
	sureLWPs         = 2
	defaultSpareTime = 2 * time.Second
)

const (
	isIdle   = 1 << iota // counted in Scheduler.alert
	isCalled             // a spare has been woken and has not looked yet
	isKicked
)

func (r *rest) idle() bool   { return r.word.Load()&isIdle != 0 }
func (r *rest) called() bool { return r.word.Load()&isCalled != 0 }
func (r *rest) kicked() bool { return r.word.Load()&isKicked != 0 }

// set sets a bit; false: it was set already.
func (r *rest) set(bit uint32) bool { return r.word.Load()&bit == 0 && r.word.Or(bit)&bit == 0 }

// clear clears a bit; false: it was not set.
func (r *rest) clear(bit uint32) bool { return r.word.Load()&bit != 0 && r.word.And(^bit)&bit != 0 }

// call: false if a spare is on its way already.
func (r *rest) call() bool { return r.set(isCalled) }

// arrived ends a call. It is a barrier: what is looked at after it is what a later call finds.
func (r *rest) arrived() { r.word.And(^uint32(isCalled)) }

// kick is a barrier, as arrived is.
func (r *rest) kick() { r.word.Or(isKicked) }

// takeKick tells whether there was a kick.
func (r *rest) takeKick() bool { return r.word.And(^uint32(isKicked))&isKicked != 0 }

// push adds l, which is about to sleep.
func (r *rest) push(l *lwp) {
	r.mu.Lock()
	r.spares = append(r.spares, l)
	r.mu.Unlock()
}

// pop takes the one that has slept for the shortest time; nil: there is none.
func (r *rest) pop() (l *lwp) {
	r.mu.Lock()
	if n := len(r.spares); n > 0 {
		l, r.spares = r.spares[n-1], r.spares[:n-1]
		r.fewest = min(r.fewest, n-1)
	}
	r.mu.Unlock()
	return l
}

// remove takes l out; false: somebody has popped it and will rouse it.
func (r *rest) remove(l *lwp) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	for i, x := range r.spares {
		if x == l {
			r.spares = append(r.spares[:i], r.spares[i+1:]...)
			r.fewest = min(r.fewest, len(r.spares))
			return true
		}
	}
	return false
}

// surplus tells whether there are more spares than a VP keeps.
func (r *rest) surplus() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return len(r.spares) > spareLWPs
}

// trim ends the spares that have not been needed since the last call, but a few, and tells
// whether there are still more than these.
func (r *rest) trim() (more bool) {
	r.mu.Lock()
	var out []*lwp
	surplus := min(r.fewest, len(r.spares)) - spareLWPs
	kept := r.spares[:0]
	for _, l := range r.spares { // the first has slept for the longest time
		if len(out) < surplus && !l.inSleeper.Load() {
			out = append(out, l)
		} else {
			kept = append(kept, l)
		}
	}
	clear(r.spares[len(kept):])
	r.spares, r.fewest = kept, len(kept)
	r.mu.Unlock()
	for _, l := range out {
		l.rouse(toStop)
	}
	return len(kept) > spareLWPs
}
