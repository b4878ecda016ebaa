package pioman

import (
	"context"
	"errors"
	"sync"
	"testing"
	"time"

	"github.com/pm2-go/pm2/marcel"
	"github.com/pm2-go/pm2/sched"
)

// Selects and Waits share a completion, from threads and goroutines; one Select may even
// name it twice.
func TestSelectsShareACompletion(t *testing.T) {
	for _, hooked := range []bool{true, false} {
		e, s := engine(t, Config{}), scheduler(t, sched.Config{VPs: 2})
		if hooked {
			attach(t, e, s)
		}
		var c Completion
		var never marcel.Semaphore
		var all sync.WaitGroup
		for i := range 6 {
			all.Add(1)
			work := func() {
				defer all.Done()
				switch i / 2 {
				case 0:
					if got := marcel.Select(never.Case(), c.Case(e, 1)); got != 1 {
						t.Errorf("took %d", got)
					}
				case 1:
					if got := marcel.Select(c.Case(e, 4), c.Case(e, 2)); got != 1 {
						t.Errorf("took %d", got)
					}
				default:
					if err := c.WaitAll(e, 1|2); err != nil {
						t.Error(err)
					}
				}
			}
			if i%2 == 0 {
				s.Spawn(marcel.Attr{}, work)
			} else {
				go work()
			}
		}
		// A Select that names it twice stands in the list twice; which of the two a waiter of an
		// engine that polls for itself is in at any moment is not certain.
		if hooked {
			eventually(t, "all stand in the list", func() bool { return listed(e) == 8 })
		}
		c.Signal(8)
		c.Signal(1)
		c.Signal(2)
		finishes(t, "all", all.Wait)
		if c.hasWaiter() || e.Pending() != 0 {
			t.Errorf("hooked %v: a waiter is left: %v, %d pending", hooked, c.hasWaiter(), e.Pending())
		}
	}
	parkersFree(t)
}

// Contexts end some waits of one completion, the engine's end the others; the function stays, and is called.
func TestManyWaysOutOfOneList(t *testing.T) {
	for _, hooked := range []bool{true, false} {
		e, s := New(Config{}), scheduler(t, sched.Config{VPs: 2})
		stop := func() {}
		if hooked {
			stop = attach(t, e, s)
		}
		var c Completion
		ran := 0
		if err := c.Then(e, 1, func(uint32) { ran++ }); err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithCancelCause(context.Background())
		why := errors.New("why")
		var canceled, closed sync.WaitGroup
		for range 3 {
			canceled.Go(func() {
				if err := c.WaitContext(ctx, e, 1); !errors.Is(err, why) {
					t.Error(err)
				}
			})
			closed.Go(func() {
				if err := waitAllFor(&c, e, 1|2, time.Hour); !errors.Is(err, ErrClosed) {
					t.Error(err)
				}
			})
		}
		if hooked {
			eventually(t, "all stand in the list", func() bool { return listed(e) == 7 })
		}
		cancel(why)
		finishes(t, "canceled ones", canceled.Wait)
		if err := c.WaitContext(ctx, e, 1); !errors.Is(err, why) {
			t.Errorf("a context that is done: %v", err)
		}
		if err := e.Close(); err != nil {
			t.Error(err)
		}
		finishes(t, "closed ones", closed.Wait)
		stop()
		if !c.hasWaiter() {
			t.Error("the function is gone")
		}
		c.Signal(1)
		if ran != 1 || c.hasWaiter() || e.Pending() != 0 {
			t.Errorf("ran %d times, %d pending", ran, e.Pending())
		}
	}
	parkersFree(t)
}

// Waits of every form allocate nothing, also when they sleep.
func TestWaitsAllocateNothing(t *testing.T) {
	if raceEnabled {
		t.Skip("with the race detector the scheduler allocates")
	}
	e := engine(t, Config{Params: tuned(func(p *Params) { p.BusyWait = 0 })})
	s := scheduler(t, sched.Config{VPs: 1})
	attach(t, e, s)
	var c, set Completion
	set.Signal(3)
	var task Task
	task.Init("once", func(*Task) Status { return Done }, OneShot)
	task.Notify(&c, 1)
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	var err error
	for name, f := range map[string]func() error{
		"asleep":               func() error { c.Reset(); return errors.Join(e.Submit(&task), c.Wait(e, 1)) },
		"set":                  func() error { return set.Wait(e, 1) },
		"set, all":             func() error { return set.WaitAll(e, 3) },
		"set, under a context": func() error { return set.WaitContext(ctx, e, 1) },
	} {
		if n := testing.AllocsPerRun(100, func() { err = f() }); n != 0 || err != nil {
			t.Errorf("goroutine: %s: %v allocations, %v", name, n, err)
		}
		marcel.RunOn(s, func() {
			if n := testing.AllocsPerRun(100, func() { err = f() }); n != 0 || err != nil {
				t.Errorf("thread: %s: %v allocations, %v", name, n, err)
			}
		})
	}
}
