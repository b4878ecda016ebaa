package drivertest

import (
	"fmt"
	"net"
	"os"
	"runtime"
	"sync/atomic"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/pm2-go/pm2/nmad/driver"
	"github.com/pm2-go/pm2/nmad/driver/internal/raw"
)

// probe is two flags on lines of their own, in memory of two processes: what one round trip costs at least.
type probe struct {
	ping atomic.Uint64
	_    [248]byte
	pong atomic.Uint64
	_    [248]byte
	at   [2]atomic.Uint64 // addresses of the buffers of the two processes, for copies
}

// address is where b lies, for the other process.
func address(b []byte) uint64 { return uint64(uintptr(unsafe.Pointer(unsafe.SliceData(b)))) }

func newProbe() (*os.File, error) {
	fd, err := unix.MemfdCreate("drivertest-probe", unix.MFD_CLOEXEC)
	if err != nil {
		return nil, err
	}
	f := os.NewFile(uintptr(fd), "probe")
	return f, f.Truncate(4096)
}

// mapProbe maps it for the rest of the process's life.
func mapProbe(f *os.File) (*probe, error) {
	p, err := unix.MmapPtr(int(f.Fd()), 0, nil, 4096, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED)
	runtime.KeepAlive(f) // the descriptor is closed with it
	if err != nil {
		return nil, err
	}
	return (*probe)(p), nil
}

// serve plays rounds of ping-pong; the other one calls answer.
func (p *probe) serve(rounds int) {
	at := p.pong.Load()
	for range rounds {
		at++
		p.ping.Store(at)
		for p.pong.Load() != at {
		}
	}
}

func (p *probe) answer(rounds int) {
	at := p.pong.Load()
	for range rounds {
		at++
		for p.ping.Load() != at {
		}
		p.pong.Store(at)
	}
}

// copies fetches buf from the other process, rounds times, and lets the other fetch it from here: as side 0 after the
// other one, as side 1 before.
func (p *probe) copies(side, pid int, buf []byte, rounds int) error {
	p.at[side].Store(uint64(uintptr(unsafe.Pointer(unsafe.SliceData(buf)))))
	local := []unix.Iovec{{Base: unsafe.SliceData(buf)}}
	local[0].SetLen(len(buf))
	remote := []unix.RemoteIovec{{Len: len(buf)}}
	at := p.pong.Load()
	for range rounds {
		at++
		mine, theirs := &p.ping, &p.pong
		if side == 1 {
			mine, theirs = theirs, mine
		} else {
			mine.Store(at)
		}
		for theirs.Load() != at {
		}
		remote[0].Base = uintptr(p.at[1-side].Load())
		if n, err := unix.ProcessVMReadv(pid, local, remote, 0); n != len(buf) || err != nil {
			mine.Store(at)
			return fmt.Errorf("process_vm_readv: %d bytes of %d: %w", n, len(buf), err)
		}
		if side == 1 {
			mine.Store(at)
		}
	}
	return nil
}

// time gives one way in ns.
func (p *probe) time(rounds int) float64 {
	p.serve(1) // both are there from here on
	start := time.Now()
	p.serve(rounds - 1)
	return float64(time.Since(start).Nanoseconds()) / float64(rounds-1) / 2
}

// barePair gives the two ends of a bare connection such as the driver of that name uses: of Unix sockets for unix, else
// over loopback.
func barePair(name string) (here int, there *os.File, err error) {
	if name != "unix" {
		return tcpPair()
	}
	fd, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_NONBLOCK|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return -1, nil, err
	}
	return fd[0], os.NewFile(uintptr(fd[1]), "socket"), nil
}

// tcpPair gives the two ends of a bare connection over loopback, set up like the driver's.
func tcpPair() (here int, there *os.File, err error) {
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return -1, nil, err
	}
	defer ln.Close()
	c, err := net.Dial("tcp", ln.Addr().String())
	if err != nil {
		return -1, nil, err
	}
	other, err := ln.Accept()
	if err != nil {
		return -1, nil, err
	}
	var fd [2]int
	for i, c := range []net.Conn{c, other} {
		defer c.Close()
		if fd[i], err = raw.Take(c.(*net.TCPConn)); err != nil {
			return -1, nil, err
		}
		_ = unix.SetsockoptInt(fd[i], unix.IPPROTO_TCP, unix.TCP_NODELAY, 1)
		_ = unix.SetsockoptString(fd[i], unix.IPPROTO_TCP, unix.TCP_CONGESTION, "reno")
	}
	return fd[0], os.NewFile(uintptr(fd[1]), "socket"), nil
}

// rawLoop sends a byte to and fro, with nothing around the system calls.
func rawLoop(fd, rounds int, first bool) error {
	b := make([]byte, 1)
	for range rounds {
		if first {
			if _, errno := raw.Send(fd, b); errno != 0 {
				return errno
			}
		}
		for {
			n, errno := raw.Recv(fd, b)
			if n == 1 {
				break
			}
			if errno != unix.EAGAIN {
				return fmt.Errorf("%w: %w", driver.ErrPeerLost, errno)
			}
		}
		if !first {
			if _, errno := raw.Send(fd, b); errno != 0 {
				return errno
			}
		}
	}
	return nil
}
