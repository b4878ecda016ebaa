package bench

import (
	"sync/atomic"
	"unsafe"

	"golang.org/x/sys/unix"
)

// The operations of futex, for threads of one process.
const (
	futexWait = 0 | 128
	futexWake = 1 | 128
)

// futexSleep blocks the OS thread while the word is 0, until it is woken; or for no reason.
func futexSleep(word *atomic.Uint32) {
	_, _, _ = unix.Syscall6(unix.SYS_FUTEX, uintptr(unsafe.Pointer(word)), futexWait, 0, 0, 0, 0)
}

// wakeFutex wakes the thread that sleeps there.
func wakeFutex(word *atomic.Uint32) {
	_, _, _ = unix.RawSyscall6(unix.SYS_FUTEX, uintptr(unsafe.Pointer(word)), futexWake, 1, 0, 0, 0)
}
