package stress

import (
	"fmt"
	"iter"
	"os"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"
	"golang.org/x/sys/unix"

	"github.com/pm2-go/pm2/sched/topo"
)

// A state is what a scheduler changes in its process and has to restore.
type state struct {
	procs  int
	mask   topo.CPUSet
	policy uint32
	leak   goleak.Option
}

// before notes the state before a scheduler starts.
func before(t testing.TB) state {
	t.Helper()
	s := state{procs: runtime.GOMAXPROCS(0), leak: goleak.IgnoreCurrent()}
	var err error
	if s.mask, err = topo.Affinity(os.Getpid()); err != nil {
		t.Fatal(err)
	}
	attr, err := unix.SchedGetAttr(os.Getpid(), 0)
	if err != nil {
		t.Fatal(err)
	}
	s.policy = attr.Policy
	return s
}

// remains lists what is not as it was: goroutines, the masks and policies of OS
// threads, GOMAXPROCS.
func (s state) remains() (found []string) {
	if n := runtime.GOMAXPROCS(0); n != s.procs {
		found = append(found, fmt.Sprintf("GOMAXPROCS is %d, was %d", n, s.procs))
	}
	if err := goleak.Find(s.leak); err != nil {
		found = append(found, err.Error())
	}
	for _, tid := range osThreads() {
		mask, err := topo.Affinity(tid)
		if err != nil {
			continue // it has ended
		}
		if !mask.Equal(s.mask) {
			found = append(found, fmt.Sprintf("OS thread %d may run on %d CPUs, the process on %d (%s)", tid, mask.Count(), s.mask.Count(), history(tid)))
		}
		if attr, err := unix.SchedGetAttr(tid, 0); err == nil && attr.Policy != s.policy {
			found = append(found, fmt.Sprintf("OS thread %d has policy %d, was %d", tid, attr.Policy, s.policy))
		}
	}
	return found
}

// check fails the test for each thing that remains.
func (s state) check(t testing.TB) {
	t.Helper()
	for _, what := range s.remains() {
		t.Error("left behind: " + what)
	}
}

// history tells of an OS thread how old it is, and whether it ends soon or stays as it is.
func history(tid int) string {
	stat := func() []string {
		b, _ := os.ReadFile(fmt.Sprintf("/proc/self/task/%d/stat", tid))
		_, after, _ := strings.Cut(string(b), ") ")
		return strings.Fields(after)
	}
	f := stat()
	if len(f) < 20 {
		return "it has ended since"
	}
	var up float64
	b, _ := os.ReadFile("/proc/uptime")
	fmt.Sscan(string(b), &up)
	start, _ := strconv.ParseFloat(f[19], 64) // in ticks of 10 ms since the machine started
	age := up - start/100
	time.Sleep(200 * time.Millisecond)
	mask, err := topo.Affinity(tid)
	if err != nil {
		return fmt.Sprintf("%.2f s old, state %s; 0.2 s later it had ended", age, f[0])
	}
	return fmt.Sprintf("%.2f s old, state %s; 0.2 s later on %d CPUs", age, f[0], mask.Count())
}

// osThreads lists the ids of the process's OS threads.
func osThreads() (tids []int) {
	entries, err := os.ReadDir("/proc/self/task")
	if err != nil {
		panic(err)
	}
	for _, e := range entries {
		if tid, err := strconv.Atoi(e.Name()); err == nil {
			tids = append(tids, tid)
		}
	}
	return tids
}

// TestRemainsAreSeen: each kind of leftover is found while it is there.
func TestRemainsAreSeen(t *testing.T) {
	none := func(s state) {
		t.Helper()
		if found := s.remains(); len(found) != 0 {
			t.Errorf("nothing remains, but found: %v", found)
		}
	}
	some := func(s state, what string) {
		t.Helper()
		if found := s.remains(); len(found) != 1 {
			t.Errorf("%s: found %v, want one thing", what, found)
		}
	}
	s := before(t)
	none(s)

	runtime.GOMAXPROCS(s.procs + 1)
	some(s, "more Ps")
	runtime.GOMAXPROCS(s.procs)

	release := make(chan bool)
	go func() { <-release }()
	some(s, "a goroutine")
	close(release)

	next, stop := iter.Pull(func(yield func(int) bool) { yield(1) })
	next()
	some(s, "a coroutine")
	stop()
	none(s)

	if s.mask.Count() > 1 {
		with, restore := altered(t, s, func(tid int) error {
			return topo.CPUs(s.mask.First()).Bind(tid)
		})
		some(with, "a narrowed mask")
		restore()
	}
	with, restore := altered(t, s, func(tid int) error {
		return unix.SchedSetAttr(tid, &unix.SchedAttr{Size: unix.SizeofSchedAttr, Policy: unix.SCHED_BATCH}, 0)
	})
	some(with, "another policy")
	restore()
	none(s)
}

// altered changes one OS thread. It returns s but for the goroutine that holds this
// OS thread, and a function that ends both.
func altered(t *testing.T, s state, alter func(tid int) error) (with state, restore func()) {
	t.Helper()
	ready, release := make(chan error), make(chan bool)
	var hold func()
	hold = func() {
		runtime.LockOSThread()
		if unix.Gettid() == os.Getpid() { // the main thread never ends
			defer runtime.UnlockOSThread()
			done := make(chan bool)
			go func() { defer close(done); hold() }()
			<-done
			return
		}
		ready <- alter(unix.Gettid()) // never unlocked: the OS thread ends with the goroutine
		<-release
	}
	go hold()
	if err := <-ready; err != nil {
		t.Fatal(err)
	}
	with = s
	with.leak = goleak.IgnoreCurrent()
	return with, func() {
		close(release)
		for range 500 {
			if len(s.remains()) == 0 {
				return
			}
			time.Sleep(10 * time.Millisecond)
		}
	}
}
