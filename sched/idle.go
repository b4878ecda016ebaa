package sched

import (
	"sync/atomic"
	"time"
)

// idleState is how a VP without a holder idles: one word, and the spares of the VP. IDLE.md draws the word beside all
// else that sleeps.
//
//	held ─── fallAsleep: its holder, which then releases it; or the clock, of a VP in Blocking ─► asleep
//	asleep ─ rouse: there is work, or a kick ───────────────────────────────────────────────────► asleep, roused
//	roused ─ the spare on its way arrives, and claims the VP: wakeUp ───────────────────────────► held
//	roused ─ the spare arrives, and finds nothing, or another LWP has the VP ───────────────────► as before
//	any ──── kick: the VP is to look, even without work ────────────────────────────────────────► kicked, too
//	kicked ─ takeKick: the LWP that looks ──────────────────────────────────────────────────────► as before
//
// The state of a VP whose thread polls is vp.polls (poll.go).
type idleState struct {
	word atomic.Uint32

	mu     Spin   // guards the fields below
	spares []*lwp // asleep; the last one sleeps for the shortest time
	fewest int    // of them since trim
}

// Spares. A VP keeps spareLWPs of them. A further one ends after Config.SpareTime in which
// the VP has not needed it. sureLWPs are reserved for each VP, however many the other VPs use.
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

func (r *idleState) asleep() bool { return r.word.Load()&isAsleep != 0 }
func (r *idleState) roused() bool { return r.word.Load()&isRoused != 0 }
func (r *idleState) kicked() bool { return r.word.Load()&isKicked != 0 }

// fallAsleep returns false if the VP was asleep already.
func (r *idleState) fallAsleep() bool { return r.set(isAsleep) }

// wakeUp returns false if the VP was not asleep.
func (r *idleState) wakeUp() bool {
	return r.word.Load()&isAsleep != 0 && r.word.And(^uint32(isAsleep))&isAsleep != 0
}

// rouse returns false if a spare is on its way already.
func (r *idleState) rouse() bool { return r.set(isRoused) }

func (r *idleState) set(bit uint32) bool { return r.word.Load()&bit == 0 && r.word.Or(bit)&bit == 0 }

// arrive ends what rouse began. It is a barrier: what the spare looks at afterwards is what a later rouse finds.
func (r *idleState) arrive() { r.word.And(^uint32(isRoused)) }

// kick is a barrier, as arrive is.
func (r *idleState) kick() { r.word.Or(isKicked) }

// takeKick tells whether there was a kick.
func (r *idleState) takeKick() bool { return r.word.And(^uint32(isKicked))&isKicked != 0 }

// push adds l, which is about to sleep. The list grows outside of the lock: an allocation may wait for the collector.
func (r *idleState) push(l *lwp) {
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

// pop takes the spare that has slept for the shortest time. It returns nil if there is none.
func (r *idleState) pop() (l *lwp) {
	r.mu.Lock()
	if n := len(r.spares); n > 0 {
		l, r.spares = r.spares[n-1], r.spares[:n-1]
		r.fewest = min(r.fewest, n-1)
	}
	r.mu.Unlock()
	return l
}

// remove takes l out of the reserve. It returns false if an LWP or a thread has popped l already; the popper gives l an order.
func (r *idleState) remove(l *lwp) bool {
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
func (r *idleState) surplus() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return len(r.spares) > spareLWPs
}

// trim ends spares that the VP has not needed since the last call, and keeps spareLWPs. It tells whether
// more than spareLWPs are left.
func (r *idleState) trim() (more bool) {
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
