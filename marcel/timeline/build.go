package timeline

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"

	"github.com/pm2-go/pm2/sched"
	"github.com/pm2-go/pm2/sched/observe"
)

// Of draws a trace. Slices of one row never overlap except one inside of the other: what a thread was doing when its VP
// was taken away is cut off there.
func Of(t *observe.Trace) *Timeline {
	b := &timelineBuilder{trace: t, waits: map[uint64]rowMoment{}, withoutVP: map[uint64]withoutVP{}}
	b.out = Timeline{Unit: "ns", About: About{Clock: Clock, Base: t.Begin}}
	for _, r := range t.Rows { // an event recorded just before the anchor, or a slice that began earlier
		for _, e := range r.Events {
			b.out.About.Base = min(b.out.About.Base, e.At)
		}
	}
	b.describe()
	b.walk()
	b.out.sort()
	return &b.out
}

// rowMoment is the moment of an event in a row.
type rowMoment struct {
	at   int64 // ns
	row  int   // its index
	kind sched.EventKind
}

// withoutVP is a thread that runs without a VP since that moment.
type withoutVP struct {
	rowMoment
	name string
}

// slice is what goes on in a row from one moment on: a thread runs, or the VP is idle.
type slice struct {
	name   string
	cat    string // its category in the file
	begin  int64  // ns
	thread uint64 // the number of the thread; 0: none
	lwp    uint64 // the LWP that carries the thread
}

// timelineBuilder makes a Timeline of a trace.
type timelineBuilder struct {
	trace     *observe.Trace
	out       Timeline
	rows      []drawnRow
	waits     map[uint64]rowMoment // threads that were made ready and have not run since
	withoutVP map[uint64]withoutVP // threads without a VP
	flow      int                  // the number of the latest arrow or asynchronous slice
}

// drawnRow is a row of the timeline while it is drawn.
type drawnRow struct {
	tid      int
	open     slice   // name "": none
	closed   []slice // those that have been closed; thread is then their end
	closedAt []int64
}

// emit adds an event at a moment, in ns.
func (b *timelineBuilder) emit(e Event, at int64) *Event {
	e.PID = b.trace.PID
	e.TS = Micros(at - b.out.About.Base)
	b.out.Events = append(b.out.Events, e)
	return &b.out.Events[len(b.out.Events)-1]
}

// describe names the process and the rows.
func (b *timelineBuilder) describe() {
	about := func(what string, tid int, args map[string]any) {
		b.out.Events = append(b.out.Events, Event{Name: what, Phase: "M", PID: b.trace.PID, TID: tid, Args: args})
	}
	name := b.trace.Description
	if name == "" {
		name = "process " + strconv.Itoa(b.trace.PID)
	}
	about("process_name", 0, map[string]any{"name": name})
	for i, r := range b.trace.Rows {
		b.rows = append(b.rows, drawnRow{tid: i + 1})
		label := fmt.Sprintf("VP %d (CPU %d)", r.VP, r.CPU)
		if r.VP < 0 {
			label = "no VP"
		}
		if r.Lost > 0 {
			label += fmt.Sprintf(", %d older events lost", r.Lost)
		}
		b.out.About.Lost += r.Lost
		about("thread_name", i+1, map[string]any{"name": label})
		about("thread_sort_index", i+1, map[string]any{"sort_index": i + 1})
	}
}

// walk goes through the events of all rows by the time at which they were recorded.
func (b *timelineBuilder) walk() {
	type item struct {
		at  int64
		row int
		e   *sched.Event
	}
	var all, inner []item
	for i := range b.trace.Rows {
		for j := range b.trace.Rows[i].Events {
			e := &b.trace.Rows[i].Events[j]
			x := item{e.At, i, e}
			if e.Kind == sched.TraceHook || e.Kind == sched.TraceTask {
				inner = append(inner, x)
			} else {
				all = append(all, x)
			}
		}
	}
	slices.SortStableFunc(all, func(x, y item) int { return cmp.Compare(x.at, y.at) })
	for _, x := range all {
		b.event(x.row, x.e)
	}
	end := b.trace.End
	for i := range b.rows {
		b.close(i, max(end, b.rows[i].open.begin))
	}
	for thread, l := range b.withoutVP {
		b.endWithoutVP(thread, l, max(end, l.at))
	}
	for _, x := range inner {
		b.inside(x.row, x.e)
	}
}

// title returns how the timeline names a thread.
func title(name string, id uint64) string {
	if name != "" {
		return name
	}
	return "thread " + strconv.FormatUint(id, 10)
}

// open ends the slice that goes on in row i, and begins s.
func (b *timelineBuilder) open(i int, at int64, s slice) {
	b.close(i, at)
	s.begin = at
	b.rows[i].open = s
}

// close ends the slice that goes on in row i, if there is one.
func (b *timelineBuilder) close(i int, at int64) {
	r := &b.rows[i]
	s := r.open
	r.open = slice{}
	if s.name == "" {
		return
	}
	r.closed, r.closedAt = append(r.closed, s), append(r.closedAt, at)
	e := b.emit(Event{Name: s.name, Cat: s.cat, Phase: "X", TID: r.tid, Dur: Micros(at - s.begin)}, s.begin)
	if s.thread != 0 {
		e.Args = map[string]any{"thread": s.thread, "LWP": s.lwp}
	}
}

// event draws an event of row i; those of all rows come in the order of time.
func (b *timelineBuilder) event(i int, e *sched.Event) {
	r, thread := &b.rows[i], e.Thread.ID()
	switch e.Kind {
	case sched.TraceRun:
		if l, ok := b.withoutVP[thread]; ok {
			b.endWithoutVP(thread, l, e.At)
		}
		if s := r.open; s.thread == thread && s.lwp == e.A {
			return
		}
		b.open(i, e.At, slice{name: title(e.Label, thread), cat: "thread", thread: thread, lwp: e.A})
		if w, ok := b.waits[thread]; ok {
			delete(b.waits, thread)
			name := "wake"
			if w.kind == sched.TraceSpawn {
				name = "spawn"
			}
			b.arrow(name, w.row, w.at, i, e.At)
		}
	case sched.TraceEnd:
		b.close(i, e.At)
	case sched.TraceIdle:
		if r.open.name != looking {
			b.open(i, e.At, slice{name: looking, cat: "idle"})
		}
	case sched.TracePark:
		b.open(i, e.At, slice{name: asleep, cat: "idle"})
	case sched.TraceAway:
		b.open(i, e.At, slice{name: free, cat: "idle"})
		b.withoutVP[thread] = withoutVP{rowMoment{e.At, i, e.Kind}, e.Label}
	case sched.TraceSeize:
		if s := r.open; s.thread != 0 {
			b.withoutVP[s.thread] = withoutVP{rowMoment{e.At, i, e.Kind}, s.name}
		}
		b.close(i, e.At)
		b.instant(i, e.At, "seized", nil)
	case sched.TraceSpawn, sched.TraceWake:
		b.waits[thread] = rowMoment{e.At, i, e.Kind}
	case sched.TraceSteal:
		b.instant(i, e.At, "steal", map[string]any{"from VP": e.A, "threads": e.B})
		if e.A < uint64(len(b.rows)) {
			b.arrow("steal", int(e.A), e.At, i, e.At)
		}
	case sched.TraceSend, sched.TraceRecv:
		b.message(e)
	case sched.TraceOut, sched.TraceArrived:
		b.messageEnd(i, e)
	}
}

const (
	looking = "looking for work"
	asleep  = "asleep"
	free    = "free" // its thread is in Blocking, and no other thread is ready
)

// instant draws a mark at one moment of row i.
func (b *timelineBuilder) instant(i int, at int64, name string, args map[string]any) {
	b.emit(Event{Name: name, Cat: "scheduler", Phase: "i", TID: b.rows[i].tid, Scope: "t", Args: args}, at)
}

// arrow leads from a moment of one row to one of another.
func (b *timelineBuilder) arrow(name string, from int, at int64, to int, then int64) {
	b.flow++
	id := fmt.Sprintf("%d.%d", b.trace.PID, b.flow)
	b.emit(Event{Name: name, Cat: "flow", Phase: "s", TID: b.rows[from].tid, ID: id}, at)
	b.emit(Event{Name: name, Cat: "flow", Phase: "f", TID: b.rows[to].tid, ID: id, Bind: "e"}, max(at, then))
}

// pair is an asynchronous slice, which has a row of its own.
func (b *timelineBuilder) pair(name, cat, id string, begin, end int64, args map[string]any) {
	tid := len(b.rows)
	b.emit(Event{Name: name, Cat: cat, Phase: "b", TID: tid, ID: id, Args: args}, begin)
	b.emit(Event{Name: name, Cat: cat, Phase: "e", TID: tid, ID: id}, max(begin, end))
}

// endWithoutVP draws the time for which a thread was without a VP, up to end.
func (b *timelineBuilder) endWithoutVP(thread uint64, l withoutVP, end int64) {
	delete(b.withoutVP, thread)
	what := "Blocking"
	if l.kind == sched.TraceSeize {
		what = "without VP"
	}
	b.flow++
	b.pair(what+": "+title(l.name, thread), "away", fmt.Sprintf("%d.%d", b.trace.PID, b.flow), l.at, end, map[string]any{"thread": thread})
}

// message draws a request from its start to its end.
func (b *timelineBuilder) message(e *sched.Event) {
	what := "send to"
	if e.Kind == sched.TraceRecv {
		what = "receive from"
	}
	b.flow++
	b.pair(fmt.Sprintf("%s rank %d", what, e.Peer), "message", fmt.Sprintf("%d.%d", b.trace.PID, b.flow), e.At, e.At+e.Dur,
		map[string]any{"tag": e.A, "size": e.B})
}

// messageEnd draws the departure or the arrival of a message: an instant with one end of an arrow, whose id is the same
// in both processes.
func (b *timelineBuilder) messageEnd(i int, e *sched.Event) {
	from, to := e.Own, e.Peer
	name, phase, bind := "message out", "s", ""
	if e.Kind == sched.TraceArrived {
		from, to = to, from
		name, phase, bind = "message in", "f", "e"
	}
	b.instant(i, e.At, name, map[string]any{"tag": e.A, "size": e.B, "peer": e.Peer, "number": e.Seq})
	id := fmt.Sprintf("m%d.%d.%d", from, to, e.Seq)
	b.emit(Event{Name: "message", Cat: "message", Phase: phase, TID: b.rows[i].tid, ID: id, Bind: bind}, e.At)
}

// inside draws a slice within the one in which it began.
func (b *timelineBuilder) inside(i int, e *sched.Event) {
	r := &b.rows[i]
	end := e.At + e.Dur
	j, found := slices.BinarySearchFunc(r.closed, e.At, func(s slice, at int64) int { return cmp.Compare(s.begin, at) })
	if !found {
		j--
	}
	if j >= 0 && e.At < r.closedAt[j] {
		end = min(end, r.closedAt[j])
	} else if j+1 < len(r.closed) { // it began when nothing went on
		end = min(end, r.closed[j+1].begin)
	}
	name, cat := e.Label, "ltask"
	if e.Kind == sched.TraceHook {
		name, cat = e.Label+" hook", "hook"
	}
	b.emit(Event{Name: name, Cat: cat, Phase: "X", TID: r.tid, Dur: Micros(max(end-e.At, 0))}, e.At)
}
