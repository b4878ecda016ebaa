package marcel_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"
	"time"

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

// TestSpread: with a sub-bubble for each NUMA node, each runs on one node only, on more
// than one of its VPs, and no node has two.
func TestSpread(t *testing.T) {
	s := start(t, machine(t, "numa:4 core:4 pu:1"))
	within(t, func() {
		all := s.NewBubble(marcel.Spread{})
		var seen [4]census
		var stop atomic.Bool
		for i := range seen {
			b := s.NewBubble(nil)
			must(t, all.InsertBubble(b))
			fill(s, b, 4+i, until(&stop, &seen[i]))
		}
		time.Sleep(time.Millisecond)
		for i := range seen {
			if seen[i].vps.Count() != 0 {
				t.Error("a thread ran before its bubble was woken")
			}
		}
		must(t, all.Wake())
		for i := range seen {
			seen[i].await(2)
		}
		stop.Store(true)
		must(t, all.Join())
		taken := map[*topo.Item]bool{}
		for i := range seen {
			var nodes []*topo.Item
			for _, node := range s.Topology().At(topo.NUMA) {
				if s.VPsOf(node).Intersects(seen[i].vps) {
					nodes = append(nodes, node)
					taken[node] = true
				}
			}
			t.Logf("simulated: bubble %d, %d threads, ran on VPs %v", i, 4+i, seen[i].vps)
			if len(nodes) != 1 {
				t.Errorf("bubble %d ran on VPs %v", i, seen[i].vps)
			}
		}
		if len(taken) != 4 {
			t.Errorf("%d of 4 nodes were used", len(taken))
		}
	}, s)
}

// TestSpreadNested: pairs of threads within bubbles within bubbles: the common ancestor
// of a pair is a core, that of two pairs of one bubble an L3.
func TestSpreadNested(t *testing.T) {
	s := start(t, machine(t, "l3:2 core:2 pu:2"))
	within(t, func() {
		root := s.NewBubble(marcel.Spread{})
		var seen [2][2]census
		var pairs []*marcel.Bubble
		for i := range seen {
			group := s.NewBubble(nil)
			must(t, root.InsertBubble(group))
			for j := range seen[i] {
				pair := s.NewBubble(nil)
				must(t, group.InsertBubble(pair))
				fill(s, pair, 2, work(&seen[i][j], times(100)))
				pairs = append(pairs, pair)
			}
		}
		must(t, root.Wake())
		for i, p := range pairs {
			if it := p.Item(); it == nil || it.Kind != topo.Core {
				t.Errorf("pair %d is placed on %v", i, it)
			}
		}
		must(t, root.Join())
		for i := range seen {
			var union marcel.VPSet
			for j := range seen[i] {
				if got := common(s, seen[i][j].vps); got != topo.Core && got != topo.PU {
					t.Errorf("pair %d.%d ran on VPs %v, below one %v", i, j, seen[i][j].vps, got)
				}
				union = union.Or(seen[i][j].vps)
			}
			if got := common(s, union); got != topo.L3 {
				t.Errorf("bubble %d ran on VPs %v, below one %v", i, union, got)
			}
		}
	}, s)
}

// common is the kind of the innermost item that contains all of the VPs.
func common(s *sched.Scheduler, vps marcel.VPSet) topo.Kind {
	var it *topo.Item
	for i := range vps.Each() {
		if pu := s.PU(i); it == nil {
			it = pu
		} else {
			it = s.Topology().Common(it, pu)
		}
	}
	return it.Kind
}

// TestSpreadHelps: when the threads of one part have ended, VPs there help within the
// bubble, though all that is left was dealt to others.
func TestSpreadHelps(t *testing.T) {
	s := start(t, machine(t, "core:4 pu:1"))
	within(t, func() {
		b := s.NewBubble(marcel.Spread{})
		var seen [16]census
		var stop atomic.Bool
		var short atomic.Int32
		for i := range seen { // the long ones are every fourth, which are dealt to one VP
			if i%4 == 0 {
				fill(s, b, 1, until(&stop, &seen[0]))
			} else {
				fill(s, b, 1, func() { short.Add(1) })
			}
		}
		must(t, b.Wake())
		seen[0].await(4) // would wait for ever
		stop.Store(true)
		must(t, b.Join())
		if short.Load() != 12 {
			t.Errorf("%d of 12 short ones have run", short.Load())
		}
	}, s)
}

// TestCache: bubbles stay whole below one cache each, and a cache with nothing to do
// takes over a whole bubble.
func TestCache(t *testing.T) {
	s := start(t, machine(t, "l3:4 core:4 pu:1"))
	within(t, func() {
		root := s.NewBubble(marcel.Cache{})
		var seen [8]census
		var bubbles []*marcel.Bubble
		var stop atomic.Bool
		for i := range seen {
			b := s.NewBubble(nil)
			must(t, root.InsertBubble(b))
			bubbles = append(bubbles, b)
			// A cache may take over a bubble when none of its own threads is ready, so that
			// must not happen: they keep their VPs, and are more than the VPs can have at once.
			for range 8 {
				s.Spawn(marcel.Attr{Bubble: b, NonPreemptible: true}, until(&stop, &seen[i]))
			}
		}
		must(t, root.Wake())
		for i := range seen {
			seen[i].await(1)
		}
		on := map[*topo.Item]int{}
		for _, b := range bubbles {
			on[b.Item()]++
		}
		stop.Store(true)
		must(t, root.Join())
		for it, n := range on {
			if it == nil || it.Kind != topo.L3 || n != 2 {
				t.Errorf("%d bubbles on %v", n, it)
			}
		}
		for i := range seen {
			if got := common(s, seen[i].vps); got < topo.L3 {
				t.Errorf("bubble %d ran on VPs %v, below one %v", i, seen[i].vps, got)
			}
		}
	}, s)
}

// TestCacheBalances: of two bubbles on one cache, one goes to a cache that has become
// idle; a single one is split.
func TestCacheBalances(t *testing.T) {
	s := start(t, machine(t, "l3:2 core:2 pu:1"))
	within(t, func() {
		for _, bubbles := range []int{2, 1} {
			root := s.NewBubble(marcel.Cache{})
			var seen census
			var stop atomic.Bool
			first := s.Topology().At(topo.L3)[0]
			var all []*marcel.Bubble
			for range bubbles {
				b := s.NewBubble(nil)
				must(t, root.InsertBubble(b))
				all = append(all, b)
				fill(s, b, 6, until(&stop, &seen))
			}
			must(t, root.Wake())
			var plan []marcel.Placement
			for _, b := range all {
				plan = append(plan, marcel.Placement{Entity: b, On: first})
			}
			root.Arrange(plan) // out of balance
			time.Sleep(2 * time.Millisecond)
			seen.mu.Lock()
			seen.vps.Zero()
			seen.mu.Unlock()
			for !s.VPsOf(s.Topology().At(topo.L3)[1]).Intersects(seen.look()) {
				time.Sleep(time.Millisecond)
			}
			if bubbles == 2 {
				if a, b := all[0].Item(), all[1].Item(); a == b || a.Kind != topo.L3 || b.Kind != topo.L3 {
					t.Errorf("the bubbles are on %v %d and %v %d", a.Kind, a.Index, b.Kind, b.Index)
				}
			}
			stop.Store(true)
			must(t, root.Join())
			root.Close()
		}
	}, s)
}

func (c *census) look() marcel.VPSet {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.vps
}

// TestGang: the threads of a gang run at the same time, those of others meanwhile do
// not: in the order of all steps gangs seldom change, though all are always ready. And
// all get their turns.
func TestGang(t *testing.T) {
	const gangs, threads = 3, 4
	count := func(policy marcel.BubblePolicy) (steps [gangs]int, changes int) {
		s := start(t, machine(t, "core:4 pu:1"))
		var mu sync.Mutex
		last := -1
		total := 0
		within(t, func() {
			root := s.NewBubble(policy)
			var stop atomic.Bool
			for g := range gangs {
				b := s.NewBubble(nil)
				must(t, root.InsertBubble(b))
				fill(s, b, threads, func() {
					for !stop.Load() {
						burn(5 * time.Microsecond)
						mu.Lock()
						steps[g]++
						total++
						if last != g {
							changes++
							last = g
						}
						if steps[0] > 500 && steps[1] > 500 && steps[2] > 500 {
							stop.Store(true)
						}
						mu.Unlock()
						marcel.Yield()
					}
				})
			}
			must(t, root.Wake())
			must(t, root.Join())
		}, s)
		return steps, changes * 1000 / total
	}
	steps, changes := count(marcel.NewGang(2 * time.Millisecond))
	mixed, without := count(nil)
	t.Logf("simulated: steps %v, %d changes of the gang in 1000; without the policy %v, %d", steps, changes, mixed, without)
	if changes*4 > without {
		t.Errorf("the gang changed %d times in 1000 steps, without the policy %d times", changes, without)
	}
}

// TestGangWaits: a gang that waits for another one gets what it waits for, also when
// nothing else moves; and one that comes later gets its turn.
func TestGangWaits(t *testing.T) {
	s := start(t, machine(t, "core:2 pu:1"))
	within(t, func() {
		root := s.NewBubble(marcel.NewGang(time.Millisecond))
		var sem, back marcel.Semaphore
		a, b, c := s.NewBubble(nil), s.NewBubble(nil), s.NewBubble(nil)
		must(t, root.InsertBubble(a))
		must(t, root.InsertBubble(b))
		fill(s, a, 2, func() { sem.Acquire(); back.Release() })
		fill(s, b, 2, func() { sem.Release(); back.Acquire() })
		must(t, root.Wake())
		var late atomic.Bool
		fill(s, c, 1, func() { late.Store(true) })
		must(t, root.InsertBubble(c))
		must(t, root.Join())
		if !late.Load() {
			t.Error("the late gang has not run")
		}
	}, s)
}

// TestBubbleLife: what may be done with a bubble when, and what is refused.
func TestBubbleLife(t *testing.T) {
	s, other := start(t, machine(t, "core:2 pu:1")), start(t, calm())
	within(t, func() {
		is := func(got, want error) {
			t.Helper()
			if !errors.Is(got, want) {
				t.Errorf("%v, want %v", got, want)
			}
		}
		a, b := s.NewBubble(nil), s.NewBubble(marcel.Spread{})
		must(t, a.Join()) // empty
		must(t, a.InsertBubble(b))
		is(b.InsertBubble(a), marcel.ErrInBubble)
		is(a.InsertBubble(a), marcel.ErrInBubble)
		is(a.InsertBubble(b), marcel.ErrInBubble)
		is(a.InsertBubble(other.NewBubble(nil)), marcel.ErrForeign)
		is(b.RemoveBubble(a), marcel.ErrNotInBubble)
		is(b.Wake(), marcel.ErrInBubble)
		var ran atomic.Int32
		x := fill(s, b, 1, func() { ran.Add(1); marcel.Yield() })[0]
		if marcel.BubbleOf(x) != b || a.Weight() != 1 || b.Weight() != 1 {
			t.Error("the thread is not in the bubbles")
		}
		is(a.Insert(x), marcel.ErrInBubble)
		is(a.Remove(x), marcel.ErrNotInBubble)
		y := other.Spawn(marcel.Attr{}, func() { marcel.Sleep(time.Millisecond) })
		is(a.Insert(y), marcel.ErrForeign)
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
		is(a.InsertBubble(s.NewBubble(nil)), marcel.ErrBubbleClosed)
		run := s.Spawn(marcel.Attr{}, func() { marcel.Sleep(time.Millisecond) })
		is(a.Insert(run), marcel.ErrBubbleClosed)
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
// and placed under all policies, while the threads do what threads do. Nobody is lost.
func TestBubbleStress(t *testing.T) {
	for _, description := range []string{"core:1 pu:1", "numa:2 l3:2 core:2 pu:1"} {
		s := start(t, machine(t, description))
		within(t, func() {
			const n, bubbles = 60, 8
			var items []*topo.Item
			s.Topology().Root.Walk(func(it *topo.Item) { items = append(items, it) })
			var bs []*marcel.Bubble
			for i := range bubbles {
				bs = append(bs, s.NewBubble([]marcel.BubblePolicy{nil, marcel.Spread{}, marcel.Cache{}, marcel.NewGang(time.Millisecond), marcel.Steal{}, marcel.Explode{}}[i%6]))
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
			for range times(3000) {
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

// Two bubbles that share nothing, each on a NUMA node of its own.
func ExampleNewBubble() {
	m, err := topo.Synthetic("numa:2 core:2 pu:1")
	if err != nil {
		panic(err)
	}
	s, err := sched.New(sched.Config{Topology: m})
	if err != nil {
		panic(err)
	}
	all := s.NewBubble(marcel.Spread{})
	for range 2 {
		b := s.NewBubble(nil)
		_ = all.InsertBubble(b)
		for range 3 {
			s.Spawn(marcel.Attr{Bubble: b}, func() { marcel.Yield() })
		}
	}
	_ = all.Wake()
	for _, e := range all.Entities() {
		fmt.Println("simulated:", e.Item().Kind, e.Item().Index)
	}
	_ = all.Join()
	_ = s.Stop(context.Background())
	// Output:
	// simulated: NUMA 0
	// simulated: NUMA 1
}

// A thread may be removed from its bubble while it ends.
func TestRemoveAtTheEnd(t *testing.T) {
	s := start(t, machine(t, "core:2 pu:1"))
	within(t, func() {
		b := s.NewBubble(marcel.Spread{})
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
