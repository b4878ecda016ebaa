package pio

import (
	"io"
	"net"
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

// Reading and writing of anything that epoll can watch. The errors are bare: net.ErrClosed,
// os.ErrDeadlineExceeded, io.EOF, a system call's, the engine's; Conn and File
// add what was done, and to which connection or file.

// enter and leave frame a transfer in one direction: one at a time. false: closed.
func (d *descriptor) enter(s *side) bool {
	if !d.take() {
		return false
	}
	s.mu.Lock()
	return true
}

func (d *descriptor) leave(s *side) {
	s.mu.Unlock()
	d.drop()
}

// again returns once a system call that moved nothing may be made once more, waiting first if
// the descriptor was not ready; otherwise it returns what is wrong.
func (d *descriptor) again(s *side, events uint32, call string, errno syscall.Errno) error {
	switch errno {
	case unix.EAGAIN:
		return d.wait(s, events)
	case unix.EINTR:
		return nil
	}
	return os.NewSyscallError(call, errno)
}

// read returns what is there, at most len(p) bytes, and waits if there is nothing.
func (d *descriptor) read(p []byte) (int, error) {
	s := &d.rd
	if !d.enter(s) {
		return 0, net.ErrClosed
	}
	defer d.leave(s)
	for {
		if err := s.begin(); err != nil || len(p) == 0 {
			return 0, err
		}
		n, errno := sysRead(d.fd, p)
		switch {
		case errno == 0 && n == 0:
			return 0, io.EOF
		case errno == 0:
			return n, nil
		}
		if err := d.again(s, unix.EPOLLIN, "read", errno); err != nil {
			return 0, err
		}
	}
}

// write writes all of p, waiting whenever there is no room. The number is right
// also with an error.
func (d *descriptor) write(p []byte) (int, error) {
	s := &d.wr
	if !d.enter(s) {
		return 0, net.ErrClosed
	}
	defer d.leave(s)
	done := 0
	for {
		if err := s.begin(); err != nil || done == len(p) {
			return done, err
		}
		n, errno := sysWrite(d.fd, p[done:])
		switch {
		case errno == 0 && n == 0:
			return done, io.ErrUnexpectedEOF
		case errno == 0:
			if done += n; done == len(p) {
				return done, nil
			}
			continue
		}
		if err := d.again(s, unix.EPOLLOUT, "write", errno); err != nil {
			return done, err
		}
	}
}

// readv fills the pieces of bufs in their order with what is there; otherwise as read.
func (d *descriptor) readv(bufs [][]byte) (int, error) {
	s := &d.rd
	if !d.enter(s) {
		return 0, net.ErrClosed
	}
	defer d.leave(s)
	iov, _ := s.vector(bufs, 0)
	defer clear(iov)
	for {
		if err := s.begin(); err != nil || len(iov) == 0 {
			return 0, err
		}
		n, errno := transferv(unix.SYS_READV, d.fd, iov)
		switch {
		case errno == 0 && n == 0:
			return 0, io.EOF
		case errno == 0:
			return n, nil
		}
		if err := d.again(s, unix.EPOLLIN, "readv", errno); err != nil {
			return 0, err
		}
	}
}

// writev writes all pieces in their order; otherwise as write.
func (d *descriptor) writev(bufs [][]byte) (int, error) {
	s := &d.wr
	if !d.enter(s) {
		return 0, net.ErrClosed
	}
	defer d.leave(s)
	defer func() {
		if s.iov != nil {
			clear(s.iov[:]) // hold no caller's memory
		}
	}()
	done, skip := 0, 0 // skip: bytes of bufs[0] that are written
	for {
		if err := s.begin(); err != nil {
			return done, err
		}
		iov, size := s.vector(bufs, skip)
		if size == 0 {
			return done, nil
		}
		n, errno := transferv(unix.SYS_WRITEV, d.fd, iov)
		switch {
		case errno == 0 && n == 0:
			return done, io.ErrUnexpectedEOF
		case errno == 0:
			done += n
			bufs, skip = advance(bufs, skip+n)
			continue
		}
		if err := d.again(s, unix.EPOLLOUT, "writev", errno); err != nil {
			return done, err
		}
	}
}

// maxIovecs is how many pieces one system call takes; more make more calls.
const maxIovecs = 64

// vector lists the pieces, empty ones left out, from byte skip on, as the kernel wants
// them, and returns how many bytes they hold.
func (s *side) vector(bufs [][]byte, skip int) (iov []unix.Iovec, size int) {
	if s.iov == nil {
		s.iov = new([maxIovecs]unix.Iovec)
	}
	n := 0
	for _, b := range bufs {
		b, skip = b[min(skip, len(b)):], max(skip-len(b), 0)
		if len(b) == 0 {
			continue
		}
		s.iov[n].Base = &b[0]
		s.iov[n].SetLen(len(b))
		size += len(b)
		if n++; n == len(s.iov) {
			break
		}
	}
	return s.iov[:n], size
}

// advance leaves out what is written: the first n bytes.
func advance(bufs [][]byte, n int) (rest [][]byte, skip int) {
	for len(bufs) > 0 && n >= len(bufs[0]) {
		n -= len(bufs[0])
		bufs = bufs[1:]
	}
	return bufs, n
}

// attempt calls f on the descriptor until it returns true, and waits in between: what
// syscall.RawConn's Read and Write do.
func (d *descriptor) attempt(s *side, events uint32, f func(fd uintptr) bool) error {
	if !d.enter(s) {
		return net.ErrClosed
	}
	defer d.leave(s)
	for {
		if err := s.begin(); err != nil {
			return err
		}
		if f(uintptr(d.fd)) {
			return nil
		}
		if err := d.wait(s, events); err != nil {
			return err
		}
	}
}

// control runs f, which gets the descriptor and keeps it open.
func (d *descriptor) control(f func(fd int) error) error {
	if !d.take() {
		return net.ErrClosed
	}
	defer d.drop()
	return f(d.fd)
}

// raw is a descriptor as a syscall.RawConn; name puts the caller's words around errors.
type raw struct {
	d    *descriptor
	name func(op string, err error) error
}

var _ syscall.RawConn = raw{}

// Control implements syscall.RawConn. f must not close what it is given.
func (x raw) Control(f func(fd uintptr)) error {
	return x.name("raw-control", x.d.control(func(fd int) error { f(uintptr(fd)); return nil }))
}

// Read implements syscall.RawConn: it waits as a Read does whenever f says false.
func (x raw) Read(f func(fd uintptr) (done bool)) error {
	return x.name("raw-read", x.d.attempt(&x.d.rd, unix.EPOLLIN, f))
}

// Write implements syscall.RawConn.
func (x raw) Write(f func(fd uintptr) (done bool)) error {
	return x.name("raw-write", x.d.attempt(&x.d.wr, unix.EPOLLOUT, f))
}
