package pioman

import (
	"errors"
	"fmt"
	"log"
	"math/rand/v2"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/pm2-go/pm2/internal/serial"
)

func TestTaskOneShotRunsOnce(t *testing.T) {
	e := engine(t, Config{})
	runs := 0
	var task Task
	task.Init("once", func(*Task) Status { runs++; return Again }, OneShot)
	for i := 1; i <= 3; i++ {
		submit(t, e, &task)
		if e.Pending() != 1 {
			t.Fatalf("%d pending before it ran", e.Pending())
		}
		e.Poll()
		e.Poll()
		if runs != i || task.State() != StateIdle || e.Pending() != 0 {
			t.Fatalf("submitted %d times: ran %d times, %v, %d pending", i, runs, task.State(), e.Pending())
		}
	}
}

func TestTaskRepeatRunsUntilDone(t *testing.T) {
	e := engine(t, Config{})
	runs := 0
	var task Task
	task.Init("repeat", func(x *Task) Status {
		if x != &task || x.Name() != "repeat" || x.State() != StateRunning {
			t.Errorf("handler got %p %q %v", x, x.Name(), x.State())
		}
		if runs++; runs == 5 {
			return Done
		}
		return Moved
	}, Repeat)
	submit(t, e, &task)
	if task.State() != StateScheduled || e.Pending() != 0 {
		t.Fatalf("%v, %d pending", task.State(), e.Pending())
	}
	for range 10 {
		e.Poll()
	}
	if runs != 5 || task.State() != StateIdle {
		t.Fatalf("ran %d times, %v", runs, task.State())
	}
}

func TestSubmitRefuses(t *testing.T) {
	e := engine(t, Config{})
	var blank, noHandler, task Task
	noHandler.Init("none", nil, OneShot)
	for name, x := range map[string]*Task{"nil": nil, "blank": &blank, "without handler": &noHandler} {
		if err := e.Submit(x); !errors.Is(err, ErrNoFunction) {
			t.Errorf("%s: %v", name, err)
		}
	}
	task.Init("twice", func(x *Task) Status {
		if err := e.Submit(x); !errors.Is(err, ErrScheduled) {
			t.Errorf("inside its handler: %v", err)
		}
		return Done
	}, OneShot)
	submit(t, e, &task)
	if err := e.Submit(&task); !errors.Is(err, ErrScheduled) || !strings.Contains(err.Error(), `"twice"`) {
		t.Errorf("again: %v", err)
	}
	e.Poll()
	if err := e.Close(); err != nil {
		t.Fatal(err)
	}
	if err := e.Submit(&task); !errors.Is(err, ErrClosed) {
		t.Errorf("closed: %v", err)
	}
	if task.State() != StateIdle {
		t.Errorf("a refused task is %v", task.State())
	}
}

// logged returns what f writes to the standard logger.
func logged(f func()) string {
	var b strings.Builder
	defer log.SetOutput(log.Writer())
	log.SetOutput(&b)
	defer log.SetFlags(log.Flags())
	log.SetFlags(0)
	f()
	return b.String()
}

func TestInitOfALinkedTaskChangesNothing(t *testing.T) {
	e := engine(t, Config{Name: "mine"})
	var task Task
	runs := 0
	task.Init("first", func(*Task) Status { runs++; return Done }, OneShot)
	submit(t, e, &task)
	if s := logged(func() { task.Init("second", nil, Repeat) }); !strings.Contains(s, `mine: init task "first", which is scheduled`) {
		t.Errorf("logged %q", s)
	}
	e.Poll()
	if runs != 1 {
		t.Errorf("ran %d times", runs)
	}
}

func TestDoneWithoutNeedIsReported(t *testing.T) {
	e := engine(t, Config{})
	if s := logged(e.RemovePending); !strings.Contains(s, ErrUnderflow.Error()) {
		t.Errorf("logged %q", s)
	}
	e.AddPending()
	if e.Pending() != 1 {
		t.Errorf("%d pending", e.Pending())
	}
	e.RemovePending()
}

func TestPanicEndsTheTaskOnly(t *testing.T) {
	boom := errors.New("boom")
	var got []*PanicError
	e := engine(t, Config{OnPanic: func(p *PanicError) { got = append(got, p) }})
	var bad, good Task
	var c Completion
	runs := 0
	bad.Init("bad", func(*Task) Status { panic(boom) }, Repeat)
	bad.Notify(&c, 2)
	good.Init("good", func(*Task) Status { runs++; return Again }, Repeat)
	submit(t, e, &bad)
	submit(t, e, &good)
	for range 3 {
		e.Poll()
	}
	if runs < 2 || bad.State() != StateIdle {
		t.Fatalf("the other ran %d times, the bad one is %v", runs, bad.State())
	}
	if len(got) != 1 || got[0].Task != "bad" || !errors.Is(got[0], boom) || !errors.Is(got[0], ErrPanicked) {
		t.Fatalf("reported %v", got)
	}
	if !strings.Contains(got[0].Error(), `"bad"`) || !strings.Contains(string(got[0].Stack), "TestPanicEndsTheTaskOnly") {
		t.Fatalf("report %v without name or stack:\n%s", got[0], got[0].Stack)
	}
	if err := c.Wait(e, 2); !errors.Is(err, ErrPanicked) || c.Status() != Failed|2 {
		t.Fatalf("its waiter: %v, status %#x", err, c.Status())
	}
	bad.Init("better", func(*Task) Status { return Done }, OneShot)
	submit(t, e, &bad)
	e.Poll()
	if bad.State() != StateIdle {
		t.Fatalf("used again: %v", bad.State())
	}
}

func TestPanicIsLoggedByDefault(t *testing.T) {
	e := engine(t, Config{})
	var task Task
	task.Init("culprit", func(*Task) Status { panic("why") }, OneShot)
	submit(t, e, &task)
	s := logged(func() { e.Poll() })
	if !strings.Contains(s, `pioman: task "culprit": handler panicked: why`) || !strings.Contains(s, "task_test.go") {
		t.Errorf("logged %q", s)
	}
	if e.Pending() != 0 {
		t.Errorf("%d pending", e.Pending())
	}
}

// runtime.Goexit ends the poller's goroutine, which nothing can prevent, but not the queue.
func TestGoexitInAHandlerReleasesTheQueue(t *testing.T) {
	var got atomic.Pointer[PanicError]
	e := engine(t, Config{OnPanic: func(p *PanicError) { got.Store(p) }})
	var task, other Task
	runs := 0
	task.Init("leaver", func(*Task) Status { runtime.Goexit(); return Again }, Repeat)
	other.Init("other", func(*Task) Status { runs++; return Done }, OneShot)
	submit(t, e, &task)
	submit(t, e, &other)
	var wg sync.WaitGroup
	wg.Go(func() { e.Poll(); t.Error("Poll returned") })
	wg.Wait()
	e.Poll()
	if p := got.Load(); p == nil || p.Task != "leaver" || p.Value != nil || task.State() != StateIdle || runs != 1 {
		t.Fatalf("reported %v, task %v, the other ran %d times", p, task.State(), runs)
	}
}

func TestCancel(t *testing.T) {
	e := engine(t, Config{})
	var task Task
	if err := task.Cancel(); err != nil || task.State() != StateIdle {
		t.Fatalf("blank: %v, %v", err, task.State())
	}
	runs := 0
	for _, opt := range []Options{OneShot, Repeat, Repeat | Blind} {
		task.Init("t", func(*Task) Status { runs++; return Again }, opt)
		submit(t, e, &task)
		if err := task.Cancel(); err != nil || task.State() != StateCanceled {
			t.Fatalf("%d scheduled: %v, %v", opt, err, task.State())
		}
		e.Poll()
		if runs != 0 || e.Pending() != 0 || e.blind.Load() != 0 {
			t.Fatalf("%d: ran %d times, %d pending, %d blind", opt, runs, e.Pending(), e.blind.Load())
		}
	}
	submit(t, e, &task)
	e.Poll()
	if err := task.Cancel(); err != nil || task.State() != StateCanceled || runs != 1 {
		t.Fatalf("running: %v, %v, ran %d times", err, task.State(), runs)
	}
	e.Poll()
	if runs != 1 {
		t.Fatal("ran after it was canceled")
	}
}

func TestCancelInsideItsHandlerIsRefused(t *testing.T) {
	e := engine(t, Config{})
	var task Task
	var err error
	task.Init("self", func(x *Task) Status { err = x.Cancel(); return Again }, Repeat)
	submit(t, e, &task)
	e.Poll()
	if !errors.Is(err, ErrInHandler) || task.State() != StateRunning {
		t.Fatalf("%v, %v", err, task.State())
	}
}

// Cancel waits for the handler that is running and returns only when it has returned.
func TestCancelWaitsForTheHandler(t *testing.T) {
	e := engine(t, Config{})
	var task Task
	var inside, let atomic.Bool
	task.Init("slow", func(*Task) Status {
		inside.Store(true)
		for !let.Load() {
			runtime.Gosched()
		}
		inside.Store(false)
		return Again
	}, Repeat)
	submit(t, e, &task)
	var wg sync.WaitGroup
	wg.Go(func() { e.Poll() })
	eventually(t, "handler runs", inside.Load)
	var canceled atomic.Bool
	wg.Go(func() {
		if err := task.Cancel(); err != nil {
			t.Error(err)
		}
		if inside.Load() {
			t.Error("Cancel returned while the handler ran")
		}
		canceled.Store(true)
	})
	eventually(t, "cancel asked", func() bool { return task.State() == StateCanceling })
	for range 1000 {
		runtime.Gosched()
	}
	if canceled.Load() {
		t.Error("Cancel did not wait")
	}
	let.Store(true)
	finishes(t, "cancel", wg.Wait)
	if task.State() != StateCanceled {
		t.Error(task.State())
	}
}

// A poller that takes up a task at the moment when another thread cancels it may overwrite that (taskState.take): the
// canceler asks again until the task is inactive.
func TestCancelAsksAgain(t *testing.T) {
	e := engine(t, Config{})
	var task Task
	var inside, let atomic.Bool
	task.Init("slow", func(*Task) Status {
		inside.Store(true)
		for !let.Load() {
			runtime.Gosched()
		}
		return Again
	}, Repeat)
	submit(t, e, &task)
	var wg sync.WaitGroup
	wg.Go(func() { e.Poll() })
	eventually(t, "handler runs", inside.Load)
	wg.Go(func() {
		if err := task.Cancel(); err != nil {
			t.Error(err)
		}
	})
	for range 3 {
		eventually(t, "cancel asked", func() bool { return task.State() == StateCanceling })
		task.state.Set(serial.Running) // as take does
	}
	let.Store(true)
	finishes(t, "cancel", wg.Wait)
	if task.State() != StateCanceled {
		t.Error(task.State())
	}
}

// A task that ends by itself while it is being canceled has ended.
func TestDoneWinsOverCancel(t *testing.T) {
	e := engine(t, Config{})
	var task Task
	var c Completion
	var wg sync.WaitGroup
	task.Init("both", func(x *Task) Status {
		wg.Go(func() {
			if err := x.Cancel(); err != nil {
				t.Error(err)
			}
		})
		for x.State() != StateCanceling {
			runtime.Gosched()
		}
		return Done
	}, Repeat)
	task.Notify(&c, 1)
	submit(t, e, &task)
	e.Poll()
	finishes(t, "cancel", wg.Wait)
	if task.State() != StateIdle || !c.Test(1) {
		t.Fatalf("%v, signaled %v", task.State(), c.Test(1))
	}
}

// Owners submit, cancel and reuse the memory of their tasks at once, pollers
// poll, all in parallel: a handler never runs after Cancel returned, never twice at a
// time, and at the end nothing is left.
func TestCancelRaces(t *testing.T) {
	e := engine(t, Config{})
	const owners = 4
	each := 30000
	if testing.Short() {
		each = 3000
	}
	type request struct {
		task  Task
		c     Completion
		owned atomic.Bool // by the owner: no handler may run
		busy  atomic.Bool
		left  int
	}
	var stop atomic.Bool
	var pollers, wg sync.WaitGroup
	for range 2 {
		pollers.Go(func() {
			for !stop.Load() {
				e.Poll()
				runtime.Gosched()
			}
		})
	}
	var ended, canceled atomic.Int64
	for o := range owners {
		wg.Go(func() {
			rnd := rand.New(rand.NewPCG(1, uint64(o)))
			r := &request{}
			for i := range each {
				r.owned.Store(true)
				r.left = rnd.IntN(4)
				opt := Options(rnd.IntN(2))
				r.task.Init("race", func(*Task) Status {
					if r.owned.Load() || r.busy.Swap(true) {
						t.Error("handler runs on memory that is not the engine's, or twice at a time")
					}
					r.left--
					r.busy.Store(false)
					if r.left <= 0 {
						return Done
					}
					return Again
				}, opt)
				r.task.Notify(&r.c, 1)
				r.owned.Store(false)
				if err := e.Submit(&r.task); err != nil {
					t.Error(err)
					return
				}
				if rnd.IntN(2) == 0 {
					for range rnd.IntN(50) {
						runtime.Gosched()
					}
					if err := r.task.Cancel(); err != nil {
						t.Error(err)
					}
				} else if err := r.c.Wait(e, 1); err != nil {
					t.Error(err)
				}
				switch r.task.State() {
				case StateIdle:
					ended.Add(1)
					if err := r.c.Wait(e, 1); err != nil {
						t.Error(err)
					}
				case StateCanceled:
					canceled.Add(1)
				default:
					t.Errorf("round %d: %v", i, r.task.State())
				}
				r.owned.Store(true)
				*r = request{} // the memory is ours: the race detector watches
			}
		})
	}
	finishes(t, "owners", wg.Wait)
	stop.Store(true)
	pollers.Wait()
	if e.Pending() != 0 || e.tasks() {
		t.Errorf("left: %d pending, tasks %v", e.Pending(), e.tasks())
	}
	t.Logf("%d ended, %d canceled", ended.Load(), canceled.Load())
	if ended.Load() == 0 || canceled.Load() == 0 {
		t.Error("the test did not reach both ends")
	}
}

func TestNothingIsAllocated(t *testing.T) {
	e := engine(t, Config{})
	var once, repeat Task
	var c Completion
	once.Init("once", func(*Task) Status { return Done }, OneShot)
	repeat.Init("repeat", func(*Task) Status { return Again }, Repeat)
	for name, f := range map[string]func(){
		"submit, run, complete": func() {
			c.Reset()
			once.Init("once", once.fn, OneShot)
			once.Notify(&c, 1)
			if e.Submit(&once) != nil || c.Wait(e, 1) != nil {
				t.Error("failed")
			}
		},
		"submit, poll, cancel": func() {
			if e.Submit(&repeat) != nil {
				t.Error("failed")
			}
			e.Poll()
			if repeat.Cancel() != nil {
				t.Error("failed")
			}
		},
		"need, done": func() { e.AddPending(); e.RemovePending() },
	} {
		if n := testing.AllocsPerRun(1000, f); n != 0 {
			t.Errorf("%s: %v allocations", name, n)
		}
	}
}

func TestErrorsSayWhat(t *testing.T) {
	p := &PanicError{Task: "x", Value: fmt.Errorf("inner")}
	if !errors.Is(p, ErrPanicked) || !strings.Contains(p.Error(), "inner") {
		t.Error(p)
	}
	if p := (&PanicError{Task: "x"}); !strings.Contains(p.Error(), "Goexit") || !errors.Is(p, ErrPanicked) {
		t.Error(p)
	}
}
