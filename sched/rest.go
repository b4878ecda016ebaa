package sched

import (
	"sync/atomic"
	"time"
)

// rest says how a VP without a holder rests: one word, drawn with all else that sleeps in IDLE.md, and the OS threads that
// sleep there.
//
//	held ─── fallAsleep: its holder, which then releases it; or the clock, of a VP in Blocking ─► asleep
//	asleep ─ rouse: there is work, or a kick ───────────────────────────────────────────────────► asleep, roused
//	roused ─ the spare on its way arrives, and claims the VP: wakeUp ───────────────────────────► held
//	roused ─ the spare arrives, and finds nothing, or another LWP has the VP ───────────────────► as before
//	any ──── kick: the VP is to look, even without work ────────────────────────────────────────► kicked, too
//	kicked ─ takeKick: the LWP that looks ──────────────────────────────────────────────────────► as before
//
// Of a VP whose thread polls, polls (poll.go) says until when.
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
	isAsleep = 1 << iota // it may be woken to help others: counted in Scheduler.wants
	isRoused             // a spare has been woken and has not looked yet
	isKicked             // the LWP that comes next is to fire the idle hooks, even without work
)

func (r *rest) asleep() bool { return r.word.Load()&isAsleep != 0 }
func (r *rest) roused() bool { return r.word.Load()&isRoused != 0 }
func (r *rest) kicked() bool { return r.word.Load()&isKicked != 0 }

// fallAsleep: false: it was asleep already.
func (r *rest) fallAsleep() bool { return r.set(isAsleep) }

// wakeUp: false: it was not asleep.
func (r *rest) wakeUp() bool {
	return r.word.Load()&isAsleep != 0 && r.word.And(^uint32(isAsleep))&isAsleep != 0
}

// rouse: false: a spare is on its way already.
func (r *rest) rouse() bool { return r.set(isRoused) }

func (r *rest) set(bit uint32) bool { return r.word.Load()&bit == 0 && r.word.Or(bit)&bit == 0 }

// arrive ends what rouse began. It is a barrier: what the spare looks at afterwards is what a later rouse finds.
func (r *rest) arrive() { r.word.And(^uint32(isRoused)) }

// kick is a barrier, as arrive is.
func (r *rest) kick() { r.word.Or(isKicked) }

// takeKick tells whether there was a kick.
func (r *rest) takeKick() bool { return r.word.And(^uint32(isKicked))&isKicked != 0 }

// push adds l, which is about to sleep. The list grows outside of the lock: an allocation may wait for the collector.
func (r *rest) push(l *lwp) {
	for {
		r.mu.Lock()
		if n := len(r.spares); n < cap(r.spares) {
			r.spares = append(r.spares, l)
			r.mu.Unlock()
			return
		} else {
			r.mu.Unlock()
			more := make([]*lwp, 0, 2*n+2*spareLWPs)
			r.mu.Lock()
			if n == cap(r.spares) {
				r.spares = append(more, r.spares...)
			}
			r.mu.Unlock()
		}
	}
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

// remove takes l out of the reserve. It returns false if an LWP or a thread has popped l already; the popper gives l an order.
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
	var some [16]*lwp // more have time until the next call: an allocation may wait for the collector
	out := some[:0]
	surplus := min(r.fewest-spareLWPs, len(r.spares)-spareLWPs, len(some))
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
