package shm

import (
	"unsafe"

	"golang.org/x/sys/unix"
)

// preferred is MPOL_PREFERRED of the kernel: memory of that node as long as it has some, then of others.
const preferred = 1

// mostNodes is how many NUMA nodes a kernel has at most.
const mostNodes = 1024

// prefer has the pages of mem that nobody has touched yet come from a NUMA node. Of shared memory
// that holds for all who have it mapped. mem begins on a page.
func prefer(mem []byte, node int) error {
	var mask [mostNodes / 64]uint64
	if node < 0 || node >= mostNodes {
		return unix.EINVAL
	}
	mask[node/64] = 1 << (node % 64)
	// The kernel takes one bit less than it is told of.
	_, _, errno := unix.Syscall6(unix.SYS_MBIND, uintptr(unsafe.Pointer(unsafe.SliceData(mem))), uintptr(len(mem)),
		preferred, uintptr(unsafe.Pointer(&mask)), mostNodes+1, 0)
	if errno != 0 {
		return errno
	}
	return nil
}
