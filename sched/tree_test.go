package sched

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/pm2-go/pm2/sched/topo"
)

// planted is a scheduler that has VPs and nodes, but no LWPs.
func planted(t interface{ Fatal(...any) }, machine string, vps int) *Scheduler {
	m, err := topo.Synthetic(machine)
	if err != nil {
		t.Fatal(err)
	}
	cfg := Config{Topology: m, VPs: vps}
	if err := cfg.complete(); err != nil {
		t.Fatal(err)
	}
	setUp.Do(chooseMode)
	s := &Scheduler{cfg: cfg}
	s.slice = 1 << 62 // no turns by time
	for i := range cfg.VPs {
		v := &vp{sched: s, id: i, self: OneVP(i), sortRequest: newThread(), randomState: 1}
		v.vacant.inside, v.vacant.base = isIn, true
		v.cur = &v.vacant
		v.outsideLWP.vp = v
		v.idle.beginWaking() // no LWP is to be woken
		s.vps = append(s.vps, v)
		s.allVPs.Set(i)
	}
	_, pus := cfg.arrange()
	s.buildTree(m, pus)
	return s
}

func (n *queueNode) String() string {
	text := fmt.Sprint(n.item.Kind)
	for _, v := range n.vps {
		text += fmt.Sprint(" ", v.id)
	}
	for _, d := range n.down {
		text += fmt.Sprint(" (", d, ")")
	}
	return text
}

func TestTree(t *testing.T) {
	for _, c := range []struct {
		machine string
		vps     int
		want    string
	}{
		{"numa:2 l3:1 core:2 pu:2", 0,
			"Machine 0 1 2 3 4 5 6 7 " +
				"(NUMA 0 1 2 3 (Core 0 1 (PU 0) (PU 1)) (Core 2 3 (PU 2) (PU 3))) " +
				"(NUMA 4 5 6 7 (Core 4 5 (PU 4) (PU 5)) (Core 6 7 (PU 6) (PU 7)))"},
		{"package:1 numa:1 core:2 pu:1", 0, "Machine 0 1 (Core 0) (Core 1)"},
		{"core:2 pu:1", 4, "Machine 0 1 2 3 (Core 0 2 (PU 0) (PU 2)) (Core 1 3 (PU 1) (PU 3))"},
		{"numa:2 core:2 pu:1", 3, "Machine 0 1 2 (NUMA 0 1 (Core 0) (Core 1)) (NUMA 2)"},
		{"core:8 pu:1", 1, "Machine 0"},
	} {
		if got := planted(t, c.machine, c.vps).root.String(); got != c.want {
			t.Errorf("%s, %d VPs:\n%s, want\n%s", c.machine, c.vps, got, c.want)
		}
	}
}

// TestRings: thieves begin with those that share the most.
func TestRings(t *testing.T) {
	var got []string
	for _, ring := range planted(t, "numa:2 l3:2 core:2 pu:2", 0).vps[5].vpsByDistance {
		var ids []int
		for _, v := range ring {
			ids = append(ids, v.id)
		}
		got = append(got, fmt.Sprint(ids))
	}
	if want := []string{"[4]", "[6 7]", "[0 1 2 3]", "[8 9 10 11 12 13 14 15]"}; !slices.Equal(got, want) {
		t.Errorf("VP 5 steals from %v, want %v", got, want)
	}
}

// TestChoose: whatever lies in queues of VPs and nodes, a VP takes nothing that it may
// not run, nothing of a lower priority than what it could have, and all of it gets
// taken by a VP.
func TestChoose(t *testing.T) {
	defer func(n int) { minRing = n }(minRing)
	minRing = 2
	rapid.Check(t, func(t *rapid.T) {
		s := planted(t, "numa:2 core:2 pu:2", 0)
		var nodes []*queueNode
		var list func(n *queueNode)
		list = func(n *queueNode) {
			nodes = append(nodes, n)
			for _, d := range n.down {
				list(d)
			}
		}
		list(s.root)
		waiting := map[*thread]bool{}
		drawNode := rapid.SampledFrom(nodes)
		drawVP := rapid.SampledFrom(s.vps)
		can := func(x *thread, v *vp) bool {
			if n := x.node(); n != nil {
				return n.reaching(x).covers(v) && x.mayRun(v)
			}
			return x.vp == v && x.mayRun(v)
		}
		pop := func(t *rapid.T, v *vp) {
			best := rank(ranks)
			for x := range waiting {
				if can(x, v) {
					best = min(best, x.rank())
				}
			}
			x := v.pop()
			switch {
			case x == nil && best < ranks:
				t.Fatalf("VP %d found nothing, there was one of rank %d", v.id, best)
			case x == nil:
				return
			case !waiting[x] || !can(x, v):
				t.Fatal("not to be had")
			case x.rank() != best:
				t.Fatalf("rank %d, the best was %d", x.rank(), best)
			}
			delete(waiting, x)
		}
		t.Repeat(map[string]func(*rapid.T){
			"spawn": func(t *rapid.T) {
				x := ofRank(drawRank.Draw(t, "rank"))
				x.vp = drawVP.Draw(t, "VP")
				x.extras.Store(&extras{id: x.id})
				if rapid.Bool().Draw(t, "placed") {
					x.assign(drawNode.Draw(t, "node"))
				}
				if rapid.IntRange(0, 3).Draw(t, "set") == 0 {
					x.set.Store(&x.vp.self)
				}
				x.vp.add(x)
				waiting[x] = true
			},
			"pop": func(t *rapid.T) { pop(t, drawVP.Draw(t, "VP")) },
			"move": func(t *rapid.T) {
				for x := range waiting {
					var n *queueNode
					if rapid.Bool().Draw(t, "placed") {
						n = drawNode.Draw(t, "node")
					}
					_ = Thread{x, x.id}.reassign(func(t *thread) { t.assign(n) })
					break
				}
			},
			"": func(t *rapid.T) {
				in := 0
				for _, n := range nodes {
					in += int(n.count.Load())
					if n.ready.Load() != n.queue.present() || int(n.count.Load()) != n.queue.total() {
						t.Fatalf("%v: %d threads, says %d", n.item, n.queue.total(), n.count.Load())
					}
				}
				if int(s.placed.Load()) != in {
					t.Fatalf("%d threads in nodes, says %d", in, s.placed.Load())
				}
			},
		})
		for range 8 * len(waiting) {
			for _, v := range s.vps {
				pop(t, v)
			}
		}
		if len(waiting) > 0 {
			t.Fatalf("%d threads lost", len(waiting))
		}
	})
}

// TestConfigTopology: what cannot be is said.
func TestConfigTopology(t *testing.T) {
	if _, err := New(Config{Topology: &topo.Topology{}}); err == nil {
		t.Error("a machine without PUs")
	}
	for _, description := range []string{"core:16 pu:1", "core:1 pu:1"} {
		m, err := topo.Synthetic(description)
		if err != nil {
			t.Fatal(err)
		}
		s, err := New(Config{Topology: m})
		if err != nil {
			t.Fatal(err)
		}
		if s.Topology() != m || s.NumVP() != len(m.PUs()) {
			t.Errorf("%s: %d VPs", description, s.NumVP())
		}
		if err := s.Stop(context.Background()); err != nil {
			t.Error(err)
		}
	}
}

// Queues lists what a round goes through: each queue after the one above it, the leaves one for each VP; Plan lists the
// same without the scheduler.
func TestQueues(t *testing.T) {
	for _, c := range []struct {
		machine string
		vps     int
		want    string
	}{
		{"numa:2 core:2 pu:1", 4, "[Machine 0 1 2 3] [NUMA 0 1] [Core 0] [Core 1] [NUMA 2 3] [Core 2] [Core 3]"},
		{"core:2 pu:1", 3, "[Machine 0 1 2] [Core 0 2] [PU 0] [PU 2] [Core 1]"},
		{"core:2 pu:1", 1, "[Machine 0]"},
	} {
		s := planted(t, c.machine, c.vps)
		for of, list := range map[string][]*Queue{"Queues": s.Queues(), "Plan": Plan(s.topo, c.vps)} {
			got := ""
			for i, q := range list {
				got += fmt.Sprintf("[%v", q.Item().Kind)
				for vp, pu := range q.VPs() {
					if pu != s.PU(vp) {
						t.Errorf("%s: VP %d is on %v, want %v", of, vp, pu, s.PU(vp))
					}
					got += fmt.Sprint(" ", vp)
				}
				got += "] "
				if (i == 0) != (q.Up() == nil) || i > 0 && !slices.Contains(list[:i], q.Up()) {
					t.Errorf("%s: queue %d comes before the one above it", of, i)
				}
			}
			if strings.TrimSpace(got) != c.want {
				t.Errorf("%s of %s: %s, want %s", of, c.machine, got, c.want)
			}
		}
	}
	for i, q := range Plan(nil, 2) {
		if (i == 0) != (q.Up() == nil) || q.Item() != nil {
			t.Errorf("of no machine: queue %d is of %v", i, q.Item())
		}
	}
}
