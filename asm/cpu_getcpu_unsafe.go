//go:build linux

package asm

import (
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// getcpu asks the kernel; -1 if it refuses. It does not tell the Go scheduler about the call: it cannot block.
func getcpu() int {
	var cpu uint32
	if _, _, errno := syscall.RawSyscall(unix.SYS_GETCPU, uintptr(unsafe.Pointer(&cpu)), 0, 0); errno != 0 {
		return -1
	}
	return int(cpu)
}
