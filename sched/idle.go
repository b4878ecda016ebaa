package sched

import (
	"slices"
	"sync/atomic"
	"time"
)

// idleState is how a VP without a holder idles: one word, and the spares of the VP. IDLE.md draws the word beside all
// else that sleeps.
//
//	held ─── fallAsleep: its holder, which then releases it; or the clock, of a VP in Blocking ─► asleep
//	asleep ─ beginWaking: there is work, or a kick ─────────────────────────────────────────────► asleep, waking
//	waking ─ the spare on its way arrives, and claims the VP: wakeUp ───────────────────────────► held
//	waking ─ the spare arrives, and finds nothing, or another LWP has the VP ───────────────────► as before
//	any ──── kick: the VP is to look, even without work ────────────────────────────────────────► kicked, too
//	kicked ─ takeKick: the LWP that looks ──────────────────────────────────────────────────────► as before
//
// The state of a VP whose thread polls is vp.polling (poll.go).
type idleState struct {
	word atomic.Uint32

	mu       Spin   // guards the fields below
	spares   []*lwp // asleep; the last one sleeps for the shortest time
	lowWater int    // of them since trim
}

// The number of LWPs. A VP keeps spareLWPs spares; a further one ends after Config.SpareTime in which the VP has not
// needed it. Of Config.MaxLWPs, sureLWPs are reserved for each VP, however many the other VPs use.
const (
	spareLWPs        = 2
	sureLWPs         = 2
	defaultSpareTime = 2 * time.Second
)

const (
	isAsleep = 1 << iota // it may be woken to help others: counted in Scheduler.wants
	isWaking             // a spare has been woken and has not looked yet
	isKicked             // the LWP that comes next is to fire the idle hooks, even without work
)

func (idle *idleState) asleep() bool { return idle.word.Load()&isAsleep != 0 }
func (idle *idleState) waking() bool { return idle.word.Load()&isWaking != 0 }
func (idle *idleState) kicked() bool { return idle.word.Load()&isKicked != 0 }

// fallAsleep sets isAsleep. It returns false if the VP was asleep already.
func (idle *idleState) fallAsleep() bool { return idle.set(isAsleep) }

// wakeUp clears isAsleep. It returns false if the VP was not asleep.
func (idle *idleState) wakeUp() bool {
	return idle.word.Load()&isAsleep != 0 && idle.word.And(^uint32(isAsleep))&isAsleep != 0
}

// beginWaking sets isWaking. It returns false if a spare is on its way already; otherwise the caller wakes one.
func (idle *idleState) beginWaking() bool { return idle.set(isWaking) }

// set sets a bit, and reports whether it was clear.
func (idle *idleState) set(bit uint32) bool {
	return idle.word.Load()&bit == 0 && idle.word.Or(bit)&bit == 0
}

// arrive ends what beginWaking began. It is a barrier: what the spare looks at afterwards is what a later waker finds.
func (idle *idleState) arrive() { idle.word.And(^uint32(isWaking)) }

// kick sets isKicked. It is a barrier, as arrive is.
func (idle *idleState) kick() { idle.word.Or(isKicked) }

// takeKick clears isKicked, and reports whether it was set.
func (idle *idleState) takeKick() bool { return idle.word.And(^uint32(isKicked))&isKicked != 0 }

// push adds l, which is about to sleep. The list grows outside of the lock: an allocation may wait for the collector.
func (idle *idleState) push(l *lwp) {
	for {
		idle.mu.Lock()
		if n := len(idle.spares); n < cap(idle.spares) {
			idle.spares = append(idle.spares, l)
			idle.mu.Unlock()
			return
		} else {
			idle.mu.Unlock()
			more := make([]*lwp, 0, 2*n+2*spareLWPs)
			idle.mu.Lock()
			if n == cap(idle.spares) {
				idle.spares = append(more, idle.spares...)
			}
			idle.mu.Unlock()
		}
	}
}

// pop takes the spare that has slept for the shortest time. It returns nil if there is none.
func (idle *idleState) pop() (l *lwp) {
	idle.mu.Lock()
	if n := len(idle.spares); n > 0 {
		l, idle.spares = idle.spares[n-1], idle.spares[:n-1]
		idle.lowWater = min(idle.lowWater, n-1)
	}
	idle.mu.Unlock()
	return l
}

// remove takes l out of the reserve. It returns false if an LWP or a thread has popped l already; the popper gives l an
// order.
func (idle *idleState) remove(l *lwp) bool {
	idle.mu.Lock()
	defer idle.mu.Unlock()
	i := slices.Index(idle.spares, l)
	if i >= 0 {
		idle.spares = slices.Delete(idle.spares, i, i+1)
		idle.lowWater = min(idle.lowWater, len(idle.spares))
	}
	return i >= 0
}

// surplus reports whether there are more spares than a VP keeps.
func (idle *idleState) surplus() bool {
	idle.mu.Lock()
	defer idle.mu.Unlock()
	return len(idle.spares) > spareLWPs
}

// trim ends spares that the VP has not needed since the last call, and keeps spareLWPs. It reports whether
// more than spareLWPs are left.
func (idle *idleState) trim() (more bool) {
	idle.mu.Lock()
	var some [16]*lwp // the next call ends more: under the lock nothing may be allocated, since an allocation may wait for the collector
	out := some[:0]
	surplus := min(idle.lowWater-spareLWPs, len(idle.spares)-spareLWPs, len(some))
	kept := idle.spares[:0]
	for _, l := range idle.spares { // the first has slept for the longest time
		if len(out) < surplus && !l.inSleeper.Load() {
			out = append(out, l)
		} else {
			kept = append(kept, l)
		}
	}
	clear(idle.spares[len(kept):])
	idle.spares, idle.lowWater = kept, len(kept)
	idle.mu.Unlock()
	for _, l := range out {
		l.wakeWith(toStop)
	}
	return len(kept) > spareLWPs
}
