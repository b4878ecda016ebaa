package marcel_test

import (
	"os"
	"runtime"
	"slices"
	"strconv"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/pm2-go/pm2/marcel"
	"github.com/pm2-go/pm2/sched"
	"github.com/pm2-go/pm2/sched/topo"
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

// After Stop nothing of the scheduler is left: no goroutine, no OS thread bound
// to a CPU or with another policy, and GOMAXPROCS is what it was. The number of
// OS threads does not grow from one scheduler to the next.
func TestStopLeavesNothing(t *testing.T) {
	mask, err := topo.Affinity(os.Getpid())
	if err != nil {
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
			if m, err := topo.Affinity(tid); err == nil && !m.Equal(mask) {
				t.Errorf("round %d: OS thread %d is bound to CPUs %v", round, tid, m)
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
				m, err := topo.Affinity(0)
				if err != nil {
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
