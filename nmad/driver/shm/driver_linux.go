package shm

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"

	"golang.org/x/sys/unix"

	"github.com/pm2-go/pm2/nmad/driver"
	"github.com/pm2-go/pm2/nmad/driver/internal/listener"
	"github.com/pm2-go/pm2/nmad/internal/meet"
)

// Frames of this driver, after the exchange of package meet.
const (
	frameSegment = meet.KindDriver + iota // dialer: geometry and evidence, with segment and two eventfds
	frameMapped                           // listener: done; evidence
)

// endpoint is the driver opened in this process. Its address is an abstract Unix name ("@..."), valid on this host
// and in this network name space.
type endpoint struct {
	listener.Endpoint
	driver Driver
	paths  longPaths // but for receiverOnly
	home   func() driver.Locality
}

// choose returns how to make a link now: the job may have become crowded since Open.
func (e *endpoint) choose() (geometry, longPaths) {
	w := e.paths
	w.receiverOnly = e.Config.HasSharedCPUs()
	return e.driver.geometry(e.Config), w
}

// Open implements driver.Driver. It listens on an abstract Unix socket, which has no file. Config.Listen is used if it
// is such a name ("@name"), and otherwise meant for another driver.
func (d Driver) Open(c driver.Config) (driver.Endpoint, error) {
	if err := c.Check(); err != nil {
		return nil, fmt.Errorf("shm: open: %w", err)
	}
	e, geo := &endpoint{driver: d, home: d.homes()}, d.geometry(c)
	e.Endpoint = listener.Endpoint{Name: Name, Config: c, MaxBody: geo.maxBody, Reach: e.reach}
	if err := geo.check(); err != nil {
		return nil, fmt.Errorf("shm: open: %w: %w", driver.ErrConfig, err)
	}
	var err error
	if e.paths, err = d.longPaths(os.Getenv(EnvCopy)); err != nil {
		return nil, fmt.Errorf("shm: open: %w", err)
	}
	ln, name, err := listener.Abstract(Name, c)
	if err != nil {
		return nil, err
	}
	e.Listen(ln, name, e.receive)
	return e, nil
}

// reach links to the process at addr. It is the dialer's side.
func (e *endpoint) reach(ctx context.Context, rank int, addr string) (driver.Link, error) {
	if err := listener.CheckAbstract(addr); err != nil {
		return nil, err
	}
	conn, stop, err := meet.Dial(ctx, addr, meet.Patience)
	if err != nil {
		return nil, fmt.Errorf("%w; is its process running, on this host?", meet.Cause(err))
	}
	defer stop()
	defer conn.Close()
	if _, err := meet.Dialer(conn, e.Me(), rank); err != nil {
		return nil, err
	}
	uc := conn.(*net.UnixConn)
	geo, paths := e.choose()
	p, err := createParts(geo, e.home)
	defer p.close()
	if err == nil {
		err = p.watch(uc, 0)
	}
	if err != nil {
		return nil, meet.Refuse(conn, meet.Lacking(err))
	}
	frame := meet.AppendFrame(nil, frameSegment, append(geo.encode(), p.nonce.evidence()...))
	if _, _, err := uc.WriteMsgUnix(frame, unix.UnixRights(p.segment, p.bells[0], p.bells[1]), nil); err != nil {
		if !ended(err) {
			return nil, meet.Refuse(conn, meet.Lacking(fmt.Errorf("cannot send the segment: %w", meet.Cause(err))))
		}
		return nil, fmt.Errorf("%w: sending the segment: %w", driver.ErrPeerLost, meet.Cause(err))
	}
	mapped, err := meet.ReadFrame(conn, frameMapped)
	if err != nil {
		return nil, fmt.Errorf("it did not take the segment: %w", err)
	}
	if len(mapped) != evidenceSize {
		return nil, fmt.Errorf("%w: %d bytes say that it took the segment, should be %d", driver.ErrProtocol, len(mapped), evidenceSize)
	}
	p.peerEvidence.decode(mapped)
	populate(p.mem, p.geo, 0) // the listener has chosen where it is
	return p.link(rank, 0, paths)
}

// receive is the listener's side of reach.
func (e *endpoint) receive(conn net.Conn, v *meet.Incoming) (int, driver.Link, error) {
	defer conn.Close()
	peer, err := meet.Listener(conn, e.Me(), v.Proved, nil)
	if err != nil {
		return -1, nil, err
	}
	rank := int(peer.Rank)
	uc := conn.(*net.UnixConn)
	p, err := receiveParts(uc, e.home)
	defer p.close()
	if err == nil {
		err = p.watch(uc, 1)
	}
	switch {
	case errors.Is(err, driver.ErrProtocol):
		return rank, nil, meet.Refuse(conn, meet.Refused("%v", err))
	case errors.Is(err, driver.ErrRefused), errors.Is(err, driver.ErrLack), errors.Is(err, driver.ErrPeerLost):
		return rank, nil, meet.Refuse(conn, err)
	case err != nil:
		return rank, nil, meet.Refuse(conn, meet.Lacking(err))
	}
	if err := meet.WriteFrame(conn, frameMapped, p.nonce.evidence()); err != nil {
		return rank, nil, fmt.Errorf("%w: %w", driver.ErrPeerLost, meet.Cause(err))
	}
	_, paths := e.choose()
	l, err := p.link(rank, 1, paths)
	return rank, l, err
}
