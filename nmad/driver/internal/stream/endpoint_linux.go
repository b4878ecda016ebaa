package stream

import (
	"context"
	"crypto/rand"
	"fmt"
	"net"

	"github.com/pm2-go/pm2/nmad/driver"
	"github.com/pm2-go/pm2/nmad/driver/internal/listener"
	"github.com/pm2-go/pm2/nmad/internal/meet"
)

// Open opens the network in this process.
func (n Network) Open(c driver.Config) (driver.Endpoint, error) {
	if err := c.Check(); err != nil {
		return nil, fmt.Errorf("%s: open: %w", n.Name, err)
	}
	ln, addr, err := n.Listen(n.Name, c)
	if err != nil {
		return nil, err
	}
	e := &endpoint{net: n}
	e.Endpoint = listener.Endpoint{Name: n.Name, Config: c, MaxBody: uint32(n.MaxBody), Reach: e.dial}
	e.halves.waiting = map[linkID]*half{}
	e.Listen(ln, addr, e.receive)
	return e, nil
}

// endpoint is a network opened in this process.
type endpoint struct {
	listener.Endpoint
	net    Network
	halves halves
}

// dial connects twice, because a link has two connections. The link's descriptors are there before the peer can
// take the link for made.
func (e *endpoint) dial(ctx context.Context, rank int, addr string) (driver.Link, error) {
	if err := e.net.Check(addr); err != nil {
		return nil, err
	}
	me := e.Me()
	_, _ = rand.Read(me.Link[:]) // never fails
	s := noSockets
	defer s.close()
	var peer *meet.Peer
	for track := range numTracks {
		conn, stop, err := meet.Dial(ctx, addr, meet.Patience)
		if err != nil {
			return nil, fmt.Errorf("%w; %s", meet.Cause(err), e.net.Hint)
		}
		defer stop()
		defer conn.Close()
		if err := e.net.admit(conn.(Conn)); err != nil {
			return nil, meet.Refuse(conn, err)
		}
		if err := s.take(&e.net, track, conn.(Conn)); err != nil {
			return nil, meet.Refuse(conn, err)
		}
		me.Track = uint8(track)
		if peer, err = meet.Dialer(conn, me, rank); err != nil {
			return nil, err
		}
	}
	return newLink(&e.net, &s, rank, int(peer.MaxBody)), nil
}

// receive is the listener's side of dial. The first of the two connections waits here for the second one, whose
// own call of receive hands over its socket.
func (e *endpoint) receive(conn net.Conn, v *meet.Incoming) (int, driver.Link, error) {
	defer conn.Close()
	c := conn.(Conn)
	if err := e.net.admit(c); err != nil {
		return -1, nil, meet.Refuse(conn, err)
	}
	s := noSockets
	defer s.close()
	var first *half
	var track int
	peer, err := meet.Listener(conn, e.Me(), v.Proved, func(peer *meet.Peer) (err error) {
		switch track = int(peer.Track); track {
		case trackSmall:
			first, err = e.halves.expect(peer)
		case trackLarge:
			first, err = e.halves.claim(peer)
		default:
			err = meet.Refused("it speaks of a track %d", peer.Track)
		}
		if err != nil {
			return err
		}
		return s.take(&e.net, track, c)
	})
	switch {
	case first == nil: // the exchange failed before the peer had proved itself
		return -1, nil, err
	case track == trackLarge && err == nil:
		first.second <- s.give(trackLarge)
		return -1, nil, nil
	case track == trackLarge:
		first.second <- -1
		return -1, nil, err
	case err != nil:
		e.halves.forget(first)
		return -1, nil, err
	}
	rank := int(peer.Rank)
	if s.fd[trackLarge], err = e.halves.await(first, e.Done()); err != nil {
		return rank, nil, err
	}
	return rank, newLink(&e.net, &s, rank, int(peer.MaxBody)), nil
}
