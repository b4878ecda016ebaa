package pio

import (
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// The system calls of the hot paths. None of them blocks, the descriptors being
// non-blocking: so they are made without telling the Go scheduler, unless so
// many bytes are to be copied that a collection might have to wait for it.

// rawMost is how many bytes a bare system call copies: a few microseconds.
const rawMost = 16 << 10

// epollNow takes what is there.
func epollNow(epoll int, events *[64]unix.EpollEvent) int {
	n, _, errno := syscall.RawSyscall6(unix.SYS_EPOLL_PWAIT, uintptr(epoll), uintptr(unsafe.Pointer(events)), uintptr(len(events)), 0, 0, 0)
	if errno != 0 {
		return 0 // EINTR at worst: the next round looks again
	}
	return int(n)
}

// sysRead and sysWrite move p, which is not empty.
func sysRead(fd int, p []byte) (int, syscall.Errno)  { return transfer(unix.SYS_READ, fd, p) }
func sysWrite(fd int, p []byte) (int, syscall.Errno) { return transfer(unix.SYS_WRITE, fd, p) }

func transfer(call uintptr, fd int, p []byte) (int, syscall.Errno) {
	if underRace {
		return traced(call, fd, p)
	}
	var n uintptr
	var errno syscall.Errno
	if len(p) <= rawMost {
		n, _, errno = syscall.RawSyscall(call, uintptr(fd), uintptr(unsafe.Pointer(unsafe.SliceData(p))), uintptr(len(p)))
	} else {
		n, _, errno = syscall.Syscall(call, uintptr(fd), uintptr(unsafe.Pointer(unsafe.SliceData(p))), uintptr(len(p)))
	}
	return int(n), errno
}

// traced makes the call through the standard library, which tells the race detector
// that what was done before a write is seen after the read.
func traced(call uintptr, fd int, p []byte) (n int, errno syscall.Errno) {
	var err error
	if call == unix.SYS_READ {
		n, err = syscall.Read(fd, p)
	} else {
		n, err = syscall.Write(fd, p)
	}
	errno, _ = err.(syscall.Errno)
	return n, errno
}

// transferv reads or writes (call: SYS_READV, SYS_WRITEV) several pieces.
func transferv(call uintptr, fd int, iov []unix.Iovec) (int, syscall.Errno) {
	n, _, errno := syscall.Syscall(call, uintptr(fd), uintptr(unsafe.Pointer(unsafe.SliceData(iov))), uintptr(len(iov)))
	return int(n), errno
}

// moveAtOnce reads or writes as much of p, which is not empty, as it can without waiting
// for a disk; EAGAIN: nothing. At most 2^30 bytes, as the kernel does.
func moveAtOnce(way, fd int, p []byte, off int64) (int, syscall.Errno) {
	call := [2]uintptr{unix.SYS_PREADV2, unix.SYS_PWRITEV2}[way]
	iov := unix.Iovec{Base: unsafe.SliceData(p)}
	iov.SetLen(min(len(p), 1<<30))
	var n uintptr
	var errno syscall.Errno
	if len(p) <= rawMost {
		n, _, errno = syscall.RawSyscall6(call, uintptr(fd), uintptr(unsafe.Pointer(&iov)), 1, uintptr(off), high(off), unix.RWF_NOWAIT)
	} else {
		n, _, errno = syscall.Syscall6(call, uintptr(fd), uintptr(unsafe.Pointer(&iov)), 1, uintptr(off), high(off), unix.RWF_NOWAIT)
	}
	return int(n), errno
}

// high is the upper half of an offset as preadv2 wants it: on 64 bits it is in the
// first half already, and a position of -1 must be -1 in both.
func high(off int64) uintptr { return uintptr(off >> 32 >> (unsafe.Sizeof(uintptr(0))*8 - 32)) }

// moveWaiting reads or writes as read, write, pread and pwrite do.
func moveWaiting(way, fd int, p []byte, off int64) (n int, errno syscall.Errno) {
	var err error
	switch {
	case off == here && way == reading:
		n, err = unix.Read(fd, p)
	case off == here:
		n, err = unix.Write(fd, p)
	case way == reading:
		n, err = unix.Pread(fd, p, off)
	default:
		n, err = unix.Pwrite(fd, p, off)
	}
	errno, _ = err.(syscall.Errno)
	return max(n, 0), errno
}
