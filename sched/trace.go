package sched

import (
	"errors"
	"fmt"
	"os"
	"sync/atomic"

	"github.com/pm2-go/pm2/asm"
	"github.com/pm2-go/pm2/hooks"
)

// TraceKind says what happened.
type TraceKind uint8

const (
	TraceRun     TraceKind = iota // Thread goes on on this VP, carried by LWP N
	TraceEnd                      // Thread has ended
	TraceIdle                     // nothing to run: the VP looks for work
	TracePark                     // it goes to sleep
	TraceAway                     // Thread gives the VP away, in Blocking
	TraceSeize                    // the VP is taken from its thread, which goes on without it: in a system call, or pinned and waiting in Go
	TraceSpawn                    // the running thread has spawned Thread
	TraceWake                     // Thread was made ready, by the one that runs here
	TraceSteal                    // N threads were stolen from VP From
	TraceHook                     // slice: hooks of the point Label
	TraceTask                     // slice: an ltask named Label ran
	TraceSend                     // slice: a send, from its start to its end
	TraceRecv                     // slice: a receive
	TraceOut                      // a message was handed to the network
	TraceArrived                  // a message arrived from the network
)

// Trace is what StopTrace returns: a row of events for each VP, in the order of
// their numbers, and one for what happened without a VP: on the timer thread, on
// goroutines, in threads whose VP was away.
type Trace struct {
	PID         int
	Begin, End  int64 // ns of CLOCK_MONOTONIC, which all processes of a host share
	Rows        []TraceRow
	Description string // of the process; for whoever shows the trace
}

// TraceRow has the events of one VP, sorted by the time at which they were
// recorded, which for a slice is its end.
type TraceRow struct {
	VP     int // -1: without a VP
	CPU    int
	Lost   uint64 // older events, overwritten by those below
	Events []TraceEvent
}

// TraceEvent is one event; which fields mean something depends on Kind.
type TraceEvent struct {
	At   int64 // ns of CLOCK_MONOTONIC; a slice begins then
	Dur  int64 // ns, of a slice
	Kind TraceKind

	Thread    uint64 // its number (Thread.ID)
	Name      string // the thread's, if it has one
	Label     string
	N         uint64
	From      int // VP
	Tag, Size uint64
	Own, Peer int    // ranks
	Seq       uint32 // of the message, from its sender to its receiver
}

// TraceConfig says how much to record. The zero value is a good one.
type TraceConfig struct {
	Events int // to keep for each VP, 80 bytes each: rounded up to a power of two; 0: 65536; at most 2^24
}

const (
	defaultTraceEvents = 1 << 16
	maxTraceEvents     = 1 << 24

	shortHook = 1000 // ns: calls of hooks in which nothing happened and which took less are not recorded
)

var (
	// ErrTracing: StartTrace while a trace of the scheduler is being recorded.
	ErrTracing = errors.New("marcel: a trace is being recorded already: stop that one first")
	// ErrNotTracing: StopTrace without StartTrace.
	ErrNotTracing = errors.New("marcel: no trace is being recorded: StartTrace begins one")
)

// tracer is a trace that is being recorded.
type tracer struct {
	begin   traceAnchor
	rows    []*traceRing // by VP
	mu      Spin         // guards outside
	outside *traceRing   // of those without a VP
}

// inTransition is what Scheduler.tracer holds while a trace is started or stopped.
var inTransition = &tracer{}

// tracing counts the schedulers that are traced; tracedLast is one of them, for
// those who belong to no scheduler.
var (
	tracing    atomic.Int32
	tracedLast atomic.Pointer[Scheduler]
)

// Tracing tells whether any scheduler is being traced: what other packages ask
// before they take time stamps for TraceSlice and its like. It is a load.
func Tracing() bool { return tracing.Load() != 0 }

// StartTrace begins to record what happens on s. Each VP has a ring of its own, in
// which the newest events overwrite the oldest; recording takes some 20 ns an event
// and allocates nothing. ErrTracing if a trace is being recorded already, ErrStopped if
// nothing can happen any more. It does not block.
func (s *Scheduler) StartTrace(cfg TraceConfig) error {
	if s.stopping.Load() {
		return ErrStopped
	}
	if cfg.Events == 0 {
		cfg.Events = defaultTraceEvents
	}
	if cfg.Events < 1 || cfg.Events > maxTraceEvents {
		return fmt.Errorf("marcel: a trace of %d events for each VP asked for, 1 to %d can be had", cfg.Events, maxTraceEvents)
	}
	if !s.tracer.CompareAndSwap(nil, inTransition) {
		return ErrTracing
	}
	t := &tracer{outside: newTraceRing(cfg.Events)}
	for _, v := range s.vps {
		r := newTraceRing(cfg.Events)
		r.vp = v
		t.rows = append(t.rows, r)
	}
	t.begin = takeTraceAnchor()
	s.setRings(t.rows)
	tracing.Add(1)
	tracedLast.Store(s)
	s.tracer.Store(t)
	return nil
}

// StopTrace ends what StartTrace began and returns what was recorded.
// ErrNotTracing if there is nothing to end. It does not block; it allocates what
// it returns.
func (s *Scheduler) StopTrace() (*Trace, error) {
	t := s.tracer.Load()
	if t == nil || t == inTransition || !s.tracer.CompareAndSwap(t, inTransition) {
		return nil, ErrNotTracing
	}
	tracing.Add(-1)
	tracedLast.CompareAndSwap(s, nil)
	s.setRings(nil)
	end := takeTraceAnchor()
	out := &Trace{PID: os.Getpid(), Begin: t.begin.ns, End: end.ns}
	for i, r := range t.rows {
		out.Rows = append(out.Rows, t.row(i, s.vps[i].cpu, r, end))
	}
	c := Visit()
	t.mu.Lock()
	out.Rows = append(out.Rows, t.row(-1, -1, t.outside, end))
	t.mu.Unlock()
	c.Leave()
	s.tracer.Store(nil)
	return out, nil
}

// setRings says what the VPs mark their events in: nil, if no trace is recorded.
func (s *Scheduler) setRings(rows []*traceRing) {
	c := Visit()
	s.rings.Lock()
	s.rows = rows
	for i, v := range s.vps {
		v.trace.Store(s.ring(i))
	}
	s.rings.Unlock()
	c.Leave()
}

// row converts what a ring holds.
func (t *tracer) row(vp, cpu int, r *traceRing, end traceAnchor) TraceRow {
	events, lost := r.take()
	row := TraceRow{VP: vp, CPU: cpu, Lost: lost, Events: make([]TraceEvent, len(events))}
	for i := range events {
		row.Events[i] = events[i].export(t.begin, end)
	}
	return row
}

func (e *traceEvent) export(begin, end traceAnchor) TraceEvent {
	x := TraceEvent{
		At: begin.convert(end, e.at-e.dur), Kind: e.kind, Label: e.label, Thread: e.gen,
		N: e.a, Own: int(e.peers >> 32), Peer: int(uint32(e.peers)), Seq: e.seq,
	}
	if e.dur != 0 {
		x.Dur = begin.convert(end, e.at) - x.At
	}
	if e.t != nil {
		x.Name = Thread{e.t, e.gen}.Name()
	}
	switch e.kind {
	case TraceSteal:
		x.From, x.N = int(e.a), e.b
	case TraceSend, TraceRecv, TraceOut, TraceArrived:
		x.Tag, x.Size, x.N = e.a, e.b, 0
	}
	return x
}

// traceAnchor is the cycle counter and CLOCK_MONOTONIC at the same moment. Two of
// them convert what lies between.
type traceAnchor struct{ cycles, ns int64 }

// takeTraceAnchor keeps the pair of some that was interrupted least.
func takeTraceAnchor() (best traceAnchor) {
	narrowest := int64(-1)
	for range 8 {
		before := asm.Cycles()
		ns, ok := monotonic()
		if !ok {
			return traceAnchor{before, nanotime()} // no such clock: no common time with other processes
		}
		if width := asm.Cycles() - before; narrowest < 0 || width < narrowest {
			narrowest = width
			best = traceAnchor{before + width/2, ns}
		}
	}
	return best
}

// convert says when cycles was.
func (a traceAnchor) convert(b traceAnchor, cycles int64) int64 {
	const longEnough = 1_000_000 // ns, for the rate between the two to be exact to 100 ppm
	if span := b.ns - a.ns; span > longEnough && b.cycles > a.cycles {
		return a.ns + int64(float64(cycles-a.cycles)*(float64(span)/float64(b.cycles-a.cycles)))
	}
	if cycles < a.cycles {
		return a.ns - asm.Nanos(a.cycles-cycles)
	}
	return a.ns + asm.Nanos(cycles-a.cycles)
}

// TraceSlice records that something named label lasted from began, a value of
// asm.Cycles, until now, on the caller's VP: kind TraceTask, or TraceHook. To be
// called only if Tracing. It does not block, allocates nothing and may be called
// from hooks, threads and goroutines.
func TraceSlice(kind TraceKind, label string, began int64) {
	now := asm.Cycles()
	record(traceEvent{at: now, dur: max(now-began, 1), kind: kind, label: label})
}

// TraceMessage records a step of message number seq between rank own, the
// caller's, and peer: kind TraceSend or TraceRecv for a whole request, that began
// at began; TraceOut when it was handed to the network, which was at began, for the
// peer may have it before that call returns; TraceArrived (began 0) when it came
// from there. Otherwise as TraceSlice.
func TraceMessage(kind TraceKind, own, peer int, seq uint32, tag, size uint64, began int64) {
	e := traceEvent{at: asm.Cycles(), kind: kind, a: tag, b: size, seq: seq, peers: uint64(own)<<32 | uint64(uint32(peer))}
	switch {
	case began == 0:
	case kind == TraceOut:
		e.at = began
	default:
		e.dur = max(e.at-began, 1)
	}
	record(e)
}

// record adds e on the caller's VP, which it must hold for that, or in the row of
// those that have none.
func record(e traceEvent) {
	s := tracedLast.Load()
	if me := lookup(); me != nil {
		s = me.where().sched
		if v := me.where(); me.base && v.current() == me {
			if r := v.trace.Load(); r != nil {
				r.add(e)
			}
			return
		}
		if c := Visit(); c != nil {
			if r := c.l.vp.trace.Load(); r != nil {
				e.t, e.gen = c.cur, c.cur.gen
				r.add(e)
			}
			c.Leave()
			return
		}
	}
	if s != nil {
		s.recordOutside(e)
	}
}

// recordOutside adds e to the row of those without a VP.
func (s *Scheduler) recordOutside(e traceEvent) {
	t := s.tracer.Load()
	if t == nil || t == inTransition {
		return
	}
	t.mu.Lock()
	t.outside.add(e)
	t.mu.Unlock()
}

// fireSwitch fires the Switch hooks.
func (v *vp) fireSwitch() {
	if v.trace.Load() != nil {
		v.tracedHooks(hooks.Switch)
	} else {
		v.sched.hooks.Fire(hooks.Switch, v.id)
	}
}

// tracedHooks fires hooks of p and records it if it took long or anything
// happened. At a switch the VP is in user mode, and may be seized meanwhile.
func (v *vp) tracedHooks(p hooks.Point) hooks.Verdict {
	before := asm.Cycles()
	verdict := v.sched.hooks.Fire(p, v.id)
	now := asm.Cycles()
	if verdict == hooks.Busy || asm.Nanos(now-before) > shortHook {
		e := traceEvent{at: now, dur: max(now-before, 1), kind: TraceHook, label: p.String()}
		if p == hooks.Timer {
			v.sched.recordOutside(e)
		} else {
			record(e)
		}
	}
	return verdict
}

// mark records an event of no thread. Holder only.
func (v *vp) mark(kind TraceKind) {
	if r := v.trace.Load(); r != nil {
		r.mark(kind, nil, 0, 0)
	}
}

// tracedWake records that t is made ready. c is nil for one without a VP.
func (c *co) tracedWake(kind TraceKind, t *thread) {
	if c != nil {
		if r := c.l.vp.trace.Load(); r != nil {
			r.mark(kind, t, 0, 0)
		}
		return
	}
	t.vp.sched.recordOutside(traceEvent{at: asm.Cycles(), kind: kind, t: t, gen: t.gen})
}
