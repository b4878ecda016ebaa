package pio

import (
	"io"
	"net"
	"os"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// Conn is a stream of bytes: a tcp or unix socket, one end of SocketPair or Pipe, or a descriptor of WrapConn. It is a
// net.Conn: Read, Write and the deadlines behave as there, for threads and plain goroutines alike. An operation that
// waits blocks only its caller. Reads take turns, and so do writes; a read and a write run at the same time. Errors are
// *net.OpError, or io.EOF; errors.Is finds net.ErrClosed and os.ErrDeadlineExceeded in them.
//
// A Conn without references that was not closed stays open.
type Conn struct{ descriptor }

var (
	_ net.Conn     = (*Conn)(nil)
	_ syscall.Conn = (*Conn)(nil)
)

// newConn makes a Conn of a descriptor, which it takes over, and closes if it fails.
func newConn(r *Reactor, fd int, network string) (*Conn, error) {
	c := &Conn{}
	return c, c.open(r, fd, network)
}

// find gets both addresses from the kernel.
func (c *Conn) find() { c.source, c.addr = c.address(unix.Getsockname), c.address(unix.Getpeername) }

// Read implements net.Conn: it reads at most len(p) bytes, and returns io.EOF once the peer has closed its
// side. It waits only if there are no bytes. It allocates nothing.
func (c *Conn) Read(p []byte) (n int, err error) {
	err = c.do(&c.rd, "read", func(fd int) (errno syscall.Errno) {
		n, errno = transfer(unix.SYS_READ, fd, p)
		return errno
	})
	if err == nil && n == 0 && len(p) > 0 {
		return 0, io.EOF
	}
	return n, c.fail("read", err)
}

// Write implements net.Conn: it writes all of p, or returns an error and how much was written. It
// waits while the kernel's buffer is full. It allocates nothing.
func (c *Conn) Write(p []byte) (n int, err error) {
	err = c.do(&c.wr, "write", func(fd int) syscall.Errno {
		m, errno := transfer(unix.SYS_WRITE, fd, p[n:])
		n += m
		return rest(n < len(p), m, errno)
	})
	return n, c.fail("write", err)
}

// Readv is Read into the pieces of bufs in their order, in one system call: into the first 64 pieces that are not
// empty.
func (c *Conn) Readv(bufs [][]byte) (n int, err error) {
	room := false
	err = c.do(&c.rd, "readv", func(fd int) (errno syscall.Errno) {
		vec := c.rd.vector(bufs, 0)
		room = len(vec) > 0
		n, errno = transferv(unix.SYS_READV, fd, vec)
		return errno
	})
	if err == nil && n == 0 && room {
		return 0, io.EOF
	}
	return n, c.fail("readv", err)
}

// Writev is Write of all pieces of bufs in their order, without a copy of them. It does not change bufs.
func (c *Conn) Writev(bufs [][]byte) (n int, err error) {
	left, skip := advance(bufs, 0)
	err = c.do(&c.wr, "writev", func(fd int) syscall.Errno {
		m, errno := transferv(unix.SYS_WRITEV, fd, c.wr.vector(left, skip))
		n += m
		left, skip = advance(left, skip+m)
		return rest(len(left) > 0, m, errno)
	})
	return n, c.fail("writev", err)
}

// rest is the errno for descriptor.do after m bytes were written; left: more are to be written, so do is to call again,
// as after an interruption.
func rest(left bool, m int, errno syscall.Errno) syscall.Errno {
	switch {
	case errno != 0 || !left:
		return errno
	case m == 0:
		return unix.EIO // a device has taken no byte, without an error
	}
	return unix.EINTR
}

// CloseWrite tells the peer that nothing more will come; reading goes on.
func (c *Conn) CloseWrite() error {
	return c.control("close", func(fd int) error { return os.NewSyscallError("shutdown", unix.Shutdown(fd, unix.SHUT_WR)) })
}

// LocalAddr implements net.Conn.
func (c *Conn) LocalAddr() net.Addr { return c.known(c.source) }

// RemoteAddr implements net.Conn.
func (c *Conn) RemoteAddr() net.Addr { return c.known(c.addr) }

// SetReadDeadline implements net.Conn.
func (c *Conn) SetReadDeadline(t time.Time) error { return c.setDeadlines(t, &c.rd) }

// SetWriteDeadline implements net.Conn.
func (c *Conn) SetWriteDeadline(t time.Time) error { return c.setDeadlines(t, &c.wr) }

// SocketPair returns two connected unix sockets.
func SocketPair() (a, b *Conn, err error) { return defaultOrRefusing().SocketPair() }

// SocketPair returns two connected unix sockets.
func (r *Reactor) SocketPair() (a, b *Conn, err error) {
	fds, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_NONBLOCK|unix.SOCK_CLOEXEC, 0)
	return r.pair("unix", fds, os.NewSyscallError("socketpair", err))
}

// Pipe returns the two ends of a pipe: one to read, one to write.
func Pipe() (rd, wr *Conn, err error) { return defaultOrRefusing().Pipe() }

// Pipe returns the two ends of a pipe: one to read, one to write.
func (r *Reactor) Pipe() (rd, wr *Conn, err error) {
	var fds [2]int
	err = unix.Pipe2(fds[:], unix.O_NONBLOCK|unix.O_CLOEXEC)
	return r.pair("pipe", fds, os.NewSyscallError("pipe2", err))
}

// pair makes Conns of two descriptors, unless there was an error.
func (r *Reactor) pair(network string, fds [2]int, err error) (a, b *Conn, _ error) {
	if err == nil {
		if a, err = newConn(r, fds[0], network); err != nil {
			unix.Close(fds[1])
		} else if b, err = newConn(r, fds[1], network); err != nil {
			_ = a.Close()
		}
	}
	if err != nil {
		return nil, nil, &net.OpError{Op: "open", Net: network, Err: err}
	}
	a.find()
	b.find()
	return a, b, nil
}
