//go:build cgo

package foreign

import (
	"context"
	"runtime"
	"sync/atomic"
	"testing"
	"time"

	"github.com/pm2-go/pm2/marcel"
	"github.com/pm2-go/pm2/sched"
)

func start(t *testing.T, cfg sched.Config) *sched.Scheduler {
	t.Helper()
	s, err := sched.New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
		defer cancel()
		if err := s.Stop(ctx); err != nil {
			t.Error(err)
		}
	})
	return s
}

// TestCThreads: C threads spawn, join, and exchange units and mutual exclusion with
// threads of several VPs, under collection.
func TestCThreads(t *testing.T) {
	s := start(t, sched.Config{VPs: 2, Slice: time.Millisecond, Period: 250 * time.Microsecond})
	const callers, rounds = 8, 50
	var (
		mu    marcel.Mutex
		count int
		there marcel.Semaphore
		back  marcel.Semaphore
		ran   atomic.Int64
		end   atomic.Bool
	)
	go func() {
		for !end.Load() {
			runtime.GC()
			time.Sleep(time.Millisecond)
		}
	}()
	echo := s.Spawn(marcel.Attr{}, func() {
		for range 2 * callers * rounds {
			there.Acquire()
			back.Release()
		}
	})
	err := fromC(callers, func(rank int) {
		if marcel.OnThread() || marcel.Self() != (marcel.Thread{}) || sched.CurrentVP() != -1 {
			t.Error("a C thread is taken for a marcel thread")
		}
		for i := range rounds {
			there.Release()
			back.Acquire()
			mu.Lock()
			count++
			mu.Unlock()
			x := s.Spawn(marcel.Attr{VPs: marcel.OneVP(i % 2)}, func() {
				mu.Lock()
				count++
				mu.Unlock()
				marcel.Yield()
				ran.Add(1)
			})
			if err := x.Join(); err != nil {
				t.Errorf("C thread %d: %v", rank, err)
			}
			if i%10 == 0 {
				marcel.Sleep(50 * time.Microsecond)
				marcel.Yield()
				marcel.Blocking(func() { time.Sleep(10 * time.Microsecond) })
			}
		}
	})
	end.Store(true)
	if err != nil {
		t.Fatal(err)
	}
	if err := echo.Join(); err != nil {
		t.Error(err)
	}
	if want := 2 * callers * rounds; int(ran.Load()) != want || count != 2*want {
		t.Errorf("%d threads ran, %d times in the section; want %d and %d", ran.Load(), count, want, 2*want)
	}
	if there.TryAcquire() || back.TryAcquire() {
		t.Error("units are left")
	}
}

// TestDefaultFromC: the default scheduler starts when a C thread first spawns.
func TestDefaultFromC(t *testing.T) {
	var ran atomic.Int64
	if err := fromC(2, func(int) {
		if err := marcel.Spawn(func() { ran.Add(1) }).Join(); err != nil {
			t.Error(err)
		}
	}); err != nil {
		t.Fatal(err)
	}
	if ran.Load() != 4 {
		t.Errorf("%d of 4 threads ran", ran.Load())
	}
	if err := sched.Default().Stop(context.Background()); err != nil {
		t.Error(err)
	}
}

// TestCallBack: C code that a goroutine calls may call back and wait; C code that a
// thread calls may call back for what does not wait.
func TestCallBack(t *testing.T) {
	s := start(t, sched.Config{VPs: 1})
	var sem marcel.Semaphore
	calls := 0
	throughC(func(int) { // on this goroutine
		s.Spawn(marcel.Attr{}, func() {
			throughC(func(int) {
				calls++
				if !marcel.OnThread() {
					t.Error("the thread has lost itself on its way through C")
				}
				sem.Release()
			})
			marcel.Yield() // nothing is locked any more
		})
		sem.Acquire()
	})
	if calls != 1 {
		t.Errorf("%d calls", calls)
	}
}
