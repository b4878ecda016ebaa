package pio

import (
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/pm2-go/pm2/marcel"
)

// Many threads that wait for the disk at the same time, on one VP: requests of one ring,
// or a spare LWP each, beside goroutines that block an OS thread each.
func BenchmarkDiskMany(b *testing.B) {
	const users, each, size, space = 32, 16, 4 << 10, 8 << 20
	path := filepath.Join(b.TempDir(), "data")
	check(b, os.WriteFile(path, make([]byte, space), 0o600))
	g := newRig(b, 1, true)
	f, err := g.OpenFile(path, os.O_RDWR|unix.O_DIRECT, 0)
	if err != nil {
		b.Skip(err)
	}
	defer f.Close()
	x := newRing(b, g)
	page := make([][]byte, users)
	for i := range page {
		page[i] = aligned(b, size)
	}
	offset := func(i, j int) int64 { return int64((i*each+j)*7919%(space/size)) * size }
	crowd := func(spawn func(func()) (join func()), read func(i, j int) error) error {
		errs := make([]error, users)
		joins := make([]func(), users)
		for i := range users {
			joins[i] = spawn(func() {
				for j := range each {
					errs[i] = errors.Join(errs[i], read(i, j))
				}
			})
		}
		for _, join := range joins {
			join()
		}
		return errors.Join(errs...)
	}
	thread := func(f func()) func() { t := marcel.Spawn(f); return func() { _ = t.Join() } }
	goroutine := func(f func()) func() {
		var wg sync.WaitGroup
		wg.Go(f)
		return wg.Wait
	}
	cost := map[string]*[]float64{}
	variants := []variant{}
	add := func(name string, on func(func()), spawn func(func()) func(), read func(i, j int) error) {
		used := []float64{}
		cost[name] = &used
		variants = append(variants, variant{name, func() (err error) {
			before := cpuTime(b)
			on(func() { err = crowd(spawn, read) })
			used = append(used, float64((cpuTime(b) - before).Nanoseconds()))
			return err
		}})
	}
	add("ring", g.run, thread, func(i, j int) error {
		_, err := x.transfer(reading, f.d.fd, page[i], offset(i, j))
		return err
	})
	add("spare", g.run, thread, func(i, j int) error {
		_, err := f.moveAside(reading, page[i], offset(i, j))
		return err
	})
	add("goroutines", func(f func()) { f() }, goroutine, func(i, j int) error {
		_, errno := moveWaiting(reading, f.d.fd, page[i], offset(i, j))
		if errno != 0 {
			return errno
		}
		return nil
	})
	interleave(b, variants)
	for name, used := range cost {
		slices.Sort(*used)
		b.ReportMetric((*used)[len(*used)/2], name+"-cpu-ns")
	}
}

// Ping-pong over loopback: our Conn, a Conn that reads through the ring, a net.Conn of
// two goroutines.
func BenchmarkPingPong(b *testing.B) {
	const turns = 200
	for _, vps := range []int{1, 2} {
		b.Run(fmt.Sprintf("%d VPs", vps), func(b *testing.B) {
			g := newRig(b, vps, true)
			x := newRing(b, g)
			c, d := tcpPair(b, g.Reactor)
			nc, nd := netPair(b)
			defer nc.Close()
			defer nd.Close()
			throughRing := func(c net.Conn) func(p []byte) (int, error) {
				return func(p []byte) (int, error) { return x.via(opRecv, c.(*Conn).d.fd, p, 0) }
			}
			on := func(vp int) marcel.Attr { return marcel.Attr{VPs: marcel.OneVP(vp % vps)} }
			threads := func(readC, readD func([]byte) (int, error)) func() error {
				return func() (err error) {
					var other error
					g.run(func() {
						t := marcel.SpawnWith(on(0), func() { err = pong(turns, readC, c.Write) })
						u := marcel.SpawnWith(on(1), func() { other = ping(turns, readD, d.Write) })
						_ = t.Join()
						_ = u.Join()
					})
					return errors.Join(err, other)
				}
			}
			variants := []variant{
				{"Conn", threads(c.Read, d.Read)},
				{"ring", threads(throughRing(c), throughRing(d))},
				{"net.Conn", func() (err error) {
					done := make(chan error)
					go func() { done <- pong(turns, nc.Read, nc.Write) }()
					err = ping(turns, nd.Read, nd.Write)
					return errors.Join(err, <-done)
				}},
			}
			interleaveOver(b, 2*turns, variants)
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

// Connections, one after the other: accept through epoll, through the ring, and by
// package net. One operation is dial, accept, and closing both.
func BenchmarkAccept(b *testing.B) {
	const turns = 50
	g := newRig(b, 1, true)
	l, err := g.Listen("tcp", ":0")
	check(b, err)
	nl, err := net.Listen("tcp", "127.0.0.1:0")
	check(b, err)
	defer nl.Close()
	x := newRing(b, g)
	threads := func(accept func() error) func() error {
		return func() (err error) {
			g.run(func() {
				var other error
				t := marcel.Spawn(func() {
					for range turns {
						other = errors.Join(other, accept())
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
	}
	interleaveOver(b, turns, []variant{
		{"ring", threads(func() error {
			fd, err := x.via(opAccept, l.d.fd, nil, 0)
			if err != nil {
				return err
			}
			configure(fd)
			c, err := newConn(g.Reactor, fd, "tcp")
			if err == nil {
				c.find()
				_ = c.Close()
			}
			return err
		})},
		{"Conn", threads(func() error {
			c, err := l.Accept()
			if err == nil {
				_ = c.Close()
			}
			return err
		})},
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
