package shm

import (
	"fmt"
	"os"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/pm2-go/pm2/nmad/driver"
	"github.com/pm2-go/pm2/nmad/internal/mapped"
)

// locate gives direction d, through which messages arrive at this process, memory of the process's home node, and
// touches the part that every message uses. It returns where that memory lies.
//
// Each side does so for the direction in which it receives, before the other side has touched any of it: the
// dialer before it sends the segment, the listener before it says that it has mapped it. So that part lies where
// this thread runs even if the kernel does not let a process ask for a node.
func locate(m *mapped.Memory, g geometry, d int, home driver.Locality) driver.Locality {
	if home.Node >= 0 {
		home.Why = fmt.Sprintf("what arrives lies on NUMA node %d: %s", home.Node, home.Why)
		if mem := pages(m.Bytes(), g, d); len(mem) == 0 {
			home.Why += "; as far as its pages are its own, which here they are not"
		} else if err := prefer(mem, home.Node); err != nil {
			home.Why += fmt.Sprintf("; the kernel lets no memory be asked for (%v), so that is where the first to touch it puts it", err)
		}
	}
	populate(m, g, d)
	return home
}

// populate makes the kernel provide now the memory that every message of direction d touches; the rest comes when
// it is first used. A kernel before 5.14 cannot, and provides all of it at its first use.
func populate(m *mapped.Memory, g geometry, d int) {
	l := g.direction(d)
	from := l.credit &^ (pageSize - 1)
	_ = unix.Madvise(m.Bytes()[from:l.bodies], unix.MADV_POPULATE_WRITE)
}

// pages returns the whole pages that belong to direction d alone; those of direction 0 include the flags.
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

// maxNodes is how many NUMA nodes a kernel has at most.
const maxNodes = 1024

// prefer has the kernel take pages of mem that were not touched yet from a NUMA node. For shared memory that holds
// in all processes. mem begins on a page.
func prefer(mem []byte, node int) error {
	var mask [maxNodes / 64]uint64
	if node < 0 || node >= maxNodes {
		return unix.EINVAL
	}
	mask[node/64] = 1 << (node % 64)
	// The kernel takes one bit less than it is told of.
	_, _, errno := unix.Syscall6(unix.SYS_MBIND, uintptr(unsafe.Pointer(unsafe.SliceData(mem))), uintptr(len(mem)),
		preferred, uintptr(unsafe.Pointer(&mask)), maxNodes+1, 0)
	if errno != 0 {
		return errno
	}
	return nil
}
