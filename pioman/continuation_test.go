package pioman

import (
	"errors"
	"math/rand/v2"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/pm2-go/pm2/asm"
	"github.com/pm2-go/pm2/internal/effort"
	"github.com/pm2-go/pm2/marcel"
	"github.com/pm2-go/pm2/sched"
	"github.com/pm2-go/pm2/tasklet"
)

// places are the ways of running a continuation. Each is initialised anew for an engine.
func places(t *testing.T, e *Engine, s *sched.Scheduler) map[string]func(*Continuation, func(*Continuation)) {
	v, err := tasklet.Attach(s)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(v.Detach)
	return map[string]func(*Continuation, func(*Continuation)){
		"inline": func(k *Continuation, fn func(*Continuation)) { k.Init(e, "inline", fn) },
		"tasklet": func(k *Continuation, fn func(*Continuation)) {
			if err := k.InitTasklet(v, e, "tasklet", fn); err != nil {
				t.Error(err)
			}
		},
		"thread": func(k *Continuation, fn func(*Continuation)) {
			k.InitThread(func(f func()) { s.Spawn(marcel.Attr{}, f) }, e, "thread", fn)
		},
		"goroutine": func(k *Continuation, fn func(*Continuation)) {
			k.InitThread(func(f func()) { go f() }, e, "goroutine", fn)
		},
	}
}

// hookedEngine is an engine with the hooks of two processors.
func hookedEngine(t *testing.T, c Config) (*Engine, *sched.Scheduler) {
	e, s := engine(t, c), scheduler(t, sched.Config{VPs: 2, Slice: time.Millisecond, Period: 250 * time.Microsecond})
	attach(t, e, s)
	return e, s
}

// A continuation runs once, when what it waits for is there and not before, hung up before or after that.
func TestContinuation(t *testing.T) {
	e, s := hookedEngine(t, Config{})
	for name, init := range places(t, e, s) {
		t.Run(name, func(t *testing.T) {
			var c Completion
			var k, all Continuation
			var ran, ranAll atomic.Int32
			init(&k, func(k *Continuation) { ran.Add(int32(k.Status())) })
			init(&all, func(k *Continuation) { ranAll.Add(int32(k.Status())) })
			if c.Then(&k, 1|4) != nil || c.ThenAll(&all, 1|4) != nil {
				t.Fatal("refused")
			}
			if err := c.Then(&k, 1); !errors.Is(err, ErrContinuing) {
				t.Errorf("twice: %v", err)
			}
			if n := e.Pending(); n != 2 {
				t.Errorf("%d pending", n)
			}
			c.Signal(2)
			if ran.Load() != 0 || ranAll.Load() != 0 {
				t.Error("ran for other bits")
			}
			c.Signal(4)
			eventually(t, "ran", func() bool { return ran.Load() == 6 })
			if ranAll.Load() != 0 {
				t.Error("ran for half of the bits")
			}
			c.Signal(1)
			eventually(t, "ran for all", func() bool { return ranAll.Load() == 7 })
			for range 3 {
				was := ran.Load()
				if err := c.Then(&k, 1); err != nil { // set already
					t.Error(err)
				}
				eventually(t, "ran at once", func() bool { return ran.Load() == was+7 })
			}
			c.Signal(8)
			eventually(t, "none is pending", func() bool { return e.Pending() == 0 })
			if ran.Load() != 27 || ranAll.Load() != 7 || c.hasWaiter() {
				t.Errorf("ran for %d and %d, a waiter is left: %v", ran.Load(), ranAll.Load(), c.hasWaiter())
			}
			c.Reset()
			was := ran.Load()
			if c.Then(&k, 1) != nil || !k.Cancel() || k.Cancel() || c.hasWaiter() || e.Pending() != 0 {
				t.Errorf("cancel: a waiter is left: %v, %d pending", c.hasWaiter(), e.Pending())
			}
			if c.Signal(1); ran.Load() != was {
				t.Error("ran though it was cancelled")
			}
		})
	}
}

func TestThenRefuses(t *testing.T) {
	e := engine(t, Config{})
	var c Completion
	var k Continuation
	if err := c.Then(&k, 1); !errors.Is(err, ErrNotInitialised) {
		t.Error(err)
	}
	k.Init(e, "k", func(*Continuation) { t.Error("ran") })
	if err := c.ThenAll(&k, 0); !errors.Is(err, ErrNoBits) {
		t.Error(err)
	}
	if err := k.InitTasklet(nil, e, "k", func(*Continuation) {}); !errors.Is(err, tasklet.ErrVector) {
		t.Error(err)
	}
	if err := c.Then(&k, 1); !errors.Is(err, ErrNotInitialised) {
		t.Error(err)
	}
	k.Init(e, "first", func(*Continuation) {})
	if err := c.Then(&k, 1); err != nil {
		t.Error(err)
	}
	if s := logged(func() { k.Init(e, "second", nil) }); s != "pioman: init continuation \"first\": "+ErrContinuing.Error()+"\n" {
		t.Errorf("logged %q", s)
	}
	if !k.Cancel() {
		t.Error("not cancelled")
	}
}

// Each continuation of a chain signals what the next one waits for. No more than inlineDepth of
// them run inside each other; the others run in later rounds, and all of them do.
func TestInlineDepthIsBounded(t *testing.T) {
	const n, depth = 50, 3
	e := engine(t, Config{tune: func(p *Params) { p.inlineDepth, p.inlineTime = depth, time.Hour }})
	var cs [n + 1]Completion
	var ks [n]Continuation
	ran, inside, deepest := 0, 0, 0
	for i := range ks {
		ks[i].Init(e, "chain", func(*Continuation) {
			ran++
			inside++
			deepest = max(deepest, inside)
			cs[i+1].Signal(1)
			inside--
		})
		if err := cs[i].Then(&ks[i], 1); err != nil {
			t.Fatal(err)
		}
	}
	cs[0].Signal(1)
	if ran != depth {
		t.Errorf("%d ran inside the Signal, want %d", ran, depth)
	}
	rounds := 0
	for ; ran < n && rounds < n; rounds++ {
		e.Poll()
	}
	// What a round runs is the outermost of a stack of its own: a task, then depth inside it.
	if ran != n || deepest != depth+1 || !cs[n].Test(1) || e.Pending() != 0 {
		t.Errorf("%d ran in %d rounds, at most %d inside each other, %d pending", ran, rounds, deepest, e.Pending())
	}
	if stackOf(asm.G()) != nil {
		t.Error("the stack is still noted")
	}
}

// After inlineTime nothing more is begun inline.
func TestInlineTimeIsBounded(t *testing.T) {
	const n = 10
	e := engine(t, Config{tune: func(p *Params) { p.inlineTime = time.Microsecond }})
	var c, nested Completion
	var ks [n]Continuation
	var inner Continuation
	ran, innerRan := 0, false
	inner.Init(e, "inner", func(*Continuation) { innerRan = true })
	if err := nested.Then(&inner, 1); err != nil {
		t.Fatal(err)
	}
	for i := range ks {
		ks[i].Init(e, "long", func(*Continuation) {
			ran++
			for end := asm.Cycles() + 2*e.ticks.inline; asm.Cycles() < end; {
			}
			nested.Signal(1)
		})
		if err := c.Then(&ks[i], 1); err != nil {
			t.Fatal(err)
		}
	}
	c.Signal(1)
	if ran != 1 || innerRan {
		t.Errorf("%d ran inside the Signal, the inner one: %v", ran, innerRan)
	}
	e.Poll()
	if ran != n || !innerRan || e.Pending() != 0 {
		t.Errorf("%d ran, the inner one: %v, %d pending", ran, innerRan, e.Pending())
	}
}

// Inside a continuation that has no thread of its own no wait is allowed, in whatever form.
func TestWaitInsideAContinuation(t *testing.T) {
	e, s := hookedEngine(t, Config{})
	var other Completion
	forms := func() (errs []error) {
		defer func() { errs = append(errs, recover().(error)) }()
		errs = []error{
			other.Wait(e, 1), other.WaitAll(e, 1), other.WaitTimeout(e, 1, time.Hour), other.WaitAllTimeout(e, 1, time.Hour),
			other.WaitDeadline(e, 1, time.Now().Add(time.Hour)), other.WaitAllDeadline(e, 1, time.Now().Add(time.Hour)),
			other.WaitContext(t.Context(), e, 1), other.WaitAllContext(t.Context(), e, 1),
		}
		marcel.Select(other.CaseAll(e, 1))
		return errs
	}
	refused := func(where string, errs []error) {
		if len(errs) != 9 {
			t.Errorf("%s: %d errors", where, len(errs))
		}
		for i, err := range errs {
			if !errors.Is(err, ErrInHandler) {
				t.Errorf("%s: form %d: %v", where, i, err)
			}
		}
	}
	for name, init := range places(t, e, s) {
		var c Completion
		var k Continuation
		var over atomic.Bool
		init(&k, func(*Continuation) {
			if name == "inline" || name == "tasklet" {
				refused(name, forms())
			} else if err := other.WaitTimeout(e, 1, time.Millisecond); !errors.Is(err, ErrTimeout) {
				t.Errorf("%s: %v", name, err)
			}
			over.Store(true)
		})
		if err := c.Then(&k, 1); err != nil {
			t.Error(err)
		}
		c.Signal(1)
		eventually(t, name, over.Load)
	}
	var task Task
	var c Completion
	task.Init("waits", func(*Task) Status { refused("handler", forms()); return Done }, OneShot)
	task.Notify(&c, 1)
	submit(t, e, &task)
	eventually(t, "handler", func() bool { return c.Test(1) })
}

// One that panics, or ends the goroutine, is reported, and those behind it run nevertheless.
func TestContinuationThatDoesNotReturn(t *testing.T) {
	var got []*PanicError
	e := engine(t, Config{
		OnPanic: func(p *PanicError) { got = append(got, p) },
		tune:    func(p *Params) { p.inlineTime = time.Hour }, // a report takes time
	})
	var c Completion
	var ks [4]Continuation
	boom := errors.New("boom")
	ran := 0
	for i := range ks {
		ks[i].Init(e, "bad", func(*Continuation) {
			switch ran++; i {
			case 1:
				panic(boom)
			case 2:
				runtime.Goexit()
			}
		})
		if err := c.Then(&ks[i], 1); err != nil {
			t.Fatal(err)
		}
	}
	var wg sync.WaitGroup
	wg.Go(func() { c.Signal(1); t.Error("Signal returned") })
	wg.Wait()
	e.Poll()
	if ran != len(ks) || len(got) != 2 || !errors.Is(got[0], boom) || got[1].Value != nil || got[1].Task != "bad" || e.Pending() != 0 {
		t.Errorf("%d ran, reported %v, %d pending", ran, got, e.Pending())
	}
	for i := range stacks {
		if stacks[i].g.Load() != 0 {
			t.Error("a stack is still noted")
		}
	}
}

// Closing the engine loses none: what cannot become a task any more runs at once.
func TestContinuationOfAClosedEngine(t *testing.T) {
	e := New(Config{tune: func(p *Params) { p.inlineDepth = 1 }})
	var a, b Completion
	var k, l Continuation
	ran := ""
	k.Init(e, "k", func(*Continuation) { ran += "k"; b.Signal(1) })
	l.Init(e, "l", func(*Continuation) { ran += "l" })
	if a.Then(&k, 1) != nil || b.Then(&l, 1) != nil {
		t.Fatal("refused")
	}
	if err := e.Close(); err != nil {
		t.Fatal(err)
	}
	if a.Signal(1); ran != "kl" {
		t.Errorf("ran %q", ran)
	}
}

// Nor does Close lose those that wait for the next round, also if what they do calls for more of the queue.
func TestCloseRunsContinuations(t *testing.T) {
	e := New(Config{tune: func(p *Params) { p.inlineDepth = 1 }})
	var a, b Completion
	var k Continuation
	var ls [3]Continuation
	var task Task
	task.Init("other", func(*Task) Status { return Again }, Repeat)
	submit(t, e, &task)
	ran := 0
	k.Init(e, "k", func(*Continuation) { b.Signal(1) })
	for i := range ls {
		ls[i].Init(e, "l", func(*Continuation) {
			ran++
			if err := task.Cancel(); err != nil || !task.State().Inactive() {
				t.Error(err, task.State())
			}
			if err := e.Submit(&task); !errors.Is(err, ErrClosed) {
				t.Error(err)
			}
		})
		if err := b.Then(&ls[i], 1); err != nil {
			t.Fatal(err)
		}
	}
	if err := a.Then(&k, 1); err != nil {
		t.Fatal(err)
	}
	a.Signal(1)
	if ran != 0 || e.Pending() != len(ls) {
		t.Fatalf("%d ran, %d pending", ran, e.Pending())
	}
	if err := e.Close(); err != nil {
		t.Fatal(err)
	}
	if ran != len(ls) || e.Pending() != 0 {
		t.Errorf("%d ran, %d pending", ran, e.Pending())
	}
}

// Signals, cancels and time-outs of waiters on the same completions, from two processors and
// goroutines: each continuation that is hung up either runs once or is cancelled.
func TestContinuationRaces(t *testing.T) {
	each := effort.Of(10_000)
	e, s := hookedEngine(t, Config{tune: func(p *Params) { p.BusyWait = 0 }})
	for name, init := range places(t, e, s) {
		t.Run(name, func(t *testing.T) {
			var all sync.WaitGroup
			var ran, cancelled atomic.Int64
			work := func(seed uint64) {
				defer all.Done()
				rnd := rand.New(rand.NewPCG(seed, 9))
				var c Completion
				var ks [3]Continuation
				var left atomic.Int32
				for i := range ks {
					init(&ks[i], func(*Continuation) { ran.Add(1); left.Add(-1) })
				}
				for range each / len(ks) {
					left.Store(int32(len(ks)))
					for i := range ks {
						if err := c.ThenAll(&ks[i], 1<<i|1); err != nil {
							t.Error(err)
						}
					}
					var round sync.WaitGroup
					for _, bits := range []uint32{1, 2, 4} {
						round.Go(func() { c.Signal(bits) })
					}
					if rnd.IntN(2) == 0 {
						_ = c.WaitAllTimeout(e, 7, time.Duration(rnd.IntN(20))*time.Microsecond)
					}
					for i := range ks {
						if rnd.IntN(3) == 0 && ks[i].Cancel() {
							cancelled.Add(1)
							left.Add(-1)
						}
					}
					round.Wait()
					for i := 0; left.Load() != 0; i++ {
						if left.Load() < 0 || i > 1e7 {
							t.Errorf("%d left", left.Load())
							return
						}
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
			finishes(t, "work", all.Wait)
			if n := ran.Load() + cancelled.Load(); n != int64(3*(each/3)*3) {
				t.Errorf("%d ran, %d cancelled: %d in all, want %d", ran.Load(), cancelled.Load(), n, 3*(each/3)*3)
			}
			eventually(t, "none is pending", func() bool { return e.Pending() == 0 })
		})
	}
}

func TestContinuationAllocatesNothing(t *testing.T) {
	e := engine(t, Config{tune: func(p *Params) { p.inlineDepth = 1 }})
	var c, d Completion
	var k, l Continuation
	k.Init(e, "k", func(*Continuation) { d.Signal(1) })
	l.Init(e, "l", func(*Continuation) {})
	n := testing.AllocsPerRun(1000, func() {
		if c.Then(&k, 1) != nil || d.Then(&l, 1) != nil {
			t.Error("refused")
		}
		c.Signal(1) // runs k inline, and leaves l to the next round
		e.Poll()
		c.Reset()
		d.Reset()
	})
	if n != 0 {
		t.Errorf("%v allocations", n)
	}
}
