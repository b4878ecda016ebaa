package pio

import (
	"errors"
	"net"
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

// WrapConn and WrapListener duplicate the descriptor of a syscall.Conn, such as an *os.File or a *net.TCPConn. The
// original stays its owner's, which may close it at once or use it on; closing one leaves the other open. Both share
// the open file: its data, and the flag O_NONBLOCK, which wrapping sets (an *os.File of os.Pipe and the sockets of
// package net have it already; a terminal has it then for all processes that share it). If a program clears the flag
// again, reads and writes block their VPs.

// WrapConn makes a Conn of a connected stream socket (tcp, unix), a pipe, a terminal, or another file that epoll can
// watch. For a file on a disk it fails: a thread reads that by package os, within marcel.Blocking.
func WrapConn(c syscall.Conn) (*Conn, error) { return defaultOrRefusing().WrapConn(c) }

// WrapConn is the function WrapConn for this reactor.
func (r *Reactor) WrapConn(c syscall.Conn) (*Conn, error) {
	x := &Conn{}
	if err := x.wrap(r, c, false); err != nil {
		return nil, err
	}
	x.find()
	return x, nil
}

// WrapListener makes a Listener of a listening stream socket. Close does not remove a unix socket's file.
func WrapListener(l syscall.Conn) (*Listener, error) { return defaultOrRefusing().WrapListener(l) }

// WrapListener is the function WrapListener for this reactor.
func (r *Reactor) WrapListener(l syscall.Conn) (*Listener, error) {
	x := &Listener{}
	if err := x.wrap(r, l, true); err != nil {
		return nil, err
	}
	x.addr = x.address(unix.Getsockname)
	return x, nil
}

// wrap opens d with a duplicate of c's descriptor.
func (d *descriptor) wrap(r *Reactor, c syscall.Conn, listener bool) error {
	fd, network, err := duplicate(c, listener)
	if err == nil {
		err = d.open(r, fd, network)
	}
	if err != nil {
		return &net.OpError{Op: "wrap", Net: "fd", Err: err}
	}
	return nil
}

var (
	errListens    = errors.New("the socket listens: it is not a connection")
	errListensNot = errors.New("it does not listen")
	errNotStream  = errors.New("not a stream socket")
	errDisk       = errors.New("a file on a disk, which epoll cannot watch: read and write it by package os, within marcel.Blocking")
)

// duplicate returns a second descriptor of the same open file, sets that to non-blocking, and returns its kind: "tcp",
// "unix", "pipe" or "file". listener says whether it must listen, or must not. The number of the descriptor is 3 or
// more, so that a program with closed standard streams does not print into it.
func duplicate(c syscall.Conn, listener bool) (fd int, network string, err error) {
	rc, err := c.SyscallConn()
	if err != nil {
		return -1, "", err
	}
	if cerr := rc.Control(func(old uintptr) {
		fd, err = unix.FcntlInt(old, unix.F_DUPFD_CLOEXEC, 3)
	}); cerr != nil || err != nil {
		return -1, "", errors.Join(cerr, os.NewSyscallError("fcntl", err))
	}
	network, listens, err := kind(fd)
	switch {
	case err == nil && listens && !listener:
		err = errListens
	case err == nil && !listens && listener:
		err = errListensNot
	case err == nil:
		err = os.NewSyscallError("fcntl", unix.SetNonblock(fd, true))
	}
	if err != nil {
		unix.Close(fd)
	}
	return fd, network, err
}

// kind returns the kind of fd ("tcp", "unix", "pipe", "file"), and whether it listens.
func kind(fd int) (network string, listens bool, err error) {
	var st unix.Stat_t
	if err := unix.Fstat(fd, &st); err != nil {
		return "", false, os.NewSyscallError("fstat", err)
	}
	switch st.Mode & unix.S_IFMT {
	case unix.S_IFSOCK:
	case unix.S_IFREG, unix.S_IFDIR, unix.S_IFBLK:
		return "", false, errDisk
	case unix.S_IFIFO:
		return "pipe", false, nil
	default:
		return "file", false, nil
	}
	option := func(name int) (n int) {
		if err == nil {
			n, err = unix.GetsockoptInt(fd, unix.SOL_SOCKET, name)
		}
		return n
	}
	stream, domain := option(unix.SO_TYPE) == unix.SOCK_STREAM, option(unix.SO_DOMAIN)
	listens = option(unix.SO_ACCEPTCONN) != 0
	switch {
	case err != nil:
		return "", false, os.NewSyscallError("getsockopt", err)
	case stream && domain == unix.AF_UNIX:
		return "unix", listens, nil
	case stream && (domain == unix.AF_INET || domain == unix.AF_INET6):
		return "tcp", listens, nil
	}
	return "", false, errNotStream
}
