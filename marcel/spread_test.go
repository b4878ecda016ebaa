package marcel_test

import (
	"sync/atomic"
	"testing"
	"time"

	"github.com/pm2-go/pm2/internal/test/effort"
	"github.com/pm2-go/pm2/marcel"
	"github.com/pm2-go/pm2/sched"
	"github.com/pm2-go/pm2/sched/topo"
)

// TestSpread: with a sub-bubble for each NUMA node, each runs on one node only, on more
// than one of its VPs, and no node has two.
func TestSpread(t *testing.T) {
	s := start(t, machine(t, "numa:4 core:4 pu:1"))
	within(t, func() {
		all := marcel.NewBubbleOn(s, marcel.Spread{})
		var seen [4]census
		var stop atomic.Bool
		for i := range seen {
			b := marcel.NewBubbleOn(s, nil)
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
		root := marcel.NewBubbleOn(s, marcel.Spread{})
		var seen [2][2]census
		var pairs []*marcel.Bubble
		for i := range seen {
			group := marcel.NewBubbleOn(s, nil)
			must(t, root.InsertBubble(group))
			for j := range seen[i] {
				pair := marcel.NewBubbleOn(s, nil)
				must(t, group.InsertBubble(pair))
				fill(s, pair, 2, work(&seen[i][j], effort.Of(100)))
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
		b := marcel.NewBubbleOn(s, marcel.Spread{})
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
