package marcel_test

import (
	"context"
	"fmt"
	"os"
	"runtime/debug"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/pm2-go/pm2/marcel"
	"github.com/pm2-go/pm2/sched"
)

// patience is how long anything may take before it counts as stuck.
const patience = 2 * time.Minute

// A world is where a test's parties live: threads of one scheduler, plain
// goroutines, or both of them mixed with threads of a second scheduler. The test
// itself runs on a plain goroutine.
type world struct {
	*testing.T
	s, foreign *sched.Scheduler
	kind       kind
	parties    int
	all        sync.WaitGroup
}

type kind int

const (
	threads kind = iota
	goroutines
	mixed
)

// worlds runs the test in every form: on threads of 1, 2 and 5 VPs, on
// goroutines, and mixed.
func worlds(t *testing.T, test func(w *world)) {
	t.Helper()
	t.Run("goroutines", func(t *testing.T) { inWorld(t, 1, goroutines, test) })
	for _, vps := range []int{1, 2, 5} {
		t.Run(fmt.Sprintf("threads/%dVP", vps), func(t *testing.T) { inWorld(t, vps, threads, test) })
		t.Run(fmt.Sprintf("mixed/%dVP", vps), func(t *testing.T) { inWorld(t, vps, mixed, test) })
	}
}

func inWorld(t *testing.T, vps int, k kind, test func(w *world)) {
	t.Helper()
	w := &world{T: t, kind: k, s: start(t, brisk(vps))}
	if k == mixed {
		w.foreign = start(t, brisk(1))
	}
	within(t, func() {
		test(w)
		w.all.Wait()
	}, w.s, w.foreign)
}

// brisk is a scheduler whose threads lose their VP often.
func brisk(vps int) sched.Config {
	return sched.Config{VPs: vps, Slice: time.Millisecond, Period: 250 * time.Microsecond}
}

// undisturbed is a scheduler of one VP that is never taken away from a thread which does
// not wait: what its threads do is then the same in every run.
func undisturbed() sched.Config { return sched.Config{VPs: 1, Slice: time.Hour} }

// Go starts fn as the next party.
func (w *world) Go(fn func()) {
	w.all.Add(1)
	do := func() {
		defer w.all.Done()
		fn()
	}
	k := w.kind
	if k == mixed {
		k = kind(w.parties % 3)
	}
	w.parties++
	switch k {
	case threads:
		w.s.Spawn(marcel.Attr{}, do)
	case goroutines:
		go do()
	case mixed:
		w.foreign.Spawn(marcel.Attr{}, do)
	}
}

// within calls fn; if it does not return, the program ends with all stacks and
// the state of the schedulers.
func within(t testing.TB, fn func(), of ...*sched.Scheduler) {
	t.Helper()
	stuck := time.AfterFunc(patience, func() {
		for _, s := range of {
			if s != nil {
				s.Dump(os.Stderr)
			}
		}
		debug.SetTraceback("all")
		panic(fmt.Sprintf("%s is stuck after %v", t.Name(), patience))
	})
	defer stuck.Stop()
	fn()
}

// start starts a scheduler and stops it when the test ends.
func start(t testing.TB, cfg sched.Config) *sched.Scheduler {
	t.Helper()
	s, err := sched.New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { stop(t, s) })
	return s
}

func stop(t testing.TB, s *sched.Scheduler) {
	t.Helper()
	within(t, func() {
		if err := s.Stop(context.Background()); err != nil {
			t.Error(err)
		}
	}, s)
}

// run runs fn as a thread of a scheduler made for it.
func run(t testing.TB, cfg sched.Config, fn func(s *sched.Scheduler)) {
	t.Helper()
	s := start(t, cfg)
	within(t, func() { marcel.RunOn(s, func() { fn(s) }) }, s)
}

// present is what is there now, for leaks to leave out. The default scheduler is stopped
// first: its OS threads may be bound, and the stacks of its runners, on which threads have
// called Goexit, deeper than what goleak can read.
func present(t testing.TB) goleak.Option {
	t.Helper()
	stop(t, sched.Default())
	return goleak.IgnoreCurrent()
}

// leaks lists goroutines that are there beside those of before, after some time for
// what is about to end.
func leaks(before ...goleak.Option) (err error) {
	for end := time.Now().Add(patience / 4); ; {
		if err = goleak.Find(before...); err == nil || time.Now().After(end) {
			return err
		}
	}
}

// onThreadAndOff calls fn as a thread, and on a plain goroutine.
func onThreadAndOff(t *testing.T, fn func(t *testing.T)) {
	t.Helper()
	t.Run("goroutine", fn)
	t.Run("thread", func(t *testing.T) { run(t, undisturbed(), func(*sched.Scheduler) { fn(t) }) })
}

// must fails the test if a thread could not be joined as it ought to be.
func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Error(err)
	}
}
