package tcp

import (
	"context"
	"net"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/pm2-go/pm2/nmad/driver"
	"github.com/pm2-go/pm2/nmad/driver/internal/stream"
)

func config(rank int) driver.Config {
	return driver.Config{Rank: rank, Size: 2, Job: "test", Secret: []byte("a secret")}
}

func open(t *testing.T, c driver.Config) driver.Endpoint {
	t.Helper()
	ep, err := Driver{}.Open(c)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = ep.Close() })
	return ep
}

// TestListen: where it listens, and what it says when it cannot.
func TestListen(t *testing.T) {
	ep := open(t, config(0))
	if host, _, err := net.SplitHostPort(ep.Addr()); err != nil || host != "127.0.0.1" {
		t.Errorf("listens on %s", ep.Addr())
	}
	for where, says := range map[string]string{
		ep.Addr():      "address already in use",
		"192.0.2.1:0":  "cannot assign requested address",
		"no such host": "cannot listen",
		"127.0.0.1:x":  "cannot listen",
	} {
		c := config(1)
		c.Listen = where
		_, err := Driver{}.Open(c)
		if err == nil || !strings.Contains(err.Error(), says) || !strings.Contains(err.Error(), where) || strings.Contains(err.Error(), "\n") {
			t.Errorf("Listen %q: %v; should mention %q", where, err, says)
		} else {
			t.Log(err)
		}
	}
	c := config(0)
	c.Listen = "@name of another driver"
	if host, _, _ := net.SplitHostPort(open(t, c).Addr()); host != "127.0.0.1" {
		t.Errorf("listens on %s", host)
	}
	c.Listen = "0.0.0.0:0"
	every := open(t, c)
	if host, _, _ := net.SplitHostPort(every.Addr()); net.ParseIP(host).IsUnspecified() {
		t.Errorf("publishes %s, which nobody can dial", every.Addr())
	}
	l, err := open(t, config(1)).Dial(context.Background(), 0, every.Addr())
	if err != nil {
		t.Fatal(err)
	}
	_ = l.Close()
}

// TestSocketOptions: both ends of a connection send at once, and over loopback
// with an algorithm that does not pace.
func TestSocketOptions(t *testing.T) {
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer ln.Close()
	dialed, err := net.Dial("tcp", ln.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	accepted, err := ln.Accept()
	if err != nil {
		t.Fatal(err)
	}
	for end, c := range map[string]net.Conn{"dialed": dialed, "accepted": accepted} {
		fd, err := takeSocket(c.(stream.Conn), 0)
		if err != nil {
			t.Fatal(err)
		}
		defer unix.Close(fd)
		if v, err := unix.GetsockoptInt(fd, unix.IPPROTO_TCP, unix.TCP_NODELAY); err != nil || v != 1 {
			t.Errorf("%s: TCP_NODELAY is %d, %v", end, v, err)
		}
		if v, err := unix.GetsockoptString(fd, unix.IPPROTO_TCP, unix.TCP_CONGESTION); err != nil || v == "bbr" {
			t.Errorf("%s: congestion control %q, %v", end, v, err)
		}
		if fl, err := unix.FcntlInt(uintptr(fd), unix.F_GETFL, 0); err != nil || fl&unix.O_NONBLOCK == 0 {
			t.Errorf("%s: flags %#x, %v", end, fl, err)
		}
		if fl, err := unix.FcntlInt(uintptr(fd), unix.F_GETFD, 0); err != nil || fl&unix.FD_CLOEXEC == 0 {
			t.Errorf("%s: descriptor flags %#x, %v", end, fl, err)
		}
	}
}
