//go:build cgo && linux

package main

import (
	"bufio"
	"cmp"
	"errors"
	"fmt"
	"os"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sys/unix"

	"github.com/pm2-go/pm2/marcel/timeline"
	"github.com/pm2-go/pm2/marcel/view"
)

// traced records calls, if view.Trace says where to; nil: it does not, or the process is in no job.
var traced atomic.Pointer[callTracer]

// mostTraced is how many calls a tracer keeps, the newest ones.
const mostTraced = 1 << 16

// callTracer records the calls of MPI that cross, by thread: all but those that C answers without the engine. While it
// records, C moves no message itself.
type callTracer struct {
	path string
	rank int

	mu    sync.Mutex
	rows  map[int]int // of the OS threads, in the order of their first calls
	calls []madeCall  // a ring, once it is full
	n     uint64      // that have been recorded
}

// madeCall is a call that has ended.
type madeCall struct {
	entry     *entry
	row       int
	at, dur   int64 // ns of CLOCK_MONOTONIC
	peer, tag int   // of a message
	code      int
}

// carries are the functions that send or receive a message: their fourth and fifth arguments are its other rank and
// its tag.
var carries = map[string]bool{
	"MPI_Send": true, "MPI_Ssend": true, "MPI_Bsend": true, "MPI_Rsend": true, "MPI_Recv": true,
	"MPI_Isend": true, "MPI_Issend": true, "MPI_Ibsend": true, "MPI_Irsend": true, "MPI_Irecv": true,
}

// trace begins to record, if the environment asks for it. A file that cannot be written is said, and the program goes on.
func trace(rank, size int) {
	path := os.Getenv(view.Trace)
	if path == "" {
		return
	}
	if size > 1 {
		path += "." + strconv.Itoa(rank)
	}
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE, 0o666)
	if err == nil {
		err = f.Close()
	}
	if err != nil {
		fmt.Fprintf(os.Stderr, "mpi: %s: %v: the program goes on without\n", view.Trace, err)
		return
	}
	traced.Store(&callTracer{path: path, rank: rank, rows: map[int]int{}})
}

func monotonic() int64 {
	var t unix.Timespec
	if unix.ClockGettime(unix.CLOCK_MONOTONIC, &t) != nil {
		return 0
	}
	return t.Nano()
}

// note records a call that began then, and ends.
func (tr *callTracer) note(a *cCall, began int64, code *int) {
	c := madeCall{entry: &entries[a.function], at: began, dur: monotonic() - began, code: *code}
	if carries[c.entry.name] {
		c.peer, c.tag = int(int32(a.int(3))), int(int32(a.int(4)))
	}
	tr.mu.Lock()
	defer tr.mu.Unlock()
	row, there := tr.rows[thread()]
	if !there {
		row = len(tr.rows) + 1
		tr.rows[thread()] = row
	}
	c.row = row
	if len(tr.calls) < mostTraced {
		tr.calls = append(tr.calls, c)
	} else {
		tr.calls[tr.n%mostTraced] = c
	}
	tr.n++
}

// write ends the recording, and leaves the timeline in its file.
func (tr *callTracer) write() {
	traced.Store(nil)
	tr.mu.Lock()
	defer tr.mu.Unlock()
	f, err := os.Create(tr.path)
	if err == nil {
		w := bufio.NewWriter(f)
		err = errors.Join(tr.timeline().Write(w), w.Flush(), f.Close())
	}
	if err != nil {
		fmt.Fprintf(os.Stderr, "mpi: %s=%s: %v\n", view.Trace, tr.path, err)
	}
}

// timeline draws a row for each thread, and in it a slice for each call.
func (tr *callTracer) timeline() *timeline.Timeline {
	slices.SortStableFunc(tr.calls, func(x, y madeCall) int {
		return cmp.Or(cmp.Compare(x.at, y.at), cmp.Compare(y.dur, x.dur)) // one within another one, such as of the program's function, comes behind it
	})
	lost := tr.n - uint64(len(tr.calls))
	out := &timeline.Timeline{Unit: "ns", About: timeline.About{Clock: timeline.Clock, Base: monotonic(), Lost: lost}}
	if len(tr.calls) > 0 {
		out.About.Base = tr.calls[0].at
	}
	pid := os.Getpid()
	about := func(what string, tid int, name string) {
		out.Events = append(out.Events, timeline.Event{Name: what, Phase: "M", PID: pid, TID: tid, Args: map[string]any{"name": name}})
	}
	about("process_name", 0, fmt.Sprintf("rank %d (pid %d)", tr.rank, pid))
	for id, row := range tr.rows {
		name := fmt.Sprintf("thread %d", id)
		if lost > 0 {
			name += fmt.Sprintf(", %d older calls lost", lost)
		}
		about("thread_name", row, name)
	}
	for _, c := range tr.calls {
		e := timeline.Event{Name: c.entry.name, Cat: "MPI", Phase: "X", PID: pid, TID: c.row, TS: timeline.Micros(c.at - out.About.Base), Dur: timeline.Micros(c.dur)}
		if carries[c.entry.name] {
			e.Args = map[string]any{"rank": c.peer, "tag": c.tag}
		}
		if c.code != int(success) {
			if e.Args == nil {
				e.Args = map[string]any{}
			}
			e.Args["error"] = codeText(c.code)
		}
		out.Events = append(out.Events, e)
	}
	return out
}

// endTrace writes what was recorded, within a second: the process is about to end.
func endTrace() {
	t := traced.Load()
	if t == nil {
		return
	}
	done := make(chan struct{})
	go func() {
		t.write()
		close(done)
	}()
	select {
	case <-done:
	case <-time.After(time.Second):
	}
}
