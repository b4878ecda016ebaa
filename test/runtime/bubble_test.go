package runtime_test

import (
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/pm2-go/pm2/marcel"
	"github.com/pm2-go/pm2/sched"
)

// use has the calling goroutine use primitives together with threads, each of which makes it wait.
func use(t *testing.T) {
	var sem, back marcel.Semaphore
	var mu marcel.Mutex
	x := marcel.Spawn(func() {
		sem.Acquire()
		mu.Lock()
		marcel.Yield()
		mu.Unlock()
		marcel.Sleep(time.Millisecond)
		back.Release()
	})
	sem.Release()
	back.Acquire()
	func() { mu.Lock(); defer mu.Unlock() }()
	if err := x.Join(); err != nil {
		t.Error(err)
	}
	sum := 0
	marcel.Run(func() {
		for range 3 {
			marcel.Yield()
			sum++
		}
	})
	if sum != 3 {
		t.Error("Run has not run")
	}
	y := marcel.Spawn(func() { marcel.Sleep(time.Millisecond); sem.Release() })
	marcel.Select(sem.Case(), back.Case())
	_ = y.Join()
}

// TestSynctest: a goroutine of a synctest bubble may spawn threads, and wait for them, in real
// time; what it uses of the library's memory does not carry its bubble to others.
func TestSynctest(t *testing.T) {
	sched.Default() // which must not start in a bubble
	use(t)
	for range 20 {
		synctest.Test(t, func(t *testing.T) {
			use(t)
			go use(t)
			synctest.Wait()
			began := time.Now()
			time.Sleep(time.Hour) // of the bubble's time
			if d := time.Since(began); d != time.Hour {
				t.Errorf("an hour takes %v", d)
			}
		})
		var wg sync.WaitGroup
		for range 10 {
			wg.Go(func() { use(t) })
		}
		wg.Wait()
	}
}

// TestSynctestTimeLimits: threads have no time in common with a bubble, so a wait with a time
// limit, or under a context, is refused there.
func TestSynctestTimeLimits(t *testing.T) {
	sched.Default()
	for range 3 {
		synctest.Test(t, func(t *testing.T) {
			var sem marcel.Semaphore
			refused := func(what string, f func()) {
				defer func() {
					if recover() == nil {
						t.Errorf("%s: it is not refused", what)
					}
				}()
				f()
			}
			refused("AcquireTimeout", func() { sem.AcquireTimeout(time.Second) })
			refused("AcquireContext", func() { _ = sem.AcquireContext(t.Context()) })
			refused("Select", func() { marcel.Select(sem.Case(), marcel.After(time.Second)) })
			sem.Release()
			if !sem.TryAcquire() {
				t.Error("the semaphore is not as it was")
			}
		})
		var sem marcel.Semaphore
		if sem.AcquireTimeout(time.Millisecond) {
			t.Error("a unit from nowhere")
		}
	}
}

// TestSynctestStart: a scheduler does not start in a bubble, whose goroutines its own would be.
func TestSynctestStart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		if s, err := sched.New(sched.Config{VPs: 1}); err == nil {
			t.Error("it has started")
			_ = s
		}
	})
}

// TestSynctestGrowth: what a bubble's goroutine makes the scheduler start, OS threads included,
// stays outside of the bubble.
func TestSynctestGrowth(t *testing.T) {
	s, err := sched.New(sched.Config{VPs: 2})
	if err != nil {
		t.Fatal(err)
	}
	defer stop(t, s)
	var blocked atomic.Int32
	synctest.Test(t, func(t *testing.T) {
		var all []marcel.Thread
		for range 40 {
			x := s.Spawn(sched.Attr{}, func() {
				blocked.Add(1)
				marcel.Blocking(func() { time.Sleep(5 * time.Millisecond) }) // each wants another OS thread
				marcel.Yield()
			})
			all = append(all, x)
		}
		for _, x := range all {
			_ = x.Join()
		}
	})
	if blocked.Load() != 40 {
		t.Errorf("%d threads have run", blocked.Load())
	}
}
