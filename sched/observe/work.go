package observe

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"text/tabwriter"
	"time"
	"unicode"

	"github.com/pm2-go/pm2/asm"
	"github.com/pm2-go/pm2/sched"
)

// tally is the work of the thread that runs on a co. The holder of the VP on which the thread begins or stops running
// writes it, and any thread may read it:
//
//	threadID 0, or another thread's ─ the thread is put on a VP: enter ► runs: startedAt is set
//	runs ── its VP runs another thread, or none: the thread blocks,
//	        yields, ends or is seized: leave ──────────────────────────► waits: stoppedAt is set
//	waits ─ enter ─────────────────────────────────────────────────────► runs
//
// observer.runs names the tally for which the VP has still to call leave. After a seizure another VP may call enter
// before the seizer has called leave: a time is then wrong by these few instructions, and both VPs write. Hence the
// fields are atomic.
type tally struct {
	threadID    atomic.Uint64 // the number of the thread
	epoch       atomic.Uint32 // observer.epoch when the tally began
	vp          atomic.Int32  // the VP on which the thread runs, or ran last
	switches    atomic.Uint64
	moves       atomic.Uint64
	run, waited atomic.Int64 // cycles with a VP, and without one
	startedAt   atomic.Int64 // cycles: when the thread was put on its VP; 0: it does not run
	stoppedAt   atomic.Int64 // cycles: when the thread stopped running; 0: it runs
}

// running is the tally of the thread that runs on a VP. Only the holder of the VP uses it.
type running struct {
	tally *tally
	epoch uint32
	_     [112]byte
}

// CountThreads switches on or off that the work of each thread of s is counted: see sched.ThreadInfo.Work. Off, as it
// is at first, it costs nothing; on, some 20 ns a switch and 120 bytes for each co, and threads do not spin for a wake
// before they leave their VP (as while a trace is recorded). To switch it on again begins anew. It does not block.
func CountThreads(s *sched.Scheduler, on bool) {
	o := observerOf(s)
	o.change(func() {
		if on {
			o.epoch.Add(1)
		}
		o.counting.Store(on)
	})
}

// account updates the tallies for an event of a VP: a thread runs there from now on, or the thread
// that ran there has stopped running.
func (o *observer) account(vp int, e *sched.Event) {
	epoch := o.epoch.Load()
	r := &o.runs[vp]
	switch e.Kind {
	case sched.TraceRun, sched.TraceEnd, sched.TraceIdle, sched.TracePark, sched.TraceAway, sched.TraceSeize:
		if r.tally != nil && r.epoch == epoch {
			r.tally.leave(e.At)
		}
		r.tally = nil
	}
	if e.Kind != sched.TraceRun {
		return
	}
	if notes := e.Thread.Notes(); notes != nil {
		n, _ := notes.Kept.Load().(*tally)
		if n == nil {
			n = new(tally)
			notes.Kept.Store(n)
		}
		n.enter(e.Thread.ID(), epoch, int32(vp), e.At)
		r.tally, r.epoch = n, epoch
	}
}

// enter notes that thread threadID begins to run on vp, at the moment now, in cycles.
func (n *tally) enter(threadID uint64, epoch uint32, vp int32, now int64) {
	if n.threadID.Load() != threadID || n.epoch.Load() != epoch {
		n.threadID.Store(0)
		n.switches.Store(0)
		n.moves.Store(0)
		n.run.Store(0)
		n.waited.Store(0)
		n.stoppedAt.Store(0)
		n.vp.Store(vp)
		n.epoch.Store(epoch)
		n.threadID.Store(threadID)
	}
	if left := n.stoppedAt.Swap(0); left != 0 {
		n.waited.Add(max(now-left, 0))
	}
	n.startedAt.Store(now)
	n.switches.Add(1)
	if n.vp.Swap(vp) != vp {
		n.moves.Add(1)
	}
}

// leave notes that the thread stops running, at the moment now, in cycles.
func (n *tally) leave(now int64) {
	if since := n.startedAt.Swap(0); since != 0 {
		n.run.Add(max(now-since, 0))
		n.stoppedAt.Store(now)
	}
}

// Work implements sched.Observer: nothing, if the notes are another thread's or nothing is counted.
func (o *observer) Work(notes *sched.Notes, threadID uint64) (w sched.ThreadWork) {
	n, _ := notes.Kept.Load().(*tally)
	if n == nil || !o.counting.Load() || n.threadID.Load() != threadID || n.epoch.Load() != o.epoch.Load() {
		return w
	}
	now := asm.Cycles()
	run, off := n.run.Load(), n.waited.Load()
	if since := n.startedAt.Load(); since != 0 {
		run += max(now-since, 0)
	} else if left := n.stoppedAt.Load(); left != 0 {
		off += max(now-left, 0)
	}
	w = sched.ThreadWork{
		Switches: n.switches.Load(), Moves: n.moves.Load(),
		Run: time.Duration(asm.Nanos(run)), Off: time.Duration(asm.Nanos(off)),
	}
	if n.threadID.Load() != threadID {
		return sched.ThreadWork{} // the co has another thread by now
	}
	return w
}

// WriteThreads writes a list of threads for a person, one in a line: number, name, state, what it waits for, VP, where
// it stands in line (see sched.ThreadInfo.On), and its work, if that of any is counted. It quotes a name that a
// terminal might take for more than letters, for the list may be another program's.
func WriteThreads(w io.Writer, all []sched.ThreadInfo) error {
	tw := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	counts := slices.ContainsFunc(all, func(i sched.ThreadInfo) bool { return i.Work.Switches > 0 })
	fmt.Fprint(tw, "ID\tNAME\tSTATE\tIN\tVP\tON")
	if counts {
		fmt.Fprint(tw, "\tSWITCHES\tMOVES\tRUN\tOFF")
	}
	fmt.Fprintln(tw)
	for _, i := range all {
		name, on := i.Name, "-"
		if strings.ContainsFunc(name, func(r rune) bool { return !unicode.IsPrint(r) }) {
			name = strconv.Quote(name)
		}
		if i.On != 0 {
			on = fmt.Sprintf("%#x", i.On)
		}
		fmt.Fprintf(tw, "%d\t%s\t%v\t%s\t%d\t%s", i.ID, name, i.State, cmp.Or(i.In.String(), "-"), i.VP, on)
		if w := i.Work; counts && w.Switches > 0 {
			fmt.Fprintf(tw, "\t%d\t%d\t%v\t%v", w.Switches, w.Moves, w.Run.Round(time.Microsecond), w.Off.Round(time.Microsecond))
		} else if counts {
			fmt.Fprint(tw, "\t-\t-\t-\t-")
		}
		fmt.Fprintln(tw)
	}
	return tw.Flush()
}
