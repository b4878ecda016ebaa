package pio

import (
	"context"
	"net"
	"syscall"

	"golang.org/x/sys/unix"

	"github.com/pm2-go/pm2/internal/kernel"
	"github.com/pm2-go/pm2/marcel"
)

// Listener accepts connections. It is a net.Listener, so http.Server and others run on it. Errors are *net.OpError. A
// Listener without references that was not closed stays open.
type Listener struct{ descriptor }

var (
	_ net.Listener = (*Listener)(nil)
	_ syscall.Conn = (*Listener)(nil)
)

// Listen listens at an address: network "tcp", "tcp4", "tcp6" or "unix", address as for net.Listen, except that without
// a host it is the loopback interface; "0.0.0.0" and "[::]" (IPv4 as well) mean all interfaces, port 0 a free one.
// Close removes a unix socket's file.
func Listen(network, address string) (*Listener, error) {
	return defaultOrRefusing().Listen(network, address)
}

// Listen is the function Listen for this reactor.
func (r *Reactor) Listen(network, address string) (l *Listener, err error) {
	var theirs net.Listener
	var c net.ListenConfig
	c.SetMultipathTCP(false) // accepted sockets are plain TCP
	marcel.Blocking(func() { theirs, err = c.Listen(context.Background(), network, local(network, address)) })
	if err == nil {
		err = kernel.Known(theirs)
	}
	if err != nil {
		return nil, err
	}
	defer theirs.Close()
	if l, err = r.WrapListener(theirs.(syscall.Conn)); err != nil {
		return nil, err
	}
	if u, ok := theirs.(*net.UnixListener); ok { // the file is ours from now on
		u.SetUnlinkOnClose(false)
		if name := u.Addr().String(); name[0] != '@' {
			l.beforeClose = func() { _ = unix.Unlink(name) }
		}
	}
	return l, nil
}

// Accept implements net.Listener.
func (l *Listener) Accept() (net.Conn, error) {
	c, err := l.AcceptConn()
	if err != nil {
		return nil, err
	}
	return c, nil
}

// AcceptConn is Accept with the connection's own type. It waits on if the peer has given a connection up before it was
// accepted.
func (l *Listener) AcceptConn() (*Conn, error) {
	var fd int
	var peer unix.Sockaddr
	err := l.do(&l.rd, "accept4", func(listener int) syscall.Errno {
		var err error
		fd, peer, err = unix.Accept4(listener, unix.SOCK_NONBLOCK|unix.SOCK_CLOEXEC)
		errno, _ := err.(syscall.Errno)
		if errno == unix.ECONNABORTED {
			return unix.EINTR
		}
		return errno
	})
	if err != nil {
		return nil, l.fail("accept", err)
	}
	if l.network == "tcp" {
		configure(fd)
	}
	c, err := newConn(l.reactor, fd, l.network)
	if err != nil {
		return nil, l.fail("accept", err)
	}
	c.source, c.addr = c.address(unix.Getsockname), netAddr(l.network, peer)
	return c, nil
}

// Addr implements net.Listener.
func (l *Listener) Addr() net.Addr { return l.known(l.addr) }
