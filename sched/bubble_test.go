package sched

import (
	"cmp"
	"maps"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/pm2-go/pm2/sched/topo"
)

// TestBubbleTrees: bubbles and threads are put in, taken out, woken, held, placed, run
// and ended at random, with every policy; the trees stay trees, the counts right, no
// thread is lost or doubled, and VPs get only threads that are placed above them.
func TestBubbleTrees(t *testing.T) {
	defer func(n int) { minRing = n }(minRing)
	minRing = 2
	rapid.Check(t, func(t *rapid.T) {
		s := planted(t, "numa:2 core:2 pu:2", 0)
		var items []*topo.Item
		s.Topology().Root.Walk(func(it *topo.Item) { items = append(items, it) })
		var bubbles []*Bubble
		for range 5 {
			bubbles = append(bubbles, s.NewBubble(rapid.SampledFrom([]BubblePolicy{
				nil, nil, Spread{}, Cache{}, Steal{}, Explode{}, NewGang(time.Nanosecond)}).Draw(t, "policy")))
		}
		drawBubble, drawItem, drawVP := rapid.SampledFrom(bubbles), rapid.SampledFrom(items), rapid.SampledFrom(s.vps)
		base := &co{base: true, l: &lwp{vp: s.vps[0]}}
		in := map[*thread]*Bubble{}     // the model: which bubble each thread is in
		parent := map[*Bubble]*Bubble{} // and each bubble
		running := map[*thread]bool{}   // the others are ready
		closed := map[*Bubble]bool{}
		draw := func(t *rapid.T) *thread {
			if len(in) == 0 {
				t.Skip()
			}
			all := slices.Collect(maps.Keys(in))
			slices.SortFunc(all, func(a, b *thread) int { return cmp.Compare(a.x.Load().id, b.x.Load().id) })
			return rapid.SampledFrom(all).Draw(t, "thread")
		}
		inside := func(b, o *Bubble) bool {
			for ; b != nil; b = parent[b] {
				if b == o {
					return true
				}
			}
			return false
		}
		handle := func(x *thread) Thread { return Thread{x, x.x.Load().id} }
		t.Repeat(map[string]func(*rapid.T){
			"spawn": func(t *rapid.T) {
				x := ofRank(drawRank.Draw(t, "rank"))
				x.vp = drawVP.Draw(t, "VP")
				x.x.Store(&rare{id: x.gen})
				b := drawBubble.Draw(t, "bubble")
				in[x] = nil
				if err := b.Insert(handle(x)); (err == nil) == closed[b] {
					t.Fatal(err)
				} else if err == nil {
					in[x] = b
				}
				x.vp.add(x)
			},
			"insert": func(t *rapid.T) {
				x, b := draw(t), drawBubble.Draw(t, "bubble")
				if err := b.Insert(handle(x)); (err == nil) != (in[x] == nil && !closed[b]) {
					t.Fatal(err)
				} else if err == nil {
					in[x] = b
				}
			},
			"remove": func(t *rapid.T) {
				x, b := draw(t), drawBubble.Draw(t, "bubble")
				if err := b.Remove(handle(x)); (err == nil) != (in[x] == b) {
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
			"tick": func(t *rapid.T) { s.tickBubbles(int64(rapid.IntRange(1, 1000).Draw(t, "now"))) },
			"idle": func(t *rapid.T) {
				if p := s.bubbles.Load(); p != nil {
					v := drawVP.Draw(t, "VP")
					if moved := v.askBubbles(*p, 1, 0); moved && !v.hasWork() {
						t.Fatal("moved something to where the VP does not find it")
					}
					v.bubblesAt = 0
				}
			},
			"run": func(t *rapid.T) {
				v := drawVP.Draw(t, "VP")
				if x := v.pop(); x != nil {
					if _, known := in[x]; !known || running[x] {
						t.Fatal("not a ready thread")
					}
					if !x.belongs(v) {
						t.Fatalf("VP %d got a thread of %v", v.id, x.node().name())
					}
					running[x] = true
				}
			},
			"yield": func(t *rapid.T) {
				if x := draw(t); running[x] {
					delete(running, x)
					x.vp.requeue(x)
				}
			},
			"end": func(t *rapid.T) {
				if x := draw(t); running[x] {
					x.gen = lastID.Add(1)
					base.leaveBubble(x, x.x.Load(), s)
					delete(running, x)
					delete(in, x)
				}
			},
			"": func(t *rapid.T) {
				weight := map[*Bubble]int{}
				ready := 0
				for x, b := range in {
					if x.x.Load().bubble.Load() != b {
						t.Fatal("a thread is not in its bubble")
					}
					if n := x.node(); b != nil && n == nil {
						t.Fatal("a thread of a bubble is not placed")
					}
					for ; b != nil; b = parent[b] {
						weight[b]++
					}
					if !running[x] {
						ready++
					}
				}
				for _, v := range s.vps {
					ready -= v.q.total()
					for x := v.inbox.Load(); x != nil; x = x.link {
						if x != v.sifter {
							ready--
						}
					}
				}
				s.root.walk(func(n *node) { ready -= n.q.total() })
				for _, b := range bubbles {
					ready -= b.hold.q.total()
					if b.Weight() != weight[b] {
						t.Fatalf("a bubble weighs %d, has %d threads", b.Weight(), weight[b])
					}
					if b.parent != parent[b] {
						t.Fatal("a bubble is elsewhere")
					}
					if b.listed != (b.policy != nil && b.awake && b.alive > 0) {
						t.Fatal("the list of policies to be asked is wrong")
					}
				}
				if ready != 0 {
					t.Fatalf("%d ready threads lost", ready)
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
				x.gen = lastID.Add(1)
				base.leaveBubble(x, x.x.Load(), s)
				delete(running, x)
				delete(in, x)
			}
			left = false
			for _, v := range s.vps {
				if x := v.pop(); x != nil {
					running[x], left = true, true
				}
			}
			if s.tickBubbles(1 << 40); len(in) > 0 && s.bubbles.Load() != nil {
				left = true
			}
		}
		if len(in) != 0 {
			t.Fatalf("%d threads never came to run", len(in))
		}
	})
}
