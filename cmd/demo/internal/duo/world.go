package duo

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"net"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"github.com/pm2-go/pm2/cmd/demo/internal/binding"
	"github.com/pm2-go/pm2/marcel"
	"github.com/pm2-go/pm2/nmad"
	"github.com/pm2-go/pm2/nmad/driver"
	"github.com/pm2-go/pm2/pioman"
	"github.com/pm2-go/pm2/sched"
)

// Setup says how one rank is set up for one measurement. Zero fields are the defaults of what reads them.
type Setup struct {
	Driver     string        `json:"driver"` // network
	Bare       bool          `json:"bare"`   // a link of the driver, no session and no engine
	Hooked     bool          `json:"hooked"` // the engine is attached to the scheduler's hooks; else explicit
	Plain      bool          `json:"plain"`  // goroutines on bound OS threads instead of marcel; Hooked: the progressor polls where none of them waits
	CPUs       []int         `json:"cpus"`   // one VP, or poller, on each
	Free       bool          `json:"free"`   // VPs are not bound
	SharedCPUs bool          `json:"shared"` // others use the CPUs
	Timer      time.Duration `json:"timer"`  // period of the timer hook
	Spin       time.Duration `json:"spin"`   // how long a wait polls the gate itself; below 0: not at all

	Strategy string `json:"strategy"` // for messages that wait for the network; empty: the default
	Listen   string `json:"listen"`   // where links are accepted; Do fills it in

	Params map[string]string `json:"params"` // of the engine, by the names of pioman.ParamTable
}

// World is what one rank measures with.
type World struct {
	Sched   *sched.Scheduler // nil: a plain one
	Engine  *pioman.Engine
	Gate    *nmad.Gate    // rank 0's to rank 1, or the other way; nil if Link is not
	Session *nmad.Session // that Gate belongs to
	Link    driver.Link   // bare
	Listen  string        // where further sessions may accept links; empty: loopback
	lost    *atomic.Bool
	setup   Setup

	// Of Alone: the other end, rank 1's.
	Far        *nmad.Gate
	FarSession *nmad.Session
	FarLink    driver.Link
}

// errLost: the other process is gone.
var errLost = errors.New("the other process has ended")

// Lost is the error of a loop that polls a bare link if the other process is gone. A look at a flag: call it now and
// then.
func (w *World) Lost() error {
	if w.lost.Load() {
		return errLost
	}
	return nil
}

const patience = 20 * time.Second // for a World to come about, and to end

// newMeeting opens the door at which rank 0's world waits for rank 1's.
func newMeeting(o *Order, host string) (net.Listener, error) {
	l, err := net.Listen("tcp", host+":0")
	if err != nil {
		return nil, fmt.Errorf("open a port for rank 1: %w", err)
	}
	o.Meeting = l.Addr().String()
	o.Secret = make([]byte, 32)
	rand.Read(o.Secret) // never fails
	return l, nil
}

// visit makes a World linked to the other process's, plays in a thread on its first VP, and takes the World down.
func visit(ctx context.Context, meeting net.Listener, rank int, c Setup, o *Order, lost *atomic.Bool, play func(*World) error) error {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	return stage(c, lost, func(w *World) (err error) {
		if c.Bare {
			if w.Link, err = link(ctx, meeting, rank, &c, o); err != nil {
				return err
			}
			defer func() { err = errors.Join(err, w.Link.Close()) }()
		} else {
			session, err := w.open(ctx, &c, rank, meeting, o)
			if err != nil {
				return err
			}
			defer func() { err = errors.Join(err, session.Close()) }()
			w.Session, w.Gate = session, session.Gate(1-rank)
		}
		return w.inThread(play)
	})
}

// Alone makes a World of this process alone, with both ends of a connection in it, plays in a thread on its first VP,
// and takes the World down. It blocks until then.
func Alone(ctx context.Context, c Setup, play func(*World) error) error {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	return stage(c, new(atomic.Bool), func(w *World) (err error) {
		var o Order
		meeting, err := newMeeting(&o, loopback[0])
		if err != nil {
			return err
		}
		defer meeting.Close()
		ends := [2]struct {
			session *nmad.Session
			link    driver.Link
			err     error
		}{}
		var wg sync.WaitGroup
		for rank := range ends {
			wg.Go(func() {
				e := &ends[rank]
				if c.Bare {
					e.link, e.err = link(ctx, meeting, rank, &c, &o)
				} else {
					e.session, e.err = w.open(ctx, &c, rank, meeting, &o)
				}
			})
		}
		wg.Wait()
		defer func() { // both at once: each waits for the other's farewell
			for i := range ends {
				wg.Go(func() {
					e := &ends[i]
					if e.session != nil {
						e.err = errors.Join(e.err, e.session.Close())
					}
					if e.link != nil {
						e.err = errors.Join(e.err, e.link.Close())
					}
				})
			}
			wg.Wait()
			err = errors.Join(err, ends[0].err, ends[1].err)
		}()
		if ends[0].err != nil || ends[1].err != nil {
			return nil // joined above
		}
		if c.Bare {
			w.Link, w.FarLink = ends[0].link, ends[1].link
		} else {
			w.Session, w.FarSession = ends[0].session, ends[1].session
			w.Gate, w.Far = w.Session.Gate(1), w.FarSession.Gate(0)
		}
		return w.inThread(play)
	})
}

// stage makes the scheduler, if any, and the engine of a World, and takes them down.
func stage(c Setup, lost *atomic.Bool, play func(*World) error) (err error) {
	w := &World{lost: lost, Listen: c.Listen, setup: c}
	later := func(stop func(context.Context) error) {
		ctx, cancel := context.WithTimeout(context.Background(), patience)
		defer cancel()
		err = errors.Join(err, stop(ctx))
	}
	if !c.Plain {
		w.Sched, err = sched.New(sched.Config{
			VPs: len(c.CPUs), CPUs: c.CPUs, Unbound: c.Free, SharedCPUs: c.SharedCPUs, Period: c.Timer,
		})
		if err != nil {
			return err
		}
		defer later(w.Sched.Stop)
	}
	params := pioman.DefaultParams()
	for name, text := range c.Params {
		if err := params.Set(name, text, pioman.FromProgram); err != nil {
			return err
		}
	}
	w.Engine = pioman.New(pioman.Config{Name: "experiment", SharedCPUs: c.SharedCPUs, Params: &params})
	defer func() { err = errors.Join(err, w.Engine.Close()) }()
	if c.Hooked {
		stop, err := w.Hook()
		if err != nil {
			return err
		}
		defer stop()
	}
	return play(w)
}

// Hook attaches the engine of a World that was not set up Hooked: to the scheduler or, in a plain
// World, to none.
func (w *World) Hook() (stop func(), err error) {
	if w.Sched == nil {
		return w.Engine.Attach(nil)
	}
	return w.Engine.Attach(w.Sched)
}

// open opens the session of a rank.
func (w *World) open(ctx context.Context, c *Setup, rank int, meeting net.Listener, o *Order) (*nmad.Session, error) {
	config := nmad.Config{
		Rank: rank, Size: 2, Rendezvous: o.Meeting, Secret: o.Secret,
		Driver: c.Driver, Engine: w.Engine, Spin: c.Spin, SharedCPUs: c.SharedCPUs,
		Strategy: c.Strategy, Listen: c.Listen,
	}
	if rank == 0 {
		config.Listener = meeting
	}
	return nmad.Open(ctx, config)
}

// inThread plays in a thread on the first VP, or, in a plain World, here, in a goroutine like any other.
func (w *World) inThread(play func(*World) error) (err error) {
	if w.Sched == nil {
		return play(w)
	}
	join := w.Spawn(0, "experiment", func() { err = play(w) })
	return errors.Join(join(), err)
}

// VPs is how many there are or, in a plain World, how many CPUs Spawn has.
func (w *World) VPs() int { return len(w.setup.CPUs) }

// Spawn runs f in a thread on VP number vp or, in a plain World, in a goroutine that has an OS thread of its own, bound
// to that CPU. join waits for its end; it may be called by a thread that may block in f's way: a thread, or in a plain
// World a goroutine.
func (w *World) Spawn(vp int, name string, f func()) (join func() error) {
	if w.Sched != nil {
		return w.Sched.Spawn(marcel.Attr{Name: name, VPs: marcel.OneVP(vp)}, f).Join
	}
	done := make(chan error, 1)
	go func() {
		runtime.LockOSThread() // and ends locked: the OS thread goes with its mask
		if !w.setup.Free {
			if err := binding.Thread(w.setup.CPUs[vp]); err != nil {
				done <- err
				return
			}
		}
		f()
		done <- nil
	}()
	return func() error { return <-done }
}

// link makes a bare link: rank 0 tells its address to the process that comes to the meeting.
func link(ctx context.Context, meeting net.Listener, rank int, c *Setup, o *Order) (driver.Link, error) {
	d, err := driver.Lookup(c.Driver)
	if err != nil {
		return nil, err
	}
	end, err := d.Open(driver.Config{Rank: rank, Size: 2, Job: "duo", Secret: o.Secret})
	if err != nil {
		return nil, err
	}
	defer end.Close()
	if rank == 0 {
		_, l, err := greet(ctx, meeting, end)
		return l, err
	}
	conn, err := (&net.Dialer{}).DialContext(ctx, "tcp", o.Meeting)
	if err != nil {
		return nil, fmt.Errorf("meet rank 0: %w", err)
	}
	defer conn.Close()
	addr := make([]byte, mostOrder)
	n, err := conn.Read(addr)
	if err != nil {
		return nil, fmt.Errorf("meet rank 0: %w", err)
	}
	return end.Dial(ctx, 0, string(addr[:n]))
}

// greet tells one visitor the address of end, and accepts its link.
func greet(ctx context.Context, meeting net.Listener, end driver.Endpoint) (rank int, l driver.Link, err error) {
	defer context.AfterFunc(ctx, func() { meeting.Close() })()
	conn, err := meeting.Accept()
	if err != nil {
		return 0, nil, fmt.Errorf("wait for rank 1: %w", err)
	}
	defer conn.Close()
	if _, err := conn.Write([]byte(end.Addr())); err != nil {
		return 0, nil, fmt.Errorf("tell rank 1 where we are: %w", err)
	}
	return end.Accept(ctx)
}
