package stream

import (
	"net"
	"syscall"

	"github.com/pm2-go/pm2/nmad/driver"
)

// Conn is a connection of package net with a descriptor of its own.
type Conn interface {
	net.Conn
	syscall.Conn
}

// Network is one kind of stream socket, as a driver describes it.
type Network struct {
	Name      string // of the driver
	Hint      string // what the dialer should check when no peer answers
	MaxBody   int    // the largest body on the small track, in bytes
	WakeBytes int    // the kernel wakes the sleeper when so many bytes of a long message are there; 0: for each segment

	// Listen listens where the configuration says: listener.TCP or listener.Abstract.
	Listen func(name string, c driver.Config) (ln net.Listener, addr string, err error)
	// Check says what is wrong with an address of a peer; nil: nothing.
	Check func(addr string) error
	// Admit sees a fresh connection, on either side, before anything is said on it, and may turn it away. nil: every
	// process may try to prove its identity.
	Admit func(Conn) error
	// Take makes the socket of a connection ours, non-blocking, and sets it up. The connection is closed when both
	// sides have what they need; the socket lives on in the descriptor.
	Take func(Conn) (fd int, err error)
	// Locality says near which processors a connection lies. nil: the locality is not known.
	Locality func(Conn) driver.Locality
}

// admit applies Admit.
func (n *Network) admit(c Conn) error {
	if n.Admit == nil {
		return nil
	}
	return n.Admit(c)
}

// Tracks, as the hello of a connection says.
const (
	trackSmall = iota
	trackLarge
	numTracks
)
