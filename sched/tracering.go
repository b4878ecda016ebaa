package sched

import (
	"sync/atomic"

	"github.com/pm2-go/pm2/asm"
)

// traceRing holds the latest events of one row of a trace. Exactly one party at a
// time adds: the holder of the VP, or, for the row of those without a VP, who has
// the tracer's lock. Whoever stops the trace reads while a holder that had found
// the ring just before may still add one event. It goes to place n, which is the
// oldest event's if the ring is full: the reader leaves that one out.
type traceRing struct {
	n    uint64 // events so far: stored after the event (release), loaded before the events are read
	mask uint64
	e    []traceEvent // none: the VP's threads are counted, and no trace is recorded
	vp   *vp          // nil: of those without one
}

// traceEvent is one event as it is recorded: 80 bytes, no allocation.
type traceEvent struct {
	at    int64 // cycles; of a slice, its end
	dur   int64 // cycles; 0 for what is no slice
	t     *thread
	gen   uint64
	label string
	a, b  uint64
	peers uint64 // own rank << 32 | peer's
	seq   uint32
	kind  TraceKind
}

func newTraceRing(events int) *traceRing {
	n := 2
	for n < events {
		n *= 2
	}
	return &traceRing{mask: uint64(n - 1), e: make([]traceEvent, n)}
}

func (r *traceRing) add(e traceEvent) {
	if len(r.e) == 0 {
		return
	}
	r.e[r.n&r.mask] = e
	storeRel64(&r.n, r.n+1)
}

// mark adds an event of thread t, which may be nil, at this moment. Out of line:
// an event is large, and would make the frames of the hot paths large as well.
//
//go:noinline
func (r *traceRing) mark(kind TraceKind, t *thread, a, b uint64) {
	e := traceEvent{at: asm.Cycles(), kind: kind, t: t, a: a, b: b}
	if t != nil {
		if e.gen = t.gen; e.gen == 0 {
			return // stands for a runner
		}
	}
	r.vp.account(kind, t, e.at)
	r.add(e)
}

// ended is mark(TraceEnd) for t, whose number has been taken from it.
//
//go:noinline
func (r *traceRing) ended(t *thread, number uint64) {
	now := asm.Cycles()
	r.vp.account(TraceEnd, t, now)
	r.add(traceEvent{at: now, kind: TraceEnd, t: t, gen: number})
}

// take returns what is in the ring, oldest first, and how many events were lost.
func (r *traceRing) take() (events []traceEvent, lost uint64) {
	n := atomic.LoadUint64(&r.n)
	from := uint64(0)
	if n > r.mask {
		from = n - r.mask
	}
	for i := from; i != n; i++ {
		events = append(events, r.e[i&r.mask])
	}
	return events, from
}
