package marcel_test

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/pm2-go/pm2/internal/test/effort"
	"github.com/pm2-go/pm2/marcel"
	"github.com/pm2-go/pm2/sched"
)

// A timer is not early, expires once, and says what it was when it is stopped.
func TestTimer(t *testing.T) {
	worlds(t, func(w *world) {
		w.Go(func() {
			for _, d := range []time.Duration{time.Nanosecond, 50 * time.Microsecond, 70 * time.Microsecond, 5 * time.Millisecond} {
				begin := time.Now()
				x := marcel.NewTimer(d)
				if !x.Wait() || time.Since(begin) < d {
					w.Errorf("a timer of %v after %v", d, time.Since(begin))
				}
				if x.Wait() || x.TryWait() || x.Stop() {
					w.Error("it has expired twice")
				}
				if x.Reset(time.Hour) || !x.Reset(d) || !x.Wait() {
					w.Error("it did not start again")
				}
			}
			x := marcel.NewTimer(time.Hour)
			if x.TryWait() || !x.Stop() || x.Stop() || x.Wait() {
				w.Error("it was stopped, once")
			}
			var zero marcel.Timer
			if zero.Wait() || zero.TryWait() || zero.Stop() || zero.Reset(time.Microsecond) || !zero.Wait() {
				w.Error("the zero Timer can be started, and is nothing else")
			}
		})
	})
}

// Times that are over, and times that never come.
func TestTimerLimits(t *testing.T) {
	onThreadAndOff(t, func(t *testing.T) {
		for _, d := range []time.Duration{0, -1, math.MinInt64} {
			x := marcel.NewTimer(d)
			if !x.TryWait() || x.TryWait() {
				t.Errorf("a timer of %v has expired, once", d)
			}
			if x.Reset(time.Hour) || !x.Reset(d) || !x.Stop() || x.TryWait() {
				t.Errorf("the expiry of a timer of %v can be taken back", d)
			}
			var ran marcel.Semaphore
			marcel.AfterFunc(d, ran.Release)
			ran.Acquire()
			marcel.Sleep(d)
		}
		for _, d := range []time.Duration{math.MaxInt64, math.MaxInt64 - 1, 1 << 62, 1<<62 - 1, 200 * 365 * 24 * time.Hour} {
			x := marcel.NewTimer(d)
			f := marcel.AfterFunc(d, func() { t.Errorf("%v are over", d) })
			var s marcel.Semaphore
			other := marcel.Spawn(func() { marcel.Sleep(2 * time.Millisecond); s.Release() })
			if !s.AcquireTimeout(d) {
				t.Errorf("%v are over", d)
			}
			must(t, other.Join())
			if x.TryWait() || !x.Stop() || !f.Stop() {
				t.Errorf("a timer of %v has expired", d)
			}
		}
		panics(t, "nil function", func() { marcel.AfterFunc(0, nil) })
		f := marcel.AfterFunc(time.Hour, func() {})
		panics(t, "AfterFunc", func() { f.Wait() })
		panics(t, "AfterFunc", func() { f.Case() })
		if f.TryWait() || !f.Stop() {
			t.Error("nothing of that has stopped it")
		}
	})
}

// A function runs once per expiry, on a thread of the caller's scheduler, and not
// after Stop has said so.
func TestAfterFunc(t *testing.T) {
	run(t, brisk(2), func(s *sched.Scheduler) {
		var ran marcel.Semaphore
		begin := time.Now()
		x := marcel.AfterFunc(time.Millisecond, func() {
			if time.Since(begin) < time.Millisecond {
				t.Errorf("too early: %v", time.Since(begin))
			}
			if !marcel.OnThread() || s.CurrentVP() < 0 {
				t.Error("not on a thread of this scheduler")
			}
			ran.Release()
		})
		ran.Acquire()
		if x.Stop() || x.Reset(time.Hour) || !x.Reset(0) {
			t.Error("it has run; then it was reset twice")
		}
		ran.Acquire()
		x.Reset(time.Hour)
		if !x.Stop() || x.Stop() {
			t.Error("it was stopped once")
		}
		marcel.AfterFunc(0, func() { marcel.Yield(); ran.Release(); marcel.Exit() })
		ran.Acquire()
	})
	within(t, func() { // on a goroutine: the default scheduler's
		done := make(chan bool)
		marcel.AfterFunc(time.Microsecond, func() { done <- marcel.OnThread() })
		if !<-done {
			t.Error("not on a thread")
		}
	}, sched.Default())
}

// Timers that expire, are stopped and reset by several at the same time: what came
// of them adds up. Each start of a timer ends in one expiry that one takes, or in
// one Stop or Reset that says so.
func TestTimerRaces(t *testing.T) {
	worlds(t, func(w *world) {
		const parties, all = 6, 4
		var (
			timers               [all]marcel.Timer
			funcs                [all]*marcel.Timer
			starts, ends         atomic.Int64 // of timers
			fStarts, ran, fStops atomic.Int64 // of functions
			parts                sync.WaitGroup
		)
		for i := range funcs {
			fStarts.Add(1)
			funcs[i] = marcel.AfterFunc(time.Duration(i)*100*time.Microsecond, func() { ran.Add(1) })
		}
		count := func(n *atomic.Int64, yes bool) {
			if yes {
				n.Add(1)
			}
		}
		parts.Add(parties)
		for p := range parties {
			w.Go(func() {
				defer parts.Done()
				r := rand.New(rand.NewPCG(uint64(p), 3))
				soon := func() time.Duration { return time.Duration(r.IntN(150)-10) * time.Microsecond }
				for range effort.Of(1000) {
					x, f := &timers[r.IntN(all)], funcs[r.IntN(all)]
					switch k := r.IntN(100); {
					case k < 25:
						starts.Add(1)
						count(&ends, x.Reset(soon()))
					case k < 40:
						count(&ends, x.Stop())
					case k < 55:
						count(&ends, x.TryWait())
					case k < 65: // another thread will end this wait: by a Stop, at the latest below
						count(&ends, x.Wait())
					case k < 70:
						count(&ends, marcel.SelectTimeout(soon(), x.Case(), timers[0].Case()) >= 0)
					case k < 80:
						fStarts.Add(1)
						count(&fStops, f.Reset(soon()))
					case k < 90:
						count(&fStops, f.Stop())
					case k < 98:
						marcel.Yield()
					case k < 99:
						compute(1200 * time.Microsecond)
					default:
						runtime.GC()
					}
				}
			})
		}
		quit, left := make(chan struct{}), make(chan struct{})
		go func() { // no wait is long: each timer is stopped again and again
			defer close(left)
			for {
				select {
				case <-quit:
					return
				case <-time.After(2 * time.Millisecond):
					for i := range timers {
						count(&ends, timers[i].Stop())
					}
				}
			}
		}()
		parts.Wait()
		close(quit)
		<-left
		for i := range timers {
			count(&ends, timers[i].Stop())
			count(&fStops, funcs[i].Stop())
		}
		if s, e := starts.Load(), ends.Load(); s != e {
			w.Errorf("%d starts of timers, %d ends", s, e)
		}
		for fStarts.Load() != ran.Load()+fStops.Load() { // those that have been started end soon; else the test is stuck
			time.Sleep(time.Millisecond)
		}
		time.Sleep(2 * time.Millisecond)
		if s, e := fStarts.Load(), ran.Load()+fStops.Load(); s != e {
			w.Errorf("%d starts of functions, %d ran or were stopped", s, e)
		}
		w.Logf("%d timers, %d functions", starts.Load(), fStarts.Load())
	})
}

// If several wait the first in line has the expiry, and the others go on without.
func TestTimerWakesAllGivesOne(t *testing.T) {
	run(t, undisturbed(), func(*sched.Scheduler) {
		var order []int
		x := marcel.NewTimer(2 * time.Millisecond)
		var all []marcel.Thread
		for i := range 3 {
			all = append(all, marcel.Spawn(func() {
				if x.Wait() {
					order = append(order, i)
				}
			}))
		}
		for _, a := range all {
			must(t, a.Join())
		}
		if len(order) != 1 || order[0] != 0 {
			t.Errorf("%v have the expiry", order)
		}
	})
}

// Select takes an expiry once, a stopped timer is never ready, one that is reset
// meanwhile is.
func TestTimerCase(t *testing.T) {
	onThreadAndOff(t, func(t *testing.T) {
		x, y := marcel.NewTimer(time.Millisecond), marcel.NewTimer(time.Hour)
		if i := marcel.Select(y.Case(), x.Case()); i != 1 || x.Stop() {
			t.Errorf("case %d", i)
		}
		if i := marcel.SelectTimeout(time.Millisecond, x.Case(), y.Case()); i != -1 {
			t.Errorf("case %d", i)
		}
		y.Stop()
		other := marcel.Spawn(func() { x.Reset(time.Microsecond); x.Stop(); x.Reset(-1) })
		if i := marcel.Select(x.Case(), y.Case()); i != 0 {
			t.Errorf("case %d", i)
		}
		must(t, other.Join())
		_ = x.Stop()
	})
}

func TestSleepContext(t *testing.T) {
	onThreadAndOff(t, func(t *testing.T) {
		begin := time.Now()
		ctx, cancel := context.WithCancelCause(context.Background())
		if err := marcel.SleepContext(ctx, time.Millisecond); err != nil || time.Since(begin) < time.Millisecond {
			t.Errorf("%v after %v", err, time.Since(begin))
		}
		other := marcel.AfterFunc(time.Millisecond, func() { cancel(errOops) })
		if err := marcel.SleepContext(ctx, time.Hour); !errors.Is(err, errOops) || other.Stop() {
			t.Error(err)
		}
		for _, d := range []time.Duration{time.Hour, 0, -1} {
			if err := marcel.SleepContext(ctx, d); !errors.Is(err, errOops) {
				t.Error(err)
			}
		}
		if err := marcel.SleepContext(context.Background(), 0); err != nil {
			t.Error(err)
		}
		until := time.Now().Add(time.Millisecond)
		if marcel.SleepUntil(until); time.Now().Before(until) {
			t.Error("too early")
		}
		marcel.SleepUntil(time.Time{})
	})
}

// A scheduler stops with timers pending: functions do not run, and those that wait
// from outside are told.
func TestStopWithTimersPending(t *testing.T) {
	leak := present(t)
	for range effort.Of(50) {
		s, err := sched.New(brisk(2))
		if err != nil {
			t.Fatal(err)
		}
		var (
			mine   [3]marcel.Timer
			ticker marcel.Ticker
			f      [20]*marcel.Timer
			ran    atomic.Int64
			stops  int64
			waits  sync.WaitGroup
		)
		within(t, func() {
			marcel.RunOn(s, func() {
				for i := range mine {
					mine[i].Reset(time.Hour)
				}
				for i := range f {
					f[i] = marcel.AfterFunc(time.Duration(i*20)*time.Microsecond, func() { ran.Add(1) })
				}
				_ = marcel.NewTimer(100 * time.Microsecond)
				ticker.Reset(time.Hour)
			})
			for i := range mine {
				waits.Go(func() {
					if mine[i].Wait() {
						t.Error("an hour is over")
					}
				})
			}
			must(t, s.Stop(context.Background()))
			waits.Wait()
			for i := range mine {
				if mine[i].Stop() {
					t.Error("it was stopped with its scheduler")
				}
			}
			now := ran.Load()
			for i := range f {
				if f[i].Stop() {
					stops++
				}
			}
			if stops != 0 || ran.Load() != now {
				t.Errorf("%d functions are pending on a scheduler that was stopped", stops)
			}
			if mine[0].Reset(time.Microsecond); !mine[0].Wait() { // by the default scheduler
				t.Error("it did not start again")
			}
		}, s)
	}
	must(t, sched.Default().Stop(context.Background()))
	if err := leaks(leak); err != nil {
		t.Error(err)
	}
}

// Goroutines use timers while the scheduler that they belong to is stopped again and
// again: each wait ends, by an expiry or because its scheduler did.
func TestTimersWhileSchedulersCome(t *testing.T) {
	within(t, func() {
		var quit atomic.Bool
		var all sync.WaitGroup
		var over, dropped atomic.Int64
		for i := range 3 {
			all.Go(func() {
				r := rand.New(rand.NewPCG(uint64(i), 5))
				var x marcel.Timer
				for !quit.Load() {
					if x.Reset(time.Duration(r.IntN(100)) * time.Microsecond); x.Wait() {
						over.Add(1)
					} else {
						dropped.Add(1)
					}
				}
			})
		}
		for range effort.Of(500) {
			must(t, sched.Default().Stop(context.Background()))
		}
		quit.Store(true)
		all.Wait()
		if over.Load() == 0 {
			t.Error("no timer has expired")
		}
		t.Logf("%d expired, %d dropped", over.Load(), dropped.Load())
	})
}

// A function that resets its own timer runs again and again, until it is stopped.
func TestAfterFuncThatResetsItself(t *testing.T) {
	run(t, brisk(2), func(*sched.Scheduler) {
		var ran atomic.Int64
		var enough marcel.Semaphore
		var x *marcel.Timer
		made := marcel.NewSemaphore(0)
		x = marcel.AfterFunc(20*time.Microsecond, func() {
			if ran.Add(1) == 1 {
				made.Acquire()
			}
			if ran.Load() >= 20 {
				enough.Release()
				return
			}
			if x.Reset(20 * time.Microsecond) {
				t.Error("it was pending while its function ran")
			}
		})
		made.Release()
		enough.Acquire()
		if x.Stop() || ran.Load() != 20 {
			t.Errorf("%d runs", ran.Load())
		}
	})
}

// Threads start timers, move to another VP, and stop them from there.
func TestTimersOfThreadsThatMove(t *testing.T) {
	run(t, brisk(4), func(s *sched.Scheduler) {
		var all []marcel.Thread
		var moved atomic.Int64
		for i := range 64 {
			all = append(all, marcel.Spawn(func() {
				r := rand.New(rand.NewPCG(uint64(i), 4))
				var never marcel.Semaphore
				for range effort.Of(200) {
					vp := s.CurrentVP()
					x := marcel.NewTimer(time.Duration(r.IntN(400)) * time.Microsecond)
					never.AcquireTimeout(time.Duration(r.IntN(200)) * time.Microsecond)
					if r.IntN(50) == 0 {
						compute(1500 * time.Microsecond)
					}
					if s.CurrentVP() != vp {
						moved.Add(1)
					}
					if r.IntN(2) == 0 {
						x.Stop()
					} else {
						x.Wait()
					}
				}
			}))
		}
		for _, x := range all {
			must(t, x.Join())
		}
		t.Logf("%d times on another VP", moved.Load())
	})
}

func TestTimersDoNotAllocate(t *testing.T) {
	needsPools(t)
	run(t, undisturbed(), func(*sched.Scheduler) {
		var x marcel.Timer
		for _, it := range []struct {
			name string
			op   func()
		}{
			{"Reset+Stop", func() { x.Reset(time.Hour); x.Stop() }},
			{"Reset+Wait", func() { x.Reset(time.Microsecond); x.Wait() }},
		} {
			it.op()
			if n := testing.AllocsPerRun(100, it.op); n != 0 {
				t.Errorf("%s: %v allocations", it.name, n)
			}
		}
	})
}
