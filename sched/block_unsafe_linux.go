package sched

import (
	"sync/atomic"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/pm2-go/pm2/internal/kernel"
)

// Block makes a system call that will sleep for long, and gives the P of the calling OS thread to
// others before, where syscall.Syscall would keep it until the runtime's monitor thread takes it
// away. The monitor then looks around every 20 us for the next millisecond or more, and sleeping
// and waking that often takes a good part of a CPU from a thread that computes beside it: on a virtual
// machine 35 us each. What the arguments point to is kept alive, and, if it is a variable of the
// caller's, moved to the heap.
//
// For sleeps of some microseconds Syscall is cheaper: it gives up nothing. The race detector does not look here, since
// it needs a P, which Block has none of meanwhile.
//
//go:nosplit
//go:norace
//go:uintptrescapes
func Block(trap, a1, a2, a3, a4, a5, a6 uintptr) (r uintptr, errno syscall.Errno) {
	entersyscallblock()
	r, _, errno = syscall.RawSyscall6(trap, a1, a2, a3, a4, a5, a6)
	exitsyscall()
	return r, errno
}

// sleepOn sleeps while *p == old, interrupted or not, until kernel.FutexWake, or for limit (relative, of the monotonic
// clock) if that is not nil. Through Block, never RawSyscall: else the caller would keep its P, and no stop-the-world
// would complete. Nor Syscall: a thread that naps in that again and again has, to the runtime's monitor, run the same
// goroutine for more than 10 ms, so that the monitor takes the P at first sight, each time, and never rests.
func sleepOn(p *atomic.Uint32, old uint32, limit *unix.Timespec) {
	_, _ = Block(unix.SYS_FUTEX, uintptr(unsafe.Pointer(p)), kernel.FutexWait, uintptr(old), uintptr(unsafe.Pointer(limit)), 0, 0)
}

// The runtime keeps these two for packages that link to them.

//go:linkname entersyscallblock runtime.entersyscallblock
func entersyscallblock()

//go:linkname exitsyscall runtime.exitsyscall
func exitsyscall()
