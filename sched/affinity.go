package sched

import (
	"fmt"
	"os"
	"runtime"
	"strconv"
	"sync"

	"golang.org/x/sys/unix"
)

// maxCPU is the number of CPUs that a mask can name.
const maxCPU = 1024

// processMask is what the process may use, read before anything is bound.
var processMask = func() (m cpuSet) {
	if unix.SchedGetaffinity(0, &m) != nil || m.Count() == 0 {
		for i := range runtime.NumCPU() {
			m.Set(i)
		}
	}
	return m
}()

// usableCPUs lists the CPUs of processMask.
func usableCPUs() (cpus []int) {
	for i := range maxCPU {
		if processMask.IsSet(i) {
			cpus = append(cpus, i)
		}
	}
	return cpus
}

var bindOnce sync.Once

// bind ties l's OS thread to the CPU of its VP. Where that is forbidden it says
// so once, and the LWP runs unbound.
func (s *Scheduler) bind(l *lwp) {
	if s.cfg.Unbound {
		return
	}
	if err := unix.SchedSetaffinity(int(l.tid.Load()), l.vp.mask); err != nil {
		bindOnce.Do(func() {
			fmt.Fprintf(os.Stderr, "marcel: cannot bind an OS thread to CPU %d (%v): going on unbound\n", l.vp.cpu, err)
		})
	}
}

// unbind gives an OS thread the whole mask of the process and the ordinary
// policy back.
func (s *Scheduler) unbind(tid int) {
	if !s.cfg.Unbound {
		_ = unix.SchedSetaffinity(tid, &processMask) // it may be gone
	}
	setAttr(tid, schedOther, s.nice, 0)
}

// freeThread does that for the calling OS thread.
func (s *Scheduler) freeThread() { s.unbind(unix.Gettid()) }

// tids are the OS threads of the LWPs of all schedulers of the process.
var tids struct {
	sync.Mutex
	ours map[int]bool
}

// claimThread notes that an OS thread is an LWP's, or no longer.
func claimThread(tid int, ours bool) {
	tids.Lock()
	defer tids.Unlock()
	if tids.ours == nil {
		tids.ours = map[int]bool{}
	}
	if ours {
		tids.ours[tid] = true
	} else {
		delete(tids.ours, tid)
	}
}

// auditMasks looks at the OS threads of the process that have appeared since
// the last look. One that is no LWP, but has the one-CPU mask of a VP, was
// cloned from an LWP's thread in the instant in which that was unlocked: it
// gets the whole mask. Threads that were seen before are left alone, for the
// program may have bound them itself.
func (s *Scheduler) auditMasks() {
	tasks, err := os.ReadDir("/proc/self/task")
	if err != nil || s.cfg.Unbound || processMask.Count() == 1 {
		return
	}
	tids.Lock() // all the while: none becomes an LWP's unseen
	defer tids.Unlock()
	before := s.seen
	s.seen = map[int]bool{} // of those that are there: the kernel uses ids again
	for _, e := range tasks {
		tid, err := strconv.Atoi(e.Name())
		if err != nil || tids.ours[tid] {
			continue
		}
		if s.seen[tid] = true; before[tid] {
			continue
		}
		var m cpuSet
		if unix.SchedGetaffinity(tid, &m) != nil {
			continue
		}
		for _, v := range s.vps {
			if m == *v.mask {
				s.unbind(tid)
				break
			}
		}
	}
}

// nice is the process's nice value, which setting a policy must not change.
func nice() int32 {
	n, err := unix.Getpriority(unix.PRIO_PROCESS, 0)
	if err != nil {
		return 0
	}
	return int32(20 - n) // the system call returns 20 - nice
}
