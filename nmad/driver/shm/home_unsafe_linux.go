package shm

import (
	"fmt"
	"os"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/pm2-go/pm2/nmad/driver"
	"github.com/pm2-go/pm2/nmad/internal/mapped"
)

// locate gives direction d, through which messages arrive at this process, memory of the process's home node, and touches
// the part that every message uses. It says where that is.
//
// Each side does so for what it receives, before the other side has touched any of it: the dialer before
// it sends the segment, the listener before it says that it has mapped it. So even where
// the kernel does not let a node be asked for, that part is where this thread runs.
func locate(m *mapped.Memory, g geometry, d int, home driver.Place) driver.Place {
	if home.Node >= 0 {
		home.Why = fmt.Sprintf("what arrives lies on NUMA node %d: %s", home.Node, home.Why)
		if mem := pages(m.Bytes(), g, d); len(mem) == 0 {
			home.Why += "; as far as its pages are its own, which here they are not"
		} else if err := prefer(mem, home.Node); err != nil {
			home.Why += fmt.Sprintf("; the kernel lets no memory be asked for (%v), so that is where the first to touch it puts it", err)
		}
	}
	fetch(m, g, d)
	return home
}

// fetch makes the kernel provide now the memory that every message of direction d touches; the rest comes when it is used.
// If the kernel is too old for that (before 5.14), all of it comes when it is used.
func fetch(m *mapped.Memory, g geometry, d int) {
	l := g.direction(d)
	from := l.credit &^ (pageSize - 1)
	_ = unix.Madvise(m.Bytes()[from:l.bodies], unix.MADV_POPULATE_WRITE)
}

// pages is the whole pages that belong to direction d alone, and, of the first one, the flags.
func pages(mem []byte, g geometry, d int) []byte {
	from, to := uint64(0), g.direction(d).end
	if d == 1 {
		page := uint64(os.Getpagesize())
		from = min((g.direction(0).end+page-1)&^(page-1), to)
	}
	return mem[from:to]
}

// preferred is MPOL_PREFERRED of the kernel: memory of that node as long as it has some, then of others.
const preferred = 1

// mostNodes is how many NUMA nodes a kernel has at most.
const mostNodes = 1024

// prefer makes the pages of mem that were not touched yet come from a NUMA node. For shared memory that holds in all
// processes that have it mapped. mem begins on a page.
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
