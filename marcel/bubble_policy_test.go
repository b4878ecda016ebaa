package marcel_test

import (
	"context"
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"github.com/pm2-go/pm2/marcel"
	"github.com/pm2-go/pm2/sched"
	"github.com/pm2-go/pm2/sched/topo"
)

// last is a policy of a program: all on the last part of the machine, until some VP
// has nothing to do; then that takes one thread.
type last struct{ wakes, idles, ticks atomic.Int32 }

func (p *last) Wake(b *marcel.Bubble, on *topo.Item) {
	p.wakes.Add(1)
	parts := b.Scheduler().Parts(on)
	plan := []marcel.Placement{{Entity: b, On: on}}
	for _, e := range b.Entities() {
		plan = append(plan, marcel.Placement{Entity: e, On: parts[len(parts)-1]})
	}
	b.Arrange(plan)
}

func (p *last) Idle(b *marcel.Bubble, vp int) bool {
	p.idles.Add(1)
	s := b.Scheduler()
	parts := s.Parts(b.Item())
	return b.Relieve(parts[len(parts)-1], s.PU(vp).Ancestor(topo.Core), 1) > 0
}

func (p *last) Tick(*marcel.Bubble, time.Duration) bool { p.ticks.Add(1); return false }

// TestOwnPolicy: the callbacks of a policy that is not ours come, and what they do has
// its effect.
func TestOwnPolicy(t *testing.T) {
	s := start(t, machine(t, "core:4 pu:1"))
	within(t, func() {
		p := &last{}
		b := marcel.NewBubbleOn(s, p)
		var stop atomic.Bool
		var seen census
		fill(s, b, 6, until(&stop, &seen))
		if p.wakes.Load() != 0 || seen.look().Count() != 0 {
			t.Error("the bubble is awake too early")
		}
		must(t, b.Wake())
		seen.await(4) // by Idle alone
		for p.ticks.Load() == 0 {
			time.Sleep(time.Millisecond)
		}
		must(t, b.InsertBubble(marcel.NewBubbleOn(s, nil)))
		stop.Store(true)
		must(t, b.Join())
		if p.wakes.Load() != 2 || p.idles.Load() == 0 {
			t.Errorf("%d wakes, %d idle calls", p.wakes.Load(), p.idles.Load())
		}
		b.Close()
	}, s)
}

// TestPolicyInPolicy: a bubble with a policy of its own is arranged by that, within what
// the outer policy gives it; it is not taken apart.
func TestPolicyInPolicy(t *testing.T) {
	s := start(t, machine(t, "numa:2 core:2 pu:1"))
	within(t, func() {
		all := marcel.NewBubbleOn(s, marcel.Spread{})
		var seen [2]census
		var stop atomic.Bool
		p := &last{}
		for i, policy := range []marcel.BubblePolicy{p, nil} {
			b := marcel.NewBubbleOn(s, policy)
			must(t, all.InsertBubble(b))
			fill(s, b, 3, until(&stop, &seen[i]))
		}
		must(t, all.Wake())
		seen[0].await(2)
		seen[1].await(1)
		stop.Store(true)
		must(t, all.Join())
		if p.wakes.Load() != 1 {
			t.Errorf("the inner policy was woken %d times", p.wakes.Load())
		}
		for i := range seen {
			if got := common(s, seen[i].vps); got < topo.NUMA {
				t.Errorf("bubble %d ran on VPs %v", i, seen[i].vps)
			}
		}
		if seen[0].vps.Intersects(seen[1].vps) {
			t.Errorf("they ran on VPs %v and %v", seen[0].vps, seen[1].vps)
		}
	}, s)
}

// TestSteal: all begins on one VP, and comes to all of them.
func TestSteal(t *testing.T) {
	s := start(t, machine(t, "numa:2 core:2 pu:1"))
	within(t, func() {
		for _, bubbles := range []int{5, 1} {
			all := marcel.NewBubbleOn(s, marcel.Steal{})
			var stop atomic.Bool
			var seen census
			for range bubbles {
				b := marcel.NewBubbleOn(s, nil)
				must(t, all.InsertBubble(b))
				fill(s, b, 12/bubbles, until(&stop, &seen))
			}
			must(t, all.Wake())
			seen.await(4) // would wait for ever
			stop.Store(true)
			must(t, all.Join())
		}
	}, s)
}

// TestExplode: the threads are dealt out, whatever bubbles they are in.
func TestExplode(t *testing.T) {
	s := start(t, machine(t, "numa:2 core:2 pu:1"))
	within(t, func() {
		all := marcel.NewBubbleOn(s, marcel.Explode{})
		var permit marcel.Semaphore
		var in []marcel.Thread
		for range 2 {
			b := marcel.NewBubbleOn(s, nil)
			must(t, all.InsertBubble(b))
			in = append(in, fill(s, b, 4, permit.Acquire)...)
		}
		must(t, all.Wake())
		on := map[*topo.Item]int{}
		for _, x := range in {
			on[x.Item()]++
		}
		for range in {
			permit.Release()
		}
		must(t, all.Join())
		for it, n := range on {
			if s.VPsOf(it).Count() != 1 { // how many are there is a matter of which VP was idle first
				t.Errorf("%d threads on %v, which has several VPs", n, it)
			}
		}
		if len(on) < 2 {
			t.Errorf("all threads were on %d VPs", len(on))
		}
	}, s)
}

// A gang's threads meet at a barrier all the time: they are of use only together.
func ExampleNewGang() {
	m, err := topo.Synthetic("core:2 pu:1")
	if err != nil {
		panic(err)
	}
	s, err := sched.New(sched.Config{Topology: m})
	if err != nil {
		panic(err)
	}
	all := marcel.NewBubbleOn(s, marcel.NewGang(5*time.Millisecond))
	for range 2 {
		gang := marcel.NewBubbleOn(s, nil)
		_ = all.InsertBubble(gang)
		meet := marcel.NewBarrier(2)
		for range 2 {
			s.Spawn(marcel.Attr{Bubble: gang}, func() {
				for range 100 {
					meet.Wait()
				}
			})
		}
	}
	_ = all.Wake()
	fmt.Println("joined:", all.Join())
	_ = s.Stop(context.Background())
	// Output: joined: <nil>
}
