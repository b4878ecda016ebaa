package observe

import (
	"errors"
	"fmt"
	"math/bits"
	"os"
	"sync/atomic"

	"github.com/pm2-go/pm2/asm"
	"github.com/pm2-go/pm2/sched"
	"github.com/pm2-go/pm2/sched/internal/machine"
)

// Trace is what StopTrace returns: a row of events for each VP, in the order of their numbers, and one for what
// happened without a VP: on the clock, on goroutines, in threads whose VP was away.
type Trace struct {
	PID         int
	Begin, End  int64 // ns of CLOCK_MONOTONIC, which all processes of a host share
	Rows        []TraceRow
	Description string // of the process; for the program that shows the trace
}

// TraceRow has the events of one VP, sorted by the time at which they were recorded, which for a slice is its end.
// Their times are ns of CLOCK_MONOTONIC.
type TraceRow struct {
	VP     int // -1: without a VP
	CPU    int
	Lost   uint64 // older events, overwritten by those below
	Events []sched.Event
}

// TraceConfig says how much to record. The zero value is a good one.
type TraceConfig struct {
	Events int // to keep for each VP, 88 bytes each: rounded up to a power of two; 0: 65536; at most 2^24
}

const (
	defaultTraceEvents = 1 << 16
	maxTraceEvents     = 1 << 24
)

var (
	// ErrTracing: StartTrace while a trace of the scheduler is being recorded.
	ErrTracing = errors.New("observe: a trace is being recorded already: stop that one first")
	// ErrNotTracing: StopTrace without StartTrace.
	ErrNotTracing = errors.New("observe: no trace is being recorded: StartTrace begins one")
)

// observer is the state of this package for one scheduler. A scheduler has none before StartTrace or
// CountThreads.
type observer struct {
	sched    *sched.Scheduler
	mu       sched.Spin               // guards changes of tracer and counting
	tracer   atomic.Pointer[recorder] // nil: no trace is recorded
	counting atomic.Bool              // the work of threads is counted
	epoch    atomic.Uint32            // how often CountThreads has switched the counting on
	runs     []running                // by VP
}

// recorder is a trace that is being recorded.
type recorder struct {
	begin   clockPair    // when the trace began
	paused  atomic.Bool  // ReadTrace reads the rings: Note adds nothing
	rows    []*eventRing // by VP
	mu      sched.Spin   // guards outside
	outside *eventRing   // events without a VP
}

// observerOf returns the observer of s, which gets one if it has none.
func observerOf(s *sched.Scheduler) *observer {
	return s.Observer(func() sched.Observer { return &observer{sched: s, runs: make([]running, s.NumVP())} }).(*observer)
}

// Note implements sched.Observer.
func (o *observer) Note(vp int, e sched.Event) {
	t := o.tracer.Load()
	if t != nil && t.paused.Load() {
		t = nil
	}
	if vp < 0 {
		if t != nil {
			t.mu.Lock()
			t.outside.add(&e)
			t.mu.Unlock()
		}
		return
	}
	if o.counting.Load() {
		o.account(vp, &e)
	}
	if t != nil {
		t.rows[vp].add(&e)
	}
}

// change calls do, which changes tracer or counting, under mu; then the VPs observe if one of these is on.
func (o *observer) change(do func()) {
	c := sched.Visit()
	o.mu.Lock()
	do()
	o.sched.Observe(o.tracer.Load() != nil || o.counting.Load())
	o.mu.Unlock()
	c.Leave()
}

// StartTrace begins to record what happens on s. Each VP has a ring of its own, in which the newest events overwrite
// the oldest; recording takes some 20 ns an event and allocates nothing. ErrTracing if a trace is being recorded
// already, ErrStopped if nothing can happen any more. It does not block.
func StartTrace(s *sched.Scheduler, cfg TraceConfig) error {
	if s.Stopping() {
		return sched.ErrStopped
	}
	if cfg.Events == 0 {
		cfg.Events = defaultTraceEvents
	}
	if cfg.Events < 1 || cfg.Events > maxTraceEvents {
		return fmt.Errorf("observe: a trace of %d events for each VP asked for, 1 to %d can be had", cfg.Events, maxTraceEvents)
	}
	o := observerOf(s)
	if o.tracer.Load() != nil {
		return ErrTracing
	}
	t := &recorder{outside: newRing(cfg.Events)}
	for range s.NumVP() {
		t.rows = append(t.rows, newRing(cfg.Events))
	}
	t.begin = readClocks()
	began := false
	o.change(func() {
		if began = o.tracer.CompareAndSwap(nil, t); began {
			s.Trace(true)
		}
	})
	if !began {
		return ErrTracing
	}
	return nil
}

// StopTrace ends what StartTrace began and returns what was recorded. ErrNotTracing if there is nothing to end. It does
// not block; it allocates what it returns.
func StopTrace(s *sched.Scheduler) (*Trace, error) {
	o := observerOf(s)
	var t *recorder
	o.change(func() {
		if t = o.tracer.Swap(nil); t != nil {
			s.Trace(false)
		}
	})
	if t == nil {
		return nil, ErrNotTracing
	}
	return t.export(s), nil
}

// ReadTrace returns what has been recorded so far. The recording pauses meanwhile, some milliseconds: what happens then
// is missing. ErrTracing if another ReadTrace is at it. Otherwise as StopTrace.
func ReadTrace(s *sched.Scheduler) (*Trace, error) {
	t := observerOf(s).tracer.Load()
	if t == nil {
		return nil, ErrNotTracing
	}
	if !t.paused.CompareAndSwap(false, true) {
		return nil, ErrTracing
	}
	defer t.paused.Store(false)
	return t.export(s), nil
}

// export converts all rows, for one that has taken t from its observer, or paused it.
func (t *recorder) export(s *sched.Scheduler) *Trace {
	end := readClocks()
	out := &Trace{PID: os.Getpid(), Begin: t.begin.ns, End: end.ns}
	for i, r := range t.rows {
		out.Rows = append(out.Rows, t.row(i, s.CPU(i), r, end))
	}
	c := sched.Visit()
	t.mu.Lock()
	out.Rows = append(out.Rows, t.row(-1, -1, t.outside, end))
	t.mu.Unlock()
	c.Leave()
	return out
}

// row converts the events of a ring.
func (t *recorder) row(vp, cpu int, r *eventRing, end clockPair) TraceRow {
	events, lost := r.take()
	for i := range events {
		e := &events[i]
		at := t.begin.convert(end, e.At-e.Dur)
		if e.Dur != 0 {
			e.Dur = t.begin.convert(end, e.At) - at
		}
		if e.At = at; e.Label == "" {
			e.Label = e.Thread.Name()
		}
	}
	return TraceRow{VP: vp, CPU: cpu, Lost: lost, Events: events}
}

// clockPair is the cycle counter and CLOCK_MONOTONIC at the same moment. Two of them convert what lies between.
type clockPair struct{ cycles, ns int64 }

func readClocks() clockPair {
	cycles, ns := asm.ReadBeside(machine.Monotonic)
	return clockPair{cycles, ns}
}

// convert returns when the cycle counter was cycles, in ns of CLOCK_MONOTONIC.
func (a clockPair) convert(b clockPair, cycles int64) int64 {
	const longEnough = 1_000_000 // ns, for the rate between the two to be exact to 100 ppm
	if span := b.ns - a.ns; span > longEnough && b.cycles > a.cycles {
		return a.ns + int64(float64(cycles-a.cycles)*(float64(span)/float64(b.cycles-a.cycles)))
	}
	if cycles < a.cycles {
		return a.ns - asm.Nanos(a.cycles-cycles)
	}
	return a.ns + asm.Nanos(cycles-a.cycles)
}

// eventRing holds the latest events of one row of a trace. Exactly one party at a time adds: the holder of the VP, or,
// for the row of those without a VP, the one that has the lock of the tracer. The one that stops the trace reads while
// a holder that had found the tracer just before may still add one event. It goes to place n, which is the oldest
// event's if the ring is full: the reader leaves that one out.
type eventRing struct {
	n      atomic.Uint64 // events so far: stored after the event, loaded before the events are read
	mask   uint64        // the number of places, less 1
	events []sched.Event
}

// newRing returns a ring for at least so many events.
func newRing(events int) *eventRing {
	n := max(1<<bits.Len(uint(events-1)), 2)
	return &eventRing{mask: uint64(n - 1), events: make([]sched.Event, n)}
}

// add stores e, over the oldest event if the ring is full.
func (r *eventRing) add(e *sched.Event) {
	n := r.n.Load()
	r.events[n&r.mask] = *e
	r.n.Store(n + 1)
}

// take returns what is in the ring, oldest first, and how many events were lost.
func (r *eventRing) take() (events []sched.Event, lost uint64) {
	n := r.n.Load()
	from := uint64(0)
	if n > r.mask {
		from = n - r.mask
	}
	for i := from; i != n; i++ {
		events = append(events, r.events[i&r.mask])
	}
	return events, from
}
