package shm

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"net"
	"os"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/pm2-go/pm2/nmad/driver"
	"github.com/pm2-go/pm2/nmad/driver/internal/door"
	"github.com/pm2-go/pm2/nmad/driver/internal/hello"
)

// Frames of this driver, after the exchange of package hello.
const (
	frameSegment = hello.KindDriver + iota // dialer: geometry and evidence, with segment and two eventfds
	frameMapped                            // listener: done; evidence
)

// segmentFrame is the whole size of a frameSegment: kind, length, geometry,
// evidence.
const segmentFrame = 3 + geometrySize + evidenceSize

// endpoint is the driver opened in this process.
type endpoint struct {
	cfg  driver.Config
	geo  geometry
	ways ways
	addr string
	door *door.Door
}

// Open implements driver.Driver. It listens on an abstract Unix socket, which
// has no file. Config.Listen is used if it is such a name ("@name"), and
// otherwise meant for another driver.
func (d Driver) Open(c driver.Config) (driver.Endpoint, error) {
	if err := c.Check(); err != nil {
		return nil, fmt.Errorf("shm: open: %w", err)
	}
	e := &endpoint{cfg: c, geo: d.geometry()}
	err := e.geo.check()
	if err != nil {
		return nil, fmt.Errorf("shm: open: %w: %w", driver.ErrConfig, err)
	}
	if e.ways, err = d.ways(os.Getenv(EnvCopy)); err != nil {
		return nil, fmt.Errorf("shm: open: %w", err)
	}
	name := c.Listen
	if !strings.HasPrefix(name, "@") || len(name) < 2 {
		var random [12]byte
		_, _ = rand.Read(random[:]) // never fails
		name = fmt.Sprintf("@pm2-shm-%d-%s", c.Rank, hex.EncodeToString(random[:]))
	}
	ln, err := net.Listen("unix", name)
	if err != nil {
		return nil, fmt.Errorf("shm: cannot listen on %q: %w", name, cause(err))
	}
	e.addr = name
	e.door = door.New(Name, ln, e.receive)
	e.door.Listen()
	return e, nil
}

// Addr implements driver.Endpoint: "@" and a name, valid on this host and in
// this network namespace.
func (e *endpoint) Addr() string { return e.addr }

// Accept implements driver.Endpoint.
func (e *endpoint) Accept(ctx context.Context) (int, driver.Link, error) { return e.door.Accept(ctx) }

// Close implements driver.Endpoint.
func (e *endpoint) Close() error { return e.door.Close() }

func (e *endpoint) me() hello.Me {
	return hello.Me{
		Message: hello.Message{
			Rank: uint32(e.cfg.Rank), Size: uint32(e.cfg.Size), MaxBody: e.geo.maxBody,
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
		return nil, fmt.Errorf("shm: cannot link to rank %d at %q: %w", rank, addr, err)
	}
	return l, nil
}

func (e *endpoint) dial(ctx context.Context, rank int, addr string) (*link, error) {
	select {
	case <-e.door.Done():
		return nil, driver.ErrClosed
	default:
	}
	if !strings.HasPrefix(addr, "@") {
		return nil, fmt.Errorf("%w: an address of this driver begins with @", driver.ErrConfig)
	}
	conn, stop, err := door.Connect(ctx, "unix", addr)
	if err != nil {
		return nil, fmt.Errorf("%w; is its process running, on this host?", cause(err))
	}
	defer stop()
	defer conn.Close()
	if _, err := hello.Dialer(conn, e.me(), rank); err != nil {
		return nil, err
	}
	p, err := createParts(e.geo)
	defer p.close()
	if err != nil {
		return nil, hello.Refuse(conn, hello.Refused("%v", err))
	}
	uc := conn.(*net.UnixConn)
	frame := hello.AppendFrame(nil, frameSegment, append(e.geo.encode(), p.nonce.evidence()...))
	if _, _, err := uc.WriteMsgUnix(frame, unix.UnixRights(p.segment, p.bells[0], p.bells[1]), nil); err != nil {
		return nil, fmt.Errorf("%w: sending the segment: %w", driver.ErrPeerLost, cause(err))
	}
	mapped, err := hello.ReadFrame(conn, frameMapped)
	if err != nil {
		return nil, fmt.Errorf("it did not take the segment: %w", err)
	}
	if len(mapped) != evidenceSize {
		return nil, fmt.Errorf("%w: %d bytes say that it took the segment, should be %d", driver.ErrProtocol, len(mapped), evidenceSize)
	}
	p.theirs.decode(mapped)
	return p.link(uc, rank, true, e.ways)
}

// receive is the other half of dial.
func (e *endpoint) receive(conn net.Conn) (int, driver.Link, error) {
	defer conn.Close()
	peer, err := hello.Listener(conn, e.me(), nil)
	if err != nil {
		return -1, nil, err
	}
	rank := int(peer.Rank)
	uc := conn.(*net.UnixConn)
	p, err := receiveParts(uc)
	defer p.close()
	if err != nil {
		return rank, nil, hello.Refuse(conn, hello.Refused("%v", err))
	}
	if err := hello.WriteFrame(conn, frameMapped, p.nonce.evidence()); err != nil {
		return rank, nil, fmt.Errorf("%w: %w", driver.ErrPeerLost, cause(err))
	}
	l, err := p.link(uc, rank, false, e.ways)
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
