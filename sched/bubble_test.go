package sched_test

import (
	"cmp"
	"maps"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/pm2-go/pm2/sched"
	"github.com/pm2-go/pm2/sched/place"
	"github.com/pm2-go/pm2/sched/topo"
)

// TestBubbleTrees: bubbles and threads are put in, taken out, woken, held, placed, run
// and ended at random, with every policy; the trees stay trees, the counts right, no
// thread is lost or doubled, and VPs get only threads that are placed above them.
func TestBubbleTrees(t *testing.T) {
	defer sched.SmallRings()()
	rapid.Check(t, func(t *rapid.T) {
		s := sched.Plant(t, "numa:2 core:2 pu:2")
		var items []*topo.Item
		s.Topology().Root.Walk(func(it *topo.Item) { items = append(items, it) })
		var bubbles []*place.Bubble
		for range 5 {
			bubbles = append(bubbles, place.NewBubble(s.Scheduler, rapid.SampledFrom([]place.Policy{
				nil, nil, place.Spread{}, place.Cache{}, place.Steal{}, place.Explode{}, place.NewGang(time.Nanosecond)}).Draw(t, "policy")))
		}
		drawBubble, drawItem, drawVP := rapid.SampledFrom(bubbles), rapid.SampledFrom(items), rapid.IntRange(0, s.NumVP()-1)
		in := map[sched.Thread]*place.Bubble{}      // the model: which bubble each thread is in
		parent := map[*place.Bubble]*place.Bubble{} // and each bubble
		running := map[sched.Thread]bool{}          // the others are ready
		closed := map[*place.Bubble]bool{}
		draw := func(t *rapid.T) sched.Thread {
			if len(in) == 0 {
				t.Skip()
			}
			all := slices.SortedFunc(maps.Keys(in), func(a, b sched.Thread) int { return cmp.Compare(a.ID(), b.ID()) })
			return rapid.SampledFrom(all).Draw(t, "thread")
		}
		inside := func(b, o *place.Bubble) bool {
			for ; b != nil; b = parent[b] {
				if b == o {
					return true
				}
			}
			return false
		}
		t.Repeat(map[string]func(*rapid.T){
			"spawn": func(t *rapid.T) {
				x := s.Seed(drawVP.Draw(t, "VP"), rapid.IntRange(0, 99).Draw(t, "rank"))
				b := drawBubble.Draw(t, "bubble")
				in[x] = nil
				if err := b.Insert(x); (err == nil) == closed[b] {
					t.Fatal(err)
				} else if err == nil {
					in[x] = b
				}
				s.Ready(x)
			},
			"insert": func(t *rapid.T) {
				x, b := draw(t), drawBubble.Draw(t, "bubble")
				if err := b.Insert(x); (err == nil) != (in[x] == nil && !closed[b]) {
					t.Fatal(err)
				} else if err == nil {
					in[x] = b
				}
			},
			"remove": func(t *rapid.T) {
				x, b := draw(t), drawBubble.Draw(t, "bubble")
				if err := b.Remove(x); (err == nil) != (in[x] == b) {
					t.Fatal(err)
				} else if err == nil {
					in[x] = nil
				}
			},
			"insert bubble": func(t *rapid.T) {
				b, o := drawBubble.Draw(t, "outer"), drawBubble.Draw(t, "inner")
				if err := b.InsertBubble(o); (err == nil) != (!closed[b] && parent[o] == nil && !inside(b, o)) {
					t.Fatal(err)
				} else if err == nil {
					parent[o] = b
				}
			},
			"remove bubble": func(t *rapid.T) {
				b, o := drawBubble.Draw(t, "outer"), drawBubble.Draw(t, "inner")
				if err := b.RemoveBubble(o); (err == nil) != (parent[o] == b) {
					t.Fatal(err)
				} else if err == nil {
					delete(parent, o)
				}
			},
			"wake": func(t *rapid.T) { _ = drawBubble.Draw(t, "bubble").Wake() },
			"wake on": func(t *rapid.T) {
				if err := drawBubble.Draw(t, "bubble").WakeOn(drawItem.Draw(t, "item")); err != nil {
					t.Fatal(err)
				}
			},
			"hold":  func(t *rapid.T) { drawBubble.Draw(t, "bubble").Hold() },
			"place": func(t *rapid.T) { _ = drawBubble.Draw(t, "bubble").Place(drawItem.Draw(t, "item")) },
			"close": func(t *rapid.T) {
				if rapid.IntRange(0, 9).Draw(t, "seldom") == 0 {
					b := drawBubble.Draw(t, "bubble")
					b.Close()
					closed[b] = true
					delete(parent, b)
				}
			},
			"tick": func(t *rapid.T) { s.Plan(int64(rapid.IntRange(1, 1000).Draw(t, "now"))) },
			"idle": func(t *rapid.T) {
				if !s.Ask(drawVP.Draw(t, "VP")) {
					t.Fatal("moved something to where the VP does not find it")
				}
			},
			"run": func(t *rapid.T) {
				vp := drawVP.Draw(t, "VP")
				x, ok, belongs := s.Pop(vp)
				if _, known := in[x]; ok && (!known || running[x]) {
					t.Fatal("not a ready thread")
				}
				if !belongs {
					t.Fatalf("VP %d got a thread of %v", vp, x.Item())
				}
				if ok {
					running[x] = true
				}
			},
			"yield": func(t *rapid.T) {
				if x := draw(t); running[x] {
					delete(running, x)
					s.Yield(x)
				}
			},
			"end": func(t *rapid.T) {
				if x := draw(t); running[x] {
					s.End(x)
					delete(running, x)
					delete(in, x)
				}
			},
			"": func(t *rapid.T) {
				weight := map[*place.Bubble]int{}
				ready := 0
				for x, b := range in {
					if place.Of(x) != b {
						t.Fatal("a thread is not in its bubble")
					}
					if b != nil && !s.IsPlaced(x) {
						t.Fatal("a thread of a bubble is not placed")
					}
					for ; b != nil; b = parent[b] {
						weight[b]++
					}
					if !running[x] {
						ready++
					}
				}
				for _, b := range bubbles {
					if b.Weight() != weight[b] {
						t.Fatalf("a bubble weighs %d, has %d threads", b.Weight(), weight[b])
					}
					for _, o := range bubbles {
						if slices.Contains(b.Entities(), place.Entity(o)) != (parent[o] == b) {
							t.Fatal("a bubble is elsewhere")
						}
					}
					if b.Weight() == 0 && slices.Contains(s.Planners(), sched.Planner(b)) || !b.HasPolicy() && slices.Contains(s.Planners(), sched.Planner(b)) {
						t.Fatal("the list of policies to be asked is wrong")
					}
				}
				if n := s.Queued(slices.Collect(maps.Keys(in))); n != ready {
					t.Fatalf("%d threads are ready, %d in queues", ready, n)
				}
			},
		})
		for _, b := range bubbles { // all get out
			for _, o := range bubbles {
				_ = o.RemoveBubble(b)
			}
		}
		for _, b := range bubbles {
			if err := b.Wake(); err != nil {
				t.Fatal(err)
			}
		}
		for left := true; left; {
			for x := range running {
				s.End(x)
				delete(running, x)
				delete(in, x)
			}
			left = false
			for vp := range s.NumVP() {
				if x, ok, _ := s.Pop(vp); ok {
					running[x], left = true, true
				}
			}
			if s.Plan(1 << 40); len(in) > 0 && s.Planners() != nil {
				left = true
			}
		}
		if len(in) != 0 {
			t.Fatalf("%d threads never came to run", len(in))
		}
	})
}
