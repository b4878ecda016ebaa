package tcp

import (
	"context"
	"net"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/pm2-go/pm2/nmad/driver/drivertest"
	"github.com/pm2-go/pm2/nmad/driver/internal/stream"
)

// TestListen: where it listens, and what it says when it cannot.
func TestListen(t *testing.T) {
	ep := drivertest.Open(t, Driver{}, drivertest.Config(0))
	if host, _, err := net.SplitHostPort(ep.Addr()); err != nil || host != "127.0.0.1" {
		t.Errorf("listens on %s", ep.Addr())
	}
	for where, says := range map[string]string{
		ep.Addr():      "address already in use",
		"192.0.2.1:0":  "cannot assign requested address",
		"no such host": "cannot listen",
		"127.0.0.1:x":  "cannot listen",
	} {
		c := drivertest.Config(1)
		c.Listen = where
		_, err := Driver{}.Open(c)
		if err == nil || !strings.Contains(err.Error(), says) || !strings.Contains(err.Error(), where) || strings.Contains(err.Error(), "\n") {
			t.Errorf("Listen %q: %v; should mention %q", where, err, says)
		} else {
			t.Log(err)
		}
	}
	c := drivertest.Config(0)
	c.Listen = "@name of another driver"
	if host, _, _ := net.SplitHostPort(drivertest.Open(t, Driver{}, c).Addr()); host != "127.0.0.1" {
		t.Errorf("listens on %s", host)
	}
	c.Listen = "0.0.0.0:0"
	every := drivertest.Open(t, Driver{}, c)
	if host, _, _ := net.SplitHostPort(every.Addr()); net.ParseIP(host).IsUnspecified() {
		t.Errorf("publishes %s, which no peer can dial", every.Addr())
	}
	l, err := drivertest.Open(t, Driver{}, drivertest.Config(1)).Dial(context.Background(), 0, every.Addr())
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
