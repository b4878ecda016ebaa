package region

import (
	"fmt"
	"os"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/pm2-go/pm2/nmad/driver"
	"github.com/pm2-go/pm2/nmad/internal/sealed"
)

// Memory is a region of this process that another one can be given. The zero value has none.
type Memory struct {
	mem []byte
	fd  int // memfd; -1: none, or closed
}

// New makes a region, of which the kernel provides a page when it is touched. Where none can be made that has a descriptor,
// as in a sandbox or under a limit, it is this process's alone.
func New(bytes int) (*Memory, error) {
	flags := unix.MAP_SHARED
	fd, err := sealed.Create("pm2-loans", uint64(bytes), 0)
	if err != nil {
		flags = unix.MAP_PRIVATE | unix.MAP_ANONYMOUS
	}
	mem, err := mapAt(fd, bytes, unix.PROT_READ|unix.PROT_WRITE, flags)
	if err != nil {
		_ = unix.Close(fd)
		return nil, fmt.Errorf("cannot map memory of %d bytes to lend: %w", bytes, err)
	}
	if fd < 0 {
		return &Memory{mem, fd}, nil
	}
	// From here on no other process can map it but for reading. Before Linux 5.1 the peer could write it: that harms
	// only itself and those that it sends to, which do not trust it.
	_ = sealed.Seal(fd, unix.F_SEAL_FUTURE_WRITE)
	_ = sealed.Seal(fd, unix.F_SEAL_SEAL)
	return &Memory{mem, fd}, nil
}

// Bytes is the region.
func (m *Memory) Bytes() []byte { return m.mem }

// Descriptor is what to give to the other process; -1: there is none, or none any more.
func (m *Memory) Descriptor() int { return m.fd }

// Forget closes the descriptor: no process is to be given it any more.
func (m *Memory) Forget() {
	if m.fd >= 0 {
		_ = unix.Close(m.fd)
		m.fd = -1
	}
}

// Free takes the region out of the address space; it must not be touched any more.
func (m *Memory) Free() {
	m.Forget()
	unmap(&m.mem)
}

// View is the region of another process, which cannot be written here, and may change while it is read.
type View struct{ mem []byte }

// Map maps the region of that descriptor, which it closes. An ErrProtocol: the peer sent something else. Other
// errors are this process's.
func Map(fd int) (*View, error) {
	defer unix.Close(fd)
	size, err := sealed.Check(fd, "region")
	if err != nil {
		return nil, err
	}
	if size == 0 || size > MaxSize || size%PageSize != 0 {
		return nil, fmt.Errorf("%w: a region of %d bytes: 1 to %d pages of %d are allowed", driver.ErrProtocol, size, MaxSize/PageSize, PageSize)
	}
	mem, err := mapAt(fd, int(size), unix.PROT_READ, unix.MAP_SHARED)
	if err != nil {
		return nil, fmt.Errorf("cannot map a region of %d bytes: %w", size, err)
	}
	return &View{mem}, nil
}

// Bytes is the region. A write there crashes.
func (v *View) Bytes() []byte { return v.mem }

// Unmap takes it out of the address space; it must not be touched any more.
func (v *View) Unmap() { unmap(&v.mem) }

// mapAt maps a descriptor; -1: what flags say.
func mapAt(fd, size, prot, flags int) ([]byte, error) {
	p, err := unix.MmapPtr(fd, 0, nil, uintptr(size), prot, flags|unix.MAP_NORESERVE)
	if err != nil {
		return nil, os.NewSyscallError("mmap", err)
	}
	return unsafe.Slice((*byte)(p), size), nil
}

func unmap(mem *[]byte) {
	if *mem != nil {
		_ = unix.MunmapPtr(unsafe.Pointer(unsafe.SliceData(*mem)), uintptr(len(*mem)))
		*mem = nil
	}
}
