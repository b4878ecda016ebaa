package mapped

import (
	"errors"
	"fmt"
	"os"
	"runtime"
	"sync/atomic"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/pm2-go/pm2/nmad/driver"
)

// Memory is shared memory that is mapped in this process, made here or by another process. Safe for concurrent use.
type Memory struct {
	bytes   []byte
	whole   mapping
	locator Locator      // of memory that Make has made; else zero
	fd      atomic.Int32 // descriptor of memory that Make has made, until Hide; else -1
	vacated atomic.Bool  // Vacate was called
}

// Make makes size bytes of memory, all of them zero, and maps them for writing. Other processes find the memory by its
// Locator; name is for people. If the process cannot get a descriptor, as in a sandbox or at its limit, Make makes
// memory that is private to this process, and its Locator is zero. The error is the kernel's.
func Make(name string, size uint64) (*Memory, error) {
	var file uint64
	fd, err := Create(name, size, 0)
	if err == nil {
		if _, file, err = Check(fd, "memory"); err != nil {
			_ = unix.Close(fd)
			fd = -1
		}
	}
	m, err := Map(fd, size, true)
	if err != nil {
		_ = unix.Close(fd)
		return nil, err
	}
	if m.fd.Store(int32(fd)); fd >= 0 {
		m.locator = Locator{uint32(os.Getpid()), uint32(fd), file, size}
	}
	return m, nil
}

// Map maps memory of size bytes, which Check has returned. If fd is -1, Map maps private empty memory. writable says
// whether this process may write the memory. The caller keeps the descriptor. The error is the kernel's.
func Map(fd int, size uint64, writable bool) (*Memory, error) {
	prot, flags := unix.PROT_READ, unix.MAP_SHARED
	if writable {
		prot |= unix.PROT_WRITE
	}
	if fd < 0 {
		flags = unix.MAP_PRIVATE | unix.MAP_ANONYMOUS
	}
	s := mapping{size: uintptr(max(size, 1))}
	var err error
	s.at, err = place(s, fd, prot, flags)
	if err != nil {
		return nil, fmt.Errorf("cannot map %d bytes of memory: %w", size, err)
	}
	m := &Memory{bytes: unsafe.Slice((*byte)(s.at), size), whole: s}
	m.fd.Store(-1)
	return m, nil
}

// Open maps the memory that the Locator names. what names the memory in errors; writable says whether this process may
// write it. Open fails with driver.ErrUnsupported for the zero Locator, with driver.ErrProtocol if the memory is not
// what its maker has announced, and with another error if it cannot be found.
func (l Locator) Open(what string, writable bool) (*Memory, error) {
	if l.PID == 0 {
		return nil, driver.ErrUnsupported
	}
	mode := unix.O_RDONLY
	if writable {
		mode = unix.O_RDWR
	}
	fd, err := unix.Open(fmt.Sprintf("/proc/%d/fd/%d", l.PID, l.FD), mode|unix.O_CLOEXEC|unix.O_NONBLOCK|unix.O_NOCTTY, 0)
	if err != nil {
		return nil, fmt.Errorf("%s of process %d: %w", what, l.PID, os.NewSyscallError("open", err))
	}
	defer unix.Close(fd)
	size, file, err := Check(fd, what)
	switch {
	case file != l.File:
		return nil, fmt.Errorf("%s of process %d: %w there", what, l.PID, errOther)
	case err != nil:
		return nil, err
	case size != l.Size:
		return nil, fmt.Errorf("%w: a %s of %d bytes, %d were announced", driver.ErrProtocol, what, size, l.Size)
	}
	return Map(fd, size, writable)
}

var errOther = errors.New("another file is")

// ReadOnly seals the memory: from here on no process can map it for writing. Mappings that exist stay writable. Kernels
// before Linux 5.1 do not have this seal; then ReadOnly does nothing.
func (m *Memory) ReadOnly() {
	if fd := int(m.fd.Load()); fd >= 0 {
		_ = seal(fd, unix.F_SEAL_FUTURE_WRITE)
		_ = seal(fd, unix.F_SEAL_SEAL)
	}
}

// Hide closes the descriptor by which other processes find the memory. Processes that have mapped the memory keep it.
// Hide of a nil Memory does nothing.
func (m *Memory) Hide() {
	if m == nil {
		return
	}
	if fd := m.fd.Swap(-1); fd >= 0 {
		_ = unix.Close(int(fd))
	}
}

// Vacate gives this process's part of the memory back, and hides it. From then on the addresses hold private memory,
// which is zero at first, and which no other process sees. They stay mapped until m is garbage. The error is the
// kernel's. A second call does nothing, and so does a call of a nil Memory.
func (m *Memory) Vacate() error {
	if m == nil || m.vacated.Swap(true) {
		return nil
	}
	m.Hide()
	_, err := place(m.whole, -1, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_PRIVATE|unix.MAP_ANONYMOUS|unix.MAP_FIXED)
	runtime.AddCleanup(m, func(s mapping) { _ = unix.MunmapPtr(s.at, s.size) }, m.whole)
	return err
}

// mapping is a range of addresses. at is nil before it is mapped.
type mapping struct {
	at   unsafe.Pointer
	size uintptr // bytes, at least 1
}

// place maps a descriptor, or with -1 private memory, at the addresses of s, or, if s.at is nil, where the kernel
// chooses.
func place(s mapping, fd, prot, flags int) (unsafe.Pointer, error) {
	p, err := unix.MmapPtr(fd, 0, s.at, s.size, prot, flags|unix.MAP_NORESERVE)
	return p, os.NewSyscallError("mmap", err)
}
