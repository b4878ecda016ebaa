package pioman

import (
	"errors"
	"math/rand/v2"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/pm2-go/pm2/marcel"
	"github.com/pm2-go/pm2/sched"
)

func TestMask(t *testing.T) {
	e := engine(t, Config{})
	var task Task
	runs := 0
	for _, opt := range []Options{OneShot, Repeat, Repeat | Blind, OneShot | Destroy, Repeat | Destroy} {
		task.Init("t", func(*Task) Status { runs++; return Again }, opt)
		counted := 1 - int(opt&Repeat)
		is := func(when string, state State, ran, pending int) {
			t.Helper()
			e.Poll()
			e.Poll()
			if task.State() != state || runs != ran || e.Pending() != pending {
				t.Fatalf("%d, %s: %v, ran %d times, %d pending; want %v, %d, %d", opt, when, task.State(), runs, e.Pending(), state, ran, pending)
			}
		}
		runs = 0
		if err := task.Unmask(); !errors.Is(err, ErrMasks) {
			t.Fatalf("unmask of one not masked: %v", err)
		}
		for range 2 {
			if err := task.Mask(); err != nil {
				t.Fatal(err)
			}
		}
		submit(t, e, &task)
		if n := e.Pending(); n != counted {
			t.Fatalf("%d: %d pending after Submit", opt, n)
		}
		is("masked twice", StateMasked, 0, 0)
		if err := task.Unmask(); err != nil {
			t.Fatal(err)
		}
		is("unmasked once", StateMasked, 0, 0)
		if err := task.Mask(); err != nil {
			t.Fatal(err)
		}
		if err := task.Cancel(); err != nil || task.State() != StateCancelled || e.blind.Load() != 0 {
			t.Fatalf("%d: cancel: %v, %v, %d blind", opt, err, task.State(), e.blind.Load())
		}
		is("cancelled", StateCancelled, 0, 0)
		submit(t, e, &task)
		is("submitted again", StateMasked, 0, 0)
		for range 2 {
			if err := task.Unmask(); err != nil {
				t.Fatal(err)
			}
		}
		if opt&Repeat == 0 && e.Pending() != 1 {
			t.Fatalf("%d: %d pending after the last Unmask", opt, e.Pending())
		}
		switch {
		case opt&Repeat != 0:
			is("unmasked", StateRunning, 2, 0)
		case opt&Destroy != 0:
			is("unmasked", StateDestroyed, 1, 0)
		default:
			is("unmasked", StateEnded, 1, 0)
		}
		if err := task.Cancel(); err != nil || e.blind.Load() != 0 {
			t.Fatal(err, e.blind.Load())
		}
	}
}

// Unmasked before any thread has met it, a task is as it was.
func TestMaskThatNobodySaw(t *testing.T) {
	e := engine(t, Config{})
	var task Task
	task.Init("t", func(*Task) Status { return Done }, OneShot)
	submit(t, e, &task)
	if task.Mask() != nil || task.State() != StateMasked || task.Unmask() != nil || e.Pending() != 1 {
		t.Fatalf("%v, %d pending", task.State(), e.Pending())
	}
	e.Poll()
	if task.State() != StateEnded || e.Pending() != 0 {
		t.Fatalf("%v, %d pending", task.State(), e.Pending())
	}
}

func TestMaskInsideHandlers(t *testing.T) {
	e := engine(t, Config{})
	var self, other Task
	selfRuns, otherRuns := 0, 0
	self.Init("self", func(x *Task) Status {
		selfRuns++
		if x.Mask() != nil || other.Mask() != nil {
			t.Error("refused")
		}
		return Again
	}, Repeat)
	other.Init("other", func(*Task) Status { otherRuns++; return Again }, Repeat)
	submit(t, e, &self)
	submit(t, e, &other)
	for range 5 {
		e.Poll()
	}
	if selfRuns != 1 || otherRuns != 0 || self.State() != StateMasked {
		t.Errorf("self ran %d times, other %d, %v", selfRuns, otherRuns, self.State())
	}
}

// Mask waits for the handler that is running, and returns only when it has returned, also
// while its poller goes on and on.
func TestMaskWaitsForTheHandler(t *testing.T) {
	e := engine(t, Config{})
	var task Task
	var inside, let, stop, masked atomic.Bool
	task.Init("slow", func(*Task) Status {
		inside.Store(true)
		for !let.Load() {
			runtime.Gosched()
		}
		inside.Store(false)
		return Again
	}, Repeat)
	submit(t, e, &task)
	var poller, masker sync.WaitGroup
	poller.Go(func() {
		for !stop.Load() {
			e.Poll()
		}
	})
	eventually(t, "handler runs", inside.Load)
	masker.Go(func() {
		if err := task.Mask(); err != nil {
			t.Error(err)
		}
		if inside.Load() {
			t.Error("Mask returned while the handler ran")
		}
		masked.Store(true)
	})
	eventually(t, "mask asked", task.masks.on)
	for range 1000 {
		runtime.Gosched()
	}
	if masked.Load() {
		t.Error("Mask did not wait")
	}
	let.Store(true)
	finishes(t, "mask", masker.Wait)
	stop.Store(true)
	poller.Wait()
}

// Maskers, cancellers and submitters of the same tasks, beside the hooks of two processors and
// goroutines that poll: no handler runs between Mask and Unmask, whichever thread masks, and nothing is lost.
func TestMaskRaces(t *testing.T) {
	rounds := 4000
	if testing.Short() {
		rounds = 400
	}
	e := engine(t, Config{})
	s := scheduler(t, sched.Config{VPs: 2, Slice: time.Millisecond, Period: 250 * time.Microsecond})
	attach(t, e, s)
	e.Need()
	type masked struct {
		task        Task
		masks, runs atomic.Int32
	}
	tasks := make([]masked, 3)
	for i := range tasks {
		m := &tasks[i]
		opt := []Options{Repeat, OneShot, Repeat | Blind}[i]
		m.task.Init("masked", func(*Task) Status {
			m.runs.Add(1)
			if m.masks.Load() != 0 {
				t.Error("handler runs while masked")
			}
			return Again
		}, opt)
		submit(t, e, &m.task)
	}
	var stop atomic.Bool
	var poller, all sync.WaitGroup
	poller.Go(func() {
		for !stop.Load() {
			e.Poll()
			runtime.Gosched()
		}
	})
	work := func(seed uint64) {
		defer all.Done()
		rnd := rand.New(rand.NewPCG(seed, 7))
		for range rounds {
			m := &tasks[rnd.IntN(len(tasks))]
			if rnd.IntN(8) == 0 {
				if err := m.task.Cancel(); err != nil {
					t.Error(err)
				}
			}
			if err := e.Submit(&m.task); err != nil && !errors.Is(err, ErrScheduled) {
				t.Error(err)
			}
			if err := m.task.Mask(); err != nil {
				t.Error(err)
			}
			m.masks.Add(1)
			if rnd.IntN(4) == 0 {
				runtime.Gosched()
			}
			m.masks.Add(-1)
			if err := m.task.Unmask(); err != nil {
				t.Error(err)
			}
		}
	}
	for k := range 4 {
		all.Add(1)
		if k%2 == 0 {
			s.Spawn(marcel.Attr{}, func() { work(uint64(k)) })
		} else {
			go work(uint64(k))
		}
	}
	finishes(t, "maskers", all.Wait)
	stop.Store(true)
	poller.Wait()
	for i := range tasks {
		m := &tasks[i]
		n := m.runs.Load() // first: processors poll meanwhile
		if m.task.State().Inactive() {
			submit(t, e, &m.task)
		}
		eventually(t, "polled again", func() bool { return m.runs.Load() > n })
		if err := m.task.Cancel(); err != nil || m.task.masks.on() {
			t.Error(err, m.task.masks.w.Load())
		}
	}
	e.Done()
	if e.Pending() != 0 || e.blind.Load() != 0 {
		t.Errorf("%d pending, %d blind", e.Pending(), e.blind.Load())
	}
}

// The last Unmask makes an idle process poll the task, which nothing else would.
func TestUnmaskWakes(t *testing.T) {
	for _, opt := range []Options{OneShot, Repeat} {
		e := engine(t, Config{})
		attach(t, e, scheduler(t, sched.Config{VPs: 2}))
		p := newPipe(t) // with a source that says nothing idle processors sleep for good
		if err := e.AddSource(p); err != nil {
			t.Fatal(err)
		}
		e.Need()
		var task Task
		var c Completion
		task.Init("late", func(*Task) Status { return Done }, opt)
		task.Notify(&c, 1)
		if err := task.Mask(); err != nil {
			t.Fatal(err)
		}
		submit(t, e, &task)
		eventually(t, "seen", task.masks.seen)
		eventually(t, "asleep", func() bool { return e.load.view().asleep() })
		if err := task.Unmask(); err != nil {
			t.Fatal(err)
		}
		eventually(t, "done", func() bool { return c.Test(1) })
		e.Done()
		e.RemoveSource(p)
	}
}
