package sched_test

import (
	"context"
	"errors"
	"math/rand/v2"
	"os"
	"runtime"
	"runtime/debug"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/pm2-go/pm2/internal/test/effort"
	"github.com/pm2-go/pm2/marcel"
	"github.com/pm2-go/pm2/sched"
)

func start(t testing.TB, cfg sched.Config) *sched.Scheduler {
	t.Helper()
	s, err := sched.New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { stop(t, s) })
	return s
}

func stop(t testing.TB, s *sched.Scheduler) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	if err := s.Stop(ctx); err != nil {
		t.Error(err)
	}
}

func burn(d time.Duration) (x int) {
	for t0 := time.Now(); time.Since(t0) < d; {
		for i := range 100 {
			x += i
		}
	}
	return x
}

// TestEverything mixes all that threads do, on few VPs with short slices, under
// constant collection, and checks exclusion, wake-ups and identity.
func TestEverything(t *testing.T) {
	defer debug.SetGCPercent(debug.SetGCPercent(5))
	dur := effort.Of(5 * time.Second)
	if x, err := time.ParseDuration(os.Getenv("PM2_STRESS")); err == nil {
		dur = x
	}
	for _, vps := range []int{1, 2, 5} {
		s := start(t, sched.Config{VPs: vps, Slice: time.Millisecond, Period: 250 * time.Microsecond, IdleSpin: 20 * time.Microsecond})
		done := make(chan struct{})
		go func() {
			defer close(done)
			marcel.RunOn(s, func() { everything(t, s, dur) })
		}()
		select {
		case <-done:
		case <-time.After(dur + 60*time.Second):
			s.Dump(os.Stderr)
			debug.SetTraceback("all")
			panic("stuck")
		}
		stop(t, s)
	}
}

func everything(t *testing.T, s *sched.Scheduler, dur time.Duration) {
	end := time.Now().Add(dur)
	var total atomic.Int64
	for round := uint64(0); time.Now().Before(end); round++ {
		const n = 1000
		var (
			mu    marcel.Mutex
			count int
			sems  [16]marcel.Semaphore
			gos   sync.WaitGroup
			ts    []marcel.Thread
		)
		for i := range n {
			a := marcel.Attr{}
			if i%7 == 0 {
				a.VPs = marcel.OneVP(i % s.NumVP())
			}
			ts = append(ts, s.Spawn(a, func() {
				r := rand.New(rand.NewPCG(uint64(i), round))
				me := marcel.Self()
				for range 10 {
					act(r, s, sems[:], &gos)
					if marcel.Self() != me {
						panic("lost my self")
					}
					mu.Lock()
					c := count
					if r.IntN(8) == 0 {
						marcel.Yield()
					}
					count = c + 1
					mu.Unlock()
					total.Add(1)
				}
				if r.IntN(10) == 0 {
					marcel.Exit()
				}
			}))
		}
		for _, x := range ts {
			if err := x.Join(); err != nil {
				t.Error(err)
			}
			if !x.Ended() {
				t.Error("joined, not ended")
			}
		}
		gos.Wait()
		if count != n*10 {
			t.Errorf("lost updates: %d of %d", n*10-count, n*10)
		}
	}
	t.Logf("%d VPs: %d steps", s.NumVP(), total.Load())
}

func act(r *rand.Rand, s *sched.Scheduler, sems []marcel.Semaphore, gos *sync.WaitGroup) {
	k := r.IntN(1000)
	switch {
	case k < 300:
		marcel.Yield()
	case k < 350:
		_ = make([]byte, 1024)
	case k < 450:
		sems[r.IntN(len(sems))].Release()
	case k < 550:
		sems[r.IntN(len(sems))].TryAcquire()
	case k < 560:
		sems[r.IntN(len(sems))].AcquireTimeout(time.Duration(r.IntN(300)) * time.Microsecond)
	case k < 570:
		marcel.Blocking(func() { marcel.Yield(); nap(10 * time.Microsecond); marcel.Yield() })
	case k < 600:
		marcel.Blocking(func() { os.Getpid() })
	case k < 606:
		marcel.Blocking(func() { nap(time.Duration(r.IntN(200)) * time.Microsecond) })
	case k < 608:
		time.Sleep(time.Duration(r.IntN(300)) * time.Microsecond)
	case k < 609:
		ch := make(chan int)
		go func() { ch <- 1 }()
		<-ch
	case k < 611:
		burn(time.Duration(r.IntN(2000)) * time.Microsecond)
	case k < 620:
		marcel.Sleep(time.Duration(r.IntN(300)) * time.Microsecond)
	case k < 800:
		c := 0
		if err := marcel.Spawn(func() { c++; marcel.Yield(); c++ }).Join(); err != nil || c != 2 {
			panic("joined early")
		}
	case k < 850:
		var sem marcel.Semaphore
		marcel.SpawnWith(marcel.Attr{VPs: marcel.OneVP(r.IntN(s.NumVP()))}, func() { sem.Release() })
		sem.Acquire()
	case k < 860:
		var sem marcel.Semaphore
		gos.Add(1)
		go func() { defer gos.Done(); sem.Release() }()
		sem.Acquire()
	case k < 870:
		x := marcel.SpawnWith(marcel.Attr{Catch: true, Name: "bad"}, func() { marcel.Yield(); panic(errBad) })
		if err := x.Join(); !errors.Is(err, errBad) {
			panic("no panic from join")
		}
	case k < 880:
		_ = marcel.Spawn(func() { runtime.Goexit() }).Join()
	case k < 882:
		runtime.GC()
	case k < 890:
		var sem marcel.Semaphore
		marcel.AfterFunc(time.Duration(r.IntN(200))*time.Microsecond, func() { marcel.Yield(); sem.Release() })
		sem.Acquire()
	case k < 900:
		x := marcel.NewTimer(time.Duration(r.IntN(200)) * time.Microsecond)
		for range r.IntN(3) {
			marcel.Yield()
		}
		if r.IntN(2) == 0 && x.Stop() {
			x.Reset(time.Microsecond)
			if !x.Wait() {
				panic("no other thread has the expiry")
			}
		} else if x.Wait() && x.TryWait() {
			panic("expired twice")
		}
	}
}

var errBad = errors.New("bad")
