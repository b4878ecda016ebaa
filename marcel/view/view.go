package view

import (
	"bufio"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/pm2-go/pm2/marcel/monitor"
	"github.com/pm2-go/pm2/marcel/timeline"
	"github.com/pm2-go/pm2/sched"
	"github.com/pm2-go/pm2/sched/observe"
)

// Trace is the variable that names the file for the timeline.
const Trace = "PM2_TRACE"

// rankVariable is the variable by which our launcher tells a process its rank. The launcher has already added the rank
// to the path in PM2_STATS.
const rankVariable = "PM2_RANK"

// managerRankVariables are the variables by which process managers tell a process its rank.
var managerRankVariables = []string{"PMI_RANK", "PMIX_RANK", "SLURM_PROCID"}

const (
	period = 2 * time.Second // between two writes of the timeline that nothing asks for
	share  = 20              // writing takes one part in so many of the time
)

// Observation is what the environment asks to see of the threads: a socket with counters, a timeline, both or neither.
// Any goroutine may call its method; nil is neither.
type Observation struct {
	server *monitor.Server

	mu    sync.Mutex
	path  string           // of the timeline; empty: there is none, or it has ended
	s     *sched.Scheduler // the scheduler that is traced; nil: no default scheduler has started yet
	stop  chan struct{}    // closed to end the goroutine that writes every period; nil: there is none
	wrote time.Time        // when the last write ended
	took  time.Duration    // how long the last write took
}

// The Observation of this process.
var (
	mu      sync.Mutex
	present *Observation                // nil: not asked for yet; written under mu
	tracing atomic.Pointer[Observation] // the same while it has a timeline to write: what Save looks at
)

func init() { sched.OnDefault(begin) }

// begin does what the variables ask for when the default scheduler has started, unless the program has asked already.
func begin(s *sched.Scheduler) {
	mu.Lock()
	defer mu.Unlock()
	var err error
	if present == nil {
		present, err = open()
	}
	if err = errors.Join(err, present.trace(s)); err != nil {
		fmt.Fprintf(os.Stderr, "pm2: %s: the program goes on without\n", strings.ReplaceAll(err.Error(), "\n", "; "))
	}
}

// FromEnvironment does at once what the variables ask for, and says if it cannot be done; the trace begins when the
// default scheduler does. It does not block, and starts no scheduler.
func FromEnvironment() (*Observation, error) {
	mu.Lock()
	defer mu.Unlock()
	if present != nil && !present.over() {
		return present, nil // the scheduler was faster
	}
	o, err := open()
	if err == nil {
		err = o.trace(sched.Running())
	}
	if err != nil {
		return nil, errors.Join(err, o.server.Close())
	}
	present = o
	return o, nil
}

// open serves the socket and makes the file, so that an error comes now, not after the program has run. Together with
// an error it returns an Observation of the part that has succeeded.
func open() (*Observation, error) {
	o := &Observation{path: os.Getenv(Trace)}
	socket := os.Getenv(monitor.Environment)
	if o.path == "" && socket == "" {
		return o, nil
	}
	if n := os.Getenv(rankVariable); n != "" {
		o.path = numbered(o.path, n)
	} else if n := rank(); n != "" {
		o.path, socket = numbered(o.path, n), numbered(socket, n)
	}
	var errs []error
	if o.path != "" {
		if err := o.create(); err != nil {
			errs = append(errs, fmt.Errorf("%s=%s: %w", Trace, o.path, err))
			o.path = ""
		}
	}
	if socket != "" {
		var err error
		if o.server, err = monitor.Serve(socket, nil); err != nil {
			errs = append(errs, fmt.Errorf("%s=%s: %w", monitor.Environment, socket, err))
		}
	}
	return o, errors.Join(errs...)
}

// numbered returns the path with rank n behind it; "" if there is no path.
func numbered(path, n string) string {
	if path == "" {
		return ""
	}
	return path + "." + n
}

// rank returns the rank that a process manager has given this process; "" if there is none.
func rank() string {
	for _, v := range managerRankVariables {
		if n := os.Getenv(v); n != "" {
			return n
		}
	}
	return ""
}

// create makes the file for the timeline. Each write replaces the file, but not a link that leads to it.
func (o *Observation) create() error {
	info, err := os.Stat(o.path)
	if err == nil && !info.Mode().IsRegular() {
		return errors.New("exists and is no file: choose another path")
	}
	f, err := os.OpenFile(o.path, os.O_WRONLY|os.O_CREATE, 0o666)
	if err == nil {
		err = f.Close()
	}
	if err == nil {
		o.path, err = filepath.EvalSymlinks(o.path)
	}
	if p := (*os.PathError)(nil); errors.As(err, &p) {
		return p.Err // the path is named by the caller
	}
	return err
}

// over reports whether o has neither a timeline nor a socket, or no longer.
func (o *Observation) over() bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.path == "" && o.server == nil
}

// trace begins the timeline of s, the latest default scheduler; it does nothing if s is nil.
func (o *Observation) trace(s *sched.Scheduler) error {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.path == "" || s == nil || s == o.s {
		return nil
	}
	if err := observe.StartTrace(s, observe.TraceConfig{}); err != nil {
		return fmt.Errorf("%s=%s: %w", Trace, o.path, err)
	}
	o.s = s
	tracing.Store(o)
	if o.stop == nil {
		o.stop = make(chan struct{})
		go o.keep(o.stop)
	}
	return nil
}

// keep writes every period, or less often, until stop is closed or a write has failed.
func (o *Observation) keep(stop chan struct{}) {
	for {
		o.mu.Lock()
		pause := max(period, share*o.took)
		o.mu.Unlock()
		select {
		case <-stop:
			return
		case <-time.After(pause):
			o.save()
		}
	}
}

// Save writes the timeline if one is recorded, and if the last write is long enough ago. For what may be the last thing
// that a program does. Threads that call it give away their VP meanwhile. Without PM2_TRACE it is a load.
func Save() {
	if o := tracing.Load(); o != nil {
		sched.Blocking(o.save)
	}
}

// save is Save, of o.
func (o *Observation) save() {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.path == "" || time.Since(o.wrote) < share*o.took {
		return
	}
	t, err := observe.ReadTrace(o.s)
	if err == nil {
		err = o.write(t)
	}
	if err != nil {
		fmt.Fprintf(os.Stderr, "pm2: %s=%s: %v: it is not written any more\n", Trace, o.path, err)
		o.path = ""
		tracing.Store(nil)
	}
}

// write replaces the file in one step, so that a reader always finds a complete one. Under mu.
func (o *Observation) write(t *observe.Trace) error {
	began := time.Now()
	t.Description = fmt.Sprintf("pid %d", t.PID)
	next := fmt.Sprintf("%s.%d", o.path, t.PID)
	f, err := os.Create(next)
	if err != nil {
		return err
	}
	w := bufio.NewWriter(f)
	if err = errors.Join(timeline.Of(t).Write(w), w.Flush(), f.Close()); err == nil {
		err = os.Rename(next, o.path)
	}
	if err != nil {
		os.Remove(next)
		return err
	}
	o.wrote = time.Now()
	o.took = o.wrote.Sub(began)
	return nil
}

// End writes the timeline up to now, ends the trace, and closes the socket. For the end of main. A second call does
// nothing.
func (o *Observation) End() error {
	if o == nil {
		return nil
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	err := o.server.Close()
	o.server = nil
	path, s := o.path, o.s
	if o.stop != nil {
		close(o.stop)
		o.stop = nil
	}
	if path == "" {
		return err
	}
	tracing.Store(nil)
	if s == nil {
		o.path = ""
		return errors.Join(err, fmt.Errorf("%s=%s: no scheduler has run: there is no timeline", Trace, path))
	}
	t, e := observe.StopTrace(s)
	if e == nil {
		e = o.write(t)
	}
	if o.path = ""; e != nil {
		err = errors.Join(err, fmt.Errorf("%s=%s: %w", Trace, path, e))
	}
	return err
}
