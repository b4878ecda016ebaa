package fault

import (
	"context"
	"os"
	"sync"

	"github.com/pm2-go/pm2/nmad/driver"
)

// Name under which the driver wraps others: "fault:tcp".
const Name = "fault"

// EnvFaults is the variable that holds the plan of links whose driver was chosen by name.
const EnvFaults = "PM2_FAULTS"

// Driver is a driver around another one, which does to its links what the plan says.
type Driver struct {
	Inner driver.Driver
	Plan  Plan

	// Made, if not nil, is called with each link that process own has made to process peer, before it is used: for
	// callers that want to see its record. Calls may overlap.
	Made func(own, peer int, l *Link)
}

// Name implements driver.Driver.
func (d Driver) Name() string { return Name + ":" + d.Inner.Name() }

// Open implements driver.Driver.
func (d Driver) Open(c driver.Config) (driver.Endpoint, error) {
	if err := d.Plan.check(); err != nil {
		return nil, err
	}
	e, err := d.Inner.Open(c)
	if err != nil {
		return nil, err
	}
	return &endpoint{Endpoint: e, driver: d, rank: c.Rank, links: map[int]uint64{}}, nil
}

// wrapper makes drivers by name: "fault:tcp".
type wrapper struct{}

func (wrapper) Name() string { return Name }

func (wrapper) Wrap(inner driver.Driver) (driver.Driver, error) {
	p, err := Parse(os.Getenv(EnvFaults))
	if err != nil {
		return nil, err
	}
	return Driver{Inner: inner, Plan: p}, nil
}

func init() {
	if err := driver.RegisterWrapper(wrapper{}); err != nil {
		panic(err) // two packages of one name in one program: seen when it is built
	}
}

// endpoint wraps the links of another one.
type endpoint struct {
	driver.Endpoint
	driver Driver
	rank   int

	mu    sync.Mutex
	links map[int]uint64 // how many were made, by peer: each has dice of its own
}

// Dial implements driver.Endpoint.
func (e *endpoint) Dial(ctx context.Context, rank int, addr string) (driver.Link, error) {
	l, err := e.Endpoint.Dial(ctx, rank, addr)
	if err != nil {
		return nil, err
	}
	return e.wrap(rank, l), nil
}

// Accept implements driver.Endpoint.
func (e *endpoint) Accept(ctx context.Context) (int, driver.Link, error) {
	rank, l, err := e.Endpoint.Accept(ctx)
	if err != nil {
		return rank, nil, err
	}
	return rank, e.wrap(rank, l), nil
}

// wrap puts a Link around a link of the inner driver.
func (e *endpoint) wrap(rank int, inner driver.Link) driver.Link {
	e.mu.Lock()
	e.links[rank]++
	l := newLink(inner, e.driver.Plan, e.rank, rank, e.links[rank])
	e.mu.Unlock()
	if e.driver.Made != nil {
		e.driver.Made(e.rank, rank, l)
	}
	return l
}
