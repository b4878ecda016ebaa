package shm

import (
	"fmt"
	"os"
	"runtime"
	"unsafe"

	"golang.org/x/sys/unix"
)

// mapping is a segment in our address space; none for a link whose memory is
// not mapped, as in tests that show it to the race detector. A link keeps it as long as it can
// be reached, since Close may come while another thread is polling.
type mapping struct{ mem []byte }

// mapSegment maps a whole segment.
func mapSegment(fd int, g geometry) (mapping, error) {
	size := uintptr(g.size())
	p, err := unix.MmapPtr(fd, 0, nil, size, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED)
	if err != nil {
		return mapping{}, fmt.Errorf("cannot map a segment of %d bytes: %w", size, os.NewSyscallError("mmap", err))
	}
	return mapping{unsafe.Slice((*byte)(p), size)}, nil
}

// fetch has the kernel provide now what every message of direction d touches; the rest comes as it is
// used. Where the kernel is too old for it (before 5.14), all of it does.
func (m mapping) fetch(g geometry, d int) {
	l := g.direction(d)
	from := l.credit &^ (pageSize - 1)
	_ = unix.Madvise(m.mem[from:l.bodies], unix.MADV_POPULATE_WRITE)
}

// unmap ends a mapping that has not been used yet.
func (m mapping) unmap() {
	_ = unix.MunmapPtr(unsafe.Pointer(unsafe.SliceData(m.mem)), uintptr(len(m.mem)))
}

// unmapWith arranges for the address range to be given back once owner, which
// was closed, cannot be reached any more, hence no call is inside.
func (m mapping) unmapWith(owner *link) {
	if m.mem == nil {
		return
	}
	type span struct{ at, size uintptr }
	runtime.AddCleanup(owner, func(s span) {
		// The address came from mmap: it is no pointer into Go's memory.
		_, _, _ = unix.Syscall(unix.SYS_MUNMAP, s.at, s.size, 0)
	}, span{uintptr(unsafe.Pointer(unsafe.SliceData(m.mem))), uintptr(len(m.mem))})
}

// vacate gives the shared memory back at once, by putting private empty pages
// in its place in one step: others may be reading and writing there just now,
// and would crash if nothing were there.
func (m mapping) vacate() error {
	if m.mem == nil {
		return nil
	}
	_, err := unix.MmapPtr(-1, 0, unsafe.Pointer(unsafe.SliceData(m.mem)), uintptr(len(m.mem)),
		unix.PROT_READ|unix.PROT_WRITE, unix.MAP_PRIVATE|unix.MAP_ANONYMOUS|unix.MAP_FIXED|unix.MAP_NORESERVE)
	if err != nil {
		return fmt.Errorf("shm: cannot give the segment back: %w", err)
	}
	return nil
}
