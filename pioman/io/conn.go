package pio

import (
	"io"
	"net"
	"os"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// Conn is a stream socket: tcp, unix, or one end of SocketPair. It is a net.Conn: Read,
// Write and the deadlines behave as there, for threads and plain goroutines alike. A
// caller that has to wait blocks no thread but itself. Reads take turns, and so do
// writes; a read and a write run at the same time. Errors are *net.OpError, io.EOF
// excepted; net.ErrClosed and os.ErrDeadlineExceeded are found in them by
// errors.Is.
//
// A Conn that is dropped without Close stays open.
type Conn struct {
	d             descriptor
	network       string
	local, remote net.Addr
}

var (
	_ net.Conn     = (*Conn)(nil)
	_ syscall.Conn = (*Conn)(nil)
)

// newConn makes a Conn of a socket, which it owns from now on, also if it fails.
func newConn(r *Reactor, fd int, network string) (*Conn, error) {
	c := &Conn{network: network}
	if err := c.d.open(r, fd, true); err != nil {
		return nil, err
	}
	return c, nil
}

// find asks the kernel for both addresses.
func (c *Conn) find() {
	if sa, err := unix.Getsockname(c.d.fd); err == nil {
		c.local = netAddr(c.network, sa)
	}
	if sa, err := unix.Getpeername(c.d.fd); err == nil {
		c.remote = netAddr(c.network, sa)
	}
}

// fail says what was done, and between which addresses.
func (c *Conn) fail(op string, err error) error {
	if err == nil || err == io.EOF {
		return err
	}
	return &net.OpError{Op: op, Net: c.network, Source: c.local, Addr: c.remote, Err: err}
}

// Read implements net.Conn: at most len(p) bytes, io.EOF once the peer has closed its
// side. It waits only if nothing is there. No allocation.
func (c *Conn) Read(p []byte) (int, error) {
	n, err := c.d.read(p)
	if err != nil {
		err = c.fail("read", err)
	}
	return n, err
}

// Write implements net.Conn: all of p, or an error and how much was written. It
// waits while the kernel's buffer is full. No allocation.
func (c *Conn) Write(p []byte) (int, error) {
	n, err := c.d.write(p)
	if err != nil {
		err = c.fail("write", err)
	}
	return n, err
}

// Readv reads into the pieces of bufs in their order, in one system call: what is
// there, at most the first 64 pieces that are not empty. Otherwise it is Read.
func (c *Conn) Readv(bufs [][]byte) (int, error) {
	n, err := c.d.readv(bufs)
	return n, c.fail("readv", err)
}

// Writev writes all pieces of bufs in their order, without gathering them first. bufs
// stays as it is. Otherwise it is Write.
func (c *Conn) Writev(bufs [][]byte) (int, error) {
	n, err := c.d.writev(bufs)
	return n, c.fail("writev", err)
}

// Close ends the reads and writes in progress with net.ErrClosed, waits for them to
// leave, and closes the socket. Close again returns net.ErrClosed.
func (c *Conn) Close() error { return c.fail("close", c.d.close()) }

// CloseWrite tells the peer that nothing more will come; reading goes on.
func (c *Conn) CloseWrite() error { return c.shutdown(unix.SHUT_WR) }

// CloseRead ends reading: what still arrives is thrown away.
func (c *Conn) CloseRead() error { return c.shutdown(unix.SHUT_RD) }

func (c *Conn) shutdown(how int) error {
	return c.fail("close", c.d.control(func(fd int) error {
		return os.NewSyscallError("shutdown", unix.Shutdown(fd, how))
	}))
}

// LocalAddr implements net.Conn.
func (c *Conn) LocalAddr() net.Addr { return known(c.local) }

// RemoteAddr implements net.Conn.
func (c *Conn) RemoteAddr() net.Addr { return known(c.remote) }

// SetDeadline implements net.Conn: reads and writes end with os.ErrDeadlineExceeded at t,
// those in progress, too. Zero: never.
func (c *Conn) SetDeadline(t time.Time) error {
	return c.fail("set", c.d.setDeadlines(t, &c.d.rd, &c.d.wr))
}

// SetReadDeadline implements net.Conn.
func (c *Conn) SetReadDeadline(t time.Time) error {
	return c.fail("set", c.d.setDeadlines(t, &c.d.rd))
}

// SetWriteDeadline implements net.Conn.
func (c *Conn) SetWriteDeadline(t time.Time) error {
	return c.fail("set", c.d.setDeadlines(t, &c.d.wr))
}

// SetNoDelay says whether TCP sends small pieces at once; it does unless told
// otherwise. An error on other sockets.
func (c *Conn) SetNoDelay(on bool) error {
	value := 0
	if on {
		value = 1
	}
	return c.fail("set", c.d.control(func(fd int) error {
		return os.NewSyscallError("setsockopt", unix.SetsockoptInt(fd, unix.IPPROTO_TCP, unix.TCP_NODELAY, value))
	}))
}

// SyscallConn implements syscall.Conn, for options that have no method here.
func (c *Conn) SyscallConn() (syscall.RawConn, error) {
	if c.d.refs.closed() {
		return nil, c.fail("syscall", net.ErrClosed)
	}
	return raw{&c.d, c.fail}, nil
}

// SocketPair returns two connected unix sockets.
func SocketPair() (a, b *Conn, err error) { return usual().SocketPair() }

// SocketPair returns two connected unix sockets.
func (r *Reactor) SocketPair() (a, b *Conn, err error) {
	fail := func(err error) (*Conn, *Conn, error) {
		return nil, nil, &net.OpError{Op: "socketpair", Net: "unix", Err: err}
	}
	fds, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_NONBLOCK|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return fail(os.NewSyscallError("socketpair", err))
	}
	a, err = newConn(r, fds[0], "unix")
	if err != nil {
		unix.Close(fds[1])
		return fail(err)
	}
	b, err = newConn(r, fds[1], "unix")
	if err != nil {
		_ = a.Close()
		return fail(err)
	}
	a.find()
	b.find()
	return a, b, nil
}

// nowhere is the address of a socket that the kernel says nothing of, so that
// LocalAddr and RemoteAddr are never nil.
type nowhere struct{}

func (nowhere) Network() string { return "unknown" }
func (nowhere) String() string  { return "unknown" }

func known(a net.Addr) net.Addr {
	if a == nil {
		return nowhere{}
	}
	return a
}
