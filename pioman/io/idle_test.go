package pio

import (
	"errors"
	"io"
	"math/rand/v2"
	"net"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/pm2-go/pm2/marcel"
	"github.com/pm2-go/pm2/pioman"
)

// crowd is how many connections wait in tests.
const crowd = 1000

// roomFor asks the system for so many descriptors beside those of the test itself.
func roomFor(t testing.TB, n int) {
	t.Helper()
	var l unix.Rlimit
	check(t, unix.Getrlimit(unix.RLIMIT_NOFILE, &l))
	if need := uint64(n + 200); l.Cur < need {
		l.Cur = min(l.Max, need)
		if err := unix.Setrlimit(unix.RLIMIT_NOFILE, &l); err != nil || l.Cur < need {
			t.Skipf("%d descriptors are all we may have: %v", l.Cur, err)
		}
	}
}

// A thousand threads that wait for a thousand connections use no CPU; and each of
// them gets its byte.
func TestIdleCrowd(t *testing.T) {
	roomFor(t, crowd)
	g := newRig(t, 2, true)
	var conns []*Conn
	for range crowd / 2 {
		a, b, err := g.SocketPair()
		check(t, err)
		conns = append(conns, a, b)
	}
	var started, got atomic.Int32
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		g.run(func() {
			var readers group
			for _, c := range conns {
				readers.start(func() {
					started.Add(1)
					p := make([]byte, 4)
					if n, err := c.Read(p); n != 1 || err != nil {
						t.Errorf("%d bytes: %v", n, err)
					}
					got.Add(1)
				})
			}
			readers.wait()
		})
	}()
	eventually(t, "all wait", func() bool { return started.Load() == crowd && g.waiters.Load() == crowd })
	const window = 200 * time.Millisecond
	var used time.Duration
	eventually(t, "a window without CPU", func() bool {
		before := cpuTime(t)
		time.Sleep(window)
		used = cpuTime(t) - before
		return used < window/50
	})
	t.Logf("%d waiting connections: %v of CPU in %v", crowd, used, window)
	if n := got.Load(); n != 0 {
		t.Errorf("%d reads have returned without data", n)
	}
	for _, c := range conns {
		if _, err := c.Write([]byte{1}); err != nil {
			t.Error(err)
		}
	}
	ends(t, "the readers", func() { <-ended })
}

// What arrives for one of many is found, also while the only VP computes.
func TestArrivalsAmongMany(t *testing.T) {
	const many = 200
	roomFor(t, 2*many)
	for _, computing := range []bool{false, true} {
		g := newRig(t, 1, true)
		var stop atomic.Bool
		var users sync.WaitGroup
		if computing {
			users.Go(func() {
				g.run(func() {
					for !stop.Load() {
					}
				})
			})
		}
		var peers []*Conn
		heard := make(chan int, 1)
		for i := range many {
			a, b, err := g.SocketPair()
			check(t, err)
			peers = append(peers, b)
			users.Go(func() {
				for p := make([]byte, 1); ; heard <- i {
					if _, err := a.Read(p); err != nil {
						if err != io.EOF {
							t.Error(err)
						}
						_ = a.Close()
						return
					}
				}
			})
		}
		eventually(t, "all wait", func() bool { return g.waiters.Load() == many })
		ends(t, "the arrivals", func() {
			for _, i := range rand.New(rand.NewPCG(1, 2)).Perm(many)[:30] {
				if _, err := peers[i].Write([]byte{1}); err != nil {
					t.Error(err)
				}
				if h := <-heard; h != i {
					t.Errorf("%d has what was sent to %d", h, i)
				}
			}
			for _, c := range peers {
				_ = c.Close()
			}
			stop.Store(true)
			users.Wait()
		})
	}
}

// Closing the reactor ends a crowd of waiters, while others come.
func TestReactorClose(t *testing.T) {
	modes(t, func(t *testing.T, g *rig, run func(func())) {
		r, err := NewReactor(g.engine)
		check(t, err)
		ends(t, "close", func() {
			run(func() {
				var users group
				var refused atomic.Int32
				for range 8 {
					users.start(func() {
						for {
							a, b, err := r.SocketPair()
							if err != nil {
								if !errors.Is(err, net.ErrClosed) {
									t.Error(err)
								}
								refused.Add(1)
								return
							}
							if _, err := a.Read(make([]byte, 1)); !errors.Is(err, net.ErrClosed) {
								t.Errorf("read: %v", err)
							}
							_ = b.Close()
							marcel.Yield()
						}
					})
				}
				for range 50 {
					marcel.Yield()
				}
				if err := r.Close(); err != nil {
					t.Error(err)
				}
				if err := r.Close(); !errors.Is(err, net.ErrClosed) {
					t.Errorf("close again: %v", err)
				}
				users.wait()
				if refused.Load() != 8 {
					t.Errorf("%d of 8 users refused", refused.Load())
				}
			})
		})
	})
}

// The end of the engine ends those that wait through it; closing goes on to work.
func TestEngineClosed(t *testing.T) {
	modes(t, func(t *testing.T, g *rig, run func(func())) {
		e := pioman.New(pioman.Config{Name: "short-lived"}) // explicit
		r, err := NewReactor(e)
		check(t, err)
		ends(t, "the end", func() {
			run(func() {
				a, b, err := r.SocketPair()
				if err != nil {
					t.Error(err)
					return
				}
				both(func() {
					var op *net.OpError
					if _, err := a.Read(make([]byte, 1)); !errors.Is(err, pioman.ErrClosed) || !errors.As(err, &op) {
						t.Errorf("read: %v", err)
					}
				}, func() {
					for range 20 {
						marcel.Yield()
					}
					if err := e.Close(); err != nil {
						t.Error(err)
					}
				})
				if _, err := b.Write([]byte{1}); err != nil {
					t.Errorf("a write that need not wait: %v", err)
				}
				if err := errors.Join(a.Close(), r.Close()); err != nil {
					t.Error(err)
				}
			})
		})
		if _, err := NewReactor(e); !errors.Is(err, pioman.ErrClosed) {
			t.Errorf("a reactor on a closed engine: %v", err)
		}
	})
}

// In steady state a Read or Write allocates nothing, whether it waits or not. Others
// may allocate meanwhile: the fewest allocations of several runs count.
func TestNoAllocation(t *testing.T) {
	if underRace {
		t.Skip("the race detector allocates")
	}
	const turns = 500
	for _, k := range kinds {
		for _, vps := range []int{1, 2} {
			g := newRig(t, vps, true)
			g.run(func() {
				a, b := k.pair(t, g.Reactor)
				least := ^uint64(0)
				for range 3 {
					var before, after runtime.MemStats
					runtime.ReadMemStats(&before)
					both(func() {
						if err := pong(turns, a.Read, a.Write); err != nil {
							t.Error(err)
						}
					}, func() {
						if err := ping(turns, b.Read, b.Write); err != nil {
							t.Error(err)
						}
					})
					runtime.ReadMemStats(&after)
					least = min(least, after.Mallocs-before.Mallocs)
				}
				if least > turns/10 { // starting a thread, the buffers; not something each time
					t.Errorf("%s, %d VPs: %d allocations in %d round trips", k.name, vps, least, turns)
				}
				_ = a.Close()
				_ = b.Close()
			})
		}
	}
}
