package stream

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"net"

	"github.com/pm2-go/pm2/nmad/driver"
	"github.com/pm2-go/pm2/nmad/driver/internal/door"
	"github.com/pm2-go/pm2/nmad/driver/internal/hello"
)

// Tracks, as the hello of a connection says.
const (
	trackSmall = iota
	trackLarge
	numTracks
)

// endpoint is a network opened in this process.
type endpoint struct {
	net    Network
	cfg    driver.Config
	addr   string
	door   *door.Door
	halves halves
}

func (n Network) listen(c driver.Config, ln net.Listener, addr string) *endpoint {
	e := &endpoint{net: n, cfg: c, addr: addr}
	e.halves.waiting = map[linkID]*half{}
	e.door = door.New(n.Name, ln, e.receive)
	e.door.Listen()
	return e
}

// Addr implements driver.Endpoint.
func (e *endpoint) Addr() string { return e.addr }

// Accept implements driver.Endpoint.
func (e *endpoint) Accept(ctx context.Context) (int, driver.Link, error) { return e.door.Accept(ctx) }

// Close implements driver.Endpoint.
func (e *endpoint) Close() error { return e.door.Close() }

func (e *endpoint) me() hello.Me {
	return hello.Me{
		Message: hello.Message{
			Rank: uint32(e.cfg.Rank), Size: uint32(e.cfg.Size), MaxBody: uint32(e.net.MaxBody),
			Driver: e.net.Name, Job: e.cfg.Job,
		},
		Secret: e.cfg.Secret,
	}
}

// Dial implements driver.Endpoint.
func (e *endpoint) Dial(ctx context.Context, rank int, addr string) (driver.Link, error) {
	l, err := e.dial(ctx, rank, addr)
	if err != nil {
		if ctx.Err() != nil && !errors.Is(err, ctx.Err()) {
			err = fmt.Errorf("%w: %w", ctx.Err(), err)
		}
		return nil, fmt.Errorf("%s: cannot link to rank %d at %q: %w", e.net.Name, rank, addr, err)
	}
	return l, nil
}

func (e *endpoint) dial(ctx context.Context, rank int, addr string) (*link, error) {
	select {
	case <-e.door.Done():
		return nil, driver.ErrClosed
	default:
	}
	if err := e.net.Check(addr); err != nil {
		return nil, err
	}
	me := e.me()
	_, _ = rand.Read(me.Link[:]) // never fails
	var conns [numTracks]Conn
	var peer hello.Message
	for track := range conns {
		conn, stop, err := door.Connect(ctx, e.net.Dial, addr)
		if err != nil {
			return nil, fmt.Errorf("%w; %s", Cause(err), e.net.Hint)
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
func (e *endpoint) receive(conn net.Conn) (int, driver.Link, error) {
	c := conn.(Conn)
	if err := e.net.admit(c); err != nil {
		defer conn.Close()
		return -1, nil, hello.Refuse(conn, err)
	}
	var first *half
	peer, err := hello.Listener(conn, e.me(), func(peer *hello.Message) (err error) {
		switch peer.Track {
		case trackSmall:
			first, err = e.halves.begin(peer)
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
	second, err := e.halves.await(first, e.door.Done())
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
