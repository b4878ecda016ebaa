//go:build ofi && cgo

package ofi

import (
	"bytes"
	"context"
	"errors"
	"runtime"
	"testing"
	"time"
	"weak"

	"golang.org/x/sys/unix"

	"github.com/pm2-go/pm2/nmad/driver"
	"github.com/pm2-go/pm2/nmad/driver/drivertest"
)

// linked makes a link within this process.
func linked(t *testing.T, d Driver) (a, b *link) {
	t.Helper()
	left, right := drivertest.Open(t, d, drivertest.Config(0)), drivertest.Open(t, d, drivertest.Config(1))
	ctx, cancel := context.WithTimeout(context.Background(), drivertest.Patience)
	defer cancel()
	dialed := make(chan driver.Link, 1)
	go func() {
		l, err := right.Dial(ctx, 0, left.Addr())
		if err != nil {
			t.Error(err)
		}
		dialed <- l
	}()
	_, l, err := left.Accept(ctx)
	r := <-dialed
	if err != nil || r == nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _, _ = l.Close(), r.Close() })
	return l.(*link), r.(*link)
}

// carry moves from one end to the other by the large track.
func carry(t *testing.T, from, to *link, out, in []byte) {
	t.Helper()
	want := out
	got := in
	for end := time.Now().Add(drivertest.Patience); len(out) > 0 || len(in) > 0; {
		n, err := from.Push(out)
		out = out[n:]
		m, err2 := to.Pull(in)
		in = in[m:]
		if err != nil || err2 != nil || time.Now().After(end) {
			t.Fatalf("%d bytes left to push, %v; %d to pull, %v; %v", len(out), err, len(in), err2, from)
		}
	}
	if !bytes.Equal(got, want) {
		t.Fatal("other bytes have come")
	}
}

// TestKeptRegistrations: what comes again is not registered again; there are never more than so many, nor of more bytes; each keeps its memory alive; and
// of memory that is not Go's there are none.
func TestKeptRegistrations(t *testing.T) {
	a, b := linked(t, Driver{provider: "tcp", local: true})
	p, q := &a.port.registered, &b.port.registered
	out, in := make([]byte, 5000), make([]byte, 5000)
	for i := range 10 {
		out[i] = byte(i + 1)
		carry(t, a, b, out, in)
	}
	for _, r := range []*registrations{p, q} {
		if r.made != 1 || r.found != 9 || len(r.kept) != 1 || r.bytes != len(out) {
			t.Errorf("%d made, %d found, %d kept of %d bytes", r.made, r.found, len(r.kept), r.bytes)
		}
	}
	carry(t, a, b, out[:100], in[:100])
	carry(t, a, b, out[1:], in[1:])
	if p.made != 2 || p.found != 10 {
		t.Errorf("after others of the same memory %d made, %d found", p.made, p.found)
	}

	foreign, err := unix.Mmap(-1, 0, 1<<16, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_ANON|unix.MAP_PRIVATE)
	if err != nil {
		t.Fatal(err)
	}
	made, kept := p.made, len(p.kept)
	for range 3 {
		carry(t, a, b, foreign, make([]byte, len(foreign)))
	}
	if p.made != made+3 || len(p.kept) != kept {
		t.Errorf("of memory that is not Go's %d were made, and %d kept", p.made-made, len(p.kept)-kept)
	}
	if err := unix.Munmap(foreign); err != nil {
		t.Fatal(err)
	}

	var alive weak.Pointer[byte]
	func() {
		held := make([]byte, 7000)
		alive = weak.Make(&held[0])
		carry(t, a, b, held, make([]byte, len(held)))
	}()
	runtime.GC()
	runtime.GC()
	if alive.Value() == nil {
		t.Error("memory whose registration is kept was freed")
	}
	for range maxKept + 10 {
		carry(t, a, b, make([]byte, 6000), make([]byte, 6000))
		if len(p.kept) > maxKept {
			t.Fatalf("%d are kept", len(p.kept))
		}
	}
	runtime.GC()
	runtime.GC()
	if alive.Value() != nil {
		t.Error("memory whose registration has made room for others is not freed")
	}
	in = make([]byte, maxKeptBytes/2+1)
	for range 2 {
		carry(t, a, b, make([]byte, len(in)), in)
		if p.bytes > maxKeptBytes || p.bytes < len(in) {
			t.Errorf("%d bytes are kept", p.bytes)
		}
	}
}

// TestWithdrawn: what a receiver reads after its sender has taken the window back is not taken for right.
func TestWithdrawn(t *testing.T) {
	for _, provider := range []string{"shm", "tcp"} {
		t.Run(provider, func(t *testing.T) {
			a, b := linked(t, Driver{provider: provider})
			out, in := bytes.Repeat([]byte{1}, 1<<20), make([]byte, 1<<20)
			for end := time.Now().Add(drivertest.Patience); b.in.open.Load() == 0; {
				_, err := a.Push(out)
				_, _, err2 := b.Recv(new(driver.Header))
				if err != nil || err2 != nil || time.Now().After(end) {
					t.Fatalf("not begun: %v, %v, %v", err, err2, a)
				}
			}
			n, ok := a.ReturnPush()
			for end := time.Now().Add(drivertest.Patience); !ok && time.Now().Before(end); time.Sleep(time.Millisecond) {
				n, ok = a.ReturnPush()
			}
			if n != 0 || !ok {
				t.Fatalf("%d bytes had moved, given back %v", n, ok)
			}
			clear(out)
			var err error
			for end := time.Now().Add(drivertest.Patience); err == nil && time.Now().Before(end); {
				a.port.take() // as its other links do
				a.port.poll()
				a.port.release()
				if n, err = b.Pull(in); n != 0 {
					t.Fatalf("%d bytes of a message that was given up were taken for right", n)
				}
			}
			if !errors.Is(err, driver.ErrPeerLost) {
				t.Errorf("it ends with %v", err)
			}
		})
	}
}
