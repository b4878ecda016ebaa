package stream

import (
	"fmt"
	"os"

	"golang.org/x/sys/unix"

	"github.com/pm2-go/pm2/nmad/driver"
	"github.com/pm2-go/pm2/nmad/driver/internal/raw"
	"github.com/pm2-go/pm2/nmad/internal/meet"
)

// sockets are what a link is made of, while it is being made: descriptors, -1 for those that are not there yet.
type sockets struct {
	epoll    int // epoll set of the link
	fd       [numTracks]int
	locality driver.Locality
}

var noSockets = sockets{epoll: -1, fd: [numTracks]int{-1, -1}, locality: driver.Locality{Node: -1}}

// take adds the socket of a connection, and with the first one the link's epoll set. Its error is for the peer to
// know: this process lacks something.
func (sk *sockets) take(n *Network, track int, c Conn) (err error) {
	if track == trackSmall {
		if sk.epoll, err = unix.EpollCreate1(unix.EPOLL_CLOEXEC); err != nil {
			sk.epoll = -1
			return meet.Lacking(fmt.Errorf("cannot create an epoll set: %w", os.NewSyscallError("epoll_create1", err)))
		}
		if n.Locality != nil {
			sk.locality = n.Locality(c)
		}
	}
	if sk.fd[track], err = n.Take(c); err != nil {
		sk.fd[track] = -1
		return meet.Lacking(err)
	}
	return nil
}

// give returns a socket, which is the caller's from then on.
func (sk *sockets) give(track int) (fd int) {
	fd, sk.fd[track] = sk.fd[track], -1
	return fd
}

// close closes the descriptors that are left.
func (sk *sockets) close() {
	raw.Close(sk.fd[trackSmall], sk.fd[trackLarge], sk.epoll)
	*sk = noSockets
}
