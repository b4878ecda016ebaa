package sched

import (
	"math/bits"
	"sync/atomic"

	"github.com/pm2-go/pm2/asm"
)

// counts are the counters of a VP, beside those that vp keeps for its own use (tick, spawned, ended, stolen, seizures).
// The holder alone writes, with plain stores (count); any thread may read meanwhile. They cost running threads nothing:
// the counters move in the idle loop, when a VP falls asleep, and at one wake in 64.
type counts struct {
	tries    uint64     // attempts to borrow a VP in order to steal
	steals   uint64     // attempts that got threads
	items    uint64     // threads that the VP has stolen
	parks    uint64     // times the VP went to sleep
	spin     uint64     // cycles awake without a thread, hooks included
	rounds   uint64     // rounds of the idle hooks
	hook     uint64     // cycles in idle hooks, estimated from one round in hookSample
	wakes    Histogram  // of the times from a thread's wake to its run, of one wake in wakeSample
	sleeping sleepClock // cycles asleep; its comment says which thread writes it
}

const (
	hookSample = 16 // one round of the idle hooks in so many is timed
	wakeSample = 64 // one wake in so many is timed; both are powers of two
)

// count adds n to a counter. Only one party may call it for a counter: for a VP's counters, the holder.
func count(p *uint64, n uint64) { storeRel64(p, *p+n) }

// wakeStamp is a moment in 32 bits: cycles / 8, or 0 for none. It measures times of less than 2^35 cycles, some 10 s.
type wakeStamp uint32

const stampUnit = 8 // cycles

// wakeStampAt returns the stamp of a moment.
func wakeStampAt(cycles int64) wakeStamp { return max(wakeStamp(cycles/stampUnit), 1) }

// since returns the cycles from sm to now.
func (sm wakeStamp) since(now int64) int64 { return int64(wakeStamp(now/stampUnit)-sm) * stampUnit }

// stampWake stamps t, which is about to be made ready, for the histogram of wakes. A waker on a VP stamps at every
// wakeSample-th switch of that VP. A waker without a VP (a goroutine, the clock) always stamps, since its wake takes
// long anyway. The caller owns t until it queues it. It calls stampWake only if a stamp or a trace may be due.
func (c *co) stampWake(t *thread) {
	if c == nil || c.l.vp.tick%wakeSample == 0 {
		t.wokenAt = wakeStampAt(asm.Cycles())
	}
	if Tracing() {
		c.tracedWake(TraceWake, t)
	}
}

// sampleWake takes the stamp of t, which is about to run, and adds the time since then to the histogram. Holder only.
func (v *vp) sampleWake(t *thread) {
	ns := asm.Nanos(t.wokenAt.since(asm.Cycles()))
	t.wokenAt = 0
	count(&v.counts.wakes[min(bits.Len64(uint64(ns)), len(v.counts.wakes)-1)], 1)
}

// sleepClock sums the cycles for which a VP had neither an LWP nor work. While the VP sleeps, the moment at which it
// fell asleep is subtracted from the sum: so one word has all, and a reader adds the time until now:
//
//	sum >= 0 ── begin ──► sum-now < 0 ── end ──► sum-began+now >= 0
//
// (The counter of cycles has run for longer than any VP has slept.) The holder calls begin before it releases the VP,
// and end when it has claimed it. The clock calls mark for a VP that Blocking left free; if it finds that an LWP has
// claimed the VP at the same moment it calls undo.
type sleepClock struct{ v atomic.Int64 }

// begin is called by the holder. If the clock's mark is still there, begin changes its value, so that the clock's
// undo fails.
func (sc *sleepClock) begin(now int64) {
	x := sc.v.Load()
	if x >= 0 {
		x -= now
	} else {
		x++
	}
	sc.v.Store(x)
}

// end is for the LWP that has claimed the VP.
func (sc *sleepClock) end() {
	if x := sc.v.Load(); x < 0 {
		sc.v.Store(x + asm.Cycles())
	}
}

// mark is begin for the clock. undo takes it back unless an LWP has called begin or end meanwhile.
func (sc *sleepClock) mark(now int64) (undo func()) {
	x := sc.v.Load()
	if x < 0 || !sc.v.CompareAndSwap(x, x-now) {
		return func() {}
	}
	return func() { sc.v.CompareAndSwap(x-now, x) }
}

// read returns the cycles until now.
func (sc *sleepClock) read(now int64) int64 {
	x := sc.v.Load()
	if x < 0 {
		x += now
	}
	return max(x, 0)
}
