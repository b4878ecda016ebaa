package sched

import (
	"math/bits"
	"sync/atomic"

	"github.com/pm2-go/pm2/asm"
)

// counts are the counters of a VP, beside those that vp keeps for its own use (tick, born,
// ended, stolen, seizures). The holder alone writes, with plain stores (count);
// any thread may read meanwhile. They cost running threads nothing: the
// counters move in the idle loop, when a VP falls asleep, and at one wake in 64.
type counts struct {
	tries    uint64     // attempts to borrow a VP in order to steal
	steals   uint64     // those that got threads
	items    uint64     // threads that these steals got
	parks    uint64     // times the VP went to sleep
	spin     uint64     // cycles awake without a thread, hooks included
	rounds   uint64     // of idle hooks
	hook     uint64     // cycles in idle hooks, estimated from one round in hookSample
	wakes    Histogram  // from being woken to running, one wake in wakeSample
	sleeping sleepClock // cycles asleep; its comment says which thread writes it
}

const (
	hookSample = 16 // powers of two
	wakeSample = 64
)

// count adds n to a counter. For its only writer: of a VP's counter, the holder.
func count(p *uint64, n uint64) { storeRel64(p, *p+n) }

// wakeStamp is a moment in 32 bits: cycles / 8, or 0 for none. It measures times of
// less than 2^35 cycles, some 10 s.
type wakeStamp uint32

const stampUnit = 8 // cycles

func wakeStampAt(cycles int64) wakeStamp { return max(wakeStamp(cycles/stampUnit), 1) }

// since returns the cycles from sm to now.
func (sm wakeStamp) since(now int64) int64 { return int64(wakeStamp(now/stampUnit)-sm) * stampUnit }

// woken stamps t, which is about to be made ready, for the histogram of wakes. A VP stamps at every
// wakeSample-th of its switches. A waker without a VP (a
// goroutine, the clock) always stamps: its way is long anyway. The
// caller owns t until it queues it. It calls woken only if a stamp or a trace may be due.
func (c *co) woken(t *thread) {
	if c == nil || c.l.vp.tick%wakeSample == 0 {
		t.woken = wakeStampAt(asm.Cycles())
	}
	if Tracing() {
		c.tracedWake(TraceWake, t)
	}
}

// ran takes the stamp of t, which is about to go on. Holder only.
func (v *vp) ran(t *thread) {
	ns := asm.Nanos(t.woken.since(asm.Cycles()))
	t.woken = 0
	count(&v.n.wakes[min(bits.Len64(uint64(ns)), len(v.n.wakes)-1)], 1)
}

// sleepClock sums the cycles for which a VP had neither an LWP nor work. While it
// sleeps, the moment at which that began is subtracted, so that one word says all
// and a reader can add the time until now:
//
//	sum >= 0 ── begin ──► sum-now < 0 ── end ──► sum-began+now >= 0
//
// (The counter of cycles has run for longer than any VP has slept.) The holder
// begins before it releases the VP and ends when it has claimed it. The clock
// begins for a VP that Blocking left free; it may find that the VP has been
// claimed at the same moment, and takes it back.
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
