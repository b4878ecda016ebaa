package pio

import (
	"fmt"
	"os"
	"sync/atomic"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// The memory that an io_uring shares with the kernel (Axboe, 2019), and its three system
// calls. ring_test.go has the protocol.

// Numbers of the kernel's interface, from its io_uring(7) manual pages.
const (
	ringNoDrop     = 1 << 1 // IORING_FEAT_NODROP
	ringSingleMap  = 1 << 0 // IORING_FEAT_SINGLE_MMAP
	ringCurrentPos = 1 << 3 // IORING_FEAT_RW_CUR_POS: offset -1 is the file's position

	ringClamp         = 1 << 4 // IORING_SETUP_CLAMP
	ringOffEntries    = 0x10000000
	ringRegisterProbe = 8

	opAccept = 13 // IORING_OP_ACCEPT
	opRead   = 22 // IORING_OP_READ
	opWrite  = 23 // IORING_OP_WRITE
	opRecv   = 27 // IORING_OP_RECV
)

// ringParams is struct io_uring_params.
type ringParams struct {
	sqEntries, cqEntries, flags, cpu, idle, features, wq uint32

	_  [3]uint32
	sq struct {
		head, tail, mask, entries, flags, dropped, array, _ uint32
		_                                                   uint64
	}
	cq struct {
		head, tail, mask, entries, overflow, cqes, flags, _ uint32
		_                                                   uint64
	}
}

// sqe is struct io_uring_sqe.
type sqe struct {
	opcode, flags uint8
	priority      uint16
	fd            int32
	off           uint64
	addr          uint64
	size, opFlags uint32
	user          uint64
	_             [3]uint64
}

// cqe is struct io_uring_cqe.
type cqe struct {
	user  uint64
	res   int32
	flags uint32
}

// ringMemory is the mapped rings. What the kernel writes is read atomically.
type ringMemory struct {
	fd      int
	rings   []byte
	entries []byte
	sqes    []sqe
	array   []uint32
	sqHead  *atomic.Uint32 // the kernel's
	sqTail  *atomic.Uint32 // ours
	sqMask  uint32
	cqes    []cqe
	cqHead  *atomic.Uint32 // ours
	cqTail  *atomic.Uint32 // the kernel's
	cqMask  uint32
}

// openRing makes a ring of n entries, which can do what ops says.
func openRing(n uint32, ops ...uint8) (m *ringMemory, err error) {
	p := ringParams{flags: ringClamp}
	fd, _, errno := syscall.Syscall(unix.SYS_IO_URING_SETUP, uintptr(n), uintptr(unsafe.Pointer(&p)), 0)
	if errno != 0 {
		return nil, os.NewSyscallError("io_uring_setup", errno)
	}
	unix.CloseOnExec(int(fd)) // the kernel does so anyway
	m = &ringMemory{fd: int(fd)}
	defer func() {
		if err != nil {
			m.close()
			m = nil
		}
	}()
	const need = ringSingleMap | ringNoDrop | ringCurrentPos
	if p.features&need != need {
		return m, fmt.Errorf("io_uring has features %#x, needed are %#x: %w", p.features, need, unix.ENOSYS)
	}
	if err := m.probe(ops); err != nil {
		return m, err
	}
	return m, m.mapRings(&p)
}

// probe asks which operations there are.
func (m *ringMemory) probe(ops []uint8) error {
	var p struct {
		last, n uint8
		_       [14]byte
		ops     [256]struct {
			op, _ uint8
			flags uint16
			_     uint32
		}
	}
	_, _, errno := syscall.Syscall6(unix.SYS_IO_URING_REGISTER, uintptr(m.fd), ringRegisterProbe, uintptr(unsafe.Pointer(&p)), 256, 0, 0)
	if errno != 0 {
		return os.NewSyscallError("io_uring_register", errno)
	}
	for _, op := range ops {
		if p.ops[op].flags&1 == 0 {
			return fmt.Errorf("io_uring lacks operation %d: %w", op, unix.ENOSYS)
		}
	}
	return nil
}

// mapRings maps both rings, which lie in one piece, and the submission entries.
func (m *ringMemory) mapRings(p *ringParams) (err error) {
	const prot, flags = unix.PROT_READ | unix.PROT_WRITE, unix.MAP_SHARED | unix.MAP_POPULATE
	size := max(p.sq.array+4*p.sqEntries, p.cq.cqes+p.cqEntries*uint32(unsafe.Sizeof(cqe{})))
	if m.rings, err = unix.Mmap(m.fd, 0, int(size), prot, flags); err != nil {
		return os.NewSyscallError("mmap", err)
	}
	if m.entries, err = unix.Mmap(m.fd, ringOffEntries, int(p.sqEntries)*int(unsafe.Sizeof(sqe{})), prot, flags); err != nil {
		return os.NewSyscallError("mmap", err)
	}
	word := func(off uint32) *atomic.Uint32 { return (*atomic.Uint32)(unsafe.Pointer(&m.rings[off])) }
	m.sqHead, m.sqTail, m.sqMask = word(p.sq.head), word(p.sq.tail), word(p.sq.mask).Load()
	m.cqHead, m.cqTail, m.cqMask = word(p.cq.head), word(p.cq.tail), word(p.cq.mask).Load()
	m.array = unsafe.Slice((*uint32)(unsafe.Pointer(&m.rings[p.sq.array])), p.sqEntries)
	m.cqes = unsafe.Slice((*cqe)(unsafe.Pointer(&m.rings[p.cq.cqes])), p.cqEntries)
	m.sqes = unsafe.Slice((*sqe)(unsafe.Pointer(unsafe.SliceData(m.entries))), p.sqEntries)
	return nil
}

func (m *ringMemory) close() {
	if m.rings != nil {
		_ = unix.Munmap(m.rings)
	}
	if m.entries != nil {
		_ = unix.Munmap(m.entries)
	}
	_ = unix.Close(m.fd)
}

// enter tells the kernel of n new entries, and waits for least completions.
func (m *ringMemory) enter(n, least uint32) (int, syscall.Errno) {
	flags := uintptr(0)
	if least > 0 {
		flags = 1 // IORING_ENTER_GETEVENTS
	}
	done, _, errno := syscall.Syscall6(unix.SYS_IO_URING_ENTER, uintptr(m.fd), uintptr(n), uintptr(least), flags, 0, 0)
	return int(done), errno
}

// set describes one transfer. The memory of p must not move or be freed until it is
// complete: it must be on the heap, and the caller keeps it.
func (s *sqe) set(op uint8, fd int, p []byte, off int64, user uint64) {
	*s = sqe{opcode: op, fd: int32(fd), off: uint64(off), user: user,
		addr: uint64(uintptr(unsafe.Pointer(unsafe.SliceData(p)))), size: uint32(min(len(p), 1<<30))}
}
