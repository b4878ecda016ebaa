package pioman

import (
	"errors"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// readable is a task's blocking function: it waits until there is something in the pipe.
func (p *pipe) readable(*Task) {
	for {
		fds := []unix.PollFd{{Fd: int32(p.r), Events: unix.POLLIN}}
		if _, err := unix.Poll(fds, -1); err != unix.EINTR {
			return
		}
	}
}

// A task that waits for long waits in the kernel, while others of its queue are polled, and comes
// back when its function returns, again and again.
func TestBlockingTask(t *testing.T) {
	e, _ := hookedEngine(t, Config{})
	p := newPipe(t)
	var task, other Task
	var polls, got, others atomic.Int64
	task.Init("blocks", func(*Task) Status {
		polls.Add(1)
		if n := p.take(); n > 0 {
			got.Add(int64(n))
			return Moved
		}
		return Again
	}, Repeat)
	if err := task.SetBlocking(p.readable, 200*time.Microsecond); err != nil {
		t.Fatal(err)
	}
	other.Init("other", func(*Task) Status { others.Add(1); return Again }, Repeat)
	e.Need()
	submit(t, e, &task)
	submit(t, e, &other)
	for i := range int64(20) {
		eventually(t, "blocked", func() bool { return task.State() == StateBlocked })
		n, m := polls.Load(), others.Load()
		eventually(t, "other is polled", func() bool { return others.Load() > m+3 })
		if polls.Load() != n {
			t.Error("polled while it blocks")
		}
		p.put()
		eventually(t, "received", func() bool { return got.Load() == i+1 })
	}
	eventually(t, "blocked", func() bool { return task.State() == StateBlocked })
	var wg sync.WaitGroup
	wg.Go(func() {
		if err := task.Mask(); err != nil || task.runner.Load() != 0 {
			t.Error("masked while its function ran", err)
		}
	})
	eventually(t, "mask asked", task.masks.on)
	p.put()
	finishes(t, "mask", wg.Wait)
	if task.State() != StateMasked {
		t.Error(task.State())
	}
	if err := task.Unmask(); err != nil {
		t.Error(err)
	}
	eventually(t, "blocked again", func() bool { return task.State() == StateBlocked })
	wg.Go(func() {
		if err := task.Cancel(); err != nil || task.State() != StateCancelled {
			t.Error(err, task.State())
		}
	})
	eventually(t, "cancel asked", func() bool { return task.State() == StateCancelling })
	p.put()
	finishes(t, "cancel", wg.Wait)
	if err := other.Cancel(); err != nil {
		t.Error(err)
	}
	e.Done()
	eventually(t, "all are back", func() bool { return e.away.Load() == 0 })
}

func TestSetBlockingRefuses(t *testing.T) {
	var task Task
	block := func(*Task) {}
	for _, opt := range []Options{OneShot, Repeat | Destroy} {
		task.Init("t", func(*Task) Status { return Done }, opt)
		if err := task.SetBlocking(block, 0); !errors.Is(err, ErrBlocking) {
			t.Errorf("%d: %v", opt, err)
		}
	}
	task.Init("t", func(*Task) Status { return Done }, Repeat)
	if err := task.SetBlocking(block, -1); !errors.Is(err, ErrBlocking) {
		t.Error(err)
	}
}

// Inside a blocking function one can neither wait, nor cancel its task, nor close the engine; a panic ends
// the task.
func TestInsideABlockingFunction(t *testing.T) {
	var got atomic.Pointer[PanicError]
	e := engine(t, Config{OnPanic: func(p *PanicError) { got.Store(p) }})
	var task Task
	var c, other Completion
	task.Init("bad", func(*Task) Status { return Again }, Repeat)
	task.Notify(&c, 1)
	err := task.SetBlocking(func(x *Task) {
		for _, err := range []error{other.Wait(e, 1), x.Cancel(), e.Close()} {
			if !errors.Is(err, ErrInHandler) {
				t.Error(err)
			}
		}
		panic("enough")
	}, 0)
	if err != nil {
		t.Fatal(err)
	}
	submit(t, e, &task)
	if err := c.Wait(e, 1); !errors.Is(err, ErrPanicked) || task.State() != StateEnded {
		t.Error(err, task.State())
	}
	eventually(t, "reported", func() bool { return got.Load() != nil && e.away.Load() == 0 })
	if p := got.Load(); p.Task != "bad" || p.Value != "enough" {
		t.Error(p)
	}
}

// Close and Cancel meet tasks that go to their functions and come back all the time.
func TestBlockingTasksAndShutdown(t *testing.T) {
	rounds := 200
	if testing.Short() {
		rounds = 30
	}
	for round := range rounds {
		e := New(Config{})
		var tasks [3]Task
		var owned [3]atomic.Bool
		for i := range tasks {
			tasks[i].Init("busy", func(*Task) Status {
				if owned[i].Load() {
					t.Error("polled after its end")
				}
				return Again
			}, Repeat)
			if err := tasks[i].SetBlocking(func(*Task) {
				if owned[i].Load() {
					t.Error("blocks after its end")
				}
			}, 0); err != nil {
				t.Fatal(err)
			}
			submit(t, e, &tasks[i])
		}
		var stop atomic.Bool
		var pollers sync.WaitGroup
		pollers.Go(func() {
			for !stop.Load() {
				e.Poll()
			}
		})
		for range round % 16 {
			yieldCPU()
		}
		if err := tasks[0].Cancel(); err != nil || tasks[0].State() != StateCancelled {
			t.Error(err, tasks[0].State())
		}
		owned[0].Store(true)
		finishes(t, "close", func() {
			if err := e.Close(); err != nil {
				t.Error(err)
			}
		})
		for i := range tasks {
			owned[i].Store(true)
			if s := tasks[i].State(); s != StateCancelled {
				t.Errorf("task %d is %v", i, s)
			}
		}
		stop.Store(true)
		pollers.Wait()
		if e.away.Load() != 0 || e.Pending() != 0 {
			t.Errorf("%d away, %d pending", e.away.Load(), e.Pending())
		}
	}
}
