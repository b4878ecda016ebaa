package meet

import (
	"context"
	"errors"
	"fmt"
	"net"
	"syscall"
	"time"

	"github.com/pm2-go/pm2/internal/kernel"
	"github.com/pm2-go/pm2/nmad/driver"
	"github.com/pm2-go/pm2/nmad/internal/limit"
)

// Dial connects to addr, an abstract name ("@name") or host:port, and sees to it that the connection obeys ctx and is
// given up after patience. stop must be called once the exchange is over.
func Dial(ctx context.Context, addr string, patience time.Duration) (conn net.Conn, stop func(), err error) {
	if err := kernel.Dials(); err != nil {
		return nil, nil, err
	}
	network := "tcp"
	if IsAbstract(addr) {
		network = "unix"
	}
	d := net.Dialer{Timeout: patience}
	conn, err = d.DialContext(ctx, network, addr)
	if err != nil {
		return nil, nil, err
	}
	late := limit.Bound(conn, patience)
	obey := context.AfterFunc(ctx, func() { _ = conn.SetDeadline(limit.Past) })
	return conn, func() { late.Stop(); obey() }, nil
}

// IsAbstract reports whether an address is an abstract name: that of a Unix socket which has no file.
func IsAbstract(addr string) bool { return len(addr) > 1 && addr[0] == '@' }

// Cause cuts the preamble of package net's errors. It adds driver.ErrBusy if the queue of a Unix socket is full.
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
