package pio

import (
	"context"
	"net"
	"os"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// Listener accepts connections. It is a net.Listener: http.Server and the like run on
// it. Errors are *net.OpError. A Listener that is dropped without Close stays
// open.
type Listener struct {
	d       descriptor
	network string
	addr    net.Addr
}

var (
	_ net.Listener = (*Listener)(nil)
	_ syscall.Conn = (*Listener)(nil)
)

// Listen listens at an address: network "tcp", "tcp4", "tcp6" or "unix", address as for
// net.Listen, except that without a host it is the loopback interface; "0.0.0.0" and
// "[::]" (IPv4 as well) mean all interfaces, port 0 a free one.
func Listen(network, address string) (*Listener, error) { return usual().Listen(network, address) }

// Listen is as the function.
func (r *Reactor) Listen(network, address string) (*Listener, error) {
	fail := func(a net.Addr, err error) (*Listener, error) {
		return nil, &net.OpError{Op: "listen", Net: network, Addr: a, Err: err}
	}
	list, err := resolve(context.Background(), network, address)
	if err != nil {
		return fail(nil, err)
	}
	a := list[0]
	for _, x := range list {
		if t, ok := x.(*net.TCPAddr); ok && t.IP.To4() != nil {
			a = x // as package net: a name means its IPv4 address
			break
		}
	}
	fd, sa, err := socket(a)
	if err != nil {
		return fail(a, err)
	}
	if u, ok := a.(*net.UnixAddr); ok && u.Name == "" {
		unix.Close(fd)
		return fail(a, &net.AddrError{Err: "empty path", Addr: address})
	}
	_ = unix.SetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_REUSEADDR, 1)
	if _, ok := sa.(*unix.SockaddrInet6); ok {
		only := 0
		if network == "tcp6" {
			only = 1
		}
		_ = unix.SetsockoptInt(fd, unix.IPPROTO_IPV6, unix.IPV6_V6ONLY, only)
	}
	if err := unix.Bind(fd, sa); err != nil {
		unix.Close(fd)
		return fail(a, os.NewSyscallError("bind", err))
	}
	if err := unix.Listen(fd, backlog); err != nil {
		unix.Close(fd)
		return fail(a, os.NewSyscallError("listen", err))
	}
	l, err := newListener(r, fd, network)
	if err != nil {
		return fail(a, err)
	}
	if u, ok := a.(*net.UnixAddr); ok && u.Name[0] != '@' {
		l.d.last = func() error { return unix.Unlink(u.Name) } // as package net does
	}
	return l, nil
}

// backlog asks for as many waiting connections as the system allows.
const backlog = 1 << 16

// newListener makes a Listener of a listening socket, which it owns from now on, also if
// it fails.
func newListener(r *Reactor, fd int, network string) (*Listener, error) {
	l := &Listener{network: network}
	if err := l.d.open(r, fd, true); err != nil {
		return nil, err
	}
	if sa, err := unix.Getsockname(fd); err == nil {
		l.addr = netAddr(network, sa)
	}
	return l, nil
}

func (l *Listener) fail(op string, err error) error {
	if err == nil {
		return nil
	}
	return &net.OpError{Op: op, Net: l.network, Addr: l.addr, Err: err}
}

// Accept implements net.Listener.
func (l *Listener) Accept() (net.Conn, error) {
	c, err := l.AcceptConn()
	if err != nil {
		return nil, err
	}
	return c, nil
}

// AcceptConn is Accept with the connection's own type.
func (l *Listener) AcceptConn() (*Conn, error) {
	fd, remote, err := l.d.accept()
	if err != nil {
		return nil, l.fail("accept", err)
	}
	c, err := newConn(l.d.r, fd, l.network)
	if err != nil {
		return nil, l.fail("accept", err)
	}
	c.remote = netAddr(l.network, remote)
	if sa, err := unix.Getsockname(fd); err == nil {
		c.local = netAddr(l.network, sa)
	}
	return c, nil
}

// accept waits for a connection. One that the peer gave up before we took it is
// not worth an error.
func (d *descriptor) accept() (int, unix.Sockaddr, error) {
	s := &d.rd
	if !d.enter(s) {
		return -1, nil, net.ErrClosed
	}
	defer d.leave(s)
	for {
		if err := s.begin(); err != nil {
			return -1, nil, err
		}
		fd, sa, err := unix.Accept4(d.fd, unix.SOCK_NONBLOCK|unix.SOCK_CLOEXEC)
		switch err {
		case nil:
			if _, ok := sa.(*unix.SockaddrUnix); !ok {
				configure(fd)
			}
			return fd, sa, nil
		case unix.EAGAIN:
			if err := d.wait(s, unix.EPOLLIN); err != nil {
				return -1, nil, err
			}
		case unix.EINTR, unix.ECONNABORTED:
		default:
			return -1, nil, os.NewSyscallError("accept4", err)
		}
	}
}

// Close implements net.Listener: it ends Accepts in progress with net.ErrClosed and
// gives the address back. A unix socket's file is removed.
func (l *Listener) Close() error { return l.fail("close", l.d.close()) }

// Addr implements net.Listener.
func (l *Listener) Addr() net.Addr { return known(l.addr) }

// SetDeadline ends Accepts with os.ErrDeadlineExceeded at t. Zero: never.
func (l *Listener) SetDeadline(t time.Time) error {
	return l.fail("set", l.d.setDeadlines(t, &l.d.rd))
}

// SyscallConn implements syscall.Conn.
func (l *Listener) SyscallConn() (syscall.RawConn, error) {
	if l.d.refs.closed() {
		return nil, l.fail("syscall", net.ErrClosed)
	}
	return raw{&l.d, l.fail}, nil
}
