//go:build ofi && cgo

package ofi

import (
	"context"
	"encoding/binary"
	"fmt"
	"net"
	"os"
	"sync"
	"syscall"
	"time"

	"github.com/pm2-go/pm2/nmad/driver"
	"github.com/pm2-go/pm2/nmad/driver/internal/listener"
	"github.com/pm2-go/pm2/nmad/driver/internal/raw"
	"github.com/pm2-go/pm2/nmad/internal/meet"
)

// endpoint is the driver opened in this process: a listener for control connections, and the port that all its
// links share.
type endpoint struct {
	listener.Endpoint
	port *port
	once sync.Once // Close gives the port up
}

// Open implements driver.Driver. Config.Listen is "host:port", for the control connections. An endpoint of a
// provider that has addresses of hosts lies at that host, too, if the provider can. An endpoint's address is
// "host:port".
func (d Driver) Open(c driver.Config) (driver.Endpoint, error) {
	if err := c.Check(); err != nil {
		return nil, fmt.Errorf("ofi: open: %w", err)
	}
	provider := d.provider
	if provider == "" {
		provider = os.Getenv(EnvProvider)
	}
	ln, addr, err := listener.TCP(d.Name(), c)
	if err != nil {
		return nil, err
	}
	p, err := d.openPort(provider, addr)
	if err != nil {
		_ = ln.Close()
		return nil, fmt.Errorf("ofi: open: %w: %w; fi_info lists providers, %s names one", driver.ErrUnsupported, err, EnvProvider)
	}
	e := &endpoint{port: p}
	e.Endpoint = listener.Endpoint{Name: d.Name(), Config: c, MaxBody: uint32(len(p.f.slots[0]) - headSize), Reach: e.dial}
	e.Listen(ln, addr, e.receive)
	return e, nil
}

// Choice implements driver.Endpoint.
func (e *endpoint) Choice(int, string) (network, why string) {
	f := e.port.f
	return e.Name, fmt.Sprintf("provider %s, domain %s", f.provider, f.domain)
}

// Close implements driver.Endpoint. It waits until the links that were closed have told their peers, half a
// second at most.
func (e *endpoint) Close() error {
	err := e.Endpoint.Close()
	for e.port.lingers.Load() != 0 {
		time.Sleep(50 * time.Microsecond)
	}
	e.once.Do(func() {
		e.port.take()
		defer e.port.release()
		e.port.leave()
	})
	return err
}

func (e *endpoint) dial(ctx context.Context, rank int, addr string) (driver.Link, error) {
	if err := listener.CheckTCP(addr); err != nil {
		return nil, err
	}
	conn, stop, err := meet.Dial(ctx, addr, meet.Patience)
	if err != nil {
		return nil, fmt.Errorf("%w; is its process running, and is this its address?", meet.Cause(err))
	}
	defer stop()
	defer conn.Close()
	peer, err := meet.Dialer(conn, e.Me(), rank)
	if err != nil {
		return nil, err
	}
	return e.meet(conn, peer)
}

func (e *endpoint) receive(conn net.Conn, v *meet.Incoming) (int, driver.Link, error) {
	defer conn.Close()
	peer, err := meet.Listener(conn, e.Me(), v.Proved, nil)
	if err != nil {
		return -1, nil, err
	}
	l, err := e.meet(conn, peer)
	return int(peer.Rank), l, err
}

const (
	kindCard  = meet.KindDriver     // where the link's packets go to
	kindReady = meet.KindDriver + 1 // the sender takes packets
)

// card is what the two sides of a link tell each other once they have proved themselves: the number and the token that
// packets to the sender have, its provider, its address.
//
//	link (4) token (8) length (1) provider, address
func (e *endpoint) card(l *link) []byte {
	f := e.port.f
	b := binary.LittleEndian.AppendUint32(nil, l.number)
	b = binary.LittleEndian.AppendUint64(b, l.token)
	b = append(b, uint8(len(f.provider)))
	b = append(b, f.provider...)
	return append(b, f.name...)
}

// read checks the card of the peer, and keeps what the link needs of it. It gives the address in the card, with
// a zero behind it, since some are text.
func (l *link) read(card []byte) (name []byte, err error) {
	const fixed = 13
	f := l.port.f
	if len(card) < fixed || len(card) < fixed+int(card[12]) {
		return nil, meet.Refused("its card is cut short")
	}
	provider := card[fixed : fixed+int(card[12])]
	if string(provider) != f.provider {
		return nil, meet.Refused("it uses libfabric's provider %q, this process %q: set %s", provider, f.provider, EnvProvider)
	}
	l.other.link, l.other.token = binary.LittleEndian.Uint32(card), binary.LittleEndian.Uint64(card[4:])
	if name = card[fixed+len(provider):]; len(name) != len(f.name) && !f.shm() {
		return nil, meet.Refused("its address has %d bytes, that of this process %d", len(name), len(f.name))
	}
	if f.shm() {
		if err := l.readDirectly(name); err != nil {
			return nil, err
		}
	}
	return append(name, 0), nil // some addresses are text
}

// meet makes a link of a connection whose ends have proved themselves: they exchange cards, and then a packet
// each way.
func (e *endpoint) meet(conn net.Conn, peer *meet.Peer) (driver.Link, error) {
	p := e.port
	l := &link{port: p, maxBody: int(min(e.MaxBody, peer.MaxBody)), to: nowhere, sock: -1}
	l.nap.set, l.nap.timer = -1, -1
	l.Init(e.Name, int(peer.Rank), func() {})
	if err := p.add(l); err != nil {
		return nil, meet.Refuse(conn, meet.Lacking(err))
	}
	err := e.introduce(conn, l)
	if err == nil {
		err = l.greet()
	}
	if err != nil {
		_ = l.Close()
		return nil, err
	}
	return l, nil
}

func (e *endpoint) introduce(conn net.Conn, l *link) (err error) {
	if l.sock, err = raw.Take(conn.(syscall.Conn)); err == nil {
		err = l.nap.open(l.sock)
	}
	if err != nil {
		return meet.Refuse(conn, meet.Lacking(err))
	}
	if err = meet.WriteFrame(conn, kindCard, e.card(l)); err != nil {
		return err
	}
	card, err := meet.ReadFrame(conn, kindCard)
	if err != nil {
		return err
	}
	name, err := l.read(card)
	if err == nil {
		if isKin(name) {
			l.port.join()
		}
		if f := l.port.f; f.at.IsValid() {
			l.peer = addrPort(name)
		}
		err = l.port.reach(l, name)
	}
	if err != nil {
		return meet.Refuse(conn, err)
	}
	if err = meet.WriteFrame(conn, kindReady, nil); err != nil {
		return err
	}
	_, err = meet.ReadFrame(conn, kindReady)
	return err
}

// greet sends a packet to the peer, and waits for the peer's. So both know that the provider carries packets
// either way.
func (l *link) greet() error {
	p := l.port
	sent := false
	for end := time.Now().Add(meet.Patience); ; {
		p.take()
		var err error
		hung := l.bell.HungUp(l.sock) // before the last poll
		if !sent {
			sent, err = l.emit(kindHello, nil, false)
		}
		p.poll()
		met := l.greeted && sent
		over := (hung || l.peerGoneAt.Load() != 0) && !l.greeted
		if p.failed != nil {
			err = p.failed
		}
		p.release()
		switch {
		case err != nil:
			return err
		case met:
			return nil
		case over:
			return fmt.Errorf("it closed the connection: %w", driver.ErrPeerLost)
		case time.Now().After(end):
			return fmt.Errorf("no packet of the peer has come by %s: %w", p.f.provider, driver.ErrBusy)
		}
		time.Sleep(20 * time.Microsecond)
	}
}
