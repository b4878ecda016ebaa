package view

import (
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/pm2-go/pm2/marcel/monitor"
	"github.com/pm2-go/pm2/marcel/timeline"
	"github.com/pm2-go/pm2/sched"
	"github.com/pm2-go/pm2/sched/observe"
)

// Trace is the variable that names the file for the timeline.
const Trace = "PM2_TRACE"

// rank is the variable by which a launcher tells a process its place in the job.
const rank = "PM2_RANK"

// patience is how often a wait for the default scheduler looks whether it has started.
const patience = time.Millisecond

// An Observed is what the environment asked for. Its zero value and nil are nothing.
type Observed struct {
	server *monitor.Server
	path   string                // of the timeline; empty: none
	stop   chan struct{}         // ends the wait for the scheduler
	traced chan *sched.Scheduler // gets the traced scheduler once the wait has ended; nil: none has started
}

// FromEnvironment starts what the variables ask for. The trace begins when the default scheduler starts, a millisecond later
// at most; a program that has threads already is traced at once. It does not block, and starts no scheduler.
func FromEnvironment() (*Observed, error) {
	o := &Observed{path: os.Getenv(Trace)}
	if n := os.Getenv(rank); o.path != "" && n != "" && n != "0" {
		o.path += "." + n
	}
	var err error
	if o.server, err = monitor.FromEnvironment(); err != nil || o.path == "" {
		return o, err
	}
	f, err := os.OpenFile(o.path, os.O_WRONLY|os.O_CREATE, 0o666) // refused now, not when the program has run
	if err != nil {
		return nil, errors.Join(fmt.Errorf("view: %s: %w", Trace, err), o.server.Close())
	}
	f.Close()
	o.stop, o.traced = make(chan struct{}), make(chan *sched.Scheduler, 1)
	if !o.begin() {
		go o.await()
	}
	return o, nil
}

// begin starts the trace if the default scheduler runs.
func (o *Observed) begin() bool {
	s := sched.Running()
	if s == nil || observe.StartTrace(s, observe.TraceConfig{}) != nil {
		return false
	}
	o.traced <- s
	return true
}

// await begins once there is a scheduler.
func (o *Observed) await() {
	tick := time.NewTicker(patience)
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
			if o.begin() {
				return
			}
		case <-o.stop:
			o.traced <- nil
			return
		}
	}
}

// End writes the timeline, and closes the socket. For the end of main; the default scheduler must not have been stopped. A second
// call does nothing.
func (o *Observed) End() error {
	if o == nil {
		return nil
	}
	err := o.server.Close()
	if o.path == "" {
		return err
	}
	path := o.path
	o.path = ""
	close(o.stop)
	s := <-o.traced
	if s == nil {
		return errors.Join(err, fmt.Errorf("view: %s=%s: no scheduler has run: there is no timeline", Trace, path))
	}
	t, stopped := observe.StopTrace(s)
	if stopped != nil {
		return errors.Join(err, fmt.Errorf("view: %s=%s: %w", Trace, path, stopped))
	}
	t.Description = fmt.Sprintf("pid %d", t.PID)
	f, e := os.Create(path)
	if e == nil {
		e = errors.Join(timeline.Of(t).Write(f), f.Close())
	}
	if e != nil {
		err = errors.Join(err, fmt.Errorf("view: %s: %w", Trace, e))
	}
	return err
}
