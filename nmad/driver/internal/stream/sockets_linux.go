package stream

import (
	"fmt"
	"os"

	"golang.org/x/sys/unix"

	"github.com/pm2-go/pm2/nmad/driver"
	"github.com/pm2-go/pm2/nmad/driver/internal/raw"
	"github.com/pm2-go/pm2/nmad/internal/meet"
)

// sockets are what a link is made of, on the way to becoming one: descriptors, -1 for what is not there.
type sockets struct {
	ep    int // epoll set of the link
	fd    [numTracks]int
	place driver.Place
}

var noSockets = sockets{ep: -1, fd: [numTracks]int{-1, -1}, place: driver.Place{Node: -1}}

// take adds the socket of a connection, and with the first one what the link has but once. Its error is for the peer to
// know: this process lacks something.
func (sk *sockets) take(n *Network, track int, c Conn) (err error) {
	if track == trackSmall {
		if sk.ep, err = unix.EpollCreate1(unix.EPOLL_CLOEXEC); err != nil {
			sk.ep = -1
			return meet.Lacking(fmt.Errorf("cannot create an epoll set: %w", os.NewSyscallError("epoll_create1", err)))
		}
		if n.Place != nil {
			sk.place = n.Place(c)
		}
	}
	if sk.fd[track], err = n.Take(c); err != nil {
		sk.fd[track] = -1
		return meet.Lacking(err)
	}
	return nil
}

// give hands a socket on.
func (sk *sockets) give(track int) (fd int) {
	fd, sk.fd[track] = sk.fd[track], -1
	return fd
}

// close closes what is left.
func (sk *sockets) close() {
	raw.Close(sk.fd[trackSmall], sk.fd[trackLarge], sk.ep)
	*sk = noSockets
}
