package pio

import (
	"context"
	"errors"
	"io"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/pm2-go/pm2/internal/test/effort"
	"github.com/pm2-go/pm2/marcel"
)

// Every wait for the kernel is a cancellation point: a thread that is canceled before it or in it ends, its deferred
// calls run, and the connection is as if it had never waited.
func TestCancelEndsWaits(t *testing.T) {
	deaf := full(t)
	for _, mode := range []struct {
		name   string
		vps    int
		hooked bool
	}{{"hooked", 2, true}, {"hooked, one VP", 1, true}, {"explicit", 2, false}} {
		t.Run(mode.name, func(t *testing.T) {
			g := newRig(t, mode.vps, mode.hooked)
			quiet, busy, err := g.SocketPair()
			check(t, err)
			fill(t, quiet) // writes of it wait, reads of it find nothing
			rd, wr, err := g.Pipe()
			check(t, err)
			l, err := g.Listen("tcp", ":0")
			check(t, err)
			p := make([]byte, 1)
			raw, err := quiet.SyscallConn()
			check(t, err)
			for _, op := range []struct {
				name string
				wait func() error
			}{
				{"Read", func() error { return second(quiet.Read(p)) }},
				{"Readv", func() error { return second(quiet.Readv([][]byte{p})) }},
				{"Write", func() error { return second(quiet.Write(p)) }},
				{"Writev", func() error { return second(quiet.Writev([][]byte{p})) }},
				{"RawConn", func() error { return raw.Read(func(uintptr) bool { return false }) }},
				{"pipe", func() error { return second(rd.Read(p)) }},
				{"Accept", func() error { return second(l.AcceptConn()) }},
				{"Dial", func() error { return second(g.Dial("tcp", deaf)) }},
				{"DialContext", func() error {
					ctx, stop := context.WithTimeout(t.Context(), time.Hour)
					defer stop()
					return second(g.DialContext(ctx, "tcp", deaf))
				}},
			} {
				t.Run(op.name, func(t *testing.T) {
					before := g.open()
					for i := range effort.Of(25) {
						ends(t, op.name, func() { cancelIn(t, g, i%2 == 0, op.wait) })
					}
					if n := g.waiters.Load(); n != 0 || g.engine.Pending() != 0 {
						t.Errorf("%d waiters, %d requests pending", n, g.engine.Pending())
					}
					if n := g.open(); n != before {
						t.Errorf("%d descriptors, %d before", n, before)
					}
				})
			}
			// All of them are of use.
			ends(t, "the rest", func() {
				g.run(func() {
					both(func() { check(t, second(wr.Write([]byte{1}))) }, func() { check(t, second(rd.Read(p))) })
					both(func() {
						c, err := g.Dial("tcp", l.Addr().String())
						check(t, errors.Join(err, c.Close()))
					}, func() {
						c, err := l.AcceptConn()
						check(t, errors.Join(err, c.Close()))
					})
					both(func() { check(t, errors.Join(second(quiet.Write([]byte{1})), quiet.CloseWrite())) },
						func() { check(t, second(io.Copy(io.Discard, busy))) })
				})
			})
			for _, c := range []io.Closer{quiet, busy, rd, wr, l} {
				check(t, c.Close())
			}
		})
	}
}

// open is how many descriptors the reactor has.
func (g *rig) open() (n int) {
	for i := range *g.descriptors.Load() {
		if (*g.descriptors.Load())[i].Load() != nil {
			n++
		}
	}
	return n
}

// fill writes until there is no room.
func fill(t *testing.T, c *Conn) {
	t.Helper()
	for _, size := range []int{1 << 16, 1} {
		for full := false; !full; {
			check(t, c.control("fill", func(fd int) error {
				_, err := unix.Write(fd, make([]byte, size))
				if full = err == unix.EAGAIN; full {
					return nil
				}
				return err
			}))
		}
	}
}

// cancelIn cancels a thread that waits, or is about to.
func cancelIn(t *testing.T, g *rig, settle bool, wait func() error) {
	unwound := false
	begun := make(chan struct{})
	x := g.sched.Spawn(marcel.Attr{}, func() {
		defer func() { unwound = true }()
		close(begun)
		t.Errorf("the wait has returned: %v", wait())
	})
	<-begun
	if settle { // on its semaphore, or in the kernel
		eventually(t, "it waits", func() bool { return g.waiters.Load() != 0 || x.Ended() })
		time.Sleep(3 * time.Millisecond)
	}
	if err := x.Cancel(); err != nil {
		t.Error(err)
	}
	if err := x.Join(); !errors.Is(err, marcel.ErrCanceled) || !unwound {
		t.Errorf("Join: %v, deferred calls ran: %v", err, unwound)
	}
}

// A thread that has cancellation disabled waits on, and what it gets is its own.
func TestCancelDisabledWaits(t *testing.T) {
	for _, hooked := range []bool{true, false} {
		g := newRig(t, 2, hooked)
		rd, wr, err := g.Pipe()
		check(t, err)
		ended := false
		x := g.sched.Spawn(marcel.Attr{}, func() {
			marcel.SetCancelState(false)
			if n, err := rd.Read(make([]byte, 2)); n != 1 || err != nil {
				t.Errorf("read %d, %v", n, err)
			}
			marcel.SetCancelState(true)
			ended = true
			_, err := rd.Read(make([]byte, 2))
			t.Errorf("the wait has returned: %v", err)
		})
		eventually(t, "it waits", func() bool { return g.waiters.Load() != 0 })
		check(t, x.Cancel())
		check(t, second(wr.Write([]byte{1})))
		ends(t, "the thread", func() {
			if err := x.Join(); !errors.Is(err, marcel.ErrCanceled) || !ended {
				t.Errorf("%v, after what it disabled cancellation for: %v", err, ended)
			}
		})
		check(t, errors.Join(rd.Close(), wr.Close()))
	}
}
