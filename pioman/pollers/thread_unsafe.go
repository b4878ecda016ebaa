package pollers

import (
	"sync/atomic"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/pm2-go/pm2/sched"
)

// maxCPU is the number of CPUs that a mask can name.
const maxCPU = 1024

const (
	futexWaitPrivate = 0 | 128 // FUTEX_WAIT | FUTEX_PRIVATE_FLAG
	futexWakePrivate = 1 | 128
)

// futexWait sleeps while *p == old, interrupted or not, at most ns if that is not 0. It gives the P
// of the Go scheduler away before: a thread that naps in Syscall again and again has, to the runtime's
// monitor, run the same goroutine for more than 10 ms, so that it takes the P at first sight, each time, and never
// rests (sched.Block).
func futexWait(p *atomic.Uint32, old uint32, ns int64) {
	var limit *unix.Timespec
	if ns > 0 {
		ts := unix.NsecToTimespec(ns)
		limit = &ts
	}
	_, _ = sched.Block(unix.SYS_FUTEX, uintptr(unsafe.Pointer(p)), futexWaitPrivate, uintptr(old), uintptr(unsafe.Pointer(limit)), 0, 0)
}

func futexWake(p *atomic.Uint32) {
	_, _, _ = unix.RawSyscall6(unix.SYS_FUTEX, uintptr(unsafe.Pointer(p)), futexWakePrivate, 1, 0, 0, 0)
}

// setPolicy puts an OS thread of the process under SCHED_IDLE or back.
func setPolicy(tid int, policy uint32, nice int32) error {
	return unix.SchedSetAttr(tid, &unix.SchedAttr{Policy: policy, Nice: nice}, 0)
}

// nice is the process's nice value, which setting a policy must not change.
func nice() int32 {
	n, err := unix.Getpriority(unix.PRIO_PROCESS, 0)
	if err != nil {
		return 0
	}
	return int32(20 - n) // the system call returns 20 - nice
}

// yieldCPU lets other threads have the CPU. Through Syscall: the collector, if it stops the world, need not wait for it.
func yieldCPU() { _, _, _ = unix.Syscall(unix.SYS_SCHED_YIELD, 0, 0, 0) }

// bind ties the calling OS thread to a CPU.
func bind(cpu int) error {
	var m unix.CPUSet
	m.Set(cpu)
	return unix.SchedSetaffinity(0, &m)
}
