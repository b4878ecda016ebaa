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

// Memory is some that is mapped in this process: its own, or another one's. Safe for concurrent use.
type Memory struct {
	bytes  []byte
	whole  mapping
	card   Card         // of one that Make has made
	fd     atomic.Int32 // likewise, until it is hidden; else -1
	vacant atomic.Bool
}

// Make makes size bytes, zero all of them, that others find by its Card; name is for people. Where no descriptor can be
// had, as in a sandbox or under a limit, the memory is this process's alone, and its Card is zero.
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
		m.card = Card{uint32(os.Getpid()), uint32(fd), file, size}
	}
	return m, nil
}

// Map maps memory of that size, which Check has found; writes: it can be written here. The descriptor stays the caller's.
// -1: private memory.
func Map(fd int, size uint64, writes bool) (*Memory, error) {
	prot, flags := unix.PROT_READ, unix.MAP_SHARED
	if writes {
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

// Open maps the memory of a Card; what names it in errors, writes: it can be written here. An ErrProtocol: its maker is
// wrong about it.
func (c Card) Open(what string, writes bool) (*Memory, error) {
	if c.PID == 0 {
		return nil, driver.ErrUnsupported
	}
	mode := unix.O_RDONLY
	if writes {
		mode = unix.O_RDWR
	}
	fd, err := unix.Open(fmt.Sprintf("/proc/%d/fd/%d", c.PID, c.FD), mode|unix.O_CLOEXEC|unix.O_NONBLOCK|unix.O_NOCTTY, 0)
	if err != nil {
		return nil, fmt.Errorf("%s of process %d: %w", what, c.PID, os.NewSyscallError("open", err))
	}
	defer unix.Close(fd)
	size, file, err := Check(fd, what)
	switch {
	case file != c.File:
		return nil, fmt.Errorf("%s of process %d: %w there", what, c.PID, errOther)
	case err != nil:
		return nil, err
	case size != c.Size:
		return nil, fmt.Errorf("%w: a %s of %d bytes, %d were announced", driver.ErrProtocol, what, size, c.Size)
	}
	return Map(fd, size, writes)
}

var errOther = errors.New("another file is")

// ReadOnly has no process map the memory for writing any more that has not. Before Linux 5.1 the kernel does not know
// that.
func (m *Memory) ReadOnly() {
	if fd := int(m.fd.Load()); fd >= 0 {
		_ = seal(fd, unix.F_SEAL_FUTURE_WRITE)
		_ = seal(fd, unix.F_SEAL_SEAL)
	}
}

// Hide has no other process find the memory any more. Those that have mapped it keep it. Of nil it does nothing.
func (m *Memory) Hide() {
	if m == nil {
		return
	}
	if fd := m.fd.Swap(-1); fd >= 0 {
		_ = unix.Close(int(fd))
	}
}

// Vacate gives the memory back, and hides it: what is read there from now on is zero, what is written no other process
// sees. The addresses stay until m cannot be reached. The error is the kernel's. A second call does nothing, nor does one
// of nil.
func (m *Memory) Vacate() error {
	if m == nil || m.vacant.Swap(true) {
		return nil
	}
	m.Hide()
	_, err := place(m.whole, -1, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_PRIVATE|unix.MAP_ANONYMOUS|unix.MAP_FIXED)
	runtime.AddCleanup(m, func(s mapping) { _ = unix.MunmapPtr(s.at, s.size) }, m.whole)
	return err
}

type mapping struct {
	at   unsafe.Pointer
	size uintptr
}

func place(s mapping, fd, prot, flags int) (unsafe.Pointer, error) {
	p, err := unix.MmapPtr(fd, 0, s.at, s.size, prot, flags|unix.MAP_NORESERVE)
	return p, os.NewSyscallError("mmap", err)
}
