package meet

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"net"

	"github.com/pm2-go/pm2/internal/kernel"
	"github.com/pm2-go/pm2/nmad/driver"
)

// Endpoint is what the endpoints of drivers that meet by connections have in common. It implements
// driver.Endpoint: a driver fills in the exported fields and then calls Listen. It yields only links of processes
// that belong to the job.
type Endpoint struct {
	Name    string // of the driver
	Config  driver.Config
	MaxBody uint32 // what this side takes, in bytes
	Reach   func(ctx context.Context, rank int, addr string) (driver.Link, error)

	addr     string
	ready    chan arrival
	acceptor Acceptor
}

type arrival struct {
	rank int
	link driver.Link
}

// Receive finds out which process is at the other end of conn and makes a link of it, as Acceptor.Serve does. With
// a nil link and a nil error there is nothing to hand on.
type Receive func(conn net.Conn, v *Incoming) (rank int, l driver.Link, err error)

// Listen starts to accept connections at ln, which it owns from here on, and which others reach at addr.
func (e *Endpoint) Listen(ln net.Listener, addr string, receive Receive) {
	e.addr, e.ready = addr, make(chan arrival)
	e.acceptor.Patience = Patience
	e.acceptor.Serve = func(conn net.Conn, v *Incoming) error {
		rank, l, err := receive(conn, v)
		if err != nil || l == nil {
			return err
		}
		v.Over()
		select {
		case e.ready <- arrival{rank, l}:
		case <-e.Done():
			_ = l.Close()
		}
		return nil
	}
	e.acceptor.Listen(ln)
}

// Addr implements driver.Endpoint.
func (e *Endpoint) Addr() string { return e.addr }

// Accept waits for the next link. Connections of processes that do not belong to the job do not end it; but if ctx ends
// first, the error says how many there were, and wraps the reason why the last one was refused.
func (e *Endpoint) Accept(ctx context.Context) (int, driver.Link, error) {
	if e.acceptor.ctx.Err() == nil {
		select {
		case a := <-e.ready:
			return a.rank, a.link, nil
		case <-e.Done():
		case <-ctx.Done():
			n, last := e.acceptor.Refused()
			if n == 0 {
				return -1, nil, fmt.Errorf("%s: accept: no process came: %w", e.Name, context.Cause(ctx))
			}
			return -1, nil, fmt.Errorf("%s: accept: %w; turned away before: %d, the last: %w", e.Name, context.Cause(ctx), n, last)
		}
	}
	return -1, nil, fmt.Errorf("%s: accept: %w", e.Name, driver.ErrClosed)
}

// Choice implements driver.Endpoint: there is none.
func (e *Endpoint) Choice(int, string) (network, why string) { return "", "" }

// Close implements driver.Endpoint: it stops listening, ends the exchanges under way and waits for their
// goroutines. Links that were not accepted are closed. Calling it again does nothing.
func (e *Endpoint) Close() error { return e.acceptor.Close() }

// Done is closed by Close.
func (e *Endpoint) Done() <-chan struct{} { return e.acceptor.Done() }

// Me describes this process for an exchange.
func (e *Endpoint) Me() Me {
	me := Me{Secret: e.Config.Secret}
	me.Rank, me.Size, me.MaxBody = uint32(e.Config.Rank), uint32(e.Config.Size), e.MaxBody
	me.Driver, me.Job = e.Name, e.Config.Job
	return me
}

// Dial implements driver.Endpoint by Reach. Its error says what failed, and whether ctx has ended.
func (e *Endpoint) Dial(ctx context.Context, rank int, addr string) (l driver.Link, err error) {
	if err = driver.ErrClosed; e.acceptor.ctx.Err() == nil {
		l, err = e.Reach(ctx, rank, addr)
	}
	if err != nil {
		if why := context.Cause(ctx); why != nil && !errors.Is(err, why) {
			err = fmt.Errorf("%w: %w", why, err)
		}
		return nil, fmt.Errorf("%s: cannot link to rank %d at %q: %w", e.Name, rank, addr, err)
	}
	return l, nil
}

// ListenAbstract listens on an abstract Unix socket, which has no file: at Config.Listen if that is such a name
// ("@name"; else it is meant for another driver).
func ListenAbstract(driver string, c driver.Config) (ln net.Listener, name string, err error) {
	if name = c.Listen; !IsAbstract(name) {
		name = Abstract(driver, c.Rank)
	}
	if ln, err = kernel.Listen("unix", name); err != nil {
		return nil, "", fmt.Errorf("%s: cannot listen on %q: %w; choose another name, or none", driver, name, Cause(err))
	}
	return ln, name, nil
}

// Abstract returns a new name for an abstract Unix socket of a driver. It is random, so no stranger can have taken
// it before.
func Abstract(driver string, rank int) string {
	return fmt.Sprintf("@pm2-%s-%d-%s", driver, rank, rand.Text())
}
