package rma

import (
	"crypto/rand"
	"fmt"
	"os"
	"runtime"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/pm2-go/pm2/nmad/driver"
	"github.com/pm2-go/pm2/nmad/internal/sealed"
)

const (
	pageBytes   = 4096
	cookieBytes = 16
	// MaxBytes is the most that one Alloc, Make or Register takes, in bytes.
	MaxBytes = 1 << 42
)

// memory is some that was mapped: own, or of another process of the host. It is unmapped when neither it nor a region that holds it can be reached any more, so no
// thread that is inside a copy loses it.
type memory struct {
	base unsafe.Pointer
	size uintptr // with the cookie's page, which is in front of base
}

// card tells another process of the host how to map memory.
type card struct {
	pid    uint32
	fd     int32 // -1: it cannot be mapped
	cookie [cookieBytes]byte
	size   uint64 // bytes, without the page in front
}

// address is where memory that loads and stores reach lies.
type address = unsafe.Pointer

// nothing is where empty memory lies.
var nothing [8]byte

func baseOf(b []byte) address {
	if len(b) == 0 {
		b = nothing[:]
	}
	return unsafe.Pointer(unsafe.SliceData(b))
}

// span is what munmap takes.
type span struct {
	at   unsafe.Pointer
	size uintptr
}

func unmap(s span) { _ = unix.MunmapPtr(s.at, s.size) }

// keep makes the memory of what was mapped.
func keep(at unsafe.Pointer, size uintptr) *memory {
	m := &memory{unsafe.Add(at, pageBytes), size}
	runtime.AddCleanup(m, unmap, span{at, size})
	return m
}

// makeMemory makes size bytes, zero all of them, of which the kernel provides a page when it is touched, with a page in front for a cookie. Where none can be made
// that has a descriptor, as in a sandbox or under a limit, it is this process's alone, and the fd of its card is -1. The caller closes that.
func makeMemory(size uint64) (*memory, card, error) {
	c := card{pid: uint32(os.Getpid()), size: size, fd: -1} // the caller closes what there is
	if size > MaxBytes {
		return nil, c, fmt.Errorf("%w: %d B, at most %d can be had", ErrSize, size, uint64(MaxBytes))
	}
	all := uintptr(size+pageBytes-1)&^(pageBytes-1) + pageBytes
	flags := unix.MAP_SHARED
	fd, err := sealed.Create("pm2-rma", uint64(all), 0)
	if err != nil {
		fd, flags = -1, unix.MAP_PRIVATE|unix.MAP_ANONYMOUS
	}
	p, err := unix.MmapPtr(fd, 0, nil, all, unix.PROT_READ|unix.PROT_WRITE, flags|unix.MAP_NORESERVE)
	if err != nil {
		closeDescriptor(int32(fd))
		return nil, c, fmt.Errorf("%w: %d B: %w", ErrSize, size, os.NewSyscallError("mmap", err))
	}
	_, _ = rand.Read(c.cookie[:])
	copy(unsafe.Slice((*byte)(p), pageBytes), c.cookie[:])
	c.fd = int32(fd)
	return keep(p, all), c, nil
}

func closeDescriptor(fd int32) {
	if fd >= 0 {
		_ = unix.Close(int(fd))
	}
}

// open maps the memory of that card, of another process of this host. What is not what makeMemory makes is an ErrProtocol.
func (c *card) open() (*memory, error) {
	if c.fd < 0 || c.size > MaxBytes {
		return nil, driver.ErrUnsupported
	}
	fd, err := unix.Open(fmt.Sprintf("/proc/%d/fd/%d", c.pid, c.fd), unix.O_RDWR|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil, os.NewSyscallError("open", err)
	}
	defer unix.Close(fd)
	size, err := sealed.Check(fd, "memory")
	if err != nil {
		return nil, err
	}
	all := (c.size+pageBytes-1)&^(pageBytes-1) + pageBytes
	if size != all {
		return nil, fmt.Errorf("%w: memory of %d bytes, %d were announced", driver.ErrProtocol, size, all)
	}
	p, err := unix.MmapPtr(fd, 0, nil, uintptr(all), unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED|unix.MAP_NORESERVE)
	if err != nil {
		return nil, os.NewSyscallError("mmap", err)
	}
	if string(unsafe.Slice((*byte)(p), cookieBytes)) != string(c.cookie[:]) {
		unmap(span{p, uintptr(all)})
		return nil, fmt.Errorf("%w: process %d has another file under that number", driver.ErrProtocol, c.pid)
	}
	return keep(p, uintptr(all)), nil
}

// vacate gives the system its memory back at once. The addresses stay until no thread can use them any more; what is written there meanwhile no other process sees.
func (m *memory) vacate() {
	_, _ = unix.MmapPtr(-1, 0, unsafe.Add(m.base, -pageBytes), m.size, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_PRIVATE|unix.MAP_ANONYMOUS|unix.MAP_FIXED|unix.MAP_NORESERVE)
}

// bytesAt is memory at that address.
func bytesAt(base unsafe.Pointer, offset, n uint64) []byte {
	return unsafe.Slice((*byte)(unsafe.Add(base, offset)), n)
}

// addressOf is where b lies, as a number.
func addressOf(b []byte) uint64 { return uint64(uintptr(unsafe.Pointer(unsafe.SliceData(b)))) }

// piece is how much is copied at once, in bytes: the collector cannot stop a thread meanwhile.
const piece = 1 << 20

func copyIn(r *region, offset uint64, src []byte) {
	for len(src) > piece {
		copy(bytesAt(r.base, offset, piece), src)
		src, offset = src[piece:], offset+piece
	}
	copy(bytesAt(r.base, offset, uint64(len(src))), src)
	runtime.KeepAlive(r)
}

func copyOut(buf []byte, r *region, offset uint64) {
	for len(buf) > piece {
		copy(buf, bytesAt(r.base, offset, piece))
		buf, offset = buf[piece:], offset+piece
	}
	copy(buf, bytesAt(r.base, offset, uint64(len(buf))))
	runtime.KeepAlive(r)
}
