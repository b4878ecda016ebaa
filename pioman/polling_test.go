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

	"github.com/pm2-go/pm2/asm"
	"github.com/pm2-go/pm2/hooks"
	"github.com/pm2-go/pm2/internal/test/effort"
	"github.com/pm2-go/pm2/marcel"
	"github.com/pm2-go/pm2/sched"
	"github.com/pm2-go/pm2/sched/topo"
)

// with is an engine whose parameters differ from the defaults.
func with(t testing.TB, change func(*Params)) *Engine {
	t.Helper()
	p := DefaultParams()
	change(&p)
	return engine(t, Config{Params: &p})
}

// placed is a byHand whose VPs are on the first PUs of a machine.

// Each point can be switched off, alone and together, and what is off is not polled at.
func TestPointsAreSwitched(t *testing.T) {
	at := []hooks.Point{hooks.Idle, hooks.Switch, hooks.Timer, hooks.Library}
	for p := NoPoints; p <= AllPoints; p++ {
		e := with(t, func(x *Params) { x.Granularity, x.TimerPeriod, x.Points = 0, 0, p })
		s := newByHand(1)
		attach(t, e, s)
		c := newCounted(t, e, 0)
		e.AddPending()
		for i, point := range at {
			before := c.polls.Load()
			s.set.Fire(point, 0)
			if polled := c.polls.Load() != before; polled != (p&(1<<i) != 0) {
				t.Errorf("points %v: polled at %v: %v", p, point, polled)
			}
		}
		before := c.polls.Load()
		e.Poll()
		if polled := c.polls.Load() != before; polled != (p&AtExplicit != 0) {
			t.Errorf("points %v: polled explicitly: %v", p, polled)
		}
		e.RemovePending()
	}
	wrong := DefaultParams()
	wrong.Points = AllPoints + 1
	if err := wrong.Check(); !errors.Is(err, ErrParameter) {
		t.Error(err)
	}
}

func TestProgressOffLeavesTheEngineExplicit(t *testing.T) {
	e := with(t, func(p *Params) { p.Progress = false })
	s := newByHand(1)
	attach(t, e, s)
	for p := hooks.Idle; p < hooks.NumPoints; p++ {
		if names := s.set.Registered(p); names != nil {
			t.Errorf("%v: %v", p, names)
		}
	}
	var task Task
	var c Completion
	task.Init("once", func(*Task) Status { return Done }, OneShot)
	task.Notify(&c, 1)
	submit(t, e, &task)
	finishes(t, "a wait that polls", func() {
		if err := c.Wait(e, 1); err != nil {
			t.Error(err)
		}
	})
}

// Which VP polls when several are idle.
func TestIdleDistribution(t *testing.T) {
	machine, err := topo.Synthetic("package:2 core:3 pu:1")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		all     bool
		order   []int // in which the VPs become idle
		pollers []int
	}{
		{true, []int{0, 1, 2, 3, 4, 5}, []int{0, 1, 2, 3, 4, 5}},
		{false, []int{0, 1, 2, 3, 4, 5}, []int{0, 3}},
		{false, []int{2, 5, 4, 1, 3, 0}, []int{2, 5}},
	} {
		e := with(t, func(p *Params) { p.AllIdle, p.IdleGap = c.all, 0 })
		s := newPlaced(6, machine)
		attach(t, e, s)
		a := e.attached.Load()
		a.lapse = asm.ToCycles(int64(time.Hour)) // the one that polled, still does
		e.AddPending()
		for range 3 {
			for _, vp := range c.order {
				s.set.Fire(hooks.Idle, vp)
			}
		}
		var pollers []int
		for vp := range a.vps {
			switch n := a.vps[vp].polls.Load(); n {
			case 0:
			case 3:
				pollers = append(pollers, vp)
			default:
				t.Errorf("all %v: VP %d polled %d times of 3", c.all, vp, n)
			}
		}
		if !slices.Equal(pollers, c.pollers) {
			t.Errorf("all %v, idle in the order %v: %v polled, want %v", c.all, c.order, pollers, c.pollers)
		}
		e.RemovePending()
	}
}

// When the poller of a package goes to sleep, another idle one succeeds it; when it is the
// last one, it may block in the kernel, else it must not.
func TestPollersSucceedEachOther(t *testing.T) {
	e := with(t, func(p *Params) { p.IdleGap = 0 })
	s := newByHand(2)
	attach(t, e, s)
	a := e.attached.Load()
	a.lapse = asm.ToCycles(int64(time.Hour))
	e.AddPending()
	defer e.RemovePending()
	polled := func(vp int) bool {
		before := a.vps[vp].polls.Load()
		s.set.Fire(hooks.Idle, vp)
		return a.vps[vp].polls.Load() != before
	}
	on := func(f func()) { // an LWP is a goroutine of its own
		done := make(chan struct{})
		go func() { defer close(done); f() }()
		<-done
	}
	if !polled(0) {
		t.Fatal("the first idle one does not poll")
	}
	on(func() {
		if polled(1) {
			t.Error("two of one package poll")
		}
		if !a.othersPoll() {
			t.Error("VP 1 is to block in the kernel though VP 0 polls")
		}
	})
	if a.othersPoll() { // the caller is VP 0
		t.Error("the last one is not to block in the kernel")
	}
	on(func() {
		if !polled(1) {
			t.Error("no VP succeeded VP 0")
		}
	})
	if polled(0) {
		t.Error("two of one package poll")
	}
}

// The parameters of the idle point: how often, and for how long.
func TestIdleThrottle(t *testing.T) {
	for _, c := range []struct {
		name   string
		change func(*Params)
		polls  uintptr // of 10 looks; 0: does not matter
		then   hooks.Verdict
	}{
		{"as it is", func(p *Params) {}, 10, hooks.Waiting},
		{"hot", func(p *Params) { p.hot = time.Hour }, 10, hooks.Busy},
		{"no delay", func(p *Params) { p.hot, p.BlockingDelay = 0, 0 }, 10, hooks.Quiet},
		{"no LWP blocks", func(p *Params) { p.hot, p.BlockingDelay, p.SpareLWPs = 0, 0, 0 }, 10, hooks.Busy},
		{"no LWP blocks, naps", func(p *Params) { p.hot, p.BlockingDelay, p.SpareLWPs, p.IdleGap = 0, 0, 0, time.Millisecond }, 0, hooks.Quiet},
	} {
		e := with(t, func(p *Params) { p.hot, p.BlockingDelay, p.IdleGap = 0, time.Hour, 0; c.change(p) })
		s := newByHand(2)
		attach(t, e, s)
		e.AddPending()
		v := hooks.Quiet
		for range 10 {
			v = s.set.Fire(hooks.Idle, 0)
		}
		if n := e.attached.Load().vps[0].polls.Load(); c.polls != 0 && n != c.polls || v != c.then {
			t.Errorf("%s: %d polls, then %v; want %d and %v", c.name, n, v, c.polls, c.then)
		}
		e.RemovePending()
	}
}

// While no waiter sleeps an idle VP makes a round in each IdleGap, and meanwhile looks at the queue of its own; for a
// waiter it makes one at each look.
func TestIdleGap(t *testing.T) {
	e := with(t, func(p *Params) { p.IdleGap, p.BlockingDelay = time.Hour, time.Hour })
	s := &watched{byHand: newByHand(2), awake: []int{0}}
	attach(t, e, s)
	e.AddPending()
	defer e.RemovePending()
	rounds := func(want uintptr, when string) {
		polls := &e.attached.Load().vps[0].polls
		before := polls.Load()
		for range 10 {
			s.set.Fire(hooks.Idle, 0)
		}
		if n := polls.Load() - before; n != want {
			t.Errorf("%s: %d rounds in 10 looks, want %d", when, n, want)
		}
	}
	rounds(1, "no waiter sleeps")
	var c Completion
	var waiter sync.WaitGroup
	waiter.Go(func() {
		if err := c.Wait(e, 1); err != nil {
			t.Error(err)
		}
	})
	eventually(t, "a waiter sleeps", c.hasWaiter)
	eventually(t, "goroutines poll no more", func() bool { return calls.GoroutinesPoll(asm.Cycles()) == 0 })
	rounds(10, "a waiter sleeps")
	c.Signal(1)
	finishes(t, "waiter", waiter.Wait)
	eventually(t, "goroutines poll no more", func() bool { return calls.GoroutinesPoll(asm.Cycles()) == 0 })
	rounds(0, "it has left")
	s.current.Store(1) // an idle core is given work
	var task Task
	ran := false
	task.Init("offloaded", func(*Task) Status { ran = true; return Done }, OneShot)
	if vp, err := e.Offload(&task, false); vp != 0 || err != nil {
		t.Fatal(vp, err)
	}
	if rounds(0, "offloaded"); !ran {
		t.Error("the queue of its own was not looked at")
	}
}

// While a thread sleeps in the kernel for all, a VP that computes does not poll; what is
// posted ends that, and makes the sleeper look.
func TestHooksRestWhileSomebodyBlocks(t *testing.T) {
	e := with(t, func(p *Params) { p.Granularity, p.TimerPeriod, p.BlockingDelay = 0, 0, time.Hour })
	s := newByHand(1)
	attach(t, e, s)
	if err := e.AddSource(newPipe(t)); err != nil {
		t.Fatal(err)
	}
	c := newCounted(t, e, 0)
	e.AddPending()
	var wg sync.WaitGroup
	wg.Go(func() {
		for e.sleeper.sleep(forever) != sleepRefused {
		}
	})
	// settled: it sleeps, and has seen all that is posted.
	settled := func() bool { return e.load.view().watched() && c.polls.Load() > 0 }
	eventually(t, "sleeps", settled)
	time.Sleep(time.Millisecond) // it may be about to leave once more, for AddSource
	eventually(t, "sleeps", settled)
	polls := c.polls.Load()
	for range 100 {
		for _, point := range []hooks.Point{hooks.Switch, hooks.Timer} {
			if v := s.set.Fire(point, 0); v != hooks.Quiet {
				t.Fatalf("%v at %v", v, point)
			}
		}
	}
	if n := c.polls.Load(); n != polls {
		t.Errorf("polled %d times though the sleeper blocks", n-polls)
	}
	s.current.Store(0)
	kicks := s.kicks.Load()
	e.AddPending()
	if s.kicks.Load() != kicks+1 || s.kicked.Load() != 0 {
		t.Errorf("%d kicks, the last one of VP %d: the clock may doze", s.kicks.Load()-kicks, s.kicked.Load())
	}
	eventually(t, "polled at a switch, or looked at afresh", func() bool {
		s.set.Fire(hooks.Switch, 0)
		return c.polls.Load() > polls
	})
	eventually(t, "a fresh look", func() bool {
		s.set.Fire(hooks.Timer, 0)
		return settled()
	})
	e.RemovePending()
	e.RemovePending()
	e.sleeper.wake()
	finishes(t, "sleeper", wg.Wait)
}

// All VPs compute; what arrives is found all the same: by the progressor, which blocks
// in the kernel, and not at all by the hooks then.
func TestSpareLWPBlocksWhileAllCompute(t *testing.T) {
	for name, open := range networks {
		for _, vps := range []int{1, 2} {
			e := with(t, func(*Params) {})
			s := scheduler(t, sched.Config{VPs: vps})
			attach(t, e, s)
			net := open(t)
			r := newReceiver(t, e, net)
			e.AddPending()
			var stop atomic.Bool
			var computing atomic.Int32
			var threads []sched.Thread
			for vp := range vps { // each to a VP of its own, so that none is taken from its thread for another one
				threads = append(threads, s.Spawn(sched.Attr{VPs: sched.OneVP(vp)}, func() {
					for computing.Add(1); !stop.Load(); {
					}
				}))
			}
			a := e.attached.Load()
			eventually(t, "all compute", func() bool { return int(computing.Load()) == vps })
			for i := range int64(5) {
				eventually(t, "the progressor sleeps in the kernel", func() bool {
					switch h := e.sleeper.holder.Load(); {
					case h != 0 && h == a.progressor.goroutine.Load():
						return e.load.view().watched()
					case h != 0:
						e.sleeper.wake() // a VP's LWP that was there when another one took up the VP: it may stay
					}
					return false
				})
				net.put()
				eventually(t, name+" arrives", func() bool { return r.got.Load() == i+1 })
			}
			stop.Store(true)
			finishes(t, "threads", func() {
				for _, th := range threads {
					if err := th.Join(); err != nil {
						t.Error(err)
					}
				}
			})
			e.RemovePending()
		}
	}
}

// A VP's LWP that sleeps in the kernel when another one takes up the VP, and computes, may stay there:
// it is as good as the progressor, which has its turn when that one has left.
func TestSleeperOutlastsItsVP(t *testing.T) {
	for name, open := range networks {
		e := with(t, func(p *Params) { p.BlockingDelay, p.TimerPeriod = 0, 0 })
		s := newByHand(1)
		attach(t, e, s)
		a := e.attached.Load()
		net := open(t)
		r := newReceiver(t, e, net)
		e.AddPending()
		for e.sleeper.sleep(time.Millisecond) != sleepUndisturbed { // what AddSource woke no sleeper with
		}
		var all sync.WaitGroup
		var reported atomic.Bool
		all.Go(func() { reported.Store((vpSleeper{e}).Sleep(new(atomic.Uint32))) })
		eventually(t, "the LWP sleeps in the kernel", func() bool { return e.load.view().watched() })
		eventually(t, "the progressor, which the post has woken, is off again", func() bool { return a.progressor.state.Load() == off })
		for range 100 { // its VP computes
			if v := s.set.Fire(hooks.Timer, 0); v != hooks.Quiet {
				t.Fatalf("%s: %v at a tick though the LWP blocks", name, v)
			}
		}
		if a.progressor.toKernel.Load() || a.progressor.state.Load() != off {
			t.Errorf("%s: the progressor was sent, too", name)
		}
		net.put()
		eventually(t, name+" arrives without a hook", func() bool { return r.got.Load() == 1 })
		finishes(t, "the LWP", all.Wait)
		if !reported.Load() {
			t.Errorf("%s: the LWP does not look for its VP", name)
		}
		eventually(t, "the progressor succeeds it", func() bool {
			s.set.Fire(hooks.Timer, 0)
			h := e.sleeper.holder.Load()
			return h != 0 && h == a.progressor.goroutine.Load() && e.load.view().watched()
		})
		net.put()
		eventually(t, name+" arrives at the progressor", func() bool { return r.got.Load() == 2 })
		e.RemovePending()
	}
}

// Without spare LWPs no thread blocks in the kernel, and what arrives is found nevertheless.
func TestNobodyBlocksWithoutSpareLWPs(t *testing.T) {
	for _, gap := range []time.Duration{0, 200 * time.Microsecond} {
		e := with(t, func(p *Params) { p.SpareLWPs, p.IdleGap, p.BlockingDelay = 0, gap, 0 })
		s := scheduler(t, sched.Config{VPs: 1})
		attach(t, e, s)
		src := &armed{pipe: newPipe(t), says: true}
		r := newReceiver(t, e, src)
		e.AddPending()
		for i := range int64(5) {
			polls := e.attached.Load().vps[0].polls.Load() + uintptr(e.sleeper.sleeps.Load())
			eventually(t, "polls", func() bool {
				return e.attached.Load().vps[0].polls.Load()+uintptr(e.sleeper.sleeps.Load()) > polls+3
			})
			src.put()
			eventually(t, "arrival", func() bool { return r.got.Load() == i+1 })
		}
		e.RemovePending()
		if n := src.arms.Load(); n != 0 {
			t.Errorf("gap %v: armed %d times", gap, n)
		}
	}
}

// A VP that does nothing but poll: threads are elsewhere, the hooks rest.
func TestDedicatedVP(t *testing.T) {
	e := with(t, func(p *Params) { p.Dedicated = 1 })
	s := scheduler(t, sched.Config{VPs: 2})
	stop := attach(t, e, s)
	for p := hooks.Idle; p < hooks.NumPoints; p++ {
		if names := s.Hooks().Registered(p); names != nil {
			t.Errorf("%v: %v", p, names)
		}
	}
	c := newCounted(t, e, 0)
	for range 20 {
		n := c.polls.Load()
		marcel.RunOn(s, func() {
			if vp := s.CurrentVP(); vp != 0 {
				t.Errorf("a thread runs on VP %d", vp)
			}
			e.AddPending()
			for c.polls.Load() < n+100 {
			}
			e.RemovePending()
		})
		var task Task
		var done Completion
		task.Init("once", func(*Task) Status { return Done }, OneShot)
		task.Notify(&done, 1)
		submit(t, e, &task)
		finishes(t, "wait", func() {
			if err := done.Wait(e, 1); err != nil {
				t.Error(err)
			}
		})
	}
	stop()
	if n := s.EnabledVPs().Count(); n != 2 {
		t.Errorf("%d VPs in use afterwards", n)
	}
	for _, c := range []struct {
		vps int
		at  int
	}{{2, 2}, {1, 0}} {
		e := with(t, func(p *Params) { p.Dedicated = c.at })
		s := scheduler(t, sched.Config{VPs: c.vps})
		if _, err := e.Attach(s); !errors.Is(err, ErrParameter) {
			t.Errorf("VP %d of %d dedicated: %v", c.at, c.vps, err)
		}
		if n := s.EnabledVPs().Count(); n != c.vps {
			t.Errorf("%d VPs of %d in use afterwards", n, c.vps)
		}
	}
}

// Attach and stop at every moment, under every policy, with arrivals all the
// while, lose none and leave nothing behind.
func TestPolicyChangesLoseNothing(t *testing.T) {
	rounds := effort.Of(400)
	s, err := sched.New(sched.Config{VPs: 2})
	if err != nil {
		t.Fatal(err)
	}
	leaks := goleak.IgnoreCurrent()
	policies := []func(*Params){
		func(p *Params) {},
		func(p *Params) { p.BlockingDelay, p.hot = 0, 0 },
		func(p *Params) { p.Dedicated = 1 },
		func(p *Params) { p.SpareLWPs, p.IdleGap = 0, 50*time.Microsecond },
		func(p *Params) { p.AllIdle = true },
		func(p *Params) { p.Points = AtTimer | AtExplicit },
	}
	for i, change := range policies {
		e := with(t, change)
		net := newPipe(t)
		r := newReceiver(t, e, net)
		e.AddPending()
		var over atomic.Bool
		var sent atomic.Int64
		var all sync.WaitGroup
		all.Go(func() { // one arrival after the other: a lost one ends the test
			for !over.Load() {
				net.put()
				sent.Add(1)
				for r.got.Load() < sent.Load() && !over.Load() {
					runtime.Gosched()
				}
			}
		})
		all.Go(func() {
			for n := 0; !over.Load(); n++ {
				marcel.RunOn(s, func() {
					for until := time.Now().Add(time.Duration(n%8) * 300 * time.Microsecond); time.Now().Before(until); {
					}
				})
			}
		})
		finishes(t, "rounds", func() {
			for n := range rounds {
				stop, err := e.Attach(s)
				if err != nil {
					t.Error(err)
					return
				}
				if n%2 == 0 {
					for was := r.got.Load(); r.got.Load() < was+2; {
						runtime.Gosched()
					}
				}
				stop()
				e.Poll()
			}
		})
		over.Store(true)
		finishes(t, "both", all.Wait)
		for r.got.Load() < sent.Load() {
			e.Poll()
		}
		e.RemovePending()
		if e.Pending() != 0 || e.attached.Load() != nil {
			t.Errorf("policy %d: %d pending", i, e.Pending())
		}
	}
	if err := s.Stop(t.Context()); err != nil {
		t.Error(err)
	}
	if err := goleak.Find(leaks); err != nil {
		t.Error(err)
	}
}
