package acceptor

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"net"
	"syscall"

	"github.com/pm2-go/pm2/internal/kernel"
	"github.com/pm2-go/pm2/nmad/driver"
	"github.com/pm2-go/pm2/nmad/driver/internal/hello"
)

// Endpoint is what the endpoints of drivers with an Acceptor have in common: a
// driver.Endpoint but for Reach, which a driver fills in before Listen.
type Endpoint struct {
	Name    string // of the driver
	Config  driver.Config
	MaxBody uint32 // what this side takes, in bytes
	Reach   func(ctx context.Context, rank int, addr string) (driver.Link, error)

	addr     string
	acceptor *Acceptor
}

// Listen starts to accept connections at ln, which it owns from here on, and which others
// reach at addr.
func (e *Endpoint) Listen(ln net.Listener, addr string, receive Receive) {
	e.addr = addr
	e.acceptor = New(e.Name, ln, receive)
	e.acceptor.Listen()
}

// Addr implements driver.Endpoint.
func (e *Endpoint) Addr() string { return e.addr }

// Accept implements driver.Endpoint.
func (e *Endpoint) Accept(ctx context.Context) (int, driver.Link, error) {
	return e.acceptor.Accept(ctx)
}

// Choice implements driver.Endpoint: there is none.
func (e *Endpoint) Choice(int, string) (network, why string) { return "", "" }

// Close implements driver.Endpoint.
func (e *Endpoint) Close() error { return e.acceptor.Close() }

// Done is closed by Close.
func (e *Endpoint) Done() <-chan struct{} { return e.acceptor.Done() }

// Me is this process in an exchange of package hello.
func (e *Endpoint) Me() hello.Me {
	return hello.Me{
		Message: hello.Message{
			Rank: uint32(e.Config.Rank), Size: uint32(e.Config.Size), MaxBody: e.MaxBody,
			Driver: e.Name, Job: e.Config.Job,
		},
		Secret: e.Config.Secret,
	}
}

// Dial implements driver.Endpoint by Reach: it says what failed, and whether ctx has ended.
func (e *Endpoint) Dial(ctx context.Context, rank int, addr string) (driver.Link, error) {
	l, err := e.reach(ctx, rank, addr)
	if err != nil {
		if why := context.Cause(ctx); why != nil && !errors.Is(err, why) {
			err = fmt.Errorf("%w: %w", why, err)
		}
		return nil, fmt.Errorf("%s: cannot link to rank %d at %q: %w", e.Name, rank, addr, err)
	}
	return l, nil
}

func (e *Endpoint) reach(ctx context.Context, rank int, addr string) (driver.Link, error) {
	select {
	case <-e.acceptor.Done():
		return nil, driver.ErrClosed
	default:
		return e.Reach(ctx, rank, addr)
	}
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

// IsAbstract says whether an address is an abstract name.
func IsAbstract(addr string) bool { return len(addr) > 1 && addr[0] == '@' }

// Abstract makes a name for a Unix socket of that driver which has no file, and which no stranger can
// have taken before.
func Abstract(driver string, rank int) string {
	var random [12]byte
	_, _ = rand.Read(random[:]) // never fails
	return fmt.Sprintf("@pm2-%s-%d-%s", driver, rank, hex.EncodeToString(random[:]))
}

// Cause cuts the preamble of package net's errors, of which the caller says more. A Unix socket
// whose queue is full is driver.ErrBusy.
func Cause(err error) error {
	var op *net.OpError
	if errors.As(err, &op) {
		err = op.Err
	}
	if errors.Is(err, syscall.EAGAIN) {
		return fmt.Errorf("%w: %w", driver.ErrBusy, err)
	}
	return err
}
