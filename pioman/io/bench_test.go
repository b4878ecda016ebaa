package pio

import (
	"errors"
	"fmt"
	"net"
	"slices"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/pm2-go/pm2/marcel"
)

// variant is one way to do the same thing.
type variant struct {
	name string
	op   func() error
}

// interleave runs all variants b.N times in turn, and reports the median of each, for each of the n things that it does.
func interleave(b *testing.B, n int, variants []variant) {
	b.Helper()
	took := make([][]float64, len(variants))
	for range 20 {
		for _, v := range variants {
			check(b, v.op())
		}
	}
	for b.Loop() {
		for i, v := range variants {
			began := time.Now()
			err := v.op()
			took[i] = append(took[i], float64(time.Since(began).Nanoseconds()))
			check(b, err)
		}
	}
	for i, v := range variants {
		slices.Sort(took[i])
		b.ReportMetric(took[i][len(took[i])/2]/float64(n), v.name+"-ns")
	}
	b.ReportMetric(0, "ns/op")
}

// Ping-pong over loopback: our Conn, a net.Conn of two goroutines.
func BenchmarkPingPong(b *testing.B) {
	const turns = 200
	for _, vps := range []int{1, 2} {
		b.Run(fmt.Sprintf("%d VPs", vps), func(b *testing.B) {
			g := newRig(b, vps, true)
			c, d := tcpPair(b, g.Reactor)
			nc, nd := netPair(b)
			defer nc.Close()
			defer nd.Close()
			on := func(vp int) marcel.Attr { return marcel.Attr{VPs: marcel.OneVP(vp % vps)} }
			ours := func() (err error) {
				var other error
				g.run(func() {
					t := marcel.SpawnWith(on(0), func() { err = pong(turns, c.Read, c.Write) })
					u := marcel.SpawnWith(on(1), func() { other = ping(turns, d.Read, d.Write) })
					_ = t.Join()
					_ = u.Join()
				})
				return errors.Join(err, other)
			}
			variants := []variant{
				{"Conn", ours},
				{"net.Conn", func() (err error) {
					done := make(chan error)
					go func() { done <- pong(turns, nc.Read, nc.Write) }()
					err = ping(turns, nd.Read, nd.Write)
					return errors.Join(err, <-done)
				}},
			}
			interleave(b, 2*turns, variants)
		})
	}
}

func ping(turns int, read, write func([]byte) (int, error)) error {
	p := make([]byte, 1)
	for range turns {
		if _, err := write(p); err != nil {
			return err
		}
		if _, err := read(p); err != nil {
			return err
		}
	}
	return nil
}

func pong(turns int, read, write func([]byte) (int, error)) error {
	p := make([]byte, 1)
	for range turns {
		if _, err := read(p); err != nil {
			return err
		}
		if _, err := write(p); err != nil {
			return err
		}
	}
	return nil
}

// netPair is a pair of the standard library's.
func netPair(b *testing.B) (c, d net.Conn) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	check(b, err)
	defer l.Close()
	c, err = net.Dial("tcp", l.Addr().String())
	check(b, err)
	d, err = l.Accept()
	check(b, err)
	return c, d
}

// Connections, one after the other, ours and package net's. One operation is dial, accept, and closing both.
func BenchmarkAccept(b *testing.B) {
	const turns = 50
	g := newRig(b, 1, true)
	l, err := g.Listen("tcp", ":0")
	check(b, err)
	nl, err := net.Listen("tcp", "127.0.0.1:0")
	check(b, err)
	defer nl.Close()
	ours := func() (err error) {
		g.run(func() {
			var other error
			t := marcel.Spawn(func() {
				for range turns {
					c, aerr := l.Accept()
					if other = errors.Join(other, aerr); aerr == nil {
						_ = c.Close()
					}
				}
			})
			for range turns {
				c, derr := g.Dial("tcp", l.Addr().String())
				if err = errors.Join(err, derr); derr == nil {
					_ = c.Close()
				}
			}
			_ = t.Join()
			err = errors.Join(err, other)
		})
		return err
	}
	interleave(b, turns, []variant{
		{"Conn", ours},
		{"net.Conn", func() (err error) {
			done := make(chan error)
			go func() {
				var other error
				for range turns {
					c, err := nl.Accept()
					if other = errors.Join(other, err); err == nil {
						_ = c.Close()
					}
				}
				done <- other
			}()
			for range turns {
				c, derr := net.Dial("tcp", nl.Addr().String())
				if err = errors.Join(err, derr); derr == nil {
					_ = c.Close()
				}
			}
			return errors.Join(err, <-done)
		}},
	})
}

// cpuTime is what this process has used so far.
func cpuTime(t testing.TB) time.Duration {
	t.Helper()
	var u unix.Rusage
	check(t, unix.Getrusage(unix.RUSAGE_SELF, &u))
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// Echoes over many connections at a time, a thread for each end, beside goroutines over net.Conn. One operation is
// a round trip on each connection.
func BenchmarkEcho(b *testing.B) {
	for _, conns := range []int{200, 2000} {
		for _, vps := range []int{1, 2} {
			b.Run(fmt.Sprintf("%d connections, %d VPs", conns, vps), func(b *testing.B) { benchEcho(b, conns, vps) })
		}
	}
}

func benchEcho(b *testing.B, conns, vps int) {
	turns := 4000 / conns
	roomFor(b, 4*conns)
	g := newRig(b, vps, true)
	ours, err := g.Listen("tcp", ":0")
	check(b, err)
	defer ours.Close()
	theirs, err := net.Listen("tcp", "127.0.0.1:0")
	check(b, err)
	defer theirs.Close()
	dial := func(network, address string) (net.Conn, error) { return g.Dial(network, address) }
	mine, std := connections(b, conns, ours, dial), connections(b, conns, theirs, net.Dial)
	echo := func(ends [][2]net.Conn) error {
		errs := make([]error, 2*len(ends))
		var users group
		for i, c := range ends {
			users.start(func() { errs[2*i] = pong(turns, c[1].Read, c[1].Write) })
			users.start(func() { errs[2*i+1] = ping(turns, c[0].Read, c[0].Write) })
		}
		users.wait()
		return errors.Join(errs...)
	}
	interleave(b, turns*conns, []variant{
		{"Conn", func() (err error) { g.run(func() { err = echo(mine) }); return err }},
		{"net.Conn", func() error { return echo(std) }},
	})
}

// connections opens n of them, which are closed at the end of the benchmark.
func connections(b *testing.B, n int, l net.Listener, dial func(network, address string) (net.Conn, error)) [][2]net.Conn {
	b.Helper()
	list := make([][2]net.Conn, n)
	for i := range list {
		c, err := dial("tcp", l.Addr().String())
		check(b, err)
		d, err := l.Accept()
		check(b, err)
		list[i] = [2]net.Conn{c, d}
	}
	b.Cleanup(func() {
		for _, c := range list {
			_ = c[0].Close()
			_ = c[1].Close()
		}
	})
	return list
}
