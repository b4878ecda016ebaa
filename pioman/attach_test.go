package pioman

import (
	"errors"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/pm2-go/pm2/hooks"
	"github.com/pm2-go/pm2/marcel"
	"github.com/pm2-go/pm2/sched"
)

// counted is a repeat task that counts its polls.
type counted struct {
	Task
	polls  atomic.Int64
	status atomic.Int32 // what it returns
}

func newCounted(t testing.TB, e *Engine, opt Options) *counted {
	t.Helper()
	c := &counted{}
	c.Init("counted", func(*Task) Status { c.polls.Add(1); return Status(c.status.Load()) }, Repeat|opt)
	submit(t, e, &c.Task)
	return c
}

func TestHooksAreQuietWithNothingPending(t *testing.T) {
	e := engine(t, Config{})
	s := newByHand(2)
	attach(t, e, s)
	c := newCounted(t, e, 0)
	for p := hooks.Idle; p < hooks.NumPoints; p++ {
		var want []string // at the other points it would poll more often than it helps
		if p == hooks.Idle || p == hooks.Switch || p == hooks.Timer {
			want = []string{"pioman"}
		}
		if names := s.set.Registered(p); !slices.Equal(names, want) {
			t.Errorf("%v: %v registered, want %v", p, names, want)
		}
		for vp := range 2 {
			if v := s.set.Fire(p, vp); v != hooks.Quiet {
				t.Errorf("%v: %v", p, v)
			}
		}
	}
	if n := c.polls.Load(); n != 0 {
		t.Errorf("polled %d times", n)
	}
}

func TestIdleHookVerdicts(t *testing.T) {
	e := engine(t, Config{Params: tuned(func(p *Params) { p.hot, p.IdleGap = 20*time.Millisecond, 0 })})
	s := newByHand(2)
	attach(t, e, s)
	c := newCounted(t, e, 0)
	e.AddPending()
	idle := func() hooks.Verdict { return s.set.Fire(hooks.Idle, 1) }
	if v := idle(); v != hooks.Busy || c.polls.Load() != 1 {
		t.Fatalf("a request was just posted: %v after %d polls", v, c.polls.Load())
	}
	eventually(t, "no longer busy", func() bool { return idle() != hooks.Busy })
	c.status.Store(int32(Moved))
	if v := idle(); v != hooks.Busy {
		t.Fatalf("something moved: %v", v)
	}
	c.status.Store(int32(Again))
	eventually(t, "no longer busy", func() bool { return idle() != hooks.Busy })
	e.AddPending()
	e.RemovePending()
	if v := idle(); v != hooks.Busy {
		t.Fatalf("something completed: %v", v)
	}
	e.RemovePending()
	polls := c.polls.Load()
	if v := idle(); v != hooks.Quiet || c.polls.Load() != polls {
		t.Fatalf("nothing pending: %v, %d polls more", v, c.polls.Load()-polls)
	}
	for _, vp := range []int{-1, 2} { // a scheduler's mistake must not be ours
		e.AddPending()
		s.set.Fire(hooks.Idle, vp)
		s.set.Fire(hooks.Switch, vp)
		s.set.Fire(hooks.Timer, vp)
		e.RemovePending()
	}
}

func TestSwitchAndTimerHooksAreRateLimitedPerVP(t *testing.T) {
	e := engine(t, Config{Params: tuned(func(p *Params) {
		p.Granularity, p.TimerPeriod, p.BlockingDelay, p.surveyPeriod = time.Hour, time.Hour, time.Hour, time.Hour
	})})
	s := newByHand(2)
	attach(t, e, s)
	c := newCounted(t, e, 0)
	e.AddPending()
	defer e.RemovePending()
	for i := range 100 {
		for vp := range 2 {
			if v := s.set.Fire(hooks.Switch, vp); v == hooks.Quiet {
				t.Fatal("quiet with a request pending")
			}
			s.set.Fire(hooks.Timer, vp) // it polled at the switch
		}
		if n := c.polls.Load(); n != 2 {
			t.Fatalf("%d polls after %d switches of two VPs", n, i+1)
		}
	}
	e.ticks.switchPeriod = 0
	for range 10 {
		s.set.Fire(hooks.Switch, 0)
	}
	if n := c.polls.Load(); n != 12 {
		t.Fatalf("%d polls without a limit", n)
	}
	e.ticks.timerPeriod = 0
	s.set.Fire(hooks.Timer, 1)
	if n := c.polls.Load(); n != 13 {
		t.Fatalf("%d polls after a timer", n)
	}
}

// After a post of the first request off any VP the progressor has one look.
func TestFirstRequestKicks(t *testing.T) {
	e := engine(t, Config{})
	e.AddPending()
	s := newByHand(2)
	attach(t, e, s)
	if n := s.kicks.Load(); n != 1 {
		t.Fatalf("%d kicks for what was pending before", n)
	}
	e.AddPending()
	if n := s.kicks.Load(); n != 1 {
		t.Fatal("kicked though a request was pending, so that a thread polls")
	}
	e.RemovePending()
	e.RemovePending()
	e.AddPending()
	eventually(t, "a kick after a new first request", func() bool { return s.kicks.Load() > 1 })
	e.RemovePending()
	before := s.kicks.Load()
	var task Task
	task.Init("once", func(*Task) Status { return Done }, OneShot)
	submit(t, e, &task)
	eventually(t, "a kick after a one-shot task", func() bool { return s.kicks.Load() > before })
	for e.Poll() != hooks.Quiet { // the queue leaves the count when a poll finds nothing
	}
	if vp := s.kicked.Load(); vp != -1 {
		t.Fatalf("kicked VP %d in particular", vp)
	}
	s.current.Store(1)
	e.AddPending()
	if vp := s.kicked.Load(); vp != 1 {
		t.Fatalf("kicked VP %d from VP 1, whose timer is to tick", vp)
	}
	e.RemovePending()
}

func TestAttachRefuses(t *testing.T) {
	a, b := engine(t, Config{Name: "a"}), engine(t, Config{Name: "b"})
	s1, s2 := newByHand(1), newByHand(1)
	stop := attach(t, a, s1)
	if _, err := a.Attach(s2); !errors.Is(err, ErrAttached) {
		t.Error(err)
	}
	if _, err := b.Attach(s1); !errors.Is(err, ErrSchedulerTaken) {
		t.Error(err)
	}
	stop()
	stopB := attach(t, b, s1)
	stop() // stale: must not unhook b
	if !slices.Equal(s1.set.Registered(hooks.Idle), []string{"b"}) {
		t.Error(s1.set.Registered(hooks.Idle))
	}
	stopB()
	if err := a.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := a.Attach(s1); !errors.Is(err, ErrClosed) {
		t.Error(err)
	}
	if err := a.AddSource(newPipe(t)); !errors.Is(err, ErrClosed) {
		t.Error(err)
	}
}

// way is a way to start an engine.
type way func(*Engine) (stop func(), err error)

// Users of one program that start an engine in the same way share it until the last of their stops, in
// whatever order and however often each calls its own.
func TestUsersShareAnAttachment(t *testing.T) {
	one, other := newByHand(1), newByHand(1)
	hooked := func(s Scheduler) way {
		return func(e *Engine) (func(), error) { return e.Attach(s) }
	}
	for _, c := range []struct {
		name            string
		first           way
		same, different []way
	}{
		{"scheduler", hooked(one), []way{hooked(one)}, []way{hooked(other), hooked(nil), (*Engine).Enable}},
		{"no scheduler", hooked(nil), []way{hooked(nil), (*Engine).Enable}, []way{hooked(one)}},
	} {
		t.Run(c.name, func(t *testing.T) {
			e := engine(t, Config{})
			start := func(f way) func() {
				t.Helper()
				stop, err := f(e)
				if err != nil {
					t.Fatal(err)
				}
				return stop
			}
			stops := []func(){start(c.first)}
			is := e.attached.Load()
			for _, f := range c.same {
				stops = append(stops, start(f))
			}
			for i, f := range c.different {
				if _, err := f(e); !errors.Is(err, ErrAttached) {
					t.Errorf("other way %d: %v", i, err)
				}
			}
			for len(stops) > 0 {
				if e.attached.Load() != is {
					t.Fatalf("%d users left, and another attachment", len(stops))
				}
				stops[0]()
				stops[0]()
				stops = stops[1:]
			}
			if e.attached.Load() != nil {
				t.Fatal("still attached after the last stop")
			}
			old := start(c.first)
			last := start(c.first)
			old()
			again := start(c.first)
			old() // of a user that has gone
			last()
			if e.attached.Load() == nil {
				t.Fatal("unhooked by a stop that had counted already")
			}
			if err := e.Close(); err != nil {
				t.Fatal(err)
			}
			again() // nothing is left to stop
			if _, err := c.first(e); !errors.Is(err, ErrClosed) {
				t.Error(err)
			}
		})
	}
}

// Hooking and unhooking, with requests pending and waiters waiting, leaves no
// descriptor, hook, goroutine or sleeper, and no waiter behind.
func TestAttachAndStopLeaveNothing(t *testing.T) {
	rounds := 200
	if testing.Short() {
		rounds = 40
	}
	leaks := goleak.IgnoreCurrent()
	s, err := sched.New(sched.Config{})
	if err != nil {
		t.Fatal(err)
	}
	e := New(Config{Params: tuned(func(p *Params) { p.explicitSpin = 50 * time.Microsecond })})
	before := openDescriptors(t)
	var stopped atomic.Bool
	var served atomic.Int64
	var wg sync.WaitGroup
	for k := range 3 { // requests all the time, from goroutines and a thread
		client := func() {
			src := newCounted(t, e, Blind)
			for !stopped.Load() {
				var c Completion
				var task Task
				task.Init("once", func(*Task) Status { return Done }, OneShot)
				task.Notify(&c, 1)
				submit(t, e, &task)
				if err := c.Wait(e, 1); err != nil {
					t.Error(err)
				}
				served.Add(1)
			}
			if err := src.Cancel(); err != nil {
				t.Error(err)
			}
		}
		if k == 0 {
			wg.Go(func() { marcel.RunOn(s, client) })
		} else {
			wg.Go(client)
		}
	}
	finishes(t, "rounds", func() {
		for i := range rounds {
			stop, err := e.Attach(s)
			if err != nil {
				t.Error(err)
				return
			}
			for n := served.Load(); served.Load() < n+int64(i%5); {
				runtime.Gosched()
			}
			hooked := e.Hooked()
			stop()
			if !hooked || e.Hooked() {
				t.Errorf("hooked %v before the hooks are stopped, %v afterwards", hooked, e.Hooked())
			}
			for p := hooks.Idle; p < hooks.NumPoints; p++ {
				if names := s.Hooks().Registered(p); names != nil {
					t.Errorf("%v: %v left", p, names)
				}
			}
			for n := served.Load(); served.Load() < n+int64(i%3); {
				runtime.Gosched()
			}
		}
	})
	stopped.Store(true)
	finishes(t, "clients", wg.Wait)
	eventually(t, "no LWP sleeps for us", func() bool { return e.sleeper.holder.Load() == 0 })
	if n := e.Pending(); n != 0 {
		t.Errorf("%d pending", n)
	}
	if err := e.Close(); err != nil {
		t.Error(err)
	}
	if after := openDescriptors(t); after != before {
		t.Errorf("%d descriptors open, %d before", after, before)
	}
	if err := s.Stop(t.Context()); err != nil {
		t.Error(err)
	}
	if err := goleak.Find(leaks); err != nil {
		t.Error(err)
	}
}

// Enable is Attach of the default engine to marcel's default scheduler.
func TestEnable(t *testing.T) {
	stop, err := Enable()
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := sched.Default().Stop(t.Context()); err != nil {
			t.Error(err)
		}
	}()
	defer stop()
	if _, err := Default().Attach(newByHand(1)); !errors.Is(err, ErrAttached) {
		t.Error(err)
	}
	library, err := Enable() // another user in the same program
	if err != nil {
		t.Fatal(err)
	}
	library()
	library() // one stop only: the engine is still enabled
	var task Task
	var c Completion
	var vp atomic.Int64
	task.Init("once", func(*Task) Status { vp.Store(int64(sched.Default().CurrentVP())); return Done }, OneShot)
	task.Notify(&c, 1)
	submit(t, Default(), &task)
	// Only the hooks poll.
	eventually(t, "the hooks poll", func() bool { return c.Test(1) })
	stop()
	stop()
	c.Reset() // before: a hook that was in progress may run the task at once
	submit(t, Default(), &task)
	if err := c.Wait(nil, 1); err != nil {
		t.Fatal(err)
	}
	again, err := Enable()
	if err != nil {
		t.Fatal(err)
	}
	again()
}

// Progress while a thread computes and never comes near the scheduler: the timer
// hook polls for it, or an idle VP does.
func TestTimerHookPollsWhileAThreadComputes(t *testing.T) {
	for _, vps := range []int{1, 2} {
		e := engine(t, Config{})
		s := scheduler(t, sched.Config{VPs: vps})
		attach(t, e, s)
		c := newCounted(t, e, 0)
		finishes(t, "computation", func() {
			marcel.RunOn(s, func() {
				e.AddPending()
				defer e.RemovePending()
				for c.polls.Load() < 5 {
				}
			})
		})
	}
}

// A plain goroutine posts a request and computes while every VP sleeps.
func TestGoroutinesRequestProgressesWhileItComputes(t *testing.T) {
	e := engine(t, Config{})
	s := scheduler(t, sched.Config{})
	attach(t, e, s)
	c := newCounted(t, e, 0)
	rounds := 200
	if testing.Short() {
		rounds = 50
	}
	for i := range rounds {
		if i%2 == 0 {
			time.Sleep(time.Duration(i%8) * 200 * time.Microsecond) // they fall asleep, or are about to
		}
		n := c.polls.Load()
		e.AddPending()
		eventually(t, "polled", func() bool { return c.polls.Load() > n })
		e.RemovePending()
	}
}

// Whatever the VPs did before, a request gets polled: while its poster is away in
// a blocking call, before it or in it; and soon after a long computation in which
// the timer had no reason to tick.
func TestProgressWhateverTheVPsDo(t *testing.T) {
	for _, vps := range []int{1, 2} {
		e := engine(t, Config{})
		s := scheduler(t, sched.Config{VPs: vps})
		attach(t, e, s)
		c := newCounted(t, e, 0)
		polled := func() {
			n := c.polls.Load()
			eventually(t, "polled", func() bool { return c.polls.Load() > n+2 })
		}
		finishes(t, "thread", func() {
			marcel.RunOn(s, func() {
				e.AddPending()
				marcel.Blocking(polled)
				e.RemovePending()
				marcel.Blocking(func() {
					time.Sleep(30 * time.Millisecond)
					e.AddPending()
					polled()
					e.RemovePending()
				})
				var waits []time.Duration
				for range 5 {
					for end := time.Now().Add(30 * time.Millisecond); time.Now().Before(end); {
					}
					e.AddPending()
					began := time.Now()
					for n := c.polls.Load(); c.polls.Load() == n; {
					}
					waits = append(waits, time.Since(began))
					e.RemovePending()
				}
				t.Logf("%d VPs: after 30 ms of quiet computation the first poll came after %v", vps, waits)
			})
		})
	}
}
