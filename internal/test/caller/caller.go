package caller

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"time"

	"github.com/pm2-go/pm2/marcel"
	"github.com/pm2-go/pm2/pioman"
	"github.com/pm2-go/pm2/sched"
)

// The kinds of callers.
const (
	Goroutine = "goroutine"
	Locked    = "locked" // to its OS thread, as a call from C is
	Thread    = "thread" // of marcel
)

// The kinds of engines: what makes the progress.
const (
	Default  = "default"  // pioman.Enable, and marcel's default scheduler runs
	Own      = "own"      // a scheduler that the program has made
	None     = "none"     // pioman.Enable, and no thread is ever started
	Explicit = "explicit" // the callers alone, while they wait
)

// Way is a kind of caller together with a kind of engine.
type Way struct{ Caller, Engine string }

// Ways lists all ways.
func Ways() (all []Way) {
	for _, engine := range []string{Default, Own, None, Explicit} {
		for _, c := range []string{Goroutine, Locked, Thread} {
			if w := (Way{c, engine}); w != (Way{Thread, None}) {
				all = append(all, w)
			}
		}
	}
	return all
}

// String returns the name of the way, which Parse reads.
func (w Way) String() string { return w.Caller + "-" + w.Engine }

// Parse returns the way with the name that String returns.
func Parse(text string) (Way, error) {
	c, engine, _ := strings.Cut(text, "-")
	for _, w := range Ways() {
		if w == (Way{c, engine}) {
			return w, nil
		}
	}
	return Way{}, fmt.Errorf("no way %q to call: there are %v", text, Ways())
}

// Spawner starts callers of one kind.
type Spawner struct {
	caller string
	s      *sched.Scheduler // whose threads they are; nil: the default one
}

// Run calls f in the way, with what makes the progress of pioman's default engine, and undoes that. For a process that
// has neither scheduler nor engine.
func (w Way) Run(f func(s *Spawner)) (err error) {
	s := &Spawner{caller: w.Caller}
	enable := pioman.Enable
	switch w.Engine {
	case Default:
		defer end(&err, sched.Default())
	case Own:
		if s.s, err = sched.New(sched.Config{}); err != nil {
			return err
		}
		defer end(&err, s.s)
		enable = func() (func(), error) { return pioman.Default().Attach(s.s) }
	case Explicit:
		enable = func() (func(), error) { return func() {}, nil }
	}
	stop, err := enable()
	if err != nil {
		return err
	}
	defer stop()
	s.Go(func() { f(s) })()
	return nil
}

// endLimit bounds how long a scheduler may take to stop, whose threads have ended.
const endLimit = 30 * time.Second

// end stops s, and adds its error to err.
func end(err *error, s *sched.Scheduler) {
	ctx, cancel := context.WithTimeout(context.Background(), endLimit)
	defer cancel()
	*err = errors.Join(*err, s.Stop(ctx))
}

// Go calls f on a caller of its own. wait returns when f has.
func (s *Spawner) Go(f func()) (wait func()) {
	var over marcel.Semaphore
	over.SetUninterruptible()
	run := func() { defer over.Release(); f() }
	switch {
	case s.caller == Thread && s.s == nil:
		marcel.Spawn(run)
	case s.caller == Thread:
		s.s.Spawn(marcel.Attr{}, run)
	case s.caller == Locked:
		go func() {
			runtime.LockOSThread()
			defer runtime.UnlockOSThread()
			run()
		}()
	default:
		go run()
	}
	return over.Acquire
}
