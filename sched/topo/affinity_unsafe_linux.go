package topo

import (
	"os"
	"runtime"
	"unsafe"

	"golang.org/x/sys/unix"
)

// processMask is what sched_getaffinity allowed the process when it started. Later
// the calling OS thread may be bound, by a scheduler of this very program.
var processMask = affinity(os.Getpid())

// affinity reads the mask of an OS thread. unix.CPUSet ends at 1024 CPUs, and the
// kernel refuses buffers that are smaller than its own masks.
func affinity(tid int) CPUSet {
	var words [MaxCPUs / 64]uint64
	n, _, errno := unix.RawSyscall(unix.SYS_SCHED_GETAFFINITY, uintptr(tid), unsafe.Sizeof(words), uintptr(unsafe.Pointer(&words)))
	var s CPUSet
	if errno == 0 {
		// The kernel's words are unsigned longs: on all of Go's 64-bit ports, these.
		s = combine(CPUSet{words[:min(int(n)/8, len(words))]}, CPUSet{}, func(x, _ uint64) uint64 { return x })
	}
	if s.Empty() {
		for i := range runtime.NumCPU() {
			s.Add(i)
		}
	}
	return s
}
