package sched_test

import (
	"context"
	"errors"
	"os"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/pm2-go/pm2/marcel"
	"github.com/pm2-go/pm2/sched"
)

func osThreads(t testing.TB) int {
	t.Helper()
	e, err := os.ReadDir("/proc/self/task")
	if err != nil {
		t.Fatal(err)
	}
	return len(e)
}

// crowd has n threads in Blocking at once, until out is closed.
func crowd(s *sched.Scheduler, n int, out chan int) (hs []marcel.Thread, in *atomic.Int64) {
	in = new(atomic.Int64)
	for range n {
		hs = append(hs, s.Spawn(marcel.Attr{}, func() {
			marcel.Blocking(func() {
				in.Add(1)
				<-out
			})
		}))
	}
	return hs, in
}

func joinAll(t testing.TB, hs []marcel.Thread) {
	t.Helper()
	for _, h := range hs {
		if err := h.Join(); err != nil {
			t.Error(err)
		}
	}
}

// TestBlockingThousand: with 1,000 threads in Blocking every VP goes on.
func TestBlockingThousand(t *testing.T) {
	n := 1000
	if testing.Short() {
		n = 300
	}
	const vps = 2
	s := start(t, sched.Config{VPs: vps})
	out := make(chan int)
	hs, in := crowd(s, n, out)
	eventually(t, "all are in Blocking", func() bool { return in.Load() == int64(n) })
	for vp := range vps {
		var sem, back marcel.Semaphore
		x := s.Spawn(marcel.Attr{VPs: marcel.OneVP(vp)}, func() {
			for range 1000 {
				sem.Acquire()
				back.Release()
			}
		})
		y := s.Spawn(marcel.Attr{VPs: marcel.OneVP(vp)}, func() {
			for range 1000 {
				sem.Release()
				back.Acquire()
			}
		})
		joinAll(t, []marcel.Thread{x, y})
	}
	if got := in.Load(); got != int64(n) {
		t.Errorf("%d threads in Blocking, %d went in", n, got)
	}
	close(out)
	joinAll(t, hs)
}

// TestSparesEnd: OS threads and Ps that a crowd of blocked and of computing threads
// needed are given back, their ids used again, and what is left works.
func TestSparesEnd(t *testing.T) {
	const n, vps = 100, 2
	procs := runtime.GOMAXPROCS(0)
	s := start(t, sched.Config{VPs: vps, Slice: time.Millisecond, Period: 250 * time.Microsecond, SpareTime: 20 * time.Millisecond})
	few := osThreads(t)
	for range 3 {
		out := make(chan int)
		hs, in := crowd(s, n, out)
		eventually(t, "all are in Blocking", func() bool { return in.Load() == n })
		if got := s.Stats().LWPs; got < n {
			t.Errorf("%d LWPs for %d threads in Blocking", got, n)
		}
		var end atomic.Bool
		var hogs []marcel.Thread
		for range 10 {
			hogs = append(hogs, s.Spawn(marcel.Attr{}, func() {
				for !end.Load() {
				}
			}))
		}
		eventually(t, "Ps were raised for displaced threads", func() bool { return runtime.GOMAXPROCS(0) > procs+vps+1 })
		end.Store(true)
		joinAll(t, hogs)
		close(out)
		joinAll(t, hs)
		eventually(t, "spare LWPs have ended", func() bool { return s.Stats().LWPs <= 3*vps })
		eventually(t, "their OS threads have ended", func() bool { return osThreads(t) < few+n/2 })
		eventually(t, "GOMAXPROCS is lower", func() bool { return runtime.GOMAXPROCS(0) == procs+vps+1 })
	}
	if st := s.Stats(); st.MaxLWPs > n+10+6*vps+20 || st.Short != 0 {
		t.Errorf("at most %d LWPs at once, %d times short", st.MaxLWPs, st.Short)
	}
	var b strings.Builder
	if s.Dump(&b); strings.Contains(b.String(), "LWP 200 ") {
		t.Errorf("ids were not used again:\n%s", b.String())
	}
}

// TestLWPLimit: at the limit everybody waits, but nobody for ever, Config.Warn and
// Stats tell; and another VP has what it is sure of.
func TestLWPLimit(t *testing.T) {
	told := make(chan error, 100)
	s := start(t, sched.Config{VPs: 2, MaxLWPs: 6, Warn: func(err error) { told <- err }})
	out := make(chan int)
	var in atomic.Int64
	var hs []marcel.Thread
	for range 20 {
		hs = append(hs, s.Spawn(marcel.Attr{VPs: marcel.OneVP(0)}, func() {
			marcel.Blocking(func() {
				in.Add(1)
				<-out
			})
		}))
	}
	var limit *sched.LimitError
	if err := <-told; !errors.As(err, &limit) || limit.VP != 0 || limit.LWPs > 6 || !strings.Contains(err.Error(), "raise Config.MaxLWPs") {
		t.Errorf("told: %v", err)
	}
	// VP 1 is not short of any: one that blocks leaves it to another.
	x := s.Spawn(marcel.Attr{VPs: marcel.OneVP(1)}, func() { marcel.Blocking(func() { <-out }) })
	if err := s.Spawn(marcel.Attr{VPs: marcel.OneVP(1)}, func() { marcel.Yield() }).Join(); err != nil {
		t.Error(err)
	}
	eventually(t, "all that may block do", func() bool { return in.Load() >= 4 })
	if st := s.Stats(); st.LWPs > 6 || st.Short == 0 || in.Load() != 4 {
		t.Errorf("%d LWPs, %d times short, %d in Blocking", st.LWPs, st.Short, in.Load())
	}
	close(out)
	joinAll(t, append(hs, x))
}

// TestSparesStress: LWPs come and go all the time, under everything that makes them
// come, and the scheduler is stopped at any moment.
func TestSparesStress(t *testing.T) {
	dur := 2 * time.Second
	if testing.Short() {
		dur = 300 * time.Millisecond
	}
	before := osThreads(t)
	end := time.Now().Add(dur)
	for round := 0; time.Now().Before(end); round++ {
		s, err := sched.New(sched.Config{VPs: 1 + round%3, Slice: 300 * time.Microsecond, Period: 100 * time.Microsecond, SpareTime: 200 * time.Microsecond})
		if err != nil {
			t.Fatal(err)
		}
		var hs []marcel.Thread
		for i := range 60 {
			hs = append(hs, s.Spawn(marcel.Attr{}, func() {
				for j := range 5 {
					switch (i + j) % 4 {
					case 0:
						marcel.Blocking(func() { nap(time.Duration(50*i) * time.Microsecond) })
					case 1:
						burn(time.Duration(10*i) * time.Microsecond)
					case 2:
						marcel.Sleep(time.Duration(20*i) * time.Microsecond)
					case 3:
						time.Sleep(time.Duration(10*i) * time.Microsecond)
					}
					if i == 7 && j == 3 {
						runtime.GC()
					}
				}
			}))
		}
		if round%2 == 0 {
			joinAll(t, hs)
		}
		ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
		if err := s.Stop(ctx); err != nil {
			t.Fatal(err)
		}
		cancel()
	}
	eventually(t, "OS threads have ended", func() bool { return osThreads(t) < before+40 })
}

// TestKernelSlices: an OS thread that holds a VP has a short kernel slice, unless the
// configuration says no.
func TestKernelSlices(t *testing.T) {
	slice := func(no bool) (ns uint64) {
		s := start(t, sched.Config{VPs: 1, NoKernelSlices: no})
		marcel.RunOn(s, func() {
			if attr, err := unix.SchedGetAttr(0, 0); err == nil {
				ns = attr.Runtime
			}
		})
		return ns
	}
	with, without := slice(false), slice(true)
	if with == 0 {
		t.Skip("this kernel does not tell slices")
	}
	if with != 100_000 || without == with {
		t.Errorf("slices of %d ns, %d ns without", with, without)
	}
}

// TestDisplacedSpins: a thread that has lost its VP and waits for somebody without
// parking sleeps to let others run, for a yield would cost it the whole of a long kernel
// slice. The kernel counts sleeps, as switches that are voluntary; yields are none.
func TestDisplacedSpins(t *testing.T) {
	s := start(t, sched.Config{VPs: 1, Slice: time.Millisecond, Period: 250 * time.Microsecond})
	sleeps := func() int64 {
		var u unix.Rusage
		if err := unix.Getrusage(unix.RUSAGE_THREAD, &u); err != nil {
			t.Error(err)
		}
		return u.Nvcsw
	}
	var stop atomic.Bool
	marcel.RunOn(s, func() {
		other := marcel.Spawn(func() { // has the VP meanwhile, and keeps the CPU busy
			for !stop.Load() {
				burn(100 * time.Microsecond)
				marcel.Yield()
			}
		})
		// Whoever takes the VP says so to its loser a moment later, which on a busy machine may be long;
		// and the loser may get it back. So it has some attempts.
		slept := int64(0)
		for begin := time.Now(); slept < 100 && time.Since(begin) < time.Minute; {
			for s.CurrentVP() >= 0 {
				burn(100 * time.Microsecond)
			}
			was := sleeps()
			for n := 1; n < 20_000; n++ {
				sched.Backoff(n)
			}
			slept = sleeps() - was
		}
		if slept < 100 {
			t.Errorf("a thread that has lost its VP slept %d times in 20,000 turns of spinning", slept)
		}
		stop.Store(true)
		if err := other.Join(); err != nil {
			t.Error(err)
		}
	})
}

// TestWatchdog: a thread that computes on while others wait for its VP is named, once,
// with its stack, and another time when it does so again; nobody else is.
func TestWatchdog(t *testing.T) {
	told := make(chan error, 100)
	for _, slice := range []time.Duration{time.Millisecond, time.Hour} {
		s := start(t, sched.Config{VPs: 1, Slice: slice, Watchdog: 100 * time.Millisecond, Warn: func(err error) { told <- err }})
		var again marcel.Semaphore
		for range 2 {
			var end atomic.Bool
			hog := s.Spawn(marcel.Attr{Name: "greedy"}, func() { computeOn(&end) })
			other := s.Spawn(marcel.Attr{Name: "innocent"}, func() { again.Release(); marcel.Sleep(time.Millisecond) })
			var e *sched.HogError
			if err := <-told; !errors.As(err, &e) {
				t.Fatal(err)
			}
			if e.Thread != hog || e.VP != 0 || e.For < 100*time.Millisecond || e.Lost != (slice < time.Hour) ||
				!strings.Contains(string(e.Stack), "computeOn") || !strings.Contains(e.Error(), `"greedy"`) {
				t.Errorf("told: %v", e)
			}
			nap(150 * time.Millisecond)
			end.Store(true)
			joinAll(t, []marcel.Thread{hog, other})
		}
		stop(t, s)
	}
	for len(told) > 0 {
		t.Errorf("told again: %v", <-told)
	}
}

//go:noinline
func computeOn(end *atomic.Bool) {
	for !end.Load() {
	}
}
