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

// tracer records calls if view.Trace names a file, while this process is in a job; else nil.
var tracer atomic.Pointer[callTracer]

// maxTraced is how many calls a tracer keeps: the newest ones.
const maxTraced = 1 << 16

// callTracer records the calls of MPI that reach Go, by thread. C answers others itself; while calls are traced it
// moves no messages, so that all of those reach Go.
type callTracer struct {
	path string
	rank int

	mu       sync.Mutex
	rows     map[int]int  // by OS thread, in the order of their first calls; under mu
	calls    []tracedCall // a ring once it is full; under mu
	recorded uint64       // calls ever; under mu
}

// tracedCall is a call that has returned.
type tracedCall struct {
	entry           *entry
	row             int   // of its thread
	start, duration int64 // ns of CLOCK_MONOTONIC
	peer, tag       int   // of a send or receive
	code            int   // error code
}

// messageCalls are the functions that send or receive one message: their arguments 3 and 4 are the rank and the
// tag.
var messageCalls = map[string]bool{
	"MPI_Send": true, "MPI_Ssend": true, "MPI_Bsend": true, "MPI_Rsend": true, "MPI_Recv": true,
	"MPI_Isend": true, "MPI_Issend": true, "MPI_Ibsend": true, "MPI_Irsend": true, "MPI_Irecv": true,
}

// startTrace begins to record calls if the environment asks for it. If the file cannot be written it says so on
// standard error, and the program goes on.
func startTrace(rank, size int) {
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
	tracer.Store(&callTracer{path: path, rank: rank, rows: map[int]int{}})
}

// monotonic returns the time of CLOCK_MONOTONIC in ns.
func monotonic() int64 {
	var t unix.Timespec
	if unix.ClockGettime(unix.CLOCK_MONOTONIC, &t) != nil {
		return 0
	}
	return t.Nano()
}

// record adds a call that began at the time began and returns now.
func (tr *callTracer) record(a *cCall, began int64, code *int) {
	c := tracedCall{entry: &entries[a.function], start: began, duration: monotonic() - began, code: *code}
	if messageCalls[c.entry.name] {
		c.peer, c.tag = int(int32(a.int(3))), int(int32(a.int(4)))
	}
	tr.mu.Lock()
	defer tr.mu.Unlock()
	row, there := tr.rows[threadID()]
	if !there {
		row = len(tr.rows) + 1
		tr.rows[threadID()] = row
	}
	c.row = row
	if len(tr.calls) < maxTraced {
		tr.calls = append(tr.calls, c)
	} else {
		tr.calls[tr.recorded%maxTraced] = c
	}
	tr.recorded++
}

// write ends the recording and writes the timeline to its file.
func (tr *callTracer) write() {
	tracer.Store(nil)
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

// timeline returns the calls as a timeline: a row for each thread, and in it a slice for each call.
func (tr *callTracer) timeline() *timeline.Timeline {
	slices.SortStableFunc(tr.calls, func(x, y tracedCall) int {
		return cmp.Or(cmp.Compare(x.start, y.start), cmp.Compare(y.duration, x.duration)) // a call within another one, from a function of the program, comes behind it
	})
	lost := tr.recorded - uint64(len(tr.calls))
	out := &timeline.Timeline{Unit: "ns", About: timeline.About{Clock: timeline.Clock, Base: monotonic(), Lost: lost}}
	if len(tr.calls) > 0 {
		out.About.Base = tr.calls[0].start
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
		e := timeline.Event{Name: c.entry.name, Cat: "MPI", Phase: "X", PID: pid, TID: c.row, TS: timeline.Micros(c.start - out.About.Base), Dur: timeline.Micros(c.duration)}
		if messageCalls[c.entry.name] {
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

// endTrace writes the timeline before the process ends. It gives up after a second.
func endTrace() {
	t := tracer.Load()
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
