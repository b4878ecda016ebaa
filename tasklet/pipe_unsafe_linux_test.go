package tasklet

import (
	"syscall"
	"unsafe"
)

// rawWrite puts a byte into a pipe, rawRead waits for one; the race detector does
// not know raw system calls.
func rawWrite(fd int) {
	var b [1]byte
	for {
		_, _, errno := syscall.Syscall(syscall.SYS_WRITE, uintptr(fd), uintptr(unsafe.Pointer(&b)), 1)
		if errno != syscall.EINTR {
			return
		}
	}
}

func rawRead(fd int) {
	var b [1]byte
	for {
		_, _, errno := syscall.Syscall(syscall.SYS_READ, uintptr(fd), uintptr(unsafe.Pointer(&b)), 1)
		if errno != syscall.EINTR {
			return
		}
	}
}
