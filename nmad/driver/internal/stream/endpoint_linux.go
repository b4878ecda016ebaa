package stream

import (
	"context"
	"crypto/rand"
	"fmt"
	"net"
	"syscall"

	"github.com/pm2-go/pm2/nmad/driver"
	"github.com/pm2-go/pm2/nmad/driver/internal/acceptor"
	"github.com/pm2-go/pm2/nmad/driver/internal/hello"
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
	Hint    string // what the dialer should check when no peer answers
	MaxBody int    // the largest body on the small track, in bytes
	Gather  int    // so many bytes of a long message may wait in the kernel before it wakes the sleeper; 0: none

	// Check says what is wrong with an address of a peer; nil: nothing.
	Check func(addr string) error
	// Admit sees a fresh connection, on either side, before anything is said on it,
	// and may turn it away. nil: every process may try to prove its identity.
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

// Tracks, as the hello of a connection says.
const (
	trackSmall = iota
	trackLarge
	numTracks
)

// endpoint is a network opened in this process.
type endpoint struct {
	acceptor.Endpoint
	net    Network
	halves halves
}

func (n Network) listen(c driver.Config, ln net.Listener, addr string) *endpoint {
	e := &endpoint{net: n}
	e.Endpoint = acceptor.Endpoint{Name: n.Name, Config: c, MaxBody: uint32(n.MaxBody), Reach: e.dial}
	e.halves.waiting = map[linkID]*half{}
	e.Listen(ln, addr, e.receive)
	return e
}

// dial connects twice: a link has two connections.
func (e *endpoint) dial(ctx context.Context, rank int, addr string) (driver.Link, error) {
	if err := e.net.Check(addr); err != nil {
		return nil, err
	}
	me := e.Me()
	_, _ = rand.Read(me.Link[:]) // never fails
	var conns [numTracks]Conn
	var peer hello.Message
	for track := range conns {
		conn, stop, err := acceptor.Connect(ctx, e.net.Dial, addr)
		if err != nil {
			return nil, fmt.Errorf("%w; %s", acceptor.Cause(err), e.net.Hint)
		}
		defer stop()
		defer conn.Close()
		conns[track] = conn.(Conn)
		if err := e.net.admit(conns[track]); err != nil {
			return nil, hello.Refuse(conn, err)
		}
		me.Track = uint8(track)
		if peer, err = hello.Dialer(conn, me, rank); err != nil {
			return nil, err
		}
	}
	return newLink(&e.net, conns, rank, int(peer.MaxBody))
}

// receive is the other half of dial: of the two connections of a link, the
// first waits here for the second, and the second only says that it is there.
func (e *endpoint) receive(conn net.Conn, v *acceptor.Incoming) (int, driver.Link, error) {
	c := conn.(Conn)
	if err := e.net.admit(c); err != nil {
		defer conn.Close()
		return -1, nil, hello.Refuse(conn, err)
	}
	var first *half
	peer, err := hello.Listener(conn, e.Me(), v, func(peer *hello.Message) (err error) {
		switch peer.Track {
		case trackSmall:
			first, err = e.halves.expect(peer)
		case trackLarge:
			first, err = e.halves.claim(peer)
		default:
			err = hello.Refused("it speaks of a track %d", peer.Track)
		}
		return err
	})
	rank := int(peer.Rank)
	switch {
	case first == nil: // the exchange failed before the peer had proved itself
		_ = conn.Close()
		return rank, nil, err
	case peer.Track == trackLarge && err == nil:
		first.second <- c
		return rank, nil, nil
	case peer.Track == trackLarge:
		first.second <- nil
		_ = conn.Close()
		return rank, nil, err
	}
	defer conn.Close()
	if err != nil {
		e.halves.forget(first)
		return rank, nil, err
	}
	second, err := e.halves.await(first, e.Done())
	if err != nil {
		return rank, nil, err
	}
	defer second.Close()
	l, err := newLink(&e.net, [numTracks]Conn{c, second}, rank, int(peer.MaxBody))
	if err != nil {
		return rank, nil, err
	}
	return rank, l, nil
}
