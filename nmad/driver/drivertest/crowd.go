//go:build linux

package drivertest

import (
	"context"
	"io"
	"net"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/pm2-go/pm2/nmad/driver"
)

// crowd is how many processes dial an endpoint, or connect to it and say nothing, at once: more
// than any endpoint attends to at a time while it counts on few descriptors.
const crowd = 600

// crowds: an endpoint links many that dial at once, also beside strangers that say nothing.
func crowds(t *testing.T, d driver.Driver) {
	t.Run("dialers", func(t *testing.T) {
		clean(t)
		a, b := open(t, d, config(t, 0)), open(t, d, config(t, 1))
		t.Logf("%d dialers: %v", crowd, Dialers(t, a, b, crowd))
	})
	t.Run("strangers", func(t *testing.T) {
		clean(t)
		a, b := open(t, d, config(t, 0)), open(t, d, config(t, 1))
		without := Dialers(t, a, b, 1)
		if !Strangers(t, a.Addr(), crowd) {
			t.Skip("its address is no socket's")
		}
		t.Logf("one dialer: %v, beside %d strangers %v", without, crowd, Dialers(t, a, b, 1))
	})
}

// many is how many there are in BenchCrowd.
const many = 2000

// BenchCrowd measures how long it takes until that many that dial at once are linked, and how long one takes alone and
// beside that many strangers, which say nothing, and come again when they are shown the door.
func BenchCrowd(b *testing.B, d driver.Driver) {
	pair := func(b *testing.B) (x, y driver.Endpoint) { return open(b, d, config(b, 0)), open(b, d, config(b, 1)) }
	b.Run("dialers", func(b *testing.B) {
		x, y := pair(b)
		for b.Loop() {
			Dialers(b, x, y, many)
		}
	})
	one := func(b *testing.B, x, y driver.Endpoint) {
		Dialers(b, x, y, 1)
		took := make([]float64, 0, 1000)
		for b.Loop() {
			took = append(took, float64(Dialers(b, x, y, 1).Nanoseconds()))
		}
		slices.Sort(took)
		b.ReportMetric(took[len(took)/2], "median-ns")
		b.ReportMetric(took[len(took)-1], "longest-ns")
	}
	b.Run("alone", func(b *testing.B) {
		x, y := pair(b)
		one(b, x, y)
	})
	b.Run("strangers", func(b *testing.B) {
		x, y := pair(b)
		if !Strangers(b, x.Addr(), many) {
			b.Skip("its address is no socket's")
		}
		one(b, x, y)
	})
}

// Dialers has b dial a so many times at once, and returns how long it took until all links were made.
// It closes them.
func Dialers(tb testing.TB, a, b driver.Endpoint, n int) time.Duration {
	tb.Helper()
	// Below the time that a silent connection may last, so that no dialer has waited for that to end.
	ctx, cancel := context.WithTimeout(context.Background(), 8*time.Second)
	defer cancel()
	began := time.Now()
	links := make([]driver.Link, 2*n)
	var all sync.WaitGroup
	for i := range n {
		all.Go(func() {
			var err error
			if links[i], err = b.Dial(ctx, 0, a.Addr()); err != nil {
				tb.Errorf("dialer %d: %v", i, err)
				cancel()
			}
		})
		all.Go(func() {
			var err error
			if _, links[n+i], err = a.Accept(ctx); err != nil && ctx.Err() == nil {
				tb.Errorf("accept: %v", err)
			}
		})
	}
	all.Wait()
	took := time.Since(began)
	for _, l := range links {
		if l != nil {
			_ = l.Close()
		}
	}
	return took
}

// Strangers connects so many times to an address, and says nothing, for the time of the test; a connection that is
// closed is made anew. False: the address is no socket's.
func Strangers(tb testing.TB, addr string, n int) bool {
	tb.Helper()
	network := "tcp"
	if strings.HasPrefix(addr, "@") {
		network = "unix"
	}
	over, end := context.WithCancel(context.Background())
	var all sync.WaitGroup
	tb.Cleanup(func() { end(); all.Wait() })
	for i := range n {
		c, err := net.Dial(network, addr)
		if err != nil && i == 0 {
			return false
		}
		if err != nil {
			tb.Fatal(err)
		}
		all.Go(func() {
			for ; over.Err() == nil; c, _ = net.Dial(network, addr) {
				if c == nil {
					time.Sleep(10 * time.Millisecond)
					continue
				}
				forget := context.AfterFunc(over, func() { _ = c.Close() })
				_, _ = io.Copy(io.Discard, c)
				forget()
				_ = c.Close()
			}
			if c != nil {
				_ = c.Close()
			}
		})
	}
	return true
}
