package piomantest

import (
	"errors"
	"runtime"
	"slices"
	"sync/atomic"
	"testing"

	"github.com/pm2-go/pm2/hooks"
	"github.com/pm2-go/pm2/pioman"
)

// oneShots: each runs once for each submission, and its waiter learns of it.
func oneShots(t *testing.T, w World) {
	s := w.stage(t)
	n := s.rounds(2000)
	s.crowd(2, func(int) {
		var task pioman.Task
		var done pioman.Completion
		runs := 0
		task.Init("once", func(*pioman.Task) pioman.Status { runs++; return pioman.Done }, pioman.OneShot)
		for i := range n {
			done.Reset()
			task.Notify(&done, 1)
			s.submit(&task)
			if err := done.Wait(s.e, 1); err != nil {
				s.Error(err)
				return
			}
			if runs != i+1 || !task.State().Inactive() {
				s.Errorf("submission %d: ran %d times, %v", i, runs, task.State())
				return
			}
		}
	})
}

// repeats: a repeat task is polled until it says Done, and not once more.
func repeats(t *testing.T, w World) {
	s := w.stage(t)
	n := s.rounds(500)
	s.crowd(2, func(k int) {
		var task pioman.Task
		var done pioman.Completion
		polls, want := 0, 0
		task.Init("repeats", func(*pioman.Task) pioman.Status {
			polls++
			switch {
			case polls == want:
				return pioman.Done
			case polls%3 == 0:
				return pioman.Moved
			}
			return pioman.Again
		}, pioman.Repeat)
		for i := range n {
			polls, want = 0, 1+(i+k)%40
			done.Reset()
			task.Notify(&done, 2)
			s.e.AddPending()
			s.submit(&task)
			err := done.Wait(s.e, 2)
			s.e.RemovePending()
			if err != nil || polls != want {
				s.Errorf("polled %d times, want %d; %v", polls, want, err)
				return
			}
		}
	})
}

// background: what is posted runs while its owner does something else.
func background(t *testing.T, w World) {
	s := w.stage(t)
	if !s.background() {
		t.Skip("nothing polls in the background here")
	}
	n := s.rounds(500)
	s.crowd(1, func(k int) {
		var ran atomic.Int64
		var once, again pioman.Task
		once.Init("once", func(*pioman.Task) pioman.Status { ran.Add(1); return pioman.Done }, pioman.OneShot)
		again.Init("again", func(*pioman.Task) pioman.Status { ran.Add(1); return pioman.Done }, pioman.Repeat)
		for i := range n {
			seen := ran.Load()
			task := &once
			if i%2 != 0 {
				task = &again
				s.e.AddPending()
			}
			s.submit(task)
			s.eventually("it runs", func() bool { return ran.Load() > seen && task.State().Inactive() })
			if i%2 != 0 {
				s.e.RemovePending()
			}
		}
	})
}

// cancels: after Cancel, at whatever moment, no handler runs, and the task is the owner's.
func cancels(t *testing.T, w World) {
	s := w.stage(t)
	n := s.rounds(1000)
	s.crowd(2, func(k int) {
		var task pioman.Task
		owned := false // whether the task is ours: a handler that runs then is a race, and an error
		var wrong atomic.Bool
		polls := 0
		task.Init("canceled", func(*pioman.Task) pioman.Status {
			if owned {
				wrong.Store(true)
			}
			polls++
			if polls%97 == 0 {
				return pioman.Done
			}
			return pioman.Again
		}, pioman.Repeat)
		s.e.AddPending()
		defer s.e.RemovePending()
		for i := range n {
			owned = false
			s.submit(&task)
			for range (i + k) % 5 {
				s.e.Poll()
			}
			if i%7 == 0 {
				runtime.Gosched()
			}
			if err := task.Cancel(); err != nil {
				s.Error(err)
				return
			}
			owned = true
			if st := task.State(); !st.Inactive() || wrong.Load() {
				s.Errorf("after Cancel: %v; ran all the same: %v", st, wrong.Load())
				return
			}
		}
	})
}

var errPlanned = errors.New("planned")

// panics: one that panics is reported by its name, its waiter learns of it, and all others go on.
func panics(t *testing.T, w World) {
	s := w.stage(t)
	s.planned = true
	n := s.rounds(100)
	names := []string{"panics", "panics with an error"}
	s.crowd(1, func(k int) {
		var bad, good pioman.Task
		var failed, done pioman.Completion
		for i := range n {
			bad.Init(names[i%2], func(*pioman.Task) pioman.Status {
				if i%2 == 0 {
					panic("planned")
				}
				panic(errPlanned)
			}, pioman.Options(i/2%2)) // one-shot, or repeat
			good.Init("good", func(*pioman.Task) pioman.Status { return pioman.Done }, pioman.OneShot)
			failed.Reset()
			done.Reset()
			bad.Notify(&failed, 1)
			good.Notify(&done, 1)
			s.e.AddPending()
			s.submit(&bad)
			s.submit(&good)
			if err := failed.Wait(s.e, 1); !errors.Is(err, pioman.ErrPanicked) {
				s.Errorf("%s: %v", names[i%2], err)
			}
			if err := done.Wait(s.e, 1); err != nil {
				s.Error(err)
			}
			s.e.RemovePending()
		}
	})
	// It is reported after the signal.
	s.reported(s.size(1)*n, names...)
}

// reported checks that so many tasks were reported, all of these names.
func (s *scene) reported(total int, names ...string) {
	s.Helper()
	s.eventually("reports", func() bool { s.mu.Lock(); defer s.mu.Unlock(); return len(s.panicked) >= total })
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.panicked) != total {
		s.Errorf("%d reports of %d", len(s.panicked), total)
	}
	for _, name := range s.panicked {
		if !slices.Contains(names, name) {
			s.Errorf("reported %q", name)
		}
	}
}

// exits: a handler that ends its goroutine ends that of its poller, which is no other's but the flavour's here, and its
// task. All others go on.
func exits(t *testing.T, w World) {
	s := w.stage(t)
	s.planned = true
	n := s.rounds(50)
	for range n {
		var bad pioman.Task
		var failed pioman.Completion
		bad.Init("exits", func(*pioman.Task) pioman.Status { runtime.Goexit(); return pioman.Done }, pioman.OneShot)
		bad.Notify(&failed, 1)
		s.submit(&bad)
		ended := func() bool { return bad.State().Inactive() && failed.Test(1) }
		if s.background() {
			s.eventually("it ends", ended)
		} else {
			s.finishes("a poller", func() { s.e.Poll() })
		}
		if err := failed.Wait(s.e, 1); !errors.Is(err, pioman.ErrPanicked) {
			s.Error(err)
		}
	}
	s.reported(n, "exits")
}

// fromTasks: handlers submit tasks, which submit tasks.
func fromTasks(t *testing.T, w World) {
	s := w.stage(t)
	n := s.rounds(200)
	type link struct {
		pioman.Task
		next *link
	}
	s.crowd(2, func(k int) {
		const depth = 12
		var done pioman.Completion
		var chain [depth]link
		runs := 0
		for i := range chain {
			if i > 0 {
				chain[i-1].next = &chain[i]
			}
			l := &chain[i]
			l.Init("link", func(*pioman.Task) pioman.Status {
				runs++
				if l.next != nil {
					s.submit(&l.next.Task)
				}
				return pioman.Done
			}, []pioman.Options{pioman.OneShot, pioman.Repeat}[i%2])
		}
		for range n {
			runs = 0
			done.Reset()
			chain[depth-1].Notify(&done, 1)
			s.e.AddPending()
			s.submit(&chain[0].Task)
			err := done.Wait(s.e, 1)
			s.e.RemovePending()
			if err != nil || runs != depth {
				s.Errorf("%d of %d ran; %v", runs, depth, err)
				return
			}
		}
	})
}

// fromHooks: what a hook of the host submits runs.
func fromHooks(t *testing.T, w World) {
	s := w.bare(t)
	h, stop := s.start()
	defer stop()
	if h.Hooks == nil {
		t.Skip("no hooks here")
	}
	stir := h.Stir
	var ran atomic.Int64
	var tasks [4]pioman.Task
	for i := range tasks {
		tasks[i].Init("from a hook", func(*pioman.Task) pioman.Status { ran.Add(1); return pioman.Done }, pioman.OneShot)
	}
	var submitted atomic.Int64
	var over atomic.Bool
	for _, p := range []hooks.Point{hooks.Idle, hooks.Timer, hooks.Switch} {
		h, err := h.Hooks.Register(p, 10, "submits", func(vp int) hooks.Verdict {
			if over.Load() {
				return hooks.Quiet
			}
			task := &tasks[uint(vp)%uint(len(tasks))]
			if task.State().Inactive() {
				switch err := s.e.Submit(task); {
				case err == nil:
					submitted.Add(1)
				case !errors.Is(err, pioman.ErrScheduled) && !over.Load(): // another caller was faster
					over.Store(true)
					s.Error(err)
				}
			}
			return hooks.Waiting
		})
		if err != nil {
			t.Fatal(err)
		}
		defer h.Unregister()
	}
	defer over.Store(true)
	defer func() {
		s.Logf("%d submitted by hooks, %d ran, %d pending", submitted.Load(), ran.Load(), s.e.Pending())
	}()
	s.eventually("hooks submit, tasks run", func() bool {
		stir()
		return ran.Load() > int64(s.rounds(3000))
	})
	over.Store(true)
	s.eventually("all tasks end", func() bool {
		for i := range tasks {
			if !tasks[i].State().Inactive() {
				return false
			}
		}
		return ran.Load() == submitted.Load()
	})
}
