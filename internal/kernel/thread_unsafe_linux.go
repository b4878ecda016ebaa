package kernel

import (
	"os"
	"sync/atomic"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// Yield lets other OS threads and processes use this CPU. The Go runtime knows of the system call: on a crowded CPU the
// kernel may not run a thread that yields for seconds, and if the thread kept its P, the collector, and so the whole
// process, would wait for it.
func Yield() { _, _, _ = syscall.Syscall(unix.SYS_SCHED_YIELD, 0, 0, 0) }

// YieldWithP is Yield, but the Go runtime does not know of the system call, and the thread keeps its P. Where OS
// threads of many processes take turns, each turn lasts longer than the 20 us after which Go's monitor takes the P of a
// thread in a system call. With Yield the monitor would then wake every 20 us, and each turn would end with the search
// for a P.
func YieldWithP() { _, _, _ = unix.RawSyscall(unix.SYS_SCHED_YIELD, 0, 0, 0) }

// SetPolicy sets the policy of an OS thread (0: the calling one), with the nice value that it keeps, and its slice in
// ns, from Linux 6.12 on (0: the kernel's).
func SetPolicy(tid int, policy uint32, nice int32, slice uint64) error {
	a := unix.SchedAttr{Size: unix.SizeofSchedAttr, Policy: policy, Nice: nice, Runtime: slice}
	if _, _, errno := unix.RawSyscall(unix.SYS_SCHED_SETATTR, uintptr(tid), uintptr(unsafe.Pointer(&a)), 0); errno != 0 {
		return os.NewSyscallError("sched_setattr", errno)
	}
	return nil
}

// Policy returns the scheduling policy of an OS thread (0: the calling one); SCHED_NORMAL if the kernel does not tell.
func Policy(tid int) uint32 {
	const resetOnFork = 1 << 30 // SCHED_RESET_ON_FORK
	p, _, errno := unix.RawSyscall(unix.SYS_SCHED_GETSCHEDULER, uintptr(tid), 0, 0)
	if errno != 0 {
		return unix.SCHED_NORMAL
	}
	return uint32(p) &^ resetOnFork
}

// Nice returns the process's nice value, for SetPolicy, which must not change it.
func Nice() int32 {
	n, err := unix.Getpriority(unix.PRIO_PROCESS, 0)
	if err != nil {
		return 0
	}
	return int32(20 - n) // the system call returns 20 - nice
}

// Membarrier is a full barrier on each CPU that runs an OS thread of this process. The caller has called HasMembarrier
// before, which has returned true.
func Membarrier() {
	_, _, _ = unix.RawSyscall(unix.SYS_MEMBARRIER, 1<<3, 0, 0) // PRIVATE_EXPEDITED
}

// HasMembarrier registers the process for Membarrier. It returns false if the kernel does not have it, or a sandbox
// refuses it.
func HasMembarrier() bool {
	_, _, errno := unix.RawSyscall(unix.SYS_MEMBARRIER, 1<<4, 0, 0) // REGISTER_PRIVATE_EXPEDITED
	return errno == 0
}

const (
	// FutexWait is the operation that sleeps on a word of this process. It is for sched.Block: a thread that sleeps in
	// RawSyscall keeps its P, and no stop-the-world completes.
	FutexWait = 0 | futexPrivate

	futexWake    = 1 | futexPrivate
	futexPrivate = 128
)

// FutexWake wakes one OS thread that sleeps on p.
func FutexWake(p *atomic.Uint32) {
	_, _, _ = unix.RawSyscall6(unix.SYS_FUTEX, uintptr(unsafe.Pointer(p)), futexWake, 1, 0, 0, 0)
}
