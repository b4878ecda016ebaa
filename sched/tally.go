package sched

import (
	"sync/atomic"
	"time"

	"github.com/pm2-go/pm2/asm"
)

// ThreadWork is what a thread has done since its counting began: since it first ran after
// CountThreads was switched on. Times are taken at the switches of its VP, by the cycle
// counter.
type ThreadWork struct {
	Switches uint64        `json:"switches"` // times it was put on a VP: started or continued; 0: nothing is known
	Moves    uint64        `json:"moves"`    // how many of these on another VP than the one before: it was stolen, or sent
	Run      time.Duration `json:"run_ns"`   // with a VP
	Off      time.Duration `json:"off_ns"`   // without one: blocked, ready, in Blocking, or after its VP was taken
}

// tally is the work of the thread on a co. It is written by the one that holds the VP on
// which the thread begins or ceases to run, and read by anyone:
//
//	gen 0, or another thread's ── the thread is put on a VP: enter ───► runs: since is set
//	runs ── its VP marks that it runs something else, nothing, or
//	        nobody's (it blocks, yields, ends, is seized): leave ────► off: left is set
//	off ─── enter ───────────────────────────────────────────────────► runs
//
// What a VP knows itself, vp.runs, says whose leave is due. A thread whose VP was seized may
// be put on another one before the seizer has come to its leave: then a time is off by these
// few instructions. That is why the fields are atomic.
type tally struct {
	gen      atomic.Uint64 // whose it is
	turn     atomic.Uint32 // of CountThreads, in which it was begun
	vp       atomic.Int32
	switches atomic.Uint64
	moves    atomic.Uint64
	run, off atomic.Int64 // cycles
	since    atomic.Int64 // cycles: when it was put on its VP; 0: it does not run
	left     atomic.Int64 // cycles: when it ceased to run; 0: it runs
}

// notes is what is kept of a co only where somebody has asked for it.
type notes struct {
	goroutine uint64 // its number, for the watchdog; 0 without one
	tally     tally
}

// noting returns the notes of c. For who holds its VP, or c itself.
func (c *co) noting() *notes {
	n := c.notes.Load()
	if n == nil {
		n = new(notes)
		if !c.notes.CompareAndSwap(nil, n) {
			n = c.notes.Load()
		}
	}
	return n
}

// CountThreads switches on or off that the work of each thread is counted: see
// ThreadInfo.Work. Off, as it is at first, it costs nothing; on, some 20 ns a switch and 88 bytes for each
// co, and threads do not spin for a wake before they leave their VP (as
// while a trace is recorded). To switch it on again begins anew. It does not block.
func (s *Scheduler) CountThreads(on bool) {
	c := Visit()
	s.rings.Lock()
	if on {
		s.countTurn.Add(1)
	}
	s.counting.Store(on)
	for i, v := range s.vps {
		v.trace.Store(s.ring(i))
	}
	s.rings.Unlock()
	c.Leave()
}

// ring is what VP i is to mark its events in, nil for none. Under rings.
func (s *Scheduler) ring(i int) *traceRing {
	if s.rows != nil {
		return s.rows[i]
	}
	if s.counting.Load() {
		return &traceRing{vp: s.vps[i]}
	}
	return nil
}

// account follows an event of v: t goes on, or what ran on v does not any more. Holder only.
func (v *vp) account(kind TraceKind, t *thread, now int64) {
	if !v.sched.counting.Load() {
		return
	}
	turn := v.sched.countTurn.Load()
	switch kind {
	case TraceRun, TraceEnd, TraceIdle, TracePark, TraceAway, TraceSeize:
		if n := v.runs; n != nil && v.runsTurn == turn {
			n.leave(now)
		}
		v.runs = nil
	}
	if kind == TraceRun && t.co != nil {
		n := &t.co.noting().tally
		n.enter(t.gen, turn, int32(v.id), now)
		v.runs, v.runsTurn = n, turn
	}
}

func (n *tally) enter(gen uint64, turn uint32, vp int32, now int64) {
	if n.gen.Load() != gen || n.turn.Load() != turn {
		n.gen.Store(0)
		n.switches.Store(0)
		n.moves.Store(0)
		n.run.Store(0)
		n.off.Store(0)
		n.left.Store(0)
		n.vp.Store(vp)
		n.turn.Store(turn)
		n.gen.Store(gen)
	}
	if left := n.left.Swap(0); left != 0 {
		n.off.Add(max(now-left, 0))
	}
	n.since.Store(now)
	n.switches.Add(1)
	if n.vp.Swap(vp) != vp {
		n.moves.Add(1)
	}
}

func (n *tally) leave(now int64) {
	if since := n.since.Swap(0); since != 0 {
		n.run.Add(max(now-since, 0))
		n.left.Store(now)
	}
}

// work is what c's notes say of thread number gen; nothing, if they are another one's or nothing is counted.
func (s *Scheduler) work(c *co, gen uint64) (w ThreadWork) {
	n := c.notes.Load()
	if n == nil || !s.counting.Load() || n.tally.gen.Load() != gen || n.tally.turn.Load() != s.countTurn.Load() {
		return w
	}
	now := asm.Cycles()
	run, off := n.tally.run.Load(), n.tally.off.Load()
	if since := n.tally.since.Load(); since != 0 {
		run += max(now-since, 0)
	} else if left := n.tally.left.Load(); left != 0 {
		off += max(now-left, 0)
	}
	w = ThreadWork{n.tally.switches.Load(), n.tally.moves.Load(), time.Duration(asm.Nanos(run)), time.Duration(asm.Nanos(off))}
	if n.tally.gen.Load() != gen {
		return ThreadWork{} // the co has another thread by now
	}
	return w
}
