package pio

import (
	"context"
	"errors"
	"net"
	"os"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/pm2-go/pm2/marcel"
)

// Dial connects to an address: network "tcp", "tcp4", "tcp6" or "unix", address as for net.Dial; an address without a
// host is one of the loopback interface. Dial blocks only its caller, until the peer's system answers. It tries several
// addresses of one name one after the other. The error is a *net.OpError.
func Dial(network, address string) (*Conn, error) { return defaultOrRefusing().Dial(network, address) }

// DialContext is Dial until ctx is done: then the error is ctx's cause, or, past its deadline, os.ErrDeadlineExceeded.
// Once it is made the connection does not depend on ctx.
func DialContext(ctx context.Context, network, address string) (*Conn, error) {
	return defaultOrRefusing().DialContext(ctx, network, address)
}

// Dial is the function Dial for this reactor.
func (r *Reactor) Dial(network, address string) (*Conn, error) {
	return r.DialContext(context.Background(), network, address)
}

// DialContext is the function DialContext for this reactor.
func (r *Reactor) DialContext(ctx context.Context, network, address string) (*Conn, error) {
	list, err := resolve(ctx, network, address)
	if err != nil {
		return nil, &net.OpError{Op: "dial", Net: network, Err: ended(ctx, err)}
	}
	var first error
	for _, a := range list {
		c, err := r.connect(ctx, network, a)
		if err == nil {
			return c, nil
		}
		if first == nil {
			first = &net.OpError{Op: "dial", Net: network, Addr: a, Err: ended(ctx, err)}
		}
		if ctx.Err() != nil {
			break
		}
	}
	return nil, first
}

// ended returns the error of an attempt that has failed with err: ctx's, if that is done.
func ended(ctx context.Context, err error) error {
	switch cause := context.Cause(ctx); {
	case cause == nil:
		return err
	case errors.Is(cause, context.DeadlineExceeded):
		return os.ErrDeadlineExceeded
	default:
		return cause
	}
}

// connect makes a socket and connects it to one address.
func (r *Reactor) connect(ctx context.Context, network string, a net.Addr) (*Conn, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	fd, sa, err := socket(a)
	if err != nil {
		return nil, err
	}
	return r.join(ctx, network, fd, sa)
}

// join connects a socket, which it takes over, and closes if it fails.
func (r *Reactor) join(ctx context.Context, network string, fd int, sa unix.Sockaddr) (*Conn, error) {
	c, err := newConn(r, fd, network)
	if err != nil {
		return nil, err
	}
	connected := false
	defer func() {
		if !connected { // also if the thread is canceled
			_ = c.Close()
		}
	}()
	if err := c.connectUntil(ctx, sa); err != nil {
		return nil, err
	}
	c.find()
	if err := c.refuseItself(); err != nil {
		return nil, err
	}
	connected = true
	return c, nil
}

// connectUntil is connect until ctx is done: the end of ctx sets a deadline in the past.
func (c *Conn) connectUntil(ctx context.Context, sa unix.Sockaddr) error {
	left := marcel.NewLatch(1)
	stop := context.AfterFunc(ctx, func() {
		c.wr.setDeadline(time.Unix(1, 0))
		left.CountDown()
	})
	defer func() {
		if !stop() {
			left.Wait()
			c.wr.setDeadline(time.Time{})
		}
	}()
	return c.connect(sa)
}

// refuseItself returns ECONNREFUSED if the kernel has connected c to itself. That may happen for a port of this host on
// which no socket listens: the kernel may choose that very port for the own end, and then both ends
// open at once (RFC 9293, 3.5). While a socket listens there the kernel does not choose the port.
func (c *Conn) refuseItself() error {
	if _, tcp := c.addr.(*net.TCPAddr); !tcp || c.addr.String() != c.LocalAddr().String() {
		return nil
	}
	_ = unix.SetsockoptLinger(c.fd, unix.SOL_SOCKET, unix.SO_LINGER, &unix.Linger{Onoff: 1}) // the port is free at once
	return os.NewSyscallError("connect", unix.ECONNREFUSED)
}

// socket makes a socket for an address.
func socket(a net.Addr) (fd int, sa unix.Sockaddr, err error) {
	family, sa, err := sockAddr(a)
	if err != nil {
		return -1, nil, err
	}
	fd, err = unix.Socket(family, unix.SOCK_STREAM|unix.SOCK_NONBLOCK|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return -1, nil, os.NewSyscallError("socket", err)
	}
	if family != unix.AF_UNIX {
		configure(fd)
	}
	return fd, sa, nil
}

// configure sets up a TCP socket as package net does.
func configure(fd int) {
	_ = unix.SetsockoptInt(fd, unix.IPPROTO_TCP, unix.TCP_NODELAY, 1)
	_ = unix.SetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_KEEPALIVE, 1)
}

// connect connects c, and waits until the peer has answered. It repeats connect(2), which returns the answer, or that
// there is none yet.
func (c *Conn) connect(sa unix.Sockaddr) error {
	var full error
	err := c.do(&c.wr, "connect", func(fd int) syscall.Errno {
		err := unix.Connect(fd, sa)
		switch errno, _ := err.(syscall.Errno); errno {
		case unix.EISCONN:
			return 0
		case unix.EINPROGRESS, unix.EALREADY:
			return unix.EAGAIN
		case unix.EAGAIN: // the backlog of a unix socket is full, and no event says when it is not
			full = os.NewSyscallError("connect", errno)
			return 0
		default:
			return errno
		}
	})
	if err == nil {
		err = full
	}
	return err
}
