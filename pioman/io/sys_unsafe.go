package pio

import (
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// The system calls of the hot paths. None of them blocks, since the descriptors are non-blocking. So the Go scheduler
// is not told of them (syscall.RawSyscall), unless so many bytes are to be copied that a garbage collection might have
// to wait for the call.

// rawMost is how many bytes a call that the Go scheduler does not know of copies at most: a few microseconds.
const rawMost = 16 << 10

// epollNow gets the events that the kernel has, without a wait, and returns how many.
func epollNow(epoll int, events *[64]unix.EpollEvent) int {
	n, _, errno := syscall.RawSyscall6(unix.SYS_EPOLL_PWAIT, uintptr(epoll), uintptr(unsafe.Pointer(events)), uintptr(len(events)), 0, 0, 0)
	if errno != 0 {
		return 0 // EINTR: the next round looks again
	}
	return int(n)
}

// transfer reads into or writes p (call: SYS_READ, SYS_WRITE), and returns how many bytes.
func transfer(call uintptr, fd int, p []byte) (int, syscall.Errno) {
	switch {
	case len(p) == 0:
		return 0, 0
	case underRace:
		return traced(call, fd, p)
	case len(p) <= rawMost:
		n, _, errno := syscall.RawSyscall(call, uintptr(fd), uintptr(unsafe.Pointer(unsafe.SliceData(p))), uintptr(len(p)))
		return max(int(n), 0), errno
	}
	n, _, errno := syscall.Syscall(call, uintptr(fd), uintptr(unsafe.Pointer(unsafe.SliceData(p))), uintptr(len(p)))
	return max(int(n), 0), errno
}

// traced makes the call through the standard library, which tells the race detector that what was done before a write
// is seen after the read.
func traced(call uintptr, fd int, p []byte) (n int, errno syscall.Errno) {
	f := syscall.Read
	if call == unix.SYS_WRITE {
		f = syscall.Write
	}
	n, err := f(fd, p)
	errno, _ = err.(syscall.Errno)
	return max(n, 0), errno
}

// transferv reads or writes several pieces (call: SYS_READV, SYS_WRITEV), returns how many bytes, and clears vec.
func transferv(call uintptr, fd int, vec []unix.Iovec) (int, syscall.Errno) {
	if len(vec) == 0 {
		return 0, 0
	}
	n, _, errno := syscall.Syscall(call, uintptr(fd), uintptr(unsafe.Pointer(unsafe.SliceData(vec))), uintptr(len(vec)))
	clear(vec)
	return max(int(n), 0), errno
}
