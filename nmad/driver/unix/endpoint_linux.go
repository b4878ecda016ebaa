package unix

import (
	"cmp"
	"fmt"
	"os"

	"golang.org/x/sys/unix"

	"github.com/pm2-go/pm2/nmad/driver"
	"github.com/pm2-go/pm2/nmad/driver/internal/listener"
	"github.com/pm2-go/pm2/nmad/driver/internal/raw"
	"github.com/pm2-go/pm2/nmad/driver/internal/stream"
	"github.com/pm2-go/pm2/nmad/internal/meet"
)

// Open implements driver.Driver. Config.Listen is used if it is an abstract name ("@name"), and otherwise meant for
// another driver. An endpoint's address is such a name, valid on this host and in this network name space.
func (d Driver) Open(c driver.Config) (driver.Endpoint, error) {
	return d.network().Open(c)
}

func (d Driver) network() stream.Network {
	return stream.Network{
		Name: Name, Hint: "is its process running, on this host?",
		MaxBody: cmp.Or(d.body, standardBody), Listen: listener.Abstract, Check: listener.CheckAbstract, Take: d.take,
		Admit: func(c stream.Conn) error { return admit(c, os.Geteuid()) },
	}
}

// take makes the socket of a connection ours.
func (d Driver) take(c stream.Conn) (int, error) {
	fd, err := raw.Take(c)
	if err == nil && d.sndbuf > 0 {
		_ = unix.SetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_SNDBUF, d.sndbuf) // a wish
	}
	return fd, err
}

// admit turns away a process that does not run under that user.
func admit(c stream.Conn, user int) error {
	rc, err := c.SyscallConn()
	if err != nil {
		return err
	}
	var peer *unix.Ucred
	var failed error
	if err := rc.Control(func(fd uintptr) {
		peer, failed = unix.GetsockoptUcred(int(fd), unix.SOL_SOCKET, unix.SO_PEERCRED)
	}); err != nil {
		return err
	}
	if failed != nil {
		return meet.Lacking(fmt.Errorf("the kernel does not say whose process the peer is: %w", os.NewSyscallError("getsockopt", failed)))
	}
	if int64(peer.Uid) != int64(user) {
		return meet.Refused("it runs under user %d, this process under %d", peer.Uid, user)
	}
	return nil
}
