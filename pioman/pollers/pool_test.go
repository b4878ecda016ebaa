package pollers

import (
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"sync/atomic"
	"testing"
	"time"

	"go.uber.org/goleak"
	"golang.org/x/sys/unix"

	"github.com/pm2-go/pm2/hooks"
	"github.com/pm2-go/pm2/sched/topo"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// patience bounds what must happen, not how fast it does.
const patience = 2 * time.Minute

func eventually(t *testing.T, what string, f func() bool) {
	t.Helper()
	for end := time.Now().Add(patience); !f(); time.Sleep(100 * time.Microsecond) {
		if time.Now().After(end) {
			t.Fatalf("%s: not after %v", what, patience)
		}
	}
}

// work is what a pool's hooks find pending.
type work struct {
	pending atomic.Uint64
	verdict atomic.Uint32 // of Idle while pending
	idle    atomic.Int64  // calls of Idle with something pending
	timer   atomic.Int64  // the same of Timer
	vps     [64]atomic.Int64
}

func (w *work) hook(t *testing.T, p *Pool) {
	t.Helper()
	on := func(point hooks.Point, f hooks.Func) {
		h, err := p.Hooks().RegisterWhile(point, 0, "work", &w.pending, 1<<32-1, f)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(h.Unregister)
	}
	on(hooks.Idle, func(vp int) hooks.Verdict {
		w.idle.Add(1)
		w.vps[vp].Add(1)
		if p.CurrentVP() != vp {
			t.Errorf("poller %d is told that it is %d", p.CurrentVP(), vp)
		}
		return hooks.Verdict(w.verdict.Load())
	})
	on(hooks.Timer, func(int) hooks.Verdict { w.timer.Add(1); return hooks.Waiting })
}

func start(t *testing.T, c Config) *Pool {
	t.Helper()
	p, err := Start(c)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.Stop)
	return p
}

// sleeps tells whether every poller does.
func (p *Pool) sleeps() bool {
	for _, x := range p.all {
		if x.state.Load() != asleep {
			return false
		}
	}
	return p.running.Load() == 0
}

// each runs the test with sentinels and without.
func each(t *testing.T, test func(t *testing.T, c Config)) {
	t.Run("idle policy", func(t *testing.T) { test(t, Config{}) })
	t.Run("ordinary", func(t *testing.T) { test(t, Config{Ordinary: true}) })
}

// What is pending is polled, wherever the poster is, however often.
func TestKickIsAnswered(t *testing.T) {
	each(t, func(t *testing.T, c Config) {
		p := start(t, c)
		w := &work{}
		w.verdict.Store(uint32(hooks.Busy))
		w.hook(t, p)
		rounds := 300
		if testing.Short() {
			rounds = 60
		}
		for i := range rounds {
			if i%3 == 0 { // it falls asleep, or is about to
				time.Sleep(time.Duration(i%7) * 30 * time.Microsecond)
			}
			seen := w.idle.Load() + w.timer.Load()
			w.pending.Add(1)
			p.Kick(-1)
			eventually(t, "polled", func() bool { return w.idle.Load()+w.timer.Load() > seen })
			w.pending.Add(^uint64(0))
		}
		eventually(t, "all asleep", func() bool { return p.running.Load() == 0 })
		if v := p.CurrentVP(); v != -1 {
			t.Errorf("the test is poller %d", v)
		}
	})
}

// With nothing pending nothing runs, not even the clock.
func TestQuietPoolSleeps(t *testing.T) {
	each(t, func(t *testing.T, c Config) {
		p := start(t, c)
		w := &work{}
		w.verdict.Store(uint32(hooks.Busy))
		w.hook(t, p)
		w.pending.Store(1)
		p.Kick(-1)
		eventually(t, "polled", func() bool { return w.idle.Load() > 100 })
		w.pending.Store(0)
		eventually(t, "asleep", func() bool { return p.sleeps() && p.clock.sleeps.Load() == 1 })
		before := p.Stats()
		for range 50 {
			time.Sleep(time.Millisecond)
		}
		if after := p.Stats(); after != before {
			t.Errorf("%+v, and 50 ms later %+v", before, after)
		}
	})
}

// A pool whose CPU is busy polls from the clock; and nothing is held up by a poller
// that has the CPU's lowest priority and one of Go's Ps: collections come to their
// end meanwhile.
func TestStarvedPollersArePolledFor(t *testing.T) {
	each(t, func(t *testing.T, c Config) {
		var stop atomic.Bool
		c.CPUs = []int{topo.ProcessMask().First()}
		const hogs = 2
		begun, done := make(chan error), make(chan struct{})
		for range hogs {
			go func() {
				defer func() { done <- struct{}{} }()
				runtime.LockOSThread() // the thread ends with us
				begun <- topo.CPUs(c.CPUs[0]).Bind(0)
				for !stop.Load() {
				}
			}()
		}
		defer func() {
			stop.Store(true)
			for range hogs {
				<-done
			}
		}()
		for range hogs {
			if err := <-begun; err != nil {
				t.Skip(err)
			}
		}
		p := start(t, c)
		w := &work{}
		w.verdict.Store(uint32(hooks.Busy))
		w.hook(t, p)
		w.pending.Store(1)
		p.Kick(-1)
		eventually(t, "the clock polls", func() bool { return w.timer.Load() > 20 })
		for range 3 {
			runtime.GC()
		}
		if p.Stats().Starved == 0 {
			t.Error("polled for by the clock, but no poller starved")
		}
		w.pending.Store(0)
	})
}

// sleeper counts the threads that sleep in it.
type sleeper struct {
	w     *work
	naps  atomic.Int64
	inner atomic.Int64
	wakes chan struct{}
}

func (s *sleeper) Sleep(*atomic.Uint32) bool {
	if s.w.pending.Load() == 0 || !s.inner.CompareAndSwap(0, 1) {
		return false
	}
	defer s.inner.Store(0)
	s.naps.Add(1)
	<-s.wakes
	return true
}

func (s *sleeper) Wake() {
	select {
	case s.wakes <- struct{}{}:
	default:
	}
}

// When hooks are Waiting one poller sleeps in the Sleeper, and comes out of it.
func TestWaitingPollerSleepsInTheSleeper(t *testing.T) {
	each(t, func(t *testing.T, c Config) {
		c.Linger = 50 * time.Microsecond
		p := start(t, c)
		w := &work{}
		w.verdict.Store(uint32(hooks.Waiting))
		w.hook(t, p)
		s := &sleeper{w: w, wakes: make(chan struct{}, 1)}
		p.SetSleeper(s)
		defer p.SetSleeper(nil)
		w.pending.Store(1)
		p.Kick(-1)
		for i := range int64(20) {
			eventually(t, "a poller sleeps", func() bool { return s.naps.Load() > i && s.inner.Load() == 1 })
			seen := w.idle.Load()
			s.Wake()
			eventually(t, "polled", func() bool { return w.idle.Load() > seen })
		}
		w.pending.Store(0)
		s.Wake()
		eventually(t, "asleep", func() bool { return p.running.Load() == 0 && s.inner.Load() == 0 })
	})
}

// threads are the OS threads of this process: id to scheduling policy, and how many
// CPUs each may use.
func threads(t *testing.T) map[int][2]int {
	t.Helper()
	tasks, err := filepath.Glob("/proc/self/task/*")
	if err != nil {
		t.Fatal(err)
	}
	all := map[int][2]int{}
	for _, task := range tasks {
		tid, err := strconv.Atoi(filepath.Base(task))
		if err != nil {
			t.Fatal(err)
		}
		m, err := topo.Affinity(tid)
		policy, _, errno := unix.RawSyscall(unix.SYS_SCHED_GETSCHEDULER, uintptr(tid), 0, 0)
		if errno != 0 || err != nil {
			continue // it has ended meanwhile
		}
		all[tid] = [2]int{int(policy), m.Count()}
	}
	return all
}

// Starting and stopping, at every moment, leaves no thread behind that is bound or under
// SCHED_IDLE, no descriptor and no raised GOMAXPROCS.
func TestStopLeavesNothing(t *testing.T) {
	each(t, func(t *testing.T, c Config) {
		usable := topo.ProcessMask().Count()
		odd := func() (n int) {
			for _, x := range threads(t) {
				if x[0] != unix.SCHED_NORMAL || x[1] != usable {
					n++
				}
			}
			return n
		}
		open := func() int {
			d, err := os.ReadDir("/proc/self/fd")
			if err != nil {
				t.Skip(err)
			}
			return len(d)
		}
		if n := odd(); n != 0 {
			t.Skipf("%d threads are bound, or not under the usual policy, before anything began", n)
		}
		procs, files := runtime.GOMAXPROCS(0), open()
		rounds := 40
		if testing.Short() {
			rounds = 10
		}
		for i := range rounds {
			p, err := Start(c)
			if err != nil {
				t.Fatal(err)
			}
			w := &work{}
			w.verdict.Store(uint32(hooks.Busy))
			w.hook(t, p)
			if i%2 == 0 {
				w.pending.Store(1)
				p.Kick(-1)
				for n := int64(i); n > 0 && w.idle.Load() < n; {
					runtime.Gosched()
				}
			}
			p.Stop()
			p.Stop()
		}
		eventually(t, "threads end", func() bool { return odd() == 0 })
		eventually(t, "descriptors are closed", func() bool { return open() == files })
		if n := runtime.GOMAXPROCS(0); n != procs {
			t.Errorf("GOMAXPROCS is %d, it was %d", n, procs)
		}
	})
}

// A hook that ends its goroutine ends that thread, not the poller.
func TestPollerSurvivesGoexit(t *testing.T) {
	each(t, func(t *testing.T, c Config) {
		p := start(t, c)
		var calls, pending atomic.Uint64
		h, err := p.Hooks().RegisterWhile(hooks.Idle, 0, "leaves", &pending, 1, func(int) hooks.Verdict {
			if calls.Add(1)%3 == 0 {
				runtime.Goexit()
			}
			return hooks.Busy
		})
		if err != nil {
			t.Fatal(err)
		}
		defer h.Unregister()
		pending.Store(1)
		p.Kick(-1)
		eventually(t, "it goes on", func() bool { return calls.Load() > 30 })
		pending.Store(0)
	})
}

func TestConfigIsChecked(t *testing.T) {
	for _, c := range []Config{{CPUs: []int{-1}}, {CPUs: []int{topo.MaxCPUs}}, {Active: -1}, {Burst: -1}, {Tick: -1}, {Linger: -1}} {
		if p, err := Start(c); !errors.Is(err, ErrConfig) {
			t.Errorf("%+v: %v", c, err)
			if err == nil {
				p.Stop()
			}
		}
	}
}

// What the kernel forbids is said once.
func TestForbiddenBindingIsToldOnce(t *testing.T) {
	var told atomic.Int64
	p := start(t, Config{CPUs: []int{topo.MaxCPUs - 1, topo.MaxCPUs - 2}, Warn: func(error) { told.Add(1) }})
	if topo.ProcessMask().Has(topo.MaxCPUs - 1) {
		t.Skip("this machine has that CPU")
	}
	w := &work{}
	w.verdict.Store(uint32(hooks.Busy))
	w.hook(t, p)
	w.pending.Store(1)
	p.Kick(-1)
	eventually(t, "polled all the same", func() bool { return w.idle.Load()+w.timer.Load() > 10 })
	w.pending.Store(0)
	if n := told.Load(); n != 1 {
		t.Errorf("told %d times", n)
	}
}

// refusing is a Sleeper that lets no thread sleep in the kernel.
type refusing struct{ asked atomic.Int64 }

func (r *refusing) Sleep(*atomic.Uint32) bool { r.asked.Add(1); return false }
func (r *refusing) Wake()                     {}

// A poller that gives up because enough others poll asks the Sleeper first, as one that
// rests does: so the engine knows that it polls no more.
func TestGivingUpWithdraws(t *testing.T) {
	cpus := start(t, Config{}).CPUs()
	p := start(t, Config{CPUs: []int{cpus[0], cpus[len(cpus)-1]}, Active: 1, Ordinary: true})
	var w work
	w.verdict.Store(uint32(hooks.Busy)) // no poller rests
	w.hook(t, p)
	var s refusing
	p.SetSleeper(&s)
	defer p.SetSleeper(nil)
	eventually(t, "all sleep", func() bool { return p.running.Load() == 0 })
	before := s.asked.Load()
	w.pending.Store(1)
	for _, x := range p.all {
		x.rouse()
	}
	eventually(t, "one gives up, and withdraws", func() bool { return p.running.Load() == 1 && s.asked.Load() > before })
	w.pending.Store(0)
}
