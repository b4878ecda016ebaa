package stress

import (
	"context"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/pm2-go/pm2/marcel"
	"github.com/pm2-go/pm2/sched"
)

// handOffs are the ways in which a thread can be stuck with its VP. Each waits
// for what only the thread behind it will do.
var handOffs = []struct {
	name string
	// stuck waits until open was called; it is told how to look.
	stuck func(g *gate)
}{
	{"channel", func(g *gate) { <-g.ch }},
	{"Blocking channel", func(g *gate) { marcel.Blocking(func() { <-g.ch }) }},
	{"select", func(g *gate) {
		select {
		case <-g.ch:
		case <-time.After(time.Hour):
		}
	}},
	{"sync.Mutex", func(g *gate) {
		g.mu.Lock()
		defer g.mu.Unlock()
	}},
	{"sync.WaitGroup", func(g *gate) { g.wg.Wait() }},
	{"time.Sleep", func(g *gate) {
		for !g.open.Load() {
			time.Sleep(100 * time.Microsecond)
		}
	}},
	{"system call", func(g *gate) { g.read() }},
	{"Blocking system call", func(g *gate) { marcel.Blocking(g.read) }},
	{"computing", func(g *gate) {
		n := 0
		for !g.open.Load() { // it keeps its VP
			n++ // emulators interrupt loops at their heads alone, and Go this one not at its function's
		}
		turns.Add(int64(n))
	}},
	{"goroutine", func(g *gate) {
		done := make(chan bool)
		go func() { <-g.ch; close(done) }()
		<-done
	}},
}

// turns of those that compute.
var turns atomic.Int64

// A gate is closed in every way a thread can wait for, until pass.
type gate struct {
	ch   chan bool
	mu   sync.Mutex
	wg   sync.WaitGroup
	open atomic.Bool
	pipe [2]int
}

func newGate(t testing.TB) *gate {
	g := &gate{ch: make(chan bool)}
	g.mu.Lock()
	g.wg.Add(1)
	if err := unix.Pipe2(g.pipe[:], unix.O_CLOEXEC); err != nil {
		t.Fatal(err)
	}
	return g
}

func (g *gate) read() {
	var b [1]byte
	for {
		if n, err := unix.Read(g.pipe[0], b[:]); n == 1 || err != unix.EINTR {
			return
		}
	}
}

func (g *gate) pass() {
	close(g.ch)
	g.mu.Unlock()
	g.wg.Done()
	g.open.Store(true)
	_, _ = unix.Write(g.pipe[1], []byte{1})
}

func (g *gate) close() {
	unix.Close(g.pipe[0])
	unix.Close(g.pipe[1])
}

// TestHandOff: on a single VP, several threads stuck in one way at once are set
// free by one that is behind them in the queue.
func TestHandOff(t *testing.T) {
	for _, h := range handOffs {
		t.Run(h.name, func(t *testing.T) {
			on(t, config(1), func(s *sched.Scheduler) {
				for _, n := range []int{1, 5} {
					freed := 0
					marcel.RunOn(s, func() {
						gates := make([]*gate, n)
						threads := make([]marcel.Thread, n)
						for i := range n {
							gates[i] = newGate(t)
							defer gates[i].close()
							threads[i] = marcel.Spawn(func() { h.stuck(gates[i]) })
						}
						last := marcel.Spawn(func() {
							for _, g := range gates {
								marcel.Yield()
								g.pass()
							}
						})
						for i, th := range threads {
							if err := th.Join(); err != nil {
								t.Error(err)
							}
							if gates[i].open.Load() || h.name != "computing" {
								freed++
							}
						}
						if err := last.Join(); err != nil {
							t.Error(err)
						}
					})
					if freed != n {
						t.Errorf("%d of %d threads came through their gates", freed, n)
					}
				}
			})
		})
	}
}

// TestManyStuck: many threads of one VP stuck in channels at the same time, which
// takes as many OS threads, and all come back to their VP.
func TestManyStuck(t *testing.T) {
	n := 200
	if testing.Short() {
		n = 50
	}
	on(t, config(1), func(s *sched.Scheduler) {
		marcel.RunOn(s, func() {
			ch := make(chan int)
			var arrived, back atomic.Int32
			var threads []marcel.Thread
			for range n {
				threads = append(threads, marcel.Spawn(func() {
					arrived.Add(1)
					<-ch
					if vp := holds(s); vp != 0 {
						t.Errorf("a thread came back to VP %d", vp)
					}
					back.Add(1)
				}))
			}
			for arrived.Load() < int32(n) {
				marcel.Yield()
			}
			close(ch)
			for _, th := range threads {
				if err := th.Join(); err != nil {
					t.Error(err)
				}
			}
			if back.Load() != int32(n) {
				t.Errorf("%d of %d threads came back", back.Load(), n)
			}
		})
	})
}

// TestManyAlive: many threads parked at once, all of them woken once.
func TestManyAlive(t *testing.T) {
	collecting(t)
	n := total() / 5
	for _, cfg := range configs(t) {
		on(t, cfg, func(s *sched.Scheduler) {
			var sem marcel.Semaphore
			var woken atomic.Int64
			threads := make([]marcel.Thread, n)
			marcel.RunOn(s, func() {
				for i := range n {
					threads[i] = marcel.Spawn(func() {
						sem.Acquire()
						woken.Add(1)
					})
				}
			})
			// The thread of RunOn may be joined an instant before it is counted out.
			for s.Alive() != n {
				if s.Alive() < n {
					t.Fatalf("%d threads are alive, want %d", s.Alive(), n)
				}
				time.Sleep(time.Millisecond)
			}
			if woken.Load() != 0 {
				t.Errorf("%d threads woke up before their release", woken.Load())
			}
			for i := range n { // from a goroutine and from a thread
				if i == n/2 {
					marcel.RunOn(s, func() {
						for range n - n/2 {
							sem.Release()
						}
					})
					break
				}
				sem.Release()
			}
			for _, th := range threads {
				if err := th.Join(); err != nil {
					t.Error(err)
				}
			}
			if woken.Load() != int64(n) || sem.TryAcquire() {
				t.Errorf("%d of %d threads were woken", woken.Load(), n)
			}
		})
	}
}

// TestCycles starts and stops schedulers: nothing adds up.
func TestCycles(t *testing.T) {
	const warm, more = 5, 25
	var early int
	for i := range warm + more {
		on(t, config(1+i%3), func(s *sched.Scheduler) {
			var hs []marcel.Thread
			for range 50 {
				hs = append(hs, s.Spawn(marcel.Attr{}, func() {
					marcel.Yield()
					marcel.Blocking(func() { nap(10_000) })
				}))
			}
			ch := make(chan int)
			hs = append(hs, s.Spawn(marcel.Attr{}, func() { <-ch }))
			hs = append(hs, s.Spawn(marcel.Attr{}, func() { close(ch) }))
			for _, h := range hs {
				if err := h.Join(); err != nil {
					t.Error(err)
				}
			}
		})
		if i == warm-1 {
			early = len(osThreads())
		}
	}
	// The Go runtime keeps OS threads it once needed, which on a busy machine may be a dozen
	// more than at first; a leak would be at least one per scheduler.
	if late := len(osThreads()); late >= early+more {
		t.Errorf("%d OS threads after %d schedulers, %d after %d", early, warm, late, warm+more)
	}
}

// TestSeveral: schedulers live beside each other, and their threads and goroutines
// wake one another.
func TestSeveral(t *testing.T) {
	on(t, config(1), func(a *sched.Scheduler) {
		within(t, a, func() {
			b, err := sched.New(config(2))
			if err != nil {
				t.Fatal(err)
			}
			var there, back marcel.Semaphore
			const rounds = 2000
			x := a.Spawn(marcel.Attr{}, func() {
				for range rounds {
					there.Release()
					back.Acquire()
				}
			})
			y := b.Spawn(marcel.Attr{}, func() {
				for range rounds {
					there.Acquire()
					back.Release()
				}
				if err := x.Join(); err != nil { // of another scheduler's thread
					t.Error(err)
				}
			})
			if err := y.Join(); err != nil {
				t.Error(err)
			}
			if err := b.Stop(context.Background()); err != nil {
				t.Error(err)
			}
		})
	})
}

// TestDefault: the default scheduler starts by itself, stops, and starts again.
func TestDefault(t *testing.T) {
	was := before(t)
	for range 3 {
		within(t, nil, func() {
			var mu marcel.Mutex
			n := 0
			var hs []marcel.Thread
			for range 100 {
				hs = append(hs, marcel.Spawn(func() {
					mu.Lock()
					defer mu.Unlock()
					n++
				}))
			}
			for _, h := range hs {
				if err := h.Join(); err != nil {
					t.Error(err)
				}
			}
			if n != len(hs) {
				t.Errorf("%d threads have run, want %d", n, len(hs))
			}
			if err := sched.Default().Stop(context.Background()); err != nil {
				t.Error(err)
			}
		})
		was.check(t)
	}
}
