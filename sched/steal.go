package sched

import "github.com/pm2-go/pm2/asm"

// A thief is an idle VP that takes threads from another VP. It borrows that VP for a moment (vpWord.borrow), and so
// uses its private queue. The queue itself needs no atomics, and its owner pays nothing while no VP steals.
type thief struct {
	singleSince int64  // cycles: when the thief first saw a single ready thread on singleVP
	singleTick  uint32 // the tick of singleVP at that time
	singleVP    *vp    // nil: none
	pausedUntil int64  // cycles: the thief makes no attempt before this time
	failures    uint   // attempts since the last one that got threads
}

const (
	// singleWait is how long a single ready thread must have waited before a thief moves it. In a ping-pong between two
	// threads of one VP one is always ready, for tens of nanoseconds; moving it would cost both dearly. The figure for
	// which it is there: mutex contended, 8 on 2 VPs (docs/decisions/mechanisms.md).
	singleWait = 3000 // ns
	// retryPause is half of the pause after the first attempt that got nothing; each further one in a row doubles the
	// pause, up to retryPause << maxDoublings. An attempt interrupts
	// the victim. If the victim's threads do nothing but wait for each other, most attempts find it inside the
	// scheduler. The figure for which the doubling is there: the prime sieve, 2 VPs (docs/decisions/mechanisms.md).
	retryPause   = 2000 // ns
	maxDoublings = 6
	// maxShare bounds how many threads a thief takes, or looks at, at once: the victim cannot schedule
	// meanwhile.
	maxShare = 256
)

// steal takes about half of the ready threads of another VP, the oldest of the highest priority, and queues them on v:
// from the nearest VP that has some; of those at equal distance a random one is asked first. The caller holds v and has
// nothing to run.
func (v *vp) steal(th *thief, now int64) bool {
	if now < th.pausedUntil {
		return false
	}
	for _, ring := range v.vpsByDistance {
		if randomSteals && v.random()%2 == 0 {
			continue // the farther ones first
		}
		first := 0
		if len(ring) > 1 {
			first = int(v.random() % uint32(len(ring)))
		}
		for i := range ring {
			o := ring[(first+i)%len(ring)]
			if o.disabled.Load() || !o.hasOwn() || !th.worthwhile(o, now) {
				continue
			}
			count(&v.counts.tries, 1)
			if n := v.stealFrom(o); n > 0 {
				th.failures = 0
				count(&v.counts.steals, 1)
				count(&v.counts.items, uint64(n))
				v.mark(TraceSteal, nil, uint64(o.id), uint64(n))
				return true
			}
			th.failures++
			th.pausedUntil = now + asm.ToCycles(retryPause<<min(th.failures, maxDoublings))
		}
	}
	return false
}

// random is a xorshift generator (Marsaglia 2003). Holder only.
func (v *vp) random() uint32 {
	x := v.randomState
	x ^= x << 13
	x ^= x >> 17
	x ^= x << 5
	v.randomState = x
	return x
}

// worthwhile reports whether o is worth an attempt: several threads are ready there, or one has been for singleWait.
func (th *thief) worthwhile(o *vp, now int64) bool {
	if randomSteals || o.queueLen() > 1 {
		return true
	}
	if x := th.singleVP; x != nil && x != o && x.ticks() == th.singleTick && x.hasOwn() {
		return false // th times one VP at a time: with two, each would restart the time of the other
	}
	if tick := o.ticks(); th.singleVP != o || th.singleTick != tick {
		th.singleVP, th.singleTick, th.singleSince = o, tick, now
		return false
	}
	return now-th.singleSince > asm.ToCycles(singleWait)
}

// stealFrom moves ready threads from o to v and returns how many.
func (v *vp) stealFrom(o *vp) int {
	old, ok := o.borrow()
	if !ok {
		return 0
	}
	if o.inbox.Load() != nil {
		o.collect()
	}
	n := v.share(o)
	count(&o.stolen, uint64(n))
	o.giveBack(old)
	return n
}

// share moves half of o's ready threads, rounded up: the oldest that may run on v, the highest priority first. The
// others keep their order.
func (v *vp) share(o *vp) (n int) {
	var taken [maxShare]*thread
	want := min((o.q.total()+1)/2, maxShare)
	if randomSteals {
		want = min(1+int(v.random()%uint32(o.q.total()+1)), maxShare)
	}
	for b := o.q.present(); b != 0 && n < want; b &= b - 1 {
		r := highest(b)
		n += v.takeAllowed(o.q.of(r), taken[n:want])
		o.q.took(r)
	}
	// A thread that changes a class writes it, then reads t.vp. share has written t.vp, and add reads the class. The
	// store in between is sequentially consistent, so one of the two sees what the other has written.
	v.fence.Store(0)
	for _, t := range taken[:n] {
		v.add(t)
	}
	return n
}

// takeAllowed takes the oldest threads of o that may run on v, as many as room holds.
func (v *vp) takeAllowed(o *threadRing, room []*thread) (n int) {
	var stay []*thread
	for range min(o.len(), maxShare) {
		if n == len(room) {
			break
		}
		t := o.pop()
		if !t.mayRun(v) {
			stay = append(stay, t)
			continue
		}
		t.vp = v
		room[n] = t
		n++
	}
	for i := len(stay) - 1; i >= 0; i-- {
		o.pushOld(stay[i])
	}
	return n
}
