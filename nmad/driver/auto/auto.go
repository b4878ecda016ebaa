package auto

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"sync"

	"github.com/pm2-go/pm2/nmad/driver"
	"github.com/pm2-go/pm2/nmad/driver/shm"
	"github.com/pm2-go/pm2/nmad/driver/tcp"
)

// Name of the driver.
const Name = "auto"

// none stands in an address for a way that its process does not have.
const none = "-"

// Driver chooses for each link; the zero value is ready.
type Driver struct {
	host func() string // tells this host's identity, for tests; nil: identity
}

// Name implements driver.Driver.
func (Driver) Name() string { return Name }

func init() {
	if err := driver.Register(Driver{}); err != nil {
		panic(err) // two packages of one name in one program: seen by whoever builds it
	}
}

// endpoint is the driver opened in this process.
type endpoint struct {
	host string
	near driver.Endpoint // shared memory; nil: not to be had here
	far  driver.Endpoint // TCP

	mu    sync.Mutex
	spare []arrival // links that came at the same moment as others
	over  bool
}

type arrival struct {
	rank int
	link driver.Link
	err  error
}

// Open implements driver.Driver. Config.Listen is for TCP, or, "@name", for
// shared memory.
func (d Driver) Open(c driver.Config) (driver.Endpoint, error) {
	if err := c.Check(); err != nil {
		return nil, fmt.Errorf("auto: open: %w", err)
	}
	tell := d.host
	if tell == nil {
		tell = identity
	}
	e := &endpoint{host: tell()}
	var err error
	if e.far, err = (tcp.Driver{}).Open(c); err != nil {
		return nil, err
	}
	if e.host == none {
		return e, nil
	}
	if e.near, err = (shm.Driver{}).Open(c); err != nil {
		e.near = nil // what is left works everywhere
	}
	return e, nil
}

// identity names this host; none if it cannot be told from others.
func identity() string {
	words := make([]string, 0, 3)
	boot, err := os.ReadFile("/proc/sys/kernel/random/boot_id")
	if err != nil {
		return none
	}
	words = append(words, strings.TrimSpace(string(boot)))
	for _, space := range []string{"net", "pid"} {
		link, err := os.Readlink("/proc/self/ns/" + space)
		if err != nil {
			return none
		}
		words = append(words, strings.Trim(link, space+":[]"))
	}
	return strings.Join(words, "-")
}

// address is where a process can be reached.
type address struct{ host, near, far string }

func parse(text string) (address, error) {
	words := strings.Split(text, " ")
	if len(words) != 3 || words[0] == "" || words[1] == "" || words[2] == "" {
		return address{}, fmt.Errorf("%w: an address of this driver is the host, a name for shared memory, and host:port", driver.ErrConfig)
	}
	return address{words[0], words[1], words[2]}, nil
}

// Addr implements driver.Endpoint.
func (e *endpoint) Addr() string {
	near := none
	if e.near != nil {
		near = e.near.Addr()
	}
	return e.host + " " + near + " " + e.far.Addr()
}

// Dial implements driver.Endpoint.
func (e *endpoint) Dial(ctx context.Context, rank int, addr string) (driver.Link, error) {
	a, err := parse(addr)
	if err != nil {
		return nil, fmt.Errorf("auto: cannot link to rank %d at %q: %w", rank, addr, err)
	}
	if e.near == nil || a.near == none || a.host != e.host {
		l, err := e.far.Dial(ctx, rank, a.far)
		if err != nil {
			err = fmt.Errorf("auto: cannot link to rank %d at %q: %w", rank, addr, err)
		}
		return l, err
	}
	l, err := e.near.Dial(ctx, rank, a.near)
	if err == nil || ctx.Err() != nil || errors.Is(err, driver.ErrRefused) || errors.Is(err, driver.ErrClosed) {
		return l, err
	}
	l, err2 := e.far.Dial(ctx, rank, a.far)
	if err2 != nil {
		return nil, fmt.Errorf("auto: cannot link to rank %d at %q: %w; %w", rank, addr, err, err2)
	}
	return l, nil
}

// Accept implements driver.Endpoint: whichever way the next link comes.
func (e *endpoint) Accept(ctx context.Context) (int, driver.Link, error) {
	if e.near == nil {
		return e.far.Accept(ctx)
	}
	if a, ok := e.left(); ok {
		return a.rank, a.link, nil
	}
	ctx, enough := context.WithCancel(ctx)
	defer enough()
	came := make(chan arrival)
	for _, end := range []driver.Endpoint{e.near, e.far} {
		go func() {
			rank, link, err := end.Accept(ctx)
			came <- arrival{rank, link, err}
		}()
	}
	first := <-came
	enough()
	second := <-came
	switch {
	case first.err == nil && second.err == nil:
		e.keep(second)
		return first.rank, first.link, nil
	case first.err == nil:
		return first.rank, first.link, nil
	case second.err == nil:
		return second.rank, second.link, nil
	}
	return -1, nil, fmt.Errorf("auto: accept: %w; %w", first.err, second.err)
}

// left takes a link that came before.
func (e *endpoint) left() (arrival, bool) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if len(e.spare) == 0 {
		return arrival{}, false
	}
	a := e.spare[0]
	e.spare = e.spare[1:]
	return a, true
}

func (e *endpoint) keep(a arrival) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.over {
		_ = a.link.Close()
		return
	}
	e.spare = append(e.spare, a)
}

// Close implements driver.Endpoint.
func (e *endpoint) Close() error {
	var err error
	if e.near != nil {
		err = e.near.Close()
	}
	err = errors.Join(err, e.far.Close())
	e.mu.Lock()
	defer e.mu.Unlock()
	e.over = true
	for _, a := range e.spare {
		_ = a.link.Close()
	}
	e.spare = nil
	return err
}
