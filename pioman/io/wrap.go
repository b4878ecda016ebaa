package pio

import (
	"errors"
	"io/fs"
	"net"
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

// Wrapping of what others opened: an *os.File, a *net.TCPConn, anything that is a
// syscall.Conn. The descriptor is duplicated: the original stays its owner's, may
// be closed at once or be used on, and closing one leaves the other open. Both share
// the open file: its data, its position, and that it does not block, which is said
// of it here (an *os.File made by os.Pipe and everything of package net is so already;
// of a terminal all processes that share it will notice). It must stay so: set to blocking again, it
// lets our reads block their virtual processors.

// WrapConn makes a Conn of a connected stream socket: tcp, unix, or an *os.File that
// is one.
func WrapConn(c syscall.Conn) (*Conn, error) { return usual().WrapConn(c) }

// WrapConn is as the function.
func (r *Reactor) WrapConn(c syscall.Conn) (*Conn, error) {
	fd, network, err := duplicateSocket(c, false)
	if err != nil {
		return nil, wrapError(err)
	}
	x, err := newConn(r, fd, network)
	if err != nil {
		return nil, wrapError(err)
	}
	x.find()
	return x, nil
}

// WrapListener makes a Listener of a listening stream socket. A unix socket's file is
// left to the original.
func WrapListener(l syscall.Conn) (*Listener, error) { return usual().WrapListener(l) }

// WrapListener is as the function.
func (r *Reactor) WrapListener(l syscall.Conn) (*Listener, error) {
	fd, network, err := duplicateSocket(l, true)
	if err != nil {
		return nil, wrapError(err)
	}
	x, err := newListener(r, fd, network)
	if err != nil {
		return nil, wrapError(err)
	}
	return x, nil
}

// WrapFile makes a File of anything that has a descriptor.
func WrapFile(f syscall.Conn) (*File, error) { return usual().WrapFile(f) }

// WrapFile is as the function.
func (r *Reactor) WrapFile(f syscall.Conn) (*File, error) {
	fd, err := duplicate(f)
	if err != nil {
		return nil, &fs.PathError{Op: "wrap", Path: nameOf(f), Err: err}
	}
	return r.NewFile(fd, nameOf(f))
}

func nameOf(f syscall.Conn) string {
	if n, ok := f.(interface{ Name() string }); ok {
		return n.Name()
	}
	return "descriptor"
}

var (
	errListens    = errors.New("the socket listens: it is not a connection")
	errListensNot = errors.New("the socket does not listen")
	errNotStream  = errors.New("not a stream socket")
)

func wrapError(err error) error { return &net.OpError{Op: "wrap", Net: "fd", Err: err} }

// duplicate returns a second descriptor of the same open file, 3 or more: a program with
// closed standard streams must not print into it.
func duplicate(c syscall.Conn) (fd int, err error) {
	rc, err := c.SyscallConn()
	if err != nil {
		return -1, err
	}
	fd = -1
	if cerr := rc.Control(func(old uintptr) {
		fd, err = unix.FcntlInt(old, unix.F_DUPFD_CLOEXEC, 3)
	}); cerr != nil {
		return -1, cerr
	}
	return fd, os.NewSyscallError("fcntl", err)
}

// duplicateSocket duplicates a stream socket, which must listen or must not.
func duplicateSocket(c syscall.Conn, listener bool) (fd int, network string, err error) {
	fd, err = duplicate(c)
	if err != nil {
		return -1, "", err
	}
	network, listens, err := streamSocket(fd)
	switch {
	case err == nil && listens && !listener:
		err = errListens
	case err == nil && !listens && listener:
		err = errListensNot
	}
	if err != nil {
		unix.Close(fd)
	}
	return fd, network, err
}

// streamSocket says what fd is.
func streamSocket(fd int) (network string, listens bool, err error) {
	kind, err := unix.GetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_TYPE)
	if err != nil {
		return "", false, os.NewSyscallError("getsockopt", err)
	}
	domain, err := unix.GetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_DOMAIN)
	if err != nil {
		return "", false, os.NewSyscallError("getsockopt", err)
	}
	switch {
	case kind != unix.SOCK_STREAM:
		return "", false, errNotStream
	case domain == unix.AF_UNIX:
		network = "unix"
	case domain == unix.AF_INET || domain == unix.AF_INET6:
		network = "tcp"
	default:
		return "", false, errNotStream
	}
	n, err := unix.GetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_ACCEPTCONN)
	return network, n != 0, os.NewSyscallError("getsockopt", err)
}
