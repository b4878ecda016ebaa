package tcp

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"net"
	"strings"

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

// endpoint is the driver opened in this process.
type endpoint struct {
	drv    Driver
	cfg    driver.Config
	addr   string
	door   *door.Door
	halves halves
}

// Open implements driver.Driver. Config.Listen is "host:port"; empty, or a name
// that is meant for another driver ("@..."): any free port of 127.0.0.1.
func (d Driver) Open(c driver.Config) (driver.Endpoint, error) {
	if err := c.Check(); err != nil {
		return nil, fmt.Errorf("tcp: open: %w", err)
	}
	where := c.Listen
	if where == "" || strings.HasPrefix(where, "@") {
		where = "127.0.0.1:0"
	}
	ln, err := net.Listen("tcp", where)
	if err != nil {
		return nil, fmt.Errorf("tcp: cannot listen on %q: %w; choose another address, or none for any free port of this host", where, cause(err))
	}
	e := &endpoint{drv: d, cfg: c, addr: reachable(ln.Addr().(*net.TCPAddr))}
	e.halves.waiting = map[linkID]*half{}
	e.door = door.New(Name, ln, e.receive)
	e.door.Listen()
	return e, nil
}

// reachable gives the address under which others reach a listener: if it
// listens on every address of the host, one of those that leave the host.
func reachable(a *net.TCPAddr) string {
	if !a.IP.IsUnspecified() {
		return a.String()
	}
	addrs, _ := net.InterfaceAddrs() // without any, loopback it is
	for _, other := range addrs {
		if ipn, ok := other.(*net.IPNet); ok && ipn.IP.IsGlobalUnicast() && (ipn.IP.To4() != nil || a.IP.To4() == nil) {
			return (&net.TCPAddr{IP: ipn.IP, Port: a.Port}).String()
		}
	}
	return (&net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: a.Port}).String()
}

// Addr implements driver.Endpoint: "host:port".
func (e *endpoint) Addr() string { return e.addr }

// Accept implements driver.Endpoint.
func (e *endpoint) Accept(ctx context.Context) (int, driver.Link, error) { return e.door.Accept(ctx) }

// Close implements driver.Endpoint.
func (e *endpoint) Close() error { return e.door.Close() }

func (e *endpoint) me() hello.Me {
	return hello.Me{
		Message: hello.Message{
			Rank: uint32(e.cfg.Rank), Size: uint32(e.cfg.Size), MaxBody: uint32(e.drv.maxBody()),
			Driver: Name, Job: e.cfg.Job,
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
		return nil, fmt.Errorf("tcp: cannot link to rank %d at %q: %w", rank, addr, err)
	}
	return l, nil
}

func (e *endpoint) dial(ctx context.Context, rank int, addr string) (*link, error) {
	select {
	case <-e.door.Done():
		return nil, driver.ErrClosed
	default:
	}
	if _, _, err := net.SplitHostPort(addr); err != nil {
		return nil, fmt.Errorf("%w: an address of this driver is host:port", driver.ErrConfig)
	}
	me := e.me()
	_, _ = rand.Read(me.Link[:]) // never fails
	var conns [numTracks]*net.TCPConn
	var peer hello.Message
	for track := range conns {
		conn, stop, err := door.Connect(ctx, "tcp", addr)
		if err != nil {
			return nil, fmt.Errorf("%w; is its process running, and is this its address?", cause(err))
		}
		defer stop()
		defer conn.Close()
		conns[track] = conn.(*net.TCPConn)
		me.Track = uint8(track)
		if peer, err = hello.Dialer(conn, me, rank); err != nil {
			return nil, err
		}
	}
	return newLink(e.drv, conns, rank, int(peer.MaxBody))
}

// receive is the other half of dial: of the two connections of a link, the
// first waits here for the second, and the second only says that it is there.
func (e *endpoint) receive(conn net.Conn) (int, driver.Link, error) {
	tc := conn.(*net.TCPConn)
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
		first.second <- tc
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
	l, err := newLink(e.drv, [numTracks]*net.TCPConn{tc, second}, rank, int(peer.MaxBody))
	if err != nil {
		return rank, nil, err
	}
	return rank, l, nil
}

// cause cuts the Go network library's preamble, of which the caller says more.
func cause(err error) error {
	var op *net.OpError
	if errors.As(err, &op) {
		return op.Err
	}
	return err
}
