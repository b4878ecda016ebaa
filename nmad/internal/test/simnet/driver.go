package simnet

import (
	"context"
	"fmt"
	"strconv"
	"sync"

	"github.com/pm2-go/pm2/nmad/driver"
)

// Net is a simulated network that several sessions in one process can share. The zero value is ready.
type Net struct {
	Options Options

	mu   sync.Mutex
	ends map[string]*endpoint
	next int
}

type endpoint struct {
	net     *Net
	cfg     driver.Config
	addr    string
	arrived chan arrival
	closed  chan struct{}
}

type arrival struct {
	rank int
	link *Link
}

// Name implements driver.Driver.
func (n *Net) Name() string { return "sim" }

// Open implements driver.Driver.
func (n *Net) Open(cfg driver.Config) (driver.Endpoint, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.ends == nil {
		n.ends = map[string]*endpoint{}
	}
	n.next++
	e := &endpoint{net: n, cfg: cfg, addr: "sim:" + strconv.Itoa(n.next), arrived: make(chan arrival, cfg.Size), closed: make(chan struct{})}
	n.ends[e.addr] = e
	return e, nil
}

func (e *endpoint) Addr() string { return e.addr }

func (e *endpoint) Dial(ctx context.Context, rank int, addr string) (driver.Link, error) {
	e.net.mu.Lock()
	peer := e.net.ends[addr]
	e.net.mu.Unlock()
	if peer == nil || peer.cfg.Rank != rank || peer.cfg.Job != e.cfg.Job {
		return nil, fmt.Errorf("simulated: no process of rank %d at %s: %w", rank, addr, driver.ErrRefused)
	}
	a, b := Pair(e.net.Options)
	select {
	case peer.arrived <- arrival{e.cfg.Rank, b}:
	case <-peer.closed:
		return nil, fmt.Errorf("simulated: rank %d at %s has closed: %w", rank, addr, driver.ErrPeerLost)
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
	select {
	case <-peer.closed:
		peer.hangUp() // its Close may have looked before
	default:
	}
	return a, nil
}

// hangUp closes the links that have arrived and were not accepted.
func (e *endpoint) hangUp() {
	for {
		select {
		case a := <-e.arrived:
			_ = a.link.Close()
		default:
			return
		}
	}
}

func (e *endpoint) Choice(int, string) (network, why string) { return "", "" }

func (e *endpoint) Accept(ctx context.Context) (int, driver.Link, error) {
	select {
	case a := <-e.arrived:
		return a.rank, a.link, nil
	case <-ctx.Done():
		return 0, nil, context.Cause(ctx)
	}
}

func (e *endpoint) Close() error {
	e.net.mu.Lock()
	_, open := e.net.ends[e.addr]
	delete(e.net.ends, e.addr)
	e.net.mu.Unlock()
	if open {
		close(e.closed)
	}
	e.hangUp()
	return nil
}
