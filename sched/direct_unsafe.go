//go:build go1.26 && !go1.28 && linux && (amd64 || (arm64 && !cgo)) && !goexperiment.staticlockranking && !goexperiment.runtimesecret && !valgrind && !portable

package sched

import (
	"sync"
	"sync/atomic"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/pm2-go/pm2/asm"
	"github.com/pm2-go/pm2/internal/kernel"
	"github.com/pm2-go/pm2/sched/direct"
	"github.com/pm2-go/pm2/sched/topo"
)

// isDirect says that threads are switched straight from stack to stack, on bound OS threads. This file has what that
// needs of Linux, on the platforms of package direct; portable.go has its counterparts.
const isDirect = true

// lookup returns the co that runs on the calling goroutine: a runner, an LWP's base, or nil on any other goroutine. The
// goroutine itself has it, and keeps it alive on its stack.
var lookup = *(*func() *co)(unsafe.Pointer(&direct.Own))

// keep records that goroutine g is c's, or no co's if c is nil, for lookup.
func keep(g uintptr, c *co) { direct.SetOwn(g, unsafe.Pointer(c)) }

const (
	schedOther = unix.SCHED_NORMAL
	schedBatch = unix.SCHED_BATCH
)

// sleepState has room for the time limit of a sleep. The owner of the word keeps it, so that a sleep allocates nothing.
type sleepState = unix.Timespec

// futexWait sleeps while *p == 0, interrupted or not.
func futexWait(p *atomic.Uint32, _ *sleepState) { sleepOn(p, 0, nil) }

// futexWaitFor is futexWait for at most ns (relative, monotonic clock).
func futexWaitFor(p *atomic.Uint32, limit *sleepState, ns int64) {
	*limit = unix.NsecToTimespec(ns)
	sleepOn(p, 0, limit)
}

// futexWake wakes the OS thread that sleeps on p, if there is one.
func futexWake(p *atomic.Uint32) { kernel.FutexWake(p) }

// membarrier is a full barrier for each CPU that runs an OS thread of this process.
func membarrier() { kernel.Membarrier() }

// hasMembarrier registers the process for membarrier, and reports whether the kernel has it.
func hasMembarrier() bool { return kernel.HasMembarrier() }

// exactTimers has the kernel wake the calling OS thread in time.
func exactTimers() { _ = unix.Prctl(unix.PR_SET_TIMERSLACK, 1, 0, 0, 0) }

// giveWay lets the kernel run another OS thread on this CPU. The caller keeps its P meanwhile: OS threads that take
// turns come back in a moment, and a system call that Go knows of, with a monitor that wakes every 20 us to take the P,
// costs more than the turn. But a busy kernel may not run a thread that yields for seconds, and the collector would
// wait for its P. So after a long turn the next ones are system calls that Go knows of, for turnTrust times as long.
func giveWay() {
	began := asm.Cycles()
	if began < tellGoUntil.Load() {
		kernel.Yield()
		return
	}
	kernel.YieldWithP()
	noteTurn(began, asm.Cycles()-began)
}

// osNap sleeps for tens of microseconds.
func osNap() {
	ts := unix.Timespec{Nsec: 10_000}
	_, _, _ = syscall.Syscall(unix.SYS_NANOSLEEP, uintptr(unsafe.Pointer(&ts)), 0, 0)
}

// gettid returns the kernel's number of the calling OS thread.
func gettid() int { return unix.Gettid() }

// interrupt sends an OS thread the signal by which the Go runtime stops goroutines.
func interrupt(tid int) { _ = unix.Tgkill(unix.Getpid(), tid, unix.SIGURG) }

// classed reports whether the process has got a scheduling class from outside (chrt, a service manager), which its OS
// threads inherit from each other. The first LWP that starts reads it.
var classed = sync.OnceValue(func() bool { return kernel.Policy(unix.Getpid()) != schedOther })

// setAttr sets policy and slice of an OS thread, unless the process has a class of its own; failure is harmless.
func setAttr(tid int, policy uint32, nice int32, slice uint64) {
	if classed() {
		return
	}
	_ = kernel.SetPolicy(tid, policy, nice, slice)
}

// nice returns the process's nice value.
func nice() int32 { return kernel.Nice() }

// bindTo binds an OS thread to a CPU.
func bindTo(tid, cpu int) error { return topo.CPUs(cpu).Bind(tid) }
