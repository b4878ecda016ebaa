package marcel_test

import (
	"context"
	"errors"
	"math/rand/v2"
	"sync/atomic"
	"testing"
	"time"

	"github.com/pm2-go/pm2/internal/test/effort"
	"github.com/pm2-go/pm2/marcel"
	"github.com/pm2-go/pm2/sched"
	"github.com/pm2-go/pm2/sched/topo"
)

// work is what a thread of a test does: it computes for a while, looks where it is,
// and yields.
func work(seen *census, rounds int) func() {
	return func() {
		for range rounds {
			burn(10 * time.Microsecond)
			seen.here()
			marcel.Yield()
		}
	}
}

// until is such a thread that goes on until it is told to stop.
func until(stop *atomic.Bool, seen *census) func() {
	return func() {
		for !stop.Load() {
			work(seen, 1)()
		}
	}
}

// await waits until something has happened on n VPs.
func (c *census) await(n int) {
	for c.look().Count() < n {
		time.Sleep(100 * time.Microsecond)
	}
}

// fill spawns n threads into b.
func fill(s *sched.Scheduler, b *marcel.Bubble, n int, fn func()) (all []marcel.Thread) {
	for range n {
		all = append(all, s.Spawn(marcel.Attr{Bubble: b}, fn))
	}
	return all
}

func (c *census) look() marcel.VPSet {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.vps
}

// TestBubbleLife: what may be done with a bubble when, and what is refused.
func TestBubbleLife(t *testing.T) {
	s, other := start(t, machine(t, "core:2 pu:1")), start(t, undisturbed())
	within(t, func() {
		is := func(got, want error) {
			t.Helper()
			if !errors.Is(got, want) {
				t.Errorf("%v, want %v", got, want)
			}
		}
		a, b := marcel.NewBubbleOn(s, nil), marcel.NewBubbleOn(s, marcel.Spread{})
		must(t, a.Join()) // empty
		must(t, a.InsertBubble(b))
		is(b.InsertBubble(a), marcel.ErrInBubble)
		is(a.InsertBubble(a), marcel.ErrInBubble)
		is(a.InsertBubble(b), marcel.ErrInBubble)
		is(a.InsertBubble(marcel.NewBubbleOn(other, nil)), marcel.ErrForeign)
		is(b.RemoveBubble(a), marcel.ErrNotInBubble)
		is(b.Wake(), marcel.ErrInBubble)
		var ran atomic.Int32
		x := fill(s, b, 1, func() { ran.Add(1); marcel.Yield() })[0]
		if marcel.BubbleOf(x) != b || a.Weight() != 1 || b.Weight() != 1 {
			t.Error("the thread is not in the bubbles")
		}
		is(a.Insert(x), marcel.ErrInBubble)
		is(a.Remove(x), marcel.ErrNotInBubble)
		var end marcel.Semaphore
		y := other.Spawn(marcel.Attr{}, end.Acquire)
		is(a.Insert(y), marcel.ErrForeign)
		end.Release()
		must(t, y.Join())
		is(a.Insert(y), marcel.ErrNoThread)
		is(a.Insert(marcel.Thread{}), marcel.ErrNoThread)
		if ran.Load() != 0 || x.Ended() {
			t.Error("a thread of a bubble that sleeps has run")
		}
		must(t, b.Remove(x)) // now it runs
		must(t, x.Join())
		must(t, a.Join())
		in := fill(s, a, 3, func() {
			is(a.Join(), marcel.ErrJoinSelf)
			ran.Add(1)
		})
		ctx, cancel := context.WithTimeout(context.Background(), 5*time.Millisecond)
		is(s.Stop(ctx), sched.ErrAlive) // they are held
		cancel()
		must(t, a.Wake())
		for _, x := range in {
			must(t, x.Join())
		}
		must(t, a.Join())
		fill(s, a, 1, func() { ran.Add(1) }) // it is awake
		must(t, a.Join())
		if ran.Load() != 5 {
			t.Errorf("%d threads have run", ran.Load())
		}
		is(a.Place(nil), marcel.ErrNoItem)
		a.Close()
		is(a.InsertBubble(marcel.NewBubbleOn(s, nil)), marcel.ErrBubbleClosed)
		run := s.Spawn(marcel.Attr{}, end.Acquire)
		is(a.Insert(run), marcel.ErrBubbleClosed)
		end.Release()
		must(t, run.Join())
		defer func() {
			if recover() == nil {
				t.Error("spawned into a closed bubble")
			}
		}()
		s.Spawn(marcel.Attr{Bubble: a}, func() {})
	}, s, other)
}

// TestBubbleStress: threads and bubbles are put in and taken out at random, woken, held
// and placed under all policies, while the threads do what threads do. None is lost.
func TestBubbleStress(t *testing.T) {
	for _, description := range []string{"core:1 pu:1", "numa:2 l3:2 core:2 pu:1"} {
		s := start(t, machine(t, description))
		within(t, func() {
			const n, bubbles = 60, 8
			var items []*topo.Item
			s.Topology().Root.Walk(func(it *topo.Item) { items = append(items, it) })
			var bs []*marcel.Bubble
			for i := range bubbles {
				bs = append(bs, marcel.NewBubbleOn(s, []marcel.BubblePolicy{nil, marcel.Spread{}, marcel.Cache{}, marcel.NewGang(time.Millisecond), marcel.Steal{}, marcel.Explode{}}[i%6]))
			}
			var all [n]marcel.Thread
			var sem marcel.Semaphore
			var stop atomic.Bool
			for i := range n {
				all[i] = s.Spawn(marcel.Attr{Bubble: bs[i%bubbles]}, func() {
					r := rand.New(rand.NewPCG(uint64(i), 3))
					for !stop.Load() {
						switch r.IntN(10) {
						case 0, 1:
							sem.Release()
						case 2:
							sem.AcquireTimeout(time.Duration(r.IntN(50)) * time.Microsecond)
						case 3:
							marcel.Blocking(func() {})
						case 4:
							burn(time.Duration(r.IntN(100)) * time.Microsecond)
						case 5:
							_ = marcel.Self().SetVPs(marcel.OneVP(r.IntN(s.NumVP())))
						case 6:
							_ = marcel.Self().SetVPs(marcel.FullVPs())
						default:
							marcel.Yield()
						}
					}
				})
			}
			r := rand.New(rand.NewPCG(1, 2))
			for range effort.Of(3000) {
				b, o, x := bs[r.IntN(bubbles)], bs[r.IntN(bubbles)], all[r.IntN(n)]
				switch r.IntN(9) {
				case 0:
					_ = b.InsertBubble(o)
				case 1:
					_ = b.RemoveBubble(o)
				case 2:
					_ = b.Insert(x)
				case 3:
					_ = b.Remove(x)
				case 4:
					_ = b.Wake()
				case 5:
					b.Hold()
				case 6:
					_ = b.Place(items[r.IntN(len(items))])
				case 7:
					_ = b.WakeOn(items[r.IntN(len(items))])
				default:
					marcel.Sleep(time.Duration(r.IntN(100)) * time.Microsecond)
				}
			}
			stop.Store(true)
			for _, b := range bs {
				for _, o := range bs {
					_ = o.RemoveBubble(b)
				}
			}
			for _, b := range bs {
				must(t, b.Wake())
			}
			for _, b := range bs {
				must(t, b.Join())
			}
			for _, x := range all {
				must(t, x.Join())
			}
		}, s)
	}
}

// A thread may be removed from its bubble while it ends.
func TestRemoveAtTheEnd(t *testing.T) {
	s := start(t, machine(t, "core:2 pu:1"))
	within(t, func() {
		b := marcel.NewBubbleOn(s, marcel.Spread{})
		must(t, b.Wake())
		n := 20_000
		if testing.Short() {
			n = 5000
		}
		for range n {
			h := s.Spawn(marcel.Attr{Bubble: b}, func() {})
			for !h.Ended() {
				if err := b.Remove(h); err != nil && !errors.Is(err, marcel.ErrNotInBubble) && !errors.Is(err, marcel.ErrNoThread) {
					t.Error(err)
				}
			}
			must(t, h.Join())
		}
		must(t, b.Join())
		if w := b.Weight(); w != 0 {
			t.Errorf("an empty bubble weighs %d", w)
		}
	})
}

// A stopped scheduler refuses a thread for a bubble before the bubble counts it.
func TestSpawnIntoBubbleOfTheStopped(t *testing.T) {
	s := start(t, undisturbed())
	b := marcel.NewBubbleOn(s, nil)
	must(t, s.Stop(context.Background()))
	within(t, func() {
		panics(t, "stopped", func() { s.Spawn(marcel.Attr{Bubble: b}, func() {}) })
		must(t, b.Join())
		if w := b.Weight(); w != 0 {
			t.Errorf("an empty bubble weighs %d", w)
		}
	}, s)
}

// A thread that its bubble refuses is not counted by the scheduler, which could not be stopped.
func TestSpawnIntoClosedBubble(t *testing.T) {
	s := start(t, undisturbed())
	b := marcel.NewBubbleOn(s, nil)
	b.Close()
	within(t, func() {
		panics(t, "closed", func() { s.Spawn(marcel.Attr{Bubble: b}, func() {}) })
		if n := s.Alive(); n != 0 {
			t.Errorf("%d threads are alive", n)
		}
	}, s)
}
