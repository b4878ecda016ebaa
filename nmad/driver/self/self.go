package self

import (
	"context"
	"fmt"
	"strconv"
	"sync"

	"github.com/pm2-go/pm2/nmad/driver"
)

// Name of the driver.
const Name = "self"

// Driver links endpoints of this process; the zero value is ready. It is not registered: no other process is in reach.
type Driver struct{}

// Name implements driver.Driver.
func (Driver) Name() string { return Name }

// here holds the endpoints of this process, by address.
var here struct {
	mu   sync.Mutex
	ends map[string]*endpoint
	next int
}

// endpoint is one of them.
type endpoint struct {
	driver.Config
	addr   string
	come   chan arrival
	closed chan struct{}
}

type arrival struct {
	rank int
	link *link
}

// Open implements driver.Driver.
func (Driver) Open(c driver.Config) (driver.Endpoint, error) {
	if err := c.Check(); err != nil {
		return nil, fmt.Errorf("self: open: %w", err)
	}
	here.mu.Lock()
	defer here.mu.Unlock()
	here.next++
	e := &endpoint{Config: c, addr: "self:" + strconv.Itoa(here.next), come: make(chan arrival), closed: make(chan struct{})}
	if here.ends == nil {
		here.ends = map[string]*endpoint{}
	}
	here.ends[e.addr] = e
	return e, nil
}

// Addr implements driver.Endpoint.
func (e *endpoint) Addr() string { return e.addr }

// Choice implements driver.Endpoint: there is none.
func (e *endpoint) Choice(int, string) (network, why string) { return "", "" }

// Dial implements driver.Endpoint. It returns when the other endpoint has accepted.
func (e *endpoint) Dial(ctx context.Context, rank int, addr string) (driver.Link, error) {
	here.mu.Lock()
	peer := here.ends[addr]
	here.mu.Unlock()
	if peer == nil || peer.Rank != rank || peer.Job != e.Job {
		return nil, fmt.Errorf("self: %w: no endpoint of rank %d of this job at %q in this process", driver.ErrRefused, rank, addr)
	}
	a, b, err := pair()
	if err != nil {
		return nil, fmt.Errorf("self: cannot link to rank %d: %w", rank, err)
	}
	select {
	case peer.come <- arrival{e.Rank, b}:
		return a, nil
	case <-peer.closed:
		err = fmt.Errorf("self: cannot link to rank %d: %w", rank, driver.ErrPeerLost)
	case <-e.closed:
		err = fmt.Errorf("self: cannot link to rank %d: %w", rank, driver.ErrClosed)
	case <-ctx.Done():
		err = fmt.Errorf("self: cannot link to rank %d: %w", rank, context.Cause(ctx))
	}
	_, _ = a.Close(), b.Close()
	return nil, err
}

// Accept implements driver.Endpoint.
func (e *endpoint) Accept(ctx context.Context) (int, driver.Link, error) {
	select {
	case a := <-e.come:
		return a.rank, a.link, nil
	case <-e.closed:
		return -1, nil, fmt.Errorf("self: accept: %w", driver.ErrClosed)
	case <-ctx.Done():
		return -1, nil, fmt.Errorf("self: accept: %w", context.Cause(ctx))
	}
}

// Close implements driver.Endpoint.
func (e *endpoint) Close() error {
	here.mu.Lock()
	defer here.mu.Unlock()
	if here.ends[e.addr] == e {
		delete(here.ends, e.addr)
		close(e.closed)
	}
	return nil
}
