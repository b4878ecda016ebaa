//go:build linux && !portable

package asm

import "golang.org/x/sys/unix"

const (
	atHWCAP2      = 26     // auxiliary vector: more capabilities, set by the kernel
	hwcap2FSGSBSE = 1 << 1 // user code may read the FS base
)

// haveFSBase is settled at start. Without permission of the kernel the
// instruction is illegal, even if the processor has it.
//
//lint:ignore U1000 threadid_amd64.s reads it
var haveFSBase = chooseFSBase()

// ThreadID identifies the OS thread that the caller runs on: different from that of
// every other living thread of the process, never 0, constant for the life of the
// thread. It is the FS base (the thread's own storage, which Go or the C library
// sets for every thread), else the kernel's thread id.
//
//go:noescape
func ThreadID() uintptr

func chooseFSBase() bool {
	vector, err := unix.Auxv()
	if err != nil {
		return false
	}
	for _, entry := range vector {
		if entry[0] == atHWCAP2 {
			return entry[1]&hwcap2FSGSBSE != 0 && fsbase() != 0
		}
	}
	return false
}

//go:noescape
func fsbase() uintptr
