package pioman

import (
	"errors"
	"math/rand/v2"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/pm2-go/pm2/internal/test/effort"
	"github.com/pm2-go/pm2/marcel"
	"github.com/pm2-go/pm2/sched"
)

// hookedEngine is an engine with the hooks of two VPs.
func hookedEngine(t *testing.T, c Config) (*Engine, *sched.Scheduler) {
	e, s := engine(t, c), scheduler(t, sched.Config{VPs: 2, Slice: time.Millisecond, Period: 250 * time.Microsecond})
	attach(t, e, s)
	return e, s
}

// then fails the test if Then refuses.
func then(t testing.TB, c *Completion, e *Engine, bits uint32, fn func(uint32)) {
	t.Helper()
	if err := c.Then(e, bits, fn); err != nil {
		t.Fatal(err)
	}
}

// thenAll is Then for all of bits.
func thenAll(c *Completion, e *Engine, bits uint32, fn func(uint32)) {
	p := parking.get(e)
	p.fn = fn
	e.AddPending()
	if !c.enlist(p, want{bits, true}) {
		p.fire(c.Status())
	}
}

// A function is called once, by a poller, when what it waits for is there and not before.
func TestThen(t *testing.T) {
	e := engine(t, Config{})
	var c Completion
	var any, all []uint32
	then(t, &c, e, 1|4, func(s uint32) { any = append(any, s) })
	thenAll(&c, e, 1|4, func(s uint32) { all = append(all, s) })
	is := func(when string, wantAny, wantAll []uint32, pending int) {
		t.Helper()
		if !slices.Equal(any, wantAny) || !slices.Equal(all, wantAll) || e.Pending() != pending {
			t.Fatalf("%s: called with %v and %v, %d pending; want %v, %v, %d", when, any, all, e.Pending(), wantAny, wantAll, pending)
		}
	}
	is("at first", nil, nil, 2)
	c.Signal(2)
	e.Poll()
	is("after other bits", nil, nil, 2)
	c.Signal(4)
	is("after the signal, in which no function is called", nil, nil, 2)
	e.Poll()
	is("after a poll", []uint32{6}, nil, 1)
	c.Signal(1)
	e.Poll()
	e.Poll()
	is("with all of them", []uint32{6}, []uint32{7}, 0)
	then(t, &c, e, 1, func(s uint32) { any = append(any, s) }) // set already
	is("inside Then no function is called", []uint32{6}, []uint32{7}, 1)
	e.Poll()
	is("at the end", []uint32{6, 7}, []uint32{7}, 0)
	if c.hasWaiter() {
		t.Error("a waiter is left")
	}
	parkersFree(t)
}

func TestThenRefuses(t *testing.T) {
	e := engine(t, Config{})
	var c Completion
	if err := c.Then(e, 0, func(uint32) {}); !errors.Is(err, ErrNoBits) {
		t.Error(err)
	}
	if err := c.Then(e, 1, nil); !errors.Is(err, ErrNoFunction) {
		t.Error(err)
	}
	if e.Pending() != 0 {
		t.Errorf("%d pending", e.Pending())
	}
	parkersFree(t)
}

// What a handler makes due is called in the same poll, when the queue is free again; functions are called in the order
// in which they became due, and what one of them makes due in the next poll.
func TestThenIsOutsideOfTheQueue(t *testing.T) {
	e := engine(t, Config{})
	var c, next Completion
	var order []int
	for i := range 3 {
		then(t, &c, e, 1<<i, func(uint32) {
			if e.root.holder.Load() != 0 {
				t.Error("the queue is held")
			}
			order = append(order, i)
			next.Signal(1 << i)
		})
		then(t, &next, e, 1<<i, func(uint32) { order = append(order, 10+i) })
	}
	var task, inner Task
	inner.Init("inner", func(*Task) Status { order = append(order, 20); return Done }, OneShot)
	task.Init("signals", func(*Task) Status {
		c.Signal(2)
		c.Signal(4)
		c.Signal(1)
		if len(order) != 0 {
			t.Error("called inside Signal")
		}
		return Done
	}, OneShot)
	submit(t, e, &task)
	for _, want := range [][]int{{1, 2, 0}, {1, 2, 0, 11, 12, 10}} {
		e.Poll()
		if !slices.Equal(order, want) {
			t.Fatalf("called %v, want %v", order, want)
		}
	}
	order = nil
	c.Reset()
	then(t, &c, e, 1, func(uint32) { submit(t, e, &inner); e.Poll() }) // a poll inside runs handlers, and calls no other function
	c.Signal(1)
	if e.Poll(); !slices.Equal(order, []int{20}) || e.Pending() != 0 {
		t.Errorf("called %v, %d pending", order, e.Pending())
	}
}

// An idle process wakes up for a function; the signaler is a goroutine, a thread, or a handler.
func TestThenWakes(t *testing.T) {
	e, s := hookedEngine(t, Config{})
	p := newPipe(t) // with a source that says nothing idle VPs sleep for good
	if err := e.AddSource(p); err != nil {
		t.Fatal(err)
	}
	defer e.RemoveSource(p)
	signal := map[string]func(*Completion){
		"goroutine": func(c *Completion) { c.Signal(1) },
		"thread":    func(c *Completion) { s.Spawn(marcel.Attr{}, func() { c.Signal(1) }) },
		"set already": func(c *Completion) {
			var set Completion
			set.Signal(1)
			then(t, &set, e, 1, func(uint32) { c.Signal(1) })
		},
	}
	for name, f := range signal {
		var c Completion
		var called atomic.Bool
		then(t, &c, e, 1, func(uint32) { called.Store(true) })
		eventually(t, "asleep", func() bool { return e.load.view().asleep() })
		f(&c)
		eventually(t, name, called.Load)
		eventually(t, "none pending", func() bool { return e.Pending() == 0 })
	}
}

// Inside a function, as inside a handler, no wait is allowed, in whatever form, nor to close the engine; tasks may be
// submitted and canceled.
func TestWaitInsideHandlersAndFunctions(t *testing.T) {
	e, _ := hookedEngine(t, Config{})
	var other Completion
	forms := func() (errs []error) {
		defer func() { errs = append(errs, recover().(error)) }()
		errs = []error{
			other.Wait(e, 1), other.WaitAll(e, 1), other.WaitContext(t.Context(), e, 1), other.WaitOrCancel(e, 1), other.Park(e, 1), e.Close(),
		}
		marcel.Select(other.Case(e, 1))
		return errs
	}
	refused := func(where string) {
		errs := forms()
		if len(errs) != 7 {
			t.Errorf("%s: %d errors", where, len(errs))
		}
		for i, err := range errs {
			if !errors.Is(err, ErrInHandler) {
				t.Errorf("%s: form %d: %v", where, i, err)
			}
		}
	}
	var task, again Task
	var c Completion
	var over atomic.Bool
	again.Init("again", func(*Task) Status { return Again }, Repeat)
	then(t, &c, e, 1, func(uint32) {
		refused("function")
		submit(t, e, &again)
		if err := again.Cancel(); err != nil || again.State() != StateCanceled {
			t.Error(err, again.State())
		}
		over.Store(true)
	})
	task.Init("waits", func(*Task) Status { refused("handler"); return Done }, OneShot)
	task.Notify(&c, 1)
	submit(t, e, &task)
	eventually(t, "function", over.Load)
	eventually(t, "a wait is allowed again", func() bool {
		return !errors.Is(waitFor(&other, e, 1, time.Microsecond), ErrInHandler) && e.Pending() == 0
	})
}

// One that panics, or ends the goroutine, is reported, and those behind it are called nevertheless.
func TestFunctionThatDoesNotReturn(t *testing.T) {
	var got []*PanicError
	e := engine(t, Config{OnPanic: func(p *PanicError) { got = append(got, p) }})
	var c Completion
	boom := errors.New("boom")
	var ran [4]int
	for i := range ran {
		then(t, &c, e, 1, func(uint32) {
			switch ran[i]++; i {
			case 1:
				panic(boom)
			case 2:
				runtime.Goexit()
			}
		})
	}
	c.Signal(1)
	finishes(t, "a poller", func() {
		var wg sync.WaitGroup
		wg.Go(func() { e.Poll(); t.Error("Poll returned") })
		wg.Wait()
	})
	e.Poll()
	if ran != [4]int{1, 1, 1, 1} || e.Pending() != 0 || e.dueCalls.busy() {
		t.Errorf("called %v times, %d pending", ran, e.Pending())
	}
	if len(got) != 2 || got[0].Task != "Then" || !slices.ContainsFunc(got, func(p *PanicError) bool { return errors.Is(p, boom) }) || !slices.ContainsFunc(got, func(p *PanicError) bool { return p.Value == nil }) {
		t.Errorf("reported %v", got)
	}
}

// Close calls what is due, and afterwards Signal does, also what a function makes due: none is lost.
func TestThenOfAClosedEngine(t *testing.T) {
	e := New(Config{})
	var due, late, last Completion
	var task Task
	task.Init("other", func(*Task) Status { return Again }, Repeat)
	submit(t, e, &task)
	var order []string
	then(t, &due, e, 1, func(uint32) {
		order = append(order, "due")
		if err := task.Cancel(); err != nil || !task.State().Inactive() {
			t.Error(err, task.State())
		}
		if err := e.Submit(&task); !errors.Is(err, ErrClosed) {
			t.Error(err)
		}
	})
	then(t, &late, e, 1, func(uint32) { order = append(order, "late"); last.Signal(1) })
	then(t, &last, e, 1, func(uint32) { order = append(order, "last") })
	due.Signal(1)
	if err := e.Close(); err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(order, []string{"due"}) || e.Pending() != 2 {
		t.Fatalf("called %v, %d pending", order, e.Pending())
	}
	if late.Signal(1); !slices.Equal(order, []string{"due", "late", "last"}) || e.Pending() != 0 {
		t.Errorf("called %v, %d pending", order, e.Pending())
	}
	parkersFree(t)
}

// Signals, and waiters whose time is up, on the same completions, from two VPs and goroutines, and the engine
// closed at some moment: each function is called once, and never two at a time.
func TestThenRaces(t *testing.T) {
	rounds := effort.Of(200)
	for round := range rounds {
		e := New(Config{Params: tuned(func(p *Params) { p.BusyWait = 0 })})
		s := scheduler(t, sched.Config{VPs: 2, Slice: time.Millisecond, Period: 250 * time.Microsecond})
		if _, err := e.Attach(s); err != nil {
			t.Fatal(err)
		}
		const each, functions = 30, 3
		var all sync.WaitGroup
		var called atomic.Int64
		var inside atomic.Bool
		work := func(seed uint64) {
			defer all.Done()
			rnd := rand.New(rand.NewPCG(seed, uint64(round)))
			var c Completion
			for range each {
				var left atomic.Int32
				left.Store(functions)
				for i := range functions {
					thenAll(&c, e, 1<<i|1, func(uint32) {
						if inside.Swap(true) {
							t.Error("two at a time")
						}
						called.Add(1)
						inside.Store(false)
						left.Add(-1)
					})
				}
				var signals sync.WaitGroup
				for _, bits := range []uint32{1, 2, 4} {
					signals.Go(func() { c.Signal(bits) })
				}
				if rnd.IntN(2) == 0 {
					_ = waitAllFor(&c, e, 7, time.Duration(rnd.IntN(20))*time.Microsecond)
				}
				signals.Wait()
				for i := 0; left.Load() != 0; i++ {
					relax(i, false)
				}
				if c.hasWaiter() {
					t.Error("a waiter is left behind")
				}
				c.Reset()
			}
		}
		for k := range 3 {
			all.Add(1)
			if k == 0 {
				s.Spawn(marcel.Attr{}, func() { work(uint64(k)) })
			} else {
				go work(uint64(k))
			}
		}
		for range round * 20 {
			runtime.Gosched()
		}
		finishes(t, "close", func() {
			if err := e.Close(); err != nil {
				t.Error(err)
			}
		})
		finishes(t, "work", all.Wait)
		if n := called.Load(); n != 3*each*functions || e.Pending() != 0 {
			t.Fatalf("%d called, want %d; %d pending", n, 3*each*functions, e.Pending())
		}
	}
	parkersFree(t)
}

func TestThenAllocatesNothing(t *testing.T) {
	e := engine(t, Config{})
	var c Completion
	called := 0
	fn := func(uint32) { called++ }
	n := testing.AllocsPerRun(1000, func() {
		then(t, &c, e, 1, fn)
		c.Signal(1)
		e.Poll()
		c.Reset()
	})
	if n != 0 || called != 1001 {
		t.Errorf("%v allocations, called %d times", n, called)
	}
}
