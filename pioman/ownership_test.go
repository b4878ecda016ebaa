package pioman

import (
	"errors"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/pm2-go/pm2/marcel"
	"github.com/pm2-go/pm2/sched"
)

// The handler of a Destroy task unmaps the memory that the task lies in: the one that touched it
// afterwards would fault.
func TestDestroyedTasksAreNotTouched(t *testing.T) {
	for name, opt := range map[string]Options{"one-shot": OneShot | Destroy, "repeat": Repeat | Destroy | NoWait} {
		t.Run(name, func(t *testing.T) {
			e := engine(t, Config{})
			for polls := 1; polls <= 5; polls++ {
				task, unmap := onPage(t)
				left, freed := polls, false
				handler := func(x *Task) Status {
					if left--; left > 0 && opt&Repeat != 0 {
						return Again
					}
					unmap()
					freed = true
					return Done
				}
				defer runtime.KeepAlive(handler) // the collector does not see it on that page
				task.Init("gone", handler, opt)
				var next Task // the list goes on behind it
				ran := 0
				next.Init("next", func(*Task) Status { ran++; return Again }, Repeat)
				submit(t, e, task)
				submit(t, e, &next)
				for range polls {
					e.Poll()
				}
				if !freed || ran != polls || e.Pending() != 0 {
					t.Fatalf("freed %v, the next one ran %d times of %d, %d pending", freed, ran, polls, e.Pending())
				}
				if err := next.Cancel(); err != nil {
					t.Fatal(err)
				}
			}
		})
	}
}

func TestDestroyedTaskNotifies(t *testing.T) {
	var got atomic.Pointer[PanicError]
	e := engine(t, Config{OnPanic: func(p *PanicError) { got.Store(p) }})
	var c Completion
	for i, opt := range []Options{OneShot | Destroy, Repeat | Destroy} {
		task, unmap := onPage(t)
		handler := func(*Task) Status { unmap(); return Done }
		task.Init("gone", handler, opt)
		task.Notify(&c, 1<<i)
		submit(t, e, task)
		e.Poll()
		if !c.Test(1 << i) {
			t.Errorf("%d: not notified", opt)
		}
		c.Reset()
		task, unmap = onPage(t)
		panics := func(*Task) Status { unmap(); panic("after that") }
		task.Init("gone", panics, opt)
		task.Notify(&c, 1<<i)
		submit(t, e, task)
		e.Poll()
		if p := got.Swap(nil); p == nil || p.Task != "gone" || c.Status() != Failed|1<<i {
			t.Errorf("%d: reported %v, status %#x", opt, p, c.Status())
		}
		c.Reset()
		runtime.KeepAlive(handler) // the collector does not see it on that page
		runtime.KeepAlive(panics)
	}
	if e.Pending() != 0 {
		t.Errorf("%d pending", e.Pending())
	}
}

// A pool whose tasks their handlers give back, from which others take them at once.
func TestDestroyedTasksAreReused(t *testing.T) {
	e := engine(t, Config{})
	s := scheduler(t, sched.Config{VPs: 2, Slice: time.Millisecond, Period: 250 * time.Microsecond})
	attach(t, e, s)
	const owners = 3
	each := 20000
	if testing.Short() {
		each = 2000
	}
	var mu sync.Mutex
	var pool []*Task
	var ran atomic.Int64
	take := func() *Task {
		mu.Lock()
		defer mu.Unlock()
		if n := len(pool); n > 0 {
			x := pool[n-1]
			pool = pool[:n-1]
			return x
		}
		return new(Task)
	}
	give := func(x *Task) {
		mu.Lock()
		pool = append(pool, x)
		mu.Unlock()
	}
	var all sync.WaitGroup
	work := func() {
		defer all.Done()
		for i := range each {
			x := take()
			if i%2 == 0 {
				x.Init("one-shot", func(x *Task) Status { ran.Add(1); give(x); return Again }, OneShot|Destroy|NoWait)
			} else {
				left := i % 5
				x.Init("repeat", func(x *Task) Status {
					if left--; left > 0 {
						return Again
					}
					if err := x.Release(); err != nil {
						t.Error(err)
					}
					ran.Add(1)
					give(x)
					return Done
				}, Repeat|Destroy|NoWait)
			}
			if err := e.Submit(x); err != nil {
				t.Error(err)
			}
			if i%32 == 0 {
				runtime.Gosched()
			}
		}
	}
	e.Need()
	for k := range owners {
		all.Add(1)
		if k%2 == 0 {
			s.Spawn(marcel.Attr{}, work)
		} else {
			go work()
		}
	}
	finishes(t, "owners", all.Wait)
	eventually(t, "all ran", func() bool { return ran.Load() == int64(owners*each) })
	e.Done()
	eventually(t, "none pending", func() bool { return e.Pending() == 0 })
}

// Close and Cancel meet Destroy tasks that wait, and one whose handler runs.
func TestDestroyAndCancel(t *testing.T) {
	e := New(Config{})
	var waits, runs, other Task
	waits.Init("waits", func(*Task) Status { t.Error("ran"); return Done }, OneShot|Destroy)
	submit(t, e, &waits)
	if err := waits.Cancel(); err != nil || waits.State() != StateCancelled {
		t.Errorf("%v, %v", err, waits.State())
	}
	var inside atomic.Bool
	runs.Init("runs", func(x *Task) Status {
		if err := x.Cancel(); !errors.Is(err, ErrInHandler) {
			t.Error(err)
		}
		inside.Store(true)
		for x.State() != StateCancelling {
			runtime.Gosched()
		}
		return Again
	}, Repeat|Destroy)
	other.Init("other", func(*Task) Status { return Again }, Repeat|Destroy)
	submit(t, e, &runs)
	submit(t, e, &other)
	var wg sync.WaitGroup
	wg.Go(func() { e.Poll() })
	eventually(t, "inside", inside.Load)
	if err := runs.Cancel(); err != nil || runs.State() != StateCancelled {
		t.Errorf("%v, %v", err, runs.State())
	}
	wg.Wait()
	if err := e.Close(); err != nil || other.State() != StateCancelled {
		t.Errorf("%v, %v", err, other.State())
	}
	if err := other.Release(); !errors.Is(err, ErrRelease) {
		t.Errorf("release of an inactive one: %v", err)
	}
}

func TestNoWaitRefusesNotify(t *testing.T) {
	e := engine(t, Config{})
	var task Task
	var c Completion
	task.Init("alone", func(*Task) Status { return Done }, NoWait)
	task.Notify(&c, 1)
	if err := e.Submit(&task); !errors.Is(err, ErrNoWait) || task.State() != StateReady || e.Pending() != 0 {
		t.Errorf("%v, %v", err, task.State())
	}
	task.Notify(nil, 0)
	submit(t, e, &task)
	e.Poll()
	if task.State() != StateEnded {
		t.Error(task.State())
	}
}

// onPage makes a task in memory of its own, which the collector knows nothing of, and which unmap takes away.
func onPage(t *testing.T) (task *Task, unmap func()) {
	t.Helper()
	page, err := unix.Mmap(-1, 0, unix.Getpagesize(), unix.PROT_READ|unix.PROT_WRITE, unix.MAP_ANON|unix.MAP_PRIVATE)
	if err != nil {
		t.Fatal(err)
	}
	return taskAt(page), func() {
		if err := unix.Munmap(page); err != nil {
			t.Error(err)
		}
	}
}
