package bootstrap

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strings"
	"syscall"
	"time"

	"github.com/pm2-go/pm2/internal/kernel"
	"github.com/pm2-go/pm2/nmad/internal/limit"
)

// Pauses between two attempts to reach rank 0, which may start after us.
const (
	firstPause = 5 * time.Millisecond
	lastPause  = 250 * time.Millisecond
)

// above is the address of the process that this one connects to.
func (c *Control) above() string {
	if c.tree.up == 0 {
		return c.cfg.Addr
	}
	return leaderSocket(c.cfg.Secret, c.tree.up)
}

// dial reaches the process above and runs the handshake, again and again while no process
// listens there, until ctx ends.
func dial(ctx context.Context, c *Control) (*wire, error) {
	pause := firstPause
	for {
		w, err := dialOnce(ctx, c, c.above(), false)
		if err == nil {
			return w, nil
		}
		what := fmt.Sprintf("meet rank %d at %s", c.tree.up, c.above())
		if !passing(err) {
			return nil, fmt.Errorf("%s: %w", what, err)
		}
		select {
		case <-ctx.Done():
			return nil, fmt.Errorf("%s: %w: last attempt: %v", what, context.Cause(ctx), err)
		case <-time.After(pause):
		}
		pause = min(2*pause, lastPause)
	}
}

// dialOnce dials a parent at addr, and runs the handshake. again: the job runs, and this process has lost its parent.
func dialOnce(ctx context.Context, c *Control, addr string, again bool) (*wire, error) {
	cfg := &c.cfg
	var d net.Dialer
	network := "tcp"
	if strings.HasPrefix(addr, "@") {
		network = "unix"
	}
	if err := kernel.Dials(); err != nil {
		return nil, err
	}
	conn, err := d.DialContext(ctx, network, addr)
	if err != nil {
		return nil, err
	}
	c.keepAlive(conn)
	release := bindContext(ctx, conn)
	defer release()
	late := limit.Bound(conn, cfg.Handshake)
	w, err := offer(conn, cfg.Secret, cfg.Rank, cfg.Size, again)
	late.Stop()
	if err != nil {
		conn.Close()
		return nil, err
	}
	conn.SetDeadline(time.Time{})
	return w, nil
}

// bindContext closes conn when ctx ends, until the returned function is called.
func bindContext(ctx context.Context, conn net.Conn) (release func() bool) {
	return context.AfterFunc(ctx, func() { conn.Close() })
}

// passing says whether a failed attempt may succeed later: no process listens yet,
// or rank 0 had too many connections in their handshake. A call that is refused stays so.
func passing(err error) bool {
	if errors.Is(err, ErrRefused) || errors.Is(err, ErrSecret) || errors.Is(err, errNotOurs) || kernel.Refused(err) != "" {
		return false
	}
	var dns *net.DNSError
	if errors.As(err, &dns) {
		return dns.Temporary() || dns.Timeout()
	}
	var addr *net.AddrError
	return !errors.As(err, &addr)
}

// isReset says whether the other side's kernel ended the connection.
func isReset(err error) bool {
	return errors.Is(err, syscall.ECONNRESET) || errors.Is(err, syscall.EPIPE) || errors.Is(err, net.ErrClosed)
}
