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
	Name    string // of the driver
	Dial    string // what package net calls the network
	Hint    string // what to ask oneself when nobody answers
	MaxBody int    // the largest body on the small track, in bytes
	Gather  int    // so many bytes of a long message may wait in the kernel before it wakes who sleeps for them; 0: none

	// Check says what is wrong with an address of a peer; nil: nothing.
	Check func(addr string) error
	// Admit sees a fresh connection, on either side, before anything is said on it,
	// and may turn it away. nil: everybody may try to prove who he is.
	Admit func(Conn) error
	// Take makes the socket of a connection ours, non-blocking, and sets it up. It
	// closes the connection in any case; the socket lives on in the descriptor.
	Take func(Conn) (fd int, err error)
	// Place says near which processors a connection lies. nil: it has no place.
	Place func(Conn) driver.Place
}

// Listen opens the endpoint of a process that listens with ln, which it owns from
// here on, and that others reach at addr.
func (n Network) Listen(c driver.Config, ln net.Listener, addr string) driver.Endpoint {
	return n.listen(c, ln, addr)
}

func (n *Network) admit(c Conn) error {
	if n.Admit == nil {
		return nil
	}
	return n.Admit(c)
}
