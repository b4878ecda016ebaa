package shm

import (
	"context"
	"errors"
	"net"
	"os"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/pm2-go/pm2/nmad/driver"
	"github.com/pm2-go/pm2/nmad/internal/meet"
)

func config(rank int) driver.Config {
	return driver.Config{Rank: rank, Size: 2, Job: "test", Secret: []byte("a secret")}
}

// listening opens an endpoint of rank 0, and gives what its Accept will say
// once the context ends.
func listening(t *testing.T) (ep driver.Endpoint, end func() error) {
	t.Helper()
	ep, err := Driver{}.Open(config(0))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = ep.Close() })
	return ep, func() error {
		ctx, cancel := context.WithTimeout(context.Background(), 50*time.Millisecond)
		defer cancel()
		_, l, err := ep.Accept(ctx)
		if l != nil {
			t.Error("a link came of it")
			_ = l.Close()
		}
		return err
	}
}

func openFDs(t *testing.T) int {
	t.Helper()
	dir, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		t.Fatal(err)
	}
	return len(dir)
}

// TestImpostor: a peer that holds the secret, but passes something that is no
// segment or no doorbell, is refused with the reason, and leaves nothing open.
func TestImpostor(t *testing.T) {
	geo := standard
	sealed := func(t *testing.T, g geometry) int {
		fd, err := createSegment(g)
		if err != nil {
			t.Fatal(err)
		}
		return fd
	}
	bell := func(t *testing.T) int {
		fd, err := unix.Eventfd(0, unix.EFD_CLOEXEC)
		if err != nil {
			t.Fatal(err)
		}
		return fd
	}
	file := func(t *testing.T) int {
		f, err := os.CreateTemp(t.TempDir(), "")
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		fd, err := unix.Dup(int(f.Fd()))
		if err != nil {
			t.Fatal(err)
		}
		return fd
	}
	frame := func(kind byte, geometry []byte) []byte {
		return meet.AppendFrame(nil, kind, append(geometry, newNonce().evidence()...))
	}
	with := func(change func(*geometry)) []byte {
		g := geo
		change(&g)
		return g.encode()
	}
	for _, c := range []struct {
		name  string
		frame []byte
		fds   func(t *testing.T) []int
		says  string
	}{
		{"no descriptors", frame(frameSegment, geo.encode()), func(*testing.T) []int { return nil }, "0 descriptors"},
		{"two descriptors", frame(frameSegment, geo.encode()), func(t *testing.T) []int { return []int{sealed(t, geo), bell(t)} }, "2 descriptors"},
		{"too many descriptors", frame(frameSegment, geo.encode()), func(t *testing.T) []int {
			return []int{sealed(t, geo), bell(t), bell(t), bell(t), bell(t), bell(t), bell(t)}
		}, "more descriptors"},
		{"a file for a segment", frame(frameSegment, geo.encode()), func(t *testing.T) []int { return []int{file(t), bell(t), bell(t)} }, "segment with seals"},
		{"a file for a doorbell", frame(frameSegment, geo.encode()), func(t *testing.T) []int { return []int{sealed(t, geo), bell(t), file(t)} }, "doorbell"},
		{"a smaller segment than it says", frame(frameSegment, geo.encode()), func(t *testing.T) []int {
			return []int{sealed(t, tiny), bell(t), bell(t)}
		}, "should have"},
		{"a huge geometry", frame(frameSegment, with(func(g *geometry) { g.slots, g.slotSize = 1<<12, 1<<22 })), func(t *testing.T) []int {
			return []int{sealed(t, geo), bell(t), bell(t)}
		}, "a segment of"},
		{"no cells", frame(frameSegment, with(func(g *geometry) { g.cells = 0 })), func(t *testing.T) []int {
			return []int{sealed(t, geo), bell(t), bell(t)}
		}, "0 cells"},
		{"another frame", frame(frameMapped, geo.encode()), func(t *testing.T) []int {
			return []int{sealed(t, geo), bell(t), bell(t)}
		}, "does not speak our protocol"},
	} {
		t.Run(c.name, func(t *testing.T) {
			ep, end := listening(t)
			before := openFDs(t)
			conn, err := net.Dial("unix", ep.Addr())
			if err != nil {
				t.Fatal(err)
			}
			defer conn.Close()
			_ = conn.SetDeadline(time.Now().Add(30 * time.Second))
			me := ep.(*endpoint).Me()
			me.Rank = 1
			if _, err := meet.Dialer(conn, me, 0); err != nil {
				t.Fatal(err)
			}
			fds := c.fds(t)
			if _, _, err := conn.(*net.UnixConn).WriteMsgUnix(c.frame, unix.UnixRights(fds...), nil); err != nil {
				t.Fatal(err)
			}
			for _, fd := range fds {
				_ = unix.Close(fd)
			}
			_, err = meet.ReadFrame(conn, frameMapped)
			if !errors.Is(err, driver.ErrRefused) || !strings.Contains(err.Error(), c.says) {
				t.Errorf("the impostor is told: %v; should mention %q", err, c.says)
			}
			if err := end(); !errors.Is(err, driver.ErrRefused) || !strings.Contains(err.Error(), c.says) {
				t.Errorf("Accept: %v; should mention %q", err, c.says)
			}
			_ = conn.Close()
			if after := openFDs(t); after > before {
				t.Errorf("%d descriptors more than before", after-before)
			}
		})
	}
}

// TestStrangers: garbage and silence on the socket keep none from linking.
func TestStrangers(t *testing.T) {
	ep, _ := listening(t)
	for _, text := range []string{"", "GET / HTTP/1.1\r\n\r\n", "\xA1", "\xA1\xFF\xFF", strings.Repeat("\x00", 5000)} {
		conn, err := net.Dial("unix", ep.Addr())
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
		_, _ = conn.Write([]byte(text))
	}
	other, err := Driver{}.Open(config(1))
	if err != nil {
		t.Fatal(err)
	}
	defer other.Close()
	start := time.Now()
	l, err := other.Dial(context.Background(), 0, ep.Addr())
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	rank, r, err := ep.Accept(context.Background())
	if err != nil || rank != 1 {
		t.Fatal(rank, err)
	}
	defer r.Close()
	if took := time.Since(start); took >= meet.Patience {
		t.Errorf("linking took %v: it waited for the silent one", took)
	}
}

// TestBusyName: two endpoints cannot have one name, and the second one says so.
func TestBusyName(t *testing.T) {
	c := config(0)
	c.Listen = "@pm2-test-busy-" + t.Name()
	a, err := Driver{}.Open(c)
	if err != nil {
		t.Fatal(err)
	}
	defer a.Close()
	if a.Addr() != c.Listen {
		t.Errorf("listens on %s", a.Addr())
	}
	if _, err := (Driver{}).Open(c); !errors.Is(err, unix.EADDRINUSE) || !strings.Contains(err.Error(), c.Listen) {
		t.Errorf("%v", err)
	}
}

// TestWrongGeometry: an endpoint with sizes that no peer would accept is not opened.
func TestWrongGeometry(t *testing.T) {
	for _, g := range []geometry{
		{}, {cells: 3, maxBody: 1, bodies: 256, slots: 2, slotSize: 64}, {cells: 4, maxBody: 0, bodies: 256, slots: 2, slotSize: 64},
		{cells: 4, maxBody: 65, bodies: 256, slots: 2, slotSize: 64}, {cells: 4, maxBody: 64, bodies: 300, slots: 2, slotSize: 64},
		{cells: 4, maxBody: 64, bodies: 256, slots: 1, slotSize: 64}, {cells: 4, maxBody: 64, bodies: 256, slots: 2, slotSize: 65},
	} {
		if _, err := (Driver{geo: &g}).Open(config(0)); !errors.Is(err, driver.ErrConfig) {
			t.Errorf("%+v: %v", g, err)
		}
	}
	if err := standard.check(); err != nil {
		t.Error(err)
	}
}
