package sched

import (
	"sync/atomic"
	"time"

	"github.com/pm2-go/pm2/asm"
	"github.com/pm2-go/pm2/hooks"
)

// Observer receives the events of a scheduler. Package observe has one, which records traces and counts the work of
// threads. Without an observer a switch pays one load.
type Observer interface {
	// Note receives an event of VP number vp. The holder of the VP calls it, so its calls for one VP follow one
	// another. vp is -1 for an event without a VP. Note must not block, wait for a VP, or allocate.
	Note(vp int, e Event)
	// Work returns what Note has found out about a thread, from the notes of its co.
	Work(n *Notes, thread uint64) ThreadWork
}

// EventKind says what happened.
type EventKind uint8

const (
	TraceRun     EventKind = iota // Thread runs on this VP from now on, carried by LWP A
	TraceEnd                      // Thread has ended
	TraceIdle                     // the VP has no thread to run: it looks for work
	TracePark                     // the VP goes to sleep
	TraceAway                     // Thread gives the VP away, in Blocking
	TraceSeize                    // the VP is taken from its thread, which goes on without it: in a system call, or pinned and waiting in Go
	TraceSpawn                    // the running thread has spawned Thread
	TraceWake                     // Thread was made ready by the thread that runs here
	TraceSteal                    // B threads were stolen from VP A
	TraceHook                     // slice: hooks of the point Label
	TraceTask                     // slice: an ltask named Label ran
	TraceSend                     // slice: a send, from its start to its end
	TraceRecv                     // slice: a receive
	TraceOut                      // a message was handed to the network
	TraceArrived                  // a message arrived from the network
)

// Event is one event: something that happens at a moment, or a slice, which lasts. Kind tells which fields are used.
type Event struct {
	// At is when the event happened, or the slice ended; Dur is how long the slice lasted, 0 if the event is no slice.
	// Both are in cycles. In a trace (package observe) both are in ns, At is of CLOCK_MONOTONIC, and that of a slice is
	// its beginning.
	At, Dur   int64
	Thread    Thread
	Label     string // of a slice: what it is; in a trace, of other events: the thread's name, "" if it has none
	A, B      uint64 // see the kinds; of a message: its tag and size
	Own, Peer uint32 // of a message: the ranks of this process and of the other one
	Seq       uint32 // of a message: its number among those from its sender to its receiver
	Kind      EventKind
}

// ThreadWork is what a thread has done since its counting began: since it first ran after
// observe.CountThreads was switched on. Times are taken at the switches of its VP, by the cycle
// counter.
type ThreadWork struct {
	Switches uint64        `json:"switches"` // times it was put on a VP: started or continued; 0: nothing is known
	Moves    uint64        `json:"moves"`    // how many of these on another VP than the one before: it was stolen, or sent
	Run      time.Duration `json:"run_ns"`   // time with a VP
	Off      time.Duration `json:"off_ns"`   // time without a VP: blocked, ready, in Blocking, or after its VP was taken
}

// Notes is what an observer or the watchdog keeps of a co. A co has none before one of them needs it.
type Notes struct {
	goroutine uint64       // the number of the co's goroutine, for the watchdog; 0: there is no watchdog
	Kept      atomic.Value // what the observer keeps; the holder of the VP that runs the thread writes it
}

// ownNotes returns the notes of c, which gets them if it has none. The holder of c's VP calls it, or c itself.
func (c *co) ownNotes() *Notes {
	n := c.notes.Load()
	if n == nil {
		n = new(Notes)
		if !c.notes.CompareAndSwap(nil, n) {
			n = c.notes.Load()
		}
	}
	return n
}

// Notes returns the notes of the co that runs the thread; nil if the thread has not begun. Observer.Note calls it for
// an event of h.
func (h Thread) Notes() *Notes {
	if c := h.thread.co; c != nil {
		return c.ownNotes()
	}
	return nil
}

// Observer returns the observer of s; if s has none, mk makes it. With a nil mk Observer returns nil then.
func (s *Scheduler) Observer(mk func() Observer) Observer {
	for s.observer.Load() == nil && mk != nil {
		o := mk()
		s.observer.CompareAndSwap(nil, &o)
	}
	if p := s.observer.Load(); p != nil {
		return *p
	}
	return nil
}

// Observe reports whether VPs pass events to the observer. A VP that has just looked may still pass one event after
// Observe(false) has returned.
func (s *Scheduler) Observe(on bool) {
	p := s.observer.Load()
	if !on {
		p = nil
	}
	for _, v := range s.vps {
		v.trace.Store(p)
	}
}

// tracing counts the schedulers that are traced. tracedLast is one of them: it records the events of
// goroutines, which belong to no scheduler.
var (
	tracing    atomic.Int32
	tracedLast atomic.Pointer[Scheduler]
)

// Tracing reports whether a trace of any scheduler is being recorded. Callers ask before TraceSlice and TraceMessage,
// and before they read the clock for these. It costs a load.
func Tracing() bool { return tracing.Load() != 0 }

// Trace reports whether the observer also gets the events that happen without a VP. Calls with true and false
// alternate.
func (s *Scheduler) Trace(on bool) {
	if on {
		tracing.Add(1)
		tracedLast.Store(s)
	} else {
		tracing.Add(-1)
		tracedLast.CompareAndSwap(s, nil)
	}
}

// shortHook is a time in ns: a call of hooks that took less, and in which no hook answered Busy, is not recorded.
const shortHook = 1000

// TraceSlice records a slice named label on the caller's VP, which lasted from began, a value of asm.Cycles, until now.
// kind is TraceTask or TraceHook. The caller asks Tracing first. TraceSlice does not block and allocates nothing.
// Hooks, threads and goroutines may call it.
func TraceSlice(kind EventKind, label string, began int64) {
	now := asm.Cycles()
	record(Event{At: now, Dur: max(now-began, 1), Kind: kind, Label: label})
}

// TraceMessage records a step of message number seq between rank own, the caller's, and peer. began is the value of
// asm.Cycles at which a send or a receive began, or the message was handed to the network; 0 for TraceArrived. It does
// not block and allocates nothing. Hooks, threads and goroutines may call it.
func (moduleCalls) TraceMessage(kind EventKind, own, peer int, seq uint32, tag, size uint64, began int64) {
	e := Event{At: asm.Cycles(), Kind: kind, A: tag, B: size, Seq: seq, Own: uint32(own), Peer: uint32(peer)}
	switch {
	case began == 0:
	case kind == TraceOut:
		e.At = began
	default:
		e.Dur = max(e.At-began, 1)
	}
	record(e)
}

// record passes e to the observer as an event of the caller's VP, if the caller holds that, else as one without a VP.
func record(e Event) {
	s := tracedLast.Load()
	if me := lookup(); me != nil {
		s = me.vpHint().sched
		if v := me.vpHint(); me.base && v.current() == me {
			v.note(e)
			return
		}
		if c := Visit(); c != nil {
			e.Thread = Thread{c.cur, c.cur.id}
			c.l.vp.note(e)
			c.Leave()
			return
		}
	}
	if s != nil {
		s.recordOutside(e)
	}
}

// note passes e to the observer, if that is switched on. Holder only.
func (v *vp) note(e Event) {
	if o := v.trace.Load(); o != nil {
		(*o).Note(v.id, e)
	}
}

// recordOutside passes an event without a VP to the observer.
func (s *Scheduler) recordOutside(e Event) {
	if o := s.observer.Load(); o != nil {
		(*o).Note(-1, e)
	}
}

// tracedHooks fires hooks of p and records it if it took long or anything happened. At a switch the VP is in user mode,
// and may be seized meanwhile.
func (v *vp) tracedHooks(p hooks.Point) hooks.Verdict {
	before := asm.Cycles()
	verdict := v.sched.hooks.Fire(p, v.id)
	now := asm.Cycles()
	if verdict == hooks.Busy || asm.Nanos(now-before) > shortHook {
		e := Event{At: now, Dur: max(now-before, 1), Kind: TraceHook, Label: p.String()}
		if p == hooks.Timer {
			v.sched.recordOutside(e)
		} else {
			record(e)
		}
	}
	return verdict
}

// mark notes an event of thread t, which may be nil, at this moment. Holder only. Out of line: an event is large, and
// would make the frames of the hot paths large as well.
//
//go:noinline
func (v *vp) mark(kind EventKind, t *thread, a, b uint64) {
	h := Thread{thread: t}
	if t != nil {
		if h.id = t.id; h.id == 0 {
			return // stands for a runner
		}
	}
	v.note(Event{At: asm.Cycles(), Kind: kind, Thread: h, A: a, B: b})
}

// markEnd is mark for the end of t, whose number has been taken from it.
//
//go:noinline
func (v *vp) markEnd(t *thread, number uint64) {
	v.note(Event{At: asm.Cycles(), Kind: TraceEnd, Thread: Thread{t, number}})
}

// tracedWake records that t is made ready. c is the waker, nil if that has no VP.
func (c *co) tracedWake(kind EventKind, t *thread) {
	if c != nil {
		c.l.vp.mark(kind, t, 0, 0)
		return
	}
	t.vp.sched.recordOutside(Event{At: asm.Cycles(), Kind: kind, Thread: Thread{t, t.id}})
}
