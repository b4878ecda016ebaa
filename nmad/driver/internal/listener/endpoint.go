package listener

import (
	"context"
	"errors"
	"fmt"
	"net"

	"github.com/pm2-go/pm2/nmad/driver"
	"github.com/pm2-go/pm2/nmad/internal/meet"
)

// Endpoint implements driver.Endpoint for drivers whose processes meet by connections. A driver embeds it, fills in the
// exported fields and then calls Listen. It yields only links of processes that belong to the job. Safe for concurrent
// use.
type Endpoint struct {
	Name    string // of the driver
	Config  driver.Config
	MaxBody uint32 // what this side takes, in bytes
	Reach   func(ctx context.Context, rank int, addr string) (driver.Link, error)

	addr     string
	ready    chan arrival
	acceptor meet.Acceptor
}

// arrival is a link that waits for Accept.
type arrival struct {
	rank int
	link driver.Link
}

// Receive finds out which process is at the other end of conn and makes a link of it, as meet.Acceptor.Serve does. With
// a nil link and a nil error there is nothing to hand on.
type Receive func(conn net.Conn, v *meet.Incoming) (rank int, l driver.Link, err error)

// Listen starts to accept connections at ln, which it owns from here on, and which others reach at addr.
func (e *Endpoint) Listen(ln net.Listener, addr string, receive Receive) {
	e.addr, e.ready = addr, make(chan arrival)
	e.acceptor.Patience = meet.Patience
	e.acceptor.Serve = func(conn net.Conn, v *meet.Incoming) error {
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
	if !e.closed() {
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

// closed reports whether Close was called.
func (e *Endpoint) closed() bool {
	select {
	case <-e.Done():
		return true
	default:
		return false
	}
}

// Done is closed by Close.
func (e *Endpoint) Done() <-chan struct{} { return e.acceptor.Done() }

// Me describes this process for an exchange.
func (e *Endpoint) Me() meet.Me {
	me := meet.Me{Secret: e.Config.Secret}
	me.Rank, me.Size, me.MaxBody = uint32(e.Config.Rank), uint32(e.Config.Size), e.MaxBody
	me.Driver, me.Job = e.Name, e.Config.Job
	return me
}

// Dial implements driver.Endpoint by Reach. Its error says what failed, and whether ctx has ended.
func (e *Endpoint) Dial(ctx context.Context, rank int, addr string) (l driver.Link, err error) {
	if err = driver.ErrClosed; !e.closed() {
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
