package pio

import (
	"net"
	"sync"
	"testing"
	"time"

	"golang.org/x/net/nettest"

	"github.com/pm2-go/pm2/marcel"
)

// threaded is a connection whose every operation is made by a thread.
type threaded struct {
	net.Conn
	*lifetime
}

// lifetime lets operations run on a rig's threads until the test is over: the suite leaves
// goroutines behind that come once more after it has closed the connections.
type lifetime struct {
	rig  *rig
	mu   sync.RWMutex
	over bool
}

func newLifetime(g *rig) *lifetime {
	x := &lifetime{rig: g}
	g.t.Cleanup(func() {
		x.mu.Lock()
		defer x.mu.Unlock()
		x.over = true
	})
	return x
}

func (x *lifetime) run(f func() error) (err error) {
	x.mu.RLock()
	defer x.mu.RUnlock()
	if x.over {
		return net.ErrClosed
	}
	x.rig.run(func() { err = f() })
	return err
}

func (x threaded) Read(p []byte) (n int, err error) {
	err = x.run(func() (err error) { n, err = x.Conn.Read(p); return err })
	return n, err
}

func (x threaded) Write(p []byte) (n int, err error) {
	err = x.run(func() (err error) { n, err = x.Conn.Write(p); return err })
	return n, err
}

func (x threaded) Close() error { return x.run(x.Conn.Close) }

func (x threaded) SetDeadline(t time.Time) error {
	return x.run(func() error { return x.Conn.SetDeadline(t) })
}

func (x threaded) SetReadDeadline(t time.Time) error {
	return x.run(func() error { return x.Conn.SetReadDeadline(t) })
}

func (x threaded) SetWriteDeadline(t time.Time) error {
	return x.run(func() error { return x.Conn.SetWriteDeadline(t) })
}

// Go's own conformance suite for connections.
func TestConformance(t *testing.T) {
	users := []struct {
		name   string
		vps    int
		hooked bool
		wrap   func(x *lifetime, c net.Conn) net.Conn
	}{
		{"goroutines", 2, true, func(_ *lifetime, c net.Conn) net.Conn { return c }},
		{"goroutines, engine explicit", 1, false, func(_ *lifetime, c net.Conn) net.Conn { return c }},
		{"threads", 2, true, func(x *lifetime, c net.Conn) net.Conn { return threaded{c, x} }},
		{"threads of one VP", 1, true, func(x *lifetime, c net.Conn) net.Conn { return threaded{c, x} }},
	}
	for _, u := range users {
		for _, k := range kinds {
			if testing.Short() && (!u.hooked || k.name != "tcp" && k.name != "pipes") {
				continue
			}
			t.Run(k.name+" "+u.name, func(t *testing.T) {
				g := newRig(t, u.vps, u.hooked)
				door := newLifetime(g)
				nettest.TestConn(t, func() (a, b net.Conn, stop func(), err error) {
					x, y := k.pair(t, g.Reactor)
					return u.wrap(door, x), u.wrap(door, y), func() {
						_ = x.Close()
						_ = y.Close()
					}, nil
				})
			})
		}
	}
}

// That a thread waits for data keeps no other thread of its VP from
// running: the one that sends the data is such a thread.
func TestOnlyTheReaderWaits(t *testing.T) {
	for _, k := range kinds {
		t.Run(k.name, func(t *testing.T) {
			g := newRig(t, 1, true)
			a, b := k.pair(t, g.Reactor)
			ends(t, "read", func() {
				g.run(func() {
					reader := marcel.Spawn(func() {
						var p [8]byte
						if n, err := a.Read(p[:]); n != 1 || err != nil || p[0] != 7 {
							t.Errorf("read %d bytes, first %d: %v", n, p[0], err)
						}
					})
					for range 100 {
						marcel.Yield() // the reader waits by now, or does not: both must do
					}
					if _, err := b.Write([]byte{7}); err != nil {
						t.Error(err)
					}
					_ = reader.Join()
				})
			})
		})
	}
}
