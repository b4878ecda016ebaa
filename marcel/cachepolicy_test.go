package marcel_test

import (
	"sync/atomic"
	"testing"
	"time"

	"github.com/pm2-go/pm2/marcel"
	"github.com/pm2-go/pm2/sched/topo"
)

// TestCache: bubbles stay whole below one cache each, and a cache with nothing to do
// takes over a whole bubble.
func TestCache(t *testing.T) {
	s := start(t, machine(t, "l3:4 core:4 pu:1"))
	within(t, func() {
		root := marcel.NewBubbleOn(s, marcel.Cache{})
		var seen [8]census
		var bubbles []*marcel.Bubble
		var stop atomic.Bool
		for i := range seen {
			b := marcel.NewBubbleOn(s, nil)
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
			root := marcel.NewBubbleOn(s, marcel.Cache{})
			var seen census
			var stop atomic.Bool
			first := s.Topology().At(topo.L3)[0]
			var all []*marcel.Bubble
			for range bubbles {
				b := marcel.NewBubbleOn(s, nil)
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
