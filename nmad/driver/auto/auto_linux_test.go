package auto

import (
	"context"
	"fmt"
	"os"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/pm2-go/pm2/nmad/driver"
	"github.com/pm2-go/pm2/nmad/driver/drivertest"
	"github.com/pm2-go/pm2/nmad/driver/shm"
	"github.com/pm2-go/pm2/nmad/driver/tcp"
	"github.com/pm2-go/pm2/nmad/driver/unix"
)

// TestConformance: the links are those of shm and tcp, which their own suites
// hold to their promises.
func TestConformance(t *testing.T) { drivertest.RunEndpoints(t, Driver{}) }

// TestConformanceFar is the same between processes that take each other for
// different hosts.
func TestConformanceFar(t *testing.T) {
	var opened atomic.Int32
	drivertest.RunEndpoints(t, Driver{host: func() string { return fmt.Sprint("host-", os.Getpid(), "-", opened.Add(1)) }})
}

// on is a host by name.
func on(host string) Driver { return Driver{host: func() string { return host }} }

// TestChoice: which network a link uses.
func TestChoice(t *testing.T) {
	for _, c := range []struct {
		name         string
		dial, accept string // hosts
		want         string
		change       func(addr string) string
	}{
		{"one host", "here", "here", "shm", nil},
		{"two hosts", "here", "there", "tcp", nil},
		{"not known which host", none, none, "tcp", nil},
		{"shared memory does not work", "here", "here", "unix", func(addr string) string {
			words := strings.Split(addr, " ")
			words[1] = "@no-process-listens-here"
			return strings.Join(words, " ")
		}},
		{"the other one has no shared memory", "here", "here", "unix", func(addr string) string {
			words := strings.Split(addr, " ")
			words[1] = none
			return strings.Join(words, " ")
		}},
		{"neither shared memory nor Unix sockets", "here", "here", "tcp", func(addr string) string {
			words := strings.Split(addr, " ")
			words[1], words[2] = none, "@no-process-listens-here"
			return strings.Join(words, " ")
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			a, b := drivertest.Open(t, on(c.accept), drivertest.Config(0)), drivertest.Open(t, on(c.dial), drivertest.Config(1))
			ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
			defer cancel()
			addr := a.Addr()
			if c.change != nil {
				addr = c.change(addr)
			}
			accepted := make(chan driver.Link, 1)
			go func() {
				_, l, err := a.Accept(ctx)
				if err != nil {
					t.Error(err)
				}
				accepted <- l
			}()
			l, err := b.Dial(ctx, 0, addr)
			if err != nil {
				t.Fatal(err)
			}
			defer l.Close()
			other := <-accepted
			if other == nil {
				t.FailNow()
			}
			defer other.Close()
			for rank, e := range []driver.Endpoint{a, b} {
				if network, why := e.Choice(1-rank, addr); network != c.want || why == "" {
					t.Errorf("rank %d says %s, because %q; want %s", rank, network, why, c.want)
				}
			}
			for _, end := range []driver.Link{l, other} {
				_ = end.Close()
				if _, err := end.Flush(); err == nil || !strings.HasPrefix(err.Error(), c.want+": ") {
					t.Errorf("the link says %v, want one of %s", err, c.want)
				}
			}
		})
	}
}

func TestWrongAddresses(t *testing.T) {
	e := drivertest.Open(t, Driver{}, drivertest.Config(1))
	for _, addr := range []string{"", "x", "a b", "a b c", "a b  d", "a b c d e", "127.0.0.1:1"} {
		if _, err := e.Dial(context.Background(), 0, addr); err == nil {
			t.Errorf("%q: linked", addr)
		}
	}
}

// TestApart: the words for why two processes are not on one host.
func TestApart(t *testing.T) {
	for _, c := range []struct{ a, b, want string }{
		{"k-1-2", "k-1-2", ""},
		{"k-1-2", "l-1-2", "hosts"},
		{"k-1-2", "k-3-2", "net name"},
		{"k-1-2", "k-1-3", "pid name"},
		{"k-1-2", none, "cannot be told"},
		{"here", "there", "hosts"},
		{"k-1-2", "k-1-2-3", "hosts"},
	} {
		for _, got := range []string{difference(c.a, c.b), difference(c.b, c.a)} {
			if !strings.Contains(got, c.want) || c.want == "" && got != "" {
				t.Errorf("%s and %s: %q, want something about %q", c.a, c.b, got, c.want)
			}
		}
	}
	if own := identity(); strings.Count(own, "-") != len(sharedSpaces) || difference(own, own) != "" {
		t.Errorf("this host is %q", own)
	}
}

// fast is TCP under another name.
type fast struct{ tcp.Driver }

func (fast) Name() string { return "fast" }

// TestBetweenHosts: a network that is there between some hosts goes before TCP, and is not for one host.
func TestBetweenHosts(t *testing.T) {
	were, was := networks, lastNetwork
	defer func() { networks, lastNetwork = were, was }()
	networks, lastNetwork = []driver.Driver{shm.Driver{}, unix.Driver{}, fast{}, tcp.Driver{}}, 3
	for _, c := range []struct {
		dial, accept, want string
		lacks              bool
	}{{"here", "there", "fast", false}, {"here", "here", "shm", false}, {none, "there", "fast", false}, {"here", "there", "tcp", true}} {
		a, b := drivertest.Open(t, on(c.accept), drivertest.Config(0)), drivertest.Open(t, on(c.dial), drivertest.Config(1))
		addr := a.Addr()
		if words := strings.Split(addr, " "); c.lacks {
			words[3] = none
			addr = strings.Join(words, " ")
		}
		go func() {
			if _, l, err := a.Accept(context.Background()); err == nil {
				_ = l.Close()
			}
		}()
		l, err := b.Dial(context.Background(), 0, addr)
		if err != nil {
			t.Fatal(err)
		}
		_ = l.Close()
		if network, why := b.Choice(0, addr); network != c.want || why == "" {
			t.Errorf("from %s to %s: %s, because %q; want %s", c.dial, c.accept, network, why, c.want)
		}
	}
}
