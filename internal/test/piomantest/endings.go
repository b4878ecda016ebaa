package piomantest

import (
	"errors"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/pm2-go/pm2/pioman"
)

// pause lets a moment go by, of another length each time.
func pause(i int) {
	switch i % 4 {
	case 1:
		runtime.Gosched()
	case 2:
		for range 100 * (i % 31) {
			runtime.KeepAlive(i)
		}
	case 3:
		time.Sleep(time.Duration(i%17) * 20 * time.Microsecond)
	}
}

// unhooking: the engine is hooked and unhooked while tasks are submitted, awaited and canceled; all of them end.
func unhooking(t *testing.T, w World) {
	s := w.bare(t)
	if !s.background() {
		t.Skip("there is nothing to unhook")
	}
	n := s.rounds(800)
	var over atomic.Bool
	var hookers sync.WaitGroup
	hookers.Go(func() {
		for i := 0; !over.Load(); i++ {
			_, stop := s.start()
			pause(i)
			stop()
			stop()
			pause(i / 3)
		}
	})
	defer hookers.Wait()
	defer over.Store(true)
	s.crowd(2, func(k int) {
		var once, again pioman.Task
		var c pioman.Completion
		runs := 0
		once.Init("once", func(*pioman.Task) pioman.Status { runs++; return pioman.Done }, pioman.OneShot)
		again.Init("again", func(*pioman.Task) pioman.Status { return pioman.Again }, pioman.Repeat|pioman.Blind)
		for i := range n {
			s.submit(&again)
			c.Reset()
			once.Notify(&c, 1)
			s.submit(&once)
			var err error
			if i%3 == 0 {
				err = s.waitFor(&c, 1, patience)
			} else {
				err = c.Wait(s.e, 1)
			}
			if err != nil || runs != i+1 {
				s.Errorf("ran %d times of %d; %v", runs, i+1, err)
				return
			}
			if err := again.Cancel(); err != nil {
				s.Error(err)
				return
			}
		}
	})
}

// closing: the engine is closed at every moment. Waiters are told, what was accepted comes to rest, nothing is accepted
// afterwards.
func closing(t *testing.T, w World) {
	n := 100
	if testing.Short() {
		n = 20
	}
	for i := range n {
		e := pioman.New(pioman.Config{Name: "closing", OnPanic: func(p *pioman.PanicError) { t.Error(p) }})
		s := &scene{T: t, w: w, e: e}
		_, stop := s.start()
		src := newPipe(t)
		if err := e.AddSource(src); err != nil {
			t.Fatal(err)
		}
		const each = 2
		var begun atomic.Int64
		var closer sync.WaitGroup
		closer.Go(func() {
			for begun.Load() < int64(i%5*s.size(each)) { // submissions so far
				runtime.Gosched()
			}
			pause(i)
			if err := e.Close(); err != nil {
				t.Error(err)
			}
		})
		s.crowd(each, func(k int) {
			var never pioman.Completion
			var tasks [3]pioman.Task
			tasks[0].Init("submits", func(*pioman.Task) pioman.Status {
				// From a handler, during the end of the engine.
				if err := e.Submit(&tasks[2]); err != nil && !errors.Is(err, pioman.ErrClosed) && !errors.Is(err, pioman.ErrScheduled) {
					t.Error(err)
				}
				return pioman.Again
			}, pioman.Repeat)
			tasks[1].Init("once", func(*pioman.Task) pioman.Status { return pioman.Done }, pioman.OneShot)
			tasks[2].Init("inner", func(*pioman.Task) pioman.Status { return pioman.Done }, pioman.OneShot)
			for j := 0; ; j++ {
				var c pioman.Completion
				if tasks[j%2].State().Inactive() {
					if j%2 == 1 {
						tasks[1].Notify(&c, 1)
					}
					err := e.Submit(&tasks[j%2])
					begun.Add(1)
					if errors.Is(err, pioman.ErrClosed) {
						break
					}
					if err != nil {
						t.Error(err)
						return
					}
				}
				var err error
				switch {
				case j%2 == 1:
					err = c.Wait(e, 1)
				case j > 2 && k%2 == 0:
					err = never.Wait(e, 1) // until the end
				}
				if errors.Is(err, pioman.ErrClosed) {
					break
				}
				if err != nil {
					t.Error(err)
					return
				}
			}
			for x := range tasks {
				if err := tasks[x].Cancel(); err != nil {
					t.Error(err)
				}
				if st := tasks[x].State(); !st.Inactive() {
					t.Errorf("task %q is %v after the end", tasks[x].Name(), st)
				}
			}
			if err := e.Submit(&tasks[1]); !errors.Is(err, pioman.ErrClosed) {
				t.Errorf("submitted after the end: %v", err)
			}
		})
		s.finishes("Close", closer.Wait)
		stop()
		if err := e.Close(); err != nil {
			t.Error(err)
		}
		if n := e.Pending(); n != 0 {
			t.Errorf("%d pending after the end", n)
		}
	}
}

// everything: all of it in any mixture, from every kind of caller, and the count is right.
func everything(t *testing.T, w World) {
	s := w.stage(t)
	n := s.rounds(3000)
	src := newPipe(t)
	if err := s.e.AddSource(src); err != nil {
		t.Fatal(err)
	}
	var arrived, put, ran, submitted atomic.Int64
	var receiver pioman.Task
	receiver.Init("receiver", func(*pioman.Task) pioman.Status {
		if n := src.take(); n > 0 {
			arrived.Add(int64(n))
			return pioman.Moved
		}
		return pioman.Again
	}, pioman.Repeat)
	s.submit(&receiver)
	s.e.AddPending()
	s.crowd(3, func(k int) {
		var task, inner pioman.Task
		var c pioman.Completion
		inner.Init("inner", func(*pioman.Task) pioman.Status { ran.Add(1); return pioman.Done }, pioman.OneShot)
		left := 0
		task.Init("outer", func(*pioman.Task) pioman.Status {
			if left--; left > 0 {
				return pioman.Moved
			}
			inner.Notify(&c, 2)
			s.submit(&inner)
			ran.Add(1)
			return pioman.Done
		}, pioman.Repeat)
		for i := range n {
			c.Reset()
			left = i % 4
			task.Notify(&c, 1)
			submitted.Add(2)
			s.e.AddPending()
			s.submit(&task)
			if i%5 == 0 {
				put.Add(1)
				src.put()
			}
			if i%4 == 0 {
				s.e.Poll()
			}
			var err error
			if i%2 == 0 {
				err = c.WaitAll(s.e, 3)
			} else if err = s.waitFor(&c, 2, patience); err == nil {
				err = c.Wait(s.e, 1)
			}
			s.e.RemovePending()
			if err != nil {
				s.Error(err)
				return
			}
		}
	})
	s.eventually("all arrives", func() bool { return arrived.Load() == put.Load() })
	s.e.RemovePending()
	if err := receiver.Cancel(); err != nil {
		t.Error(err)
	}
	s.e.RemoveSource(src)
	if ran.Load() != submitted.Load() {
		t.Errorf("%d ran of %d", ran.Load(), submitted.Load())
	}
	if len(s.panicked) != 0 {
		t.Errorf("panics: %v", s.panicked)
	}
}
