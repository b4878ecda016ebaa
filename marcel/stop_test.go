package marcel_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/pm2-go/pm2/marcel"
	"github.com/pm2-go/pm2/sched"
)

// osThreads lists the OS threads of the process.
func osThreads(t *testing.T) (tids []int) {
	t.Helper()
	entries, err := os.ReadDir("/proc/self/task")
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if tid, err := strconv.Atoi(e.Name()); err == nil {
			tids = append(tids, tid)
		}
	}
	return tids
}

// busy has a scheduler do all that makes it start OS threads and coroutines.
func busy(t *testing.T, vps int) {
	t.Helper()
	s, err := sched.New(brisk(vps))
	if err != nil {
		t.Fatal(err)
	}
	within(t, func() {
		marcel.RunOn(s, func() {
			var all []marcel.Thread
			for i := range 40 {
				all = append(all, marcel.SpawnWith(marcel.Attr{Catch: true}, func() {
					switch i % 8 {
					case 0:
						marcel.Blocking(func() { nap(100 * time.Microsecond) })
					case 1:
						nap(2 * time.Millisecond)
					case 2:
						compute(2 * time.Millisecond)
					case 3:
						time.Sleep(100 * time.Microsecond)
					case 4:
						marcel.Sleep(100 * time.Microsecond)
					case 5:
						marcel.Exit()
					case 6:
						culprit(errOops)
					}
					marcel.Yield()
				}))
			}
			for i, x := range all {
				if err := x.Join(); (err != nil) != (i%8 == 6) {
					t.Errorf("thread %d: %v", i, err)
				}
			}
		})
		must(t, s.Stop(context.Background()))
	}, s)
}

// After Stop nothing of the scheduler is left: no goroutine, no OS thread bound
// to a CPU or with another policy, and GOMAXPROCS is what it was. The number of
// OS threads does not grow from one scheduler to the next.
func TestStopLeavesNothing(t *testing.T) {
	var mask unix.CPUSet
	if err := unix.SchedGetaffinity(os.Getpid(), &mask); err != nil {
		t.Fatal(err)
	}
	policy := func(tid int) uint32 {
		if a, err := unix.SchedGetAttr(tid, 0); err == nil {
			return a.Policy
		}
		return unix.SCHED_NORMAL // it has ended
	}
	leak, procs := present(t), runtime.GOMAXPROCS(0)
	const rounds = 24
	threads := 0
	for round := range rounds {
		busy(t, []int{1, 2, 5}[round%3])
		if n := runtime.GOMAXPROCS(0); n != procs {
			t.Errorf("round %d: GOMAXPROCS is %d, was %d", round, n, procs)
		}
		if err := leaks(leak); err != nil {
			t.Errorf("round %d: %v", round, err)
		}
		for _, tid := range osThreads(t) {
			var m unix.CPUSet
			if unix.SchedGetaffinity(tid, &m) == nil && m != mask {
				t.Errorf("round %d: OS thread %d is bound to %d CPUs", round, tid, m.Count())
			}
			if p := policy(tid); p != unix.SCHED_NORMAL {
				t.Errorf("round %d: OS thread %d has policy %d", round, tid, p)
			}
		}
		if round < 3 {
			threads = max(threads, len(osThreads(t)))
		}
	}
	// The Go runtime keeps a few OS threads for itself; those of the first
	// schedulers serve the later ones. What is about to end gets time for it.
	n := 0
	for range 1000 {
		if n = len(osThreads(t)); n <= threads+rounds/2 {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	t.Errorf("%d OS threads after %d schedulers, %d after the first 3", n, rounds, threads)
}

// A scheduler that stops, or looks after stray masks, leaves the OS threads of the
// others bound.
func TestSchedulersLeaveEachOtherBound(t *testing.T) {
	masks := func(s *sched.Scheduler) (cpus []int) {
		for vp := range s.NumVP() {
			must(t, s.Spawn(marcel.Attr{VPs: marcel.OneVP(vp)}, func() {
				var m unix.CPUSet
				if err := unix.SchedGetaffinity(0, &m); err != nil {
					t.Error(err)
				}
				cpus = append(cpus, m.Count())
			}).Join())
		}
		return cpus
	}
	s := start(t, brisk(2))
	before := masks(s)
	for range 3 {
		busy(t, 2)
		var after []int
		for range 50 { // Go may have moved an LWP to another OS thread just now: for up to 16 switches that is not bound
			if after = masks(s); slices.Equal(before, after) {
				break
			}
		}
		if !slices.Equal(before, after) {
			t.Fatalf("its VPs may run on %v CPUs, %v before another scheduler stopped", after, before)
		}
	}
}

// Stop waits for the threads; if it is told not to wait any longer it says how
// many there are, and the scheduler goes on.
func TestStopWithThreadsAlive(t *testing.T) {
	s := start(t, brisk(2))
	within(t, func() {
		var gate marcel.Semaphore
		for range 3 {
			s.Spawn(marcel.Attr{}, gate.Acquire)
		}
		patience, cancel := context.WithTimeout(context.Background(), time.Millisecond)
		defer cancel()
		err := s.Stop(patience)
		if !errors.Is(err, sched.ErrAlive) || !errors.Is(err, context.DeadlineExceeded) || !strings.Contains(fmt.Sprint(err), "3") {
			t.Errorf("Stop with 3 threads alive: %v", err)
		}
		ran := false
		must(t, s.Spawn(marcel.Attr{}, func() { ran = true }).Join())
		if !ran {
			t.Error("the scheduler did not go on")
		}
		x := s.Spawn(marcel.Attr{}, func() {
			if err := s.Stop(context.Background()); err == nil {
				t.Error("stopped from one of its threads")
			}
		})
		must(t, x.Join())
		var all sync.WaitGroup
		for range 3 { // several may stop it; all wait
			all.Go(func() { must(t, s.Stop(context.Background())) })
			gate.Release()
		}
		all.Wait()
		must(t, s.Stop(context.Background())) // once more: it is stopped
		must(t, x.Join())                     // handles stay right
		panics(t, "stopped", func() { s.Spawn(marcel.Attr{}, func() {}) })
		panics(t, "stopped", func() { marcel.RunOn(s, func() {}) })
	}, s)
}

// The default scheduler starts when it is needed, also again; and may be
// configured in between.
func TestDefaultRestarts(t *testing.T) {
	within(t, func() {
		marcel.Run(func() {})
		first := sched.Default()
		if err := sched.Configure(sched.Config{VPs: 3}); err == nil {
			t.Error("configured while it runs")
		}
		must(t, first.Stop(context.Background()))
		for _, bad := range []sched.Config{{VPs: -1}, {VPs: 1 << 20}, {CPUs: []int{1 << 20}}, {CPUs: []int{-1}}, {VPs: 8, MaxLWPs: 4}} {
			if err := sched.Configure(bad); err == nil {
				t.Errorf("accepted: %+v", bad)
			}
			if s, err := sched.New(bad); err == nil {
				t.Errorf("started: %+v", bad)
				stop(t, s)
			}
		}
		must(t, sched.Configure(sched.Config{VPs: 3}))
		ran := false
		marcel.Run(func() { ran = marcel.OnThread() })
		second := sched.Default()
		if !ran || second == first || second.NumVP() != 3 {
			t.Errorf("ran: %v, new: %v, %d VPs", ran, second != first, second.NumVP())
		}
		must(t, second.Stop(context.Background()))
		must(t, sched.Configure(sched.Config{}))
		marcel.Run(func() {})
	}, sched.Default())
}
