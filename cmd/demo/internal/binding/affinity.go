package binding

import (
	"errors"
	"fmt"
	"os"
	"runtime"
	"strconv"

	"golang.org/x/sys/unix"

	"github.com/pm2-go/pm2/sched/topo"
)

// maxCPUs is how many CPUs a unix.CPUSet can name.
const maxCPUs = 1024

// Allowed lists the CPUs that the calling thread may use, in ascending order. If
// the kernel does not say, it lists as many as the Go runtime counted.
func Allowed() []int {
	var set unix.CPUSet
	if err := unix.SchedGetaffinity(0, &set); err != nil || set.Count() == 0 {
		cpus := make([]int, runtime.NumCPU())
		for i := range cpus {
			cpus[i] = i
		}
		return cpus
	}
	var cpus []int
	for i := range maxCPUs {
		if set.IsSet(i) {
			cpus = append(cpus, i)
		}
	}
	return cpus
}

// Pair chooses two of the CPUs for two processes: the first, and the first that
// is no hardware thread of the same core. With one CPU only, or none, ok is false.
func Pair(cpus []int) (a, b int, ok bool) {
	if len(cpus) < 2 {
		return 0, 0, false
	}
	return cpus[0], Other(cpus[0], cpus), true
}

// Other chooses from cpus, which must not be empty, one for a process beside another one on CPU a: the first that is on another core, else the first other
// hardware thread, else, if there is none but a, that.
func Other(a int, cpus []int) int {
	siblings := threadSiblings(a)
	for _, c := range cpus {
		if c != a && !siblings.Has(c) {
			return c
		}
	}
	for _, c := range cpus {
		if c != a {
			return c
		}
	}
	return a
}

// threadSiblings is the set of hardware threads of cpu's core; empty if sysfs does not say.
func threadSiblings(cpu int) topo.CPUSet {
	text, _ := os.ReadFile(fmt.Sprintf("/sys/devices/system/cpu/cpu%d/topology/thread_siblings_list", cpu))
	set, _ := topo.ParseCPUList(string(text))
	return set
}

// Thread ties the calling OS thread to one CPU. The caller must have locked its
// goroutine to that thread, and end it rather than unlock it.
func Thread(cpu int) error {
	return setaffinity(0, cpu)
}

// Permitted says whether threads may be bound at all: nil, or the kernel's refusal. It
// sets a mask that changes nothing, in a thread of its own.
func Permitted() error {
	answer := make(chan error)
	go func() {
		runtime.LockOSThread() // and ends locked
		var set unix.CPUSet
		err := unix.SchedGetaffinity(0, &set)
		if err == nil {
			err = unix.SchedSetaffinity(0, &set)
		}
		answer <- err
	}()
	return <-answer
}

// Process ties every thread of this process to these CPUs, and by inheritance those to
// come. Threads that start meanwhile are found by looking again until none is new.
// An error means that the kernel forbids it; nothing has been bound then.
func Process(cpus ...int) error {
	done := map[int]bool{}
	for {
		entries, err := os.ReadDir("/proc/self/task")
		if err != nil {
			return fmt.Errorf("list the threads of this process: %w", err)
		}
		found := false
		for _, e := range entries {
			tid, err := strconv.Atoi(e.Name())
			if err != nil || done[tid] {
				continue
			}
			found = true
			done[tid] = true
			// A thread that has ended since needs no binding.
			if err := setaffinity(tid, cpus...); err != nil && !errors.Is(err, unix.ESRCH) {
				return err
			}
		}
		if !found {
			return nil
		}
	}
}

func setaffinity(tid int, cpus ...int) error {
	var set unix.CPUSet
	for _, cpu := range cpus {
		set.Set(cpu)
	}
	if err := unix.SchedSetaffinity(tid, &set); err != nil {
		return fmt.Errorf("bind to CPU %v: %w", topo.CPUs(cpus...), err)
	}
	return nil
}
