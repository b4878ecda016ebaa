package binding

import (
	"fmt"
	"os"
	"runtime"

	"github.com/pm2-go/pm2/sched/topo"
)

// Allowed lists the CPUs that the calling thread may use, in ascending order. If the kernel does not say, it lists
// those that the process had when it started.
func Allowed() (cpus []int) {
	set, err := topo.Affinity(0)
	if err != nil {
		set = topo.ProcessMask()
	}
	for cpu := range set.All() {
		cpus = append(cpus, cpu)
	}
	return cpus
}

// Pair chooses two of the CPUs for two processes: the first, and the first that is no hardware thread of the same core.
// With one CPU only, or none, ok is false.
func Pair(cpus []int) (a, b int, ok bool) {
	if len(cpus) < 2 {
		return 0, 0, false
	}
	return cpus[0], Other(cpus[0], cpus), true
}

// Other chooses from cpus, which must not be empty, one for a process beside another one on CPU a: the first that is on
// another core, else the first other hardware thread, else, if there is none but a, that.
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

// Thread ties the calling OS thread to one CPU. The caller must have locked its goroutine to that thread, and end it
// rather than unlock it.
func Thread(cpu int) error { return bound(topo.CPUs(cpu).Bind(0), cpu) }

// Permitted reports whether threads may be bound at all: nil, or the kernel's refusal. It sets a mask that changes
// nothing, in a thread of its own.
func Permitted() error {
	answer := make(chan error)
	go func() {
		runtime.LockOSThread() // and ends locked
		set, err := topo.Affinity(0)
		if err == nil {
			err = set.Bind(0)
		}
		answer <- err
	}()
	return <-answer
}

// Process ties every thread of this process to these CPUs, and by inheritance those to come. An error means that the
// kernel forbids it; nothing has been bound then.
func Process(cpus ...int) error { return bound(topo.CPUs(cpus...).BindProcess(), cpus...) }

func bound(err error, cpus ...int) error {
	if err != nil {
		return fmt.Errorf("bind to CPU %v: %w", topo.CPUs(cpus...), err)
	}
	return nil
}
