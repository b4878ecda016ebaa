package cpus

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// Usable lists the processors that this process may use, neighbours next to each other:
// by package, then by core.
func Usable() ([]int, error) {
	set, err := processMask()
	if err != nil {
		return nil, err
	}
	type place struct{ cpu, pack, core int }
	var places []place
	for cpu := 0; len(places) < set.Count(); cpu++ {
		if set.IsSet(cpu) {
			places = append(places, place{cpu, topology(cpu, "physical_package_id"), topology(cpu, "core_id")})
		}
	}
	slices.SortFunc(places, func(a, b place) int {
		return cmp.Or(a.pack-b.pack, a.core-b.core, a.cpu-b.cpu)
	})
	cpus := make([]int, len(places))
	for i, p := range places {
		cpus[i] = p.cpu
	}
	return cpus, nil
}

// processMask is what any thread of this process may use. One thread does not say it, not even the first: a goroutine that
// binds its thread and ends locked takes the thread along, but the first thread of a process cannot end, and
// stays bound for good.
func processMask() (all unix.CPUSet, err error) {
	threads, err := os.ReadDir("/proc/self/task")
	if err != nil {
		return all, unix.SchedGetaffinity(os.Getpid(), &all)
	}
	for _, thread := range threads {
		var set unix.CPUSet
		tid, err := strconv.Atoi(thread.Name())
		if err != nil || unix.SchedGetaffinity(tid, &set) != nil {
			continue // it has ended
		}
		for i := range all {
			all[i] |= set[i]
		}
	}
	if all.Count() == 0 {
		return all, fmt.Errorf("no thread of %d says", len(threads))
	}
	return all, nil
}

// topology reads a number about a processor; 0 if it is not known.
func topology(cpu int, what string) int {
	text, _ := os.ReadFile(fmt.Sprintf("/sys/devices/system/cpu/cpu%d/topology/%s", cpu, what))
	n, _ := strconv.Atoi(strings.TrimSpace(string(text)))
	return n
}

// Affinity is a mask of processors that an OS thread may use.
type Affinity struct{ set unix.CPUSet }

// Current is that of the calling OS thread, to which its goroutine is locked.
func Current() (Affinity, error) {
	var a Affinity
	err := unix.SchedGetaffinity(0, &a.set)
	return a, err
}

// Of is that of some processors.
func Of(cpus []int) Affinity {
	var a Affinity
	for _, cpu := range cpus {
		a.set.Set(cpu)
	}
	return a
}

// Apply sets the mask of the calling OS thread.
func (a *Affinity) Apply() error { return unix.SchedSetaffinity(0, &a.set) }

// Inherited says that this process may use the same processors as the one that has started it: that has not bound it.
func Inherited() bool {
	own, err := processMask()
	var parents unix.CPUSet
	return err == nil && unix.SchedGetaffinity(os.Getppid(), &parents) == nil && own == parents
}

// Bind sets the mask of all threads of this process; those that they start later inherit it.
func Bind(cpus []int) error {
	a := Of(cpus)
	bound := map[int]bool{}
	for again := true; again; { // until no thread has begun meanwhile
		again = false
		threads, err := os.ReadDir("/proc/self/task")
		if err != nil {
			return err
		}
		for _, thread := range threads {
			tid, err := strconv.Atoi(thread.Name())
			if err != nil || bound[tid] {
				continue
			}
			if err := unix.SchedSetaffinity(tid, &a.set); err != nil && !errors.Is(err, unix.ESRCH) {
				return err
			}
			bound[tid], again = true, true
		}
	}
	return nil
}
