package sched

import (
	"fmt"
	"os"
	"runtime"
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
	if s.cfg.Unbound || !isDirect {
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
	if !isDirect {
		return
	}
	if !s.cfg.Unbound {
		_ = unix.SchedSetaffinity(tid, &processMask) // it may be gone
	}
	setAttr(tid, schedOther, s.nice, 0)
}

// nice is the process's nice value, which setting a policy must not change.
func nice() int32 {
	n, err := unix.Getpriority(unix.PRIO_PROCESS, 0)
	if err != nil {
		return 0
	}
	return int32(20 - n) // the system call returns 20 - nice
}
