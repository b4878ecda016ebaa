package sched_test

import (
	"context"
	"errors"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/pm2-go/pm2/internal/test/effort"
	"github.com/pm2-go/pm2/marcel"
	"github.com/pm2-go/pm2/sched"
)

// crowd has n threads in Blocking at once, until out returns.
func crowd(s *sched.Scheduler, n int, out func()) (hs []marcel.Thread, in *atomic.Int64) {
	in = new(atomic.Int64)
	for range n {
		hs = append(hs, s.Spawn(marcel.Attr{}, func() {
			marcel.Blocking(func() {
				in.Add(1)
				out()
			})
		}))
	}
	return hs, in
}

// TestBlockingInGo: one that waits in Go gives its OS thread back, within Blocking and without.
func TestBlockingInGo(t *testing.T) {
	const n, vps = 200, 2
	s := start(t, sched.Config{VPs: vps, SpareTime: 10 * time.Millisecond})
	for _, blocking := range []bool{true, false} {
		out := make(chan int)
		var hs []marcel.Thread
		var in, after atomic.Int64
		for range n {
			hs = append(hs, s.Spawn(marcel.Attr{}, func() {
				in.Add(1)
				if blocking {
					marcel.Blocking(func() { <-out })
				} else {
					<-out
				}
				for tries := 0; ; tries++ {
					marcel.Yield()
					if s.CurrentVP() >= 0 {
						after.Add(1)
						return
					}
					if tries == 100 { // a thread whose OS thread loses its CPU between the two has lost its VP again
						return
					}
				}
			}))
		}
		eventually(t, "all of them wait", func() bool { return in.Load() == n })
		eventually(t, "their OS threads have ended", func() bool { return s.Stats().LWPs <= 3*vps })
		if err := s.Spawn(marcel.Attr{}, func() { marcel.Yield() }).Join(); err != nil {
			t.Error(err)
		}
		close(out)
		joinAll(t, hs)
		if after.Load() != n {
			t.Errorf("blocking %v: %d of %d threads have gone on with a VP", blocking, after.Load(), n)
		}
		if st := s.Stats().Total; st.Away != 0 || st.Seized != 0 {
			t.Errorf("blocking %v: %d away, %d seized", blocking, st.Away, st.Seized)
		}
	}
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
	out := newKernelLatch(t)
	hs, in := crowd(s, n, out.wait)
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
	if st := s.Stats(); !sched.IsDirect && st.LWPs > 3*vps {
		t.Errorf("%d LWPs in the portable mode", st.LWPs)
	}
	out.open()
	joinAll(t, hs)
}

// needsLWPs skips a test in the portable mode, where a thread in Blocking is a goroutine, on no LWP.
func needsLWPs(t *testing.T) {
	if !sched.IsDirect {
		t.Skip("Blocking takes no LWP in the portable mode")
	}
}

// TestSparesEnd: OS threads that a crowd of blocked threads needed are given back, their
// ids used again, and what is left works.
func TestSparesEnd(t *testing.T) {
	needsLWPs(t)
	const n, vps = 100, 2
	procs := runtime.GOMAXPROCS(0)
	s := start(t, sched.Config{VPs: vps, Slice: time.Millisecond, Period: 250 * time.Microsecond, SpareTime: 20 * time.Millisecond})
	few := osThreads(t)
	for range 3 {
		out := newKernelLatch(t)
		hs, in := crowd(s, n, out.wait)
		eventually(t, "all are in Blocking", func() bool { return in.Load() == n })
		if got := s.Stats().LWPs; got < n {
			t.Errorf("%d LWPs for %d threads in Blocking", got, n)
		}
		out.open()
		joinAll(t, hs)
		eventually(t, "spare LWPs have ended", func() bool { return s.Stats().LWPs <= 3*vps })
		eventually(t, "their OS threads have ended", func() bool { return osThreads(t) < few+n/2 })
		if n := runtime.GOMAXPROCS(0); n != procs+vps+1 { // one that blocks needs none
			t.Errorf("GOMAXPROCS is %d, was %d", n, procs)
		}
	}
	if st := s.Stats(); st.MaxLWPs > n+10+6*vps+20 || st.Short != 0 {
		t.Errorf("at most %d LWPs at once, %d times short", st.MaxLWPs, st.Short)
	}
	var b strings.Builder
	if s.Dump(&b); strings.Contains(b.String(), "LWP 200 ") {
		t.Errorf("ids were not used again:\n%s", b.String())
	}
}

// TestLWPLimit: at the limit all wait, but none for ever, Config.Warn and
// Stats tell; and another VP has what it is sure of.
func TestLWPLimit(t *testing.T) {
	needsLWPs(t)
	told := make(chan error, 100)
	s := start(t, sched.Config{VPs: 2, MaxLWPs: 6, Warn: func(err error) { told <- err }})
	out := newKernelLatch(t)
	var in atomic.Int64
	var hs []marcel.Thread
	for range 20 {
		hs = append(hs, s.Spawn(marcel.Attr{VPs: marcel.OneVP(0)}, func() {
			marcel.Blocking(func() {
				in.Add(1)
				out.wait()
			})
		}))
	}
	var limit *sched.LimitError
	if err := <-told; !errors.As(err, &limit) || limit.VP != 0 || limit.LWPs > 6 || !strings.Contains(err.Error(), "raise Config.MaxLWPs") {
		t.Errorf("told: %v", err)
	}
	// VP 1 is not short of any: one that blocks leaves it to another.
	x := s.Spawn(marcel.Attr{VPs: marcel.OneVP(1)}, func() { marcel.Blocking(out.wait) })
	if err := s.Spawn(marcel.Attr{VPs: marcel.OneVP(1)}, func() { marcel.Yield() }).Join(); err != nil {
		t.Error(err)
	}
	eventually(t, "all that may block do", func() bool { return in.Load() >= 4 })
	if st := s.Stats(); st.LWPs > 6 || st.Short == 0 || in.Load() != 4 {
		t.Errorf("%d LWPs, %d times short, %d in Blocking", st.LWPs, st.Short, in.Load())
	}
	out.open()
	joinAll(t, append(hs, x))
}

// TestSparesStress: LWPs come and go all the time, under everything that makes them
// come, and the scheduler is stopped at any moment.
func TestSparesStress(t *testing.T) {
	dur := effort.Of(4 * time.Second)
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

// TestWatchdog: a thread that computes on while others wait for its VP is named, once, with its stack, and another time
// when it does so again; no other one is.
func TestWatchdog(t *testing.T) {
	told := make(chan error, 100)
	for _, c := range []struct {
		slice time.Duration
		firm  bool
	}{
		{time.Hour, false},
		{time.Millisecond, true},
	} {
		watched(t, c.slice, c.firm, told, func(cpuBound, _ marcel.Thread) {
			var e *sched.WatchdogError
			if err := <-told; !errors.As(err, &e) {
				t.Fatal(err)
			}
			if e.Thread != cpuBound || e.VP != 0 || e.For < 100*time.Millisecond ||
				!strings.Contains(string(e.Stack), "computeOn") || !strings.Contains(e.Error(), `"greedy"`) {
				t.Errorf("told: %v", e)
			}
		})
	}
	for len(told) > 0 {
		t.Errorf("told again: %v", <-told)
	}
}

// TestWatchdogLeavesPreemptible: one that can be preempted is not named, for the others do not wait for it. On a busy
// machine they may: then it is tried again.
func TestWatchdogLeavesPreemptible(t *testing.T) {
	var last error
	for range 10 {
		told := make(chan error, 100)
		watched(t, time.Millisecond, false, told, func(_, other marcel.Thread) { joinAll(t, []marcel.Thread{other}) })
		if len(told) == 0 {
			return
		}
		last = <-told
	}
	t.Errorf("told ten times: %v", last)
}

// watched starts a scheduler of one VP whose watchdog tells of a tenth of a second, and on it twice a thread that computes
// on, firm if it cannot be preempted, with one that waits for the VP. After meanwhile the first one computes for longer
// than the watchdog waits.
func watched(t *testing.T, slice time.Duration, firm bool, told chan<- error, meanwhile func(cpuBound, other marcel.Thread)) {
	t.Helper()
	s := start(t, sched.Config{VPs: 1, Slice: slice, Watchdog: 100 * time.Millisecond, Warn: func(err error) { told <- err }})
	var again marcel.Semaphore
	for range 2 {
		var end atomic.Bool
		cpuBound := s.Spawn(marcel.Attr{Name: "greedy", NonPreemptible: firm}, func() { computeOn(&end) })
		other := s.Spawn(marcel.Attr{Name: "innocent"}, func() { again.Release(); marcel.Sleep(time.Millisecond) })
		meanwhile(cpuBound, other)
		nap(150 * time.Millisecond)
		end.Store(true)
		joinAll(t, []marcel.Thread{cpuBound, other})
	}
	stop(t, s)
}

//go:noinline
func computeOn(end *atomic.Bool) {
	for !end.Load() {
	}
}
