package pioman

import (
	"errors"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/pm2-go/pm2/marcel"
	"github.com/pm2-go/pm2/sched"
)

// onEngines runs the test with an engine that is hooked and with one that is not,
// as a thread and as a goroutine.
func onEngines(t *testing.T, test func(t *testing.T, e *Engine)) {
	for name, hooked := range map[string]bool{"hooked": true, "explicit": false} {
		t.Run(name, func(t *testing.T) {
			e, s := engine(t, Config{}), scheduler(t, sched.Config{VPs: 2})
			if hooked {
				attach(t, e, s)
			}
			t.Run("goroutine", func(t *testing.T) { test(t, e) })
			t.Run("thread", func(t *testing.T) { marcel.RunOn(s, func() { test(t, e) }) })
			if n := e.Pending(); n != 0 {
				t.Errorf("%d pending afterwards", n)
			}
		})
	}
}

func TestSelectCompletion(t *testing.T) {
	onEngines(t, func(t *testing.T, e *Engine) {
		var c, other Completion
		var s marcel.Semaphore
		one, two := c.Case(e, 1), other.Case(e, 6)
		unit := s.Case()
		if i := marcel.TrySelect(one, two, unit); i != -1 {
			t.Errorf("took %d, and nothing was set", i)
		}
		if i := marcel.SelectTimeout(3*time.Millisecond, one, two, unit); i != -1 {
			t.Errorf("took %d, and nothing was set", i)
		}
		var all sync.WaitGroup
		defer all.Wait()
		after := func(f func()) { all.Go(func() { time.Sleep(200 * time.Microsecond); f() }) }
		after(func() { other.Signal(1); s.Release() }) // a wrong bit first
		if i := marcel.Select(one, two, unit); i != 2 {
			t.Errorf("took %d, want the unit", i)
		}
		after(func() { other.Signal(4) })
		if i := marcel.Select(one, two, unit); i != 1 {
			t.Errorf("took %d, want the second", i)
		}
		if err := other.Wait(e, 4); err != nil || c.hasWaiter() || other.hasWaiter() {
			t.Errorf("%v; a waiter is left: %v, %v", err, c.hasWaiter(), other.hasWaiter())
		}
		c.Signal(3)
		if i := marcel.Select(one, unit); i != 0 {
			t.Errorf("took %d, want the first", i)
		}
	})
}

// A task that a Select waits for is polled, whichever thread polls.
func TestSelectMakesProgress(t *testing.T) {
	onEngines(t, func(t *testing.T, e *Engine) {
		var never marcel.Semaphore
		for _, polls := range []int{1, 10, 1000} {
			var c Completion
			var task Task
			left := polls
			task.Init("counts", func(*Task) Status {
				if left--; left > 0 {
					return Again
				}
				c.Signal(1)
				return Done
			}, Repeat)
			submit(t, e, &task)
			if i := marcel.SelectTimeout(patience, never.Case(), c.Case(e, 1)); i != 1 {
				t.Errorf("took %d after %d polls of %d", i, polls-left, polls)
			}
		}
	})
}

func TestSelectCompletionRefuses(t *testing.T) {
	e := engine(t, Config{})
	refused := func(want error, f func()) {
		t.Helper()
		defer func() {
			if err, _ := recover().(error); !errors.Is(err, want) {
				t.Errorf("%v, want %v", err, want)
			}
		}()
		f()
	}
	var c Completion
	refused(ErrNoBits, func() { marcel.Select(c.Case(e, 0)) })
	var task Task
	task.Init("waits", func(*Task) Status {
		refused(ErrInHandler, func() { marcel.Select(c.Case(e, 1)) })
		return Done
	}, OneShot)
	submit(t, e, &task)
	e.Poll()
}

// Close ends a Select; Wait then says why.
func TestCloseEndsSelect(t *testing.T) {
	for _, hooked := range []bool{true, false} {
		e, s := New(Config{}), scheduler(t, sched.Config{VPs: 1})
		stop := func() {}
		if hooked {
			stop = attach(t, e, s)
		}
		var c Completion
		x := s.Spawn(marcel.Attr{}, func() {
			if i := marcel.Select(c.Case(e, 1)); i != 0 {
				t.Errorf("took %d", i)
			}
			if err := c.Wait(e, 1); !errors.Is(err, ErrClosed) {
				t.Error(err)
			}
		})
		eventually(t, "it waits", c.hasWaiter)
		if err := e.Close(); err != nil {
			t.Error(err)
		}
		finishes(t, "Select", func() { _ = x.Join() })
		stop()
	}
}

// Signals meet other cases that win, time limits, engines that are hooked and
// unhooked meanwhile: every signal is seen, every parker comes back awake.
func TestSelectCompletionStress(t *testing.T) {
	e, s := engine(t, Config{}), scheduler(t, sched.Config{VPs: 2, Slice: time.Millisecond, Period: 250 * time.Microsecond})
	rounds := 2000
	if testing.Short() {
		rounds = 300
	}
	var all, hooks sync.WaitGroup
	var over atomic.Bool
	for k := range 4 {
		all.Add(1)
		do := func() {
			defer all.Done()
			r := rand.New(rand.NewPCG(uint64(k), 31))
			var c Completion
			var units marcel.Semaphore
			for range rounds {
				signal, release, bit := r.IntN(3) > 0, r.IntN(3) > 0, uint32(1+r.IntN(2))
				x := s.Spawn(marcel.Attr{}, func() {
					if signal {
						c.Signal(bit)
					}
					if release {
						units.Release()
					}
				})
				d := time.Duration(1+r.IntN(60)) * time.Microsecond
				took := marcel.SelectTimeout(d, c.Case(e, 1), units.Case())
				_ = x.Join()
				if took == 0 && !c.Test(1) {
					t.Error("taken without a signal")
				}
				if release && took != 1 && !units.TryAcquire() || units.TryAcquire() {
					t.Errorf("a unit too many or too few: took %d", took)
				}
				if c.hasWaiter() {
					t.Error("it still waits")
				}
				c.Reset()
			}
		}
		if k%2 == 0 {
			s.Spawn(marcel.Attr{}, do)
		} else {
			go do()
		}
	}
	hooks.Go(func() {
		for !over.Load() {
			stop, err := e.Attach(s)
			if err != nil {
				t.Error(err)
				return
			}
			time.Sleep(300 * time.Microsecond)
			stop()
		}
	})
	finishes(t, "Selects", all.Wait)
	over.Store(true)
	hooks.Wait()
	if e.Pending() != 0 {
		t.Errorf("%d pending", e.Pending())
	}
	parkersFree(t)
}
