package sched

import (
	"fmt"
	"os"
	"sync"
)

// maxCPU is the number of CPUs that a mask can name.
const maxCPU = 1024

// usableCPUs lists the CPUs that the process may use.
func usableCPUs() (cpus []int) {
	for i := range maxCPU {
		if isUsable(i) {
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
	if err := bindTo(int(l.tid.Load()), l.vp.cpu); err != nil {
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
		widen(tid)
	}
	setAttr(tid, schedOther, s.nice, 0)
}
