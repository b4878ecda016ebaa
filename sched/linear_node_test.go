package sched

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/anishathalye/porcupine"

	"github.com/pm2-go/pm2/internal/test/effort"
)

// treeNodes is the number of nodes of the tree in these tests: a machine, two NUMA nodes, and
// a leaf for each of four VPs.
const treeNodes = 7

// crowd bounds the threads of a round.
const crowd = 64

// treeState is what lies in the nodes of a tree, in order of arrival, and where each thread belongs.
type treeState struct {
	at      [treeNodes]string
	belongs [crowd]int8
	moving  string // taken out of a node, and not yet in another one
	step    string // of the one that moves threads
}

// A grove is the tree of one round.
type grove struct {
	past
	s     *Scheduler
	nodes []*queueNode
	index map[*queueNode]int
}

func newGrove(t *testing.T) *grove {
	g := &grove{s: planted(t, "numa:2 core:2 pu:1", 0), index: map[*queueNode]int{}}
	g.s.root.walk(func(n *queueNode) {
		g.index[n] = len(g.nodes)
		g.nodes = append(g.nodes, n)
	})
	if len(g.nodes) != treeNodes {
		t.Fatalf("%d nodes", len(g.nodes))
	}
	return g
}

// reaching is queueNode.reaching.
func (g *grove) reaching(node int, id int) int {
	n := g.nodes[node]
	for ; n.up != nil; n = n.up {
		for _, v := range n.vps {
			if g.made[id].mayRun(v.id) {
				return g.index[n]
			}
		}
	}
	return g.index[n]
}

// oldest is the oldest thread of rank r in s that node has and vp may run; -1: none.
func (g *grove) oldest(s *treeState, node, vp int, r rank) int {
	for _, id := range s.at[node] {
		if g.made[id].rank == r && g.made[id].mayRun(vp) {
			return int(id)
		}
	}
	return -1
}

// model is of a tree of nodes. Putting a thread and taking one from a node are exact, but that one that does
// not insist may get nothing while another one is at the node. To move a thread takes three steps: it is said where
// it belongs; it leaves the node where it is found, if it is in one; it is put where it belongs. In between it is not
// found.
//
// A VP that looks for its next thread looks at one node after the other, so it may find nothing though
// there was something at any moment: see grove.misses for what it may not miss. What it takes is the
// oldest of its priority in one of its nodes.
func (g *grove) model() porcupine.Model {
	return porcupine.Model{
		Init: func() any { return treeState{} },
		Step: func(state, in, out any) (bool, any) {
			s, op := state.(treeState), in.(queueOp)
			id := op.thread
			switch op.name {
			case "new":
				s.belongs[id] = int8(op.node)
				fallthrough
			case "put":
				n := g.reaching(int(s.belongs[id]), id)
				s.at[n] = with(s.at[n], id)
			case "take":
				if out.(int) < 0 {
					return op.may || g.oldest(&s, op.node, op.vp, op.rank) < 0, s
				}
				if g.oldest(&s, op.node, op.vp, op.rank) != out {
					return false, s
				}
				s.at[op.node] = without(s.at[op.node], out.(int))
			case "next":
				if out.(int) < 0 {
					return true, s
				}
				for n := g.s.vps[op.vp].leaf; n != nil; n = n.up {
					if i := g.index[n]; g.oldest(&s, i, op.vp, g.made[out.(int)].rank) == out {
						s.at[i] = without(s.at[i], out.(int))
						return true, s
					}
				}
				return false, s
			case "assign":
				s.belongs[id], s.step = int8(op.node), op.name
				return state.(treeState).step == "", s
			case "leave":
				for n := range s.at {
					if rest := without(s.at[n], id); rest != s.at[n] && g.reaching(int(s.belongs[id]), id) != n {
						s.at[n], s.moving = rest, with("", id)
					}
				}
				s.step = op.name
				return state.(treeState).step == "assign", s
			case "arrive":
				if s.moving != "" {
					n := g.reaching(int(s.belongs[id]), id)
					s.at[n] = with(s.at[n], id)
				}
				s.moving, s.step = "", ""
				return state.(treeState).step == "leave", s
			}
			return true, s
		},
	}
}

// misses tells of a VP that looked for its next thread, and got none or one of a lower priority, although
// one lay in one of its nodes all the time.
func (g *grove) misses() error {
	for _, o := range g.ops {
		op, got := o.Input.(queueOp), rank(ranks)
		if op.name != "next" {
			continue
		}
		if id := o.Output.(int); id >= 0 {
			got = g.made[id].rank
		}
		for id := range g.made {
			if g.made[id].rank >= got || !g.made[id].mayRun(op.vp) {
				continue
			}
			if n, lay := g.lay(id, o.Call, o.Return); lay && g.nodes[n].covers(g.s.vps[op.vp]) {
				return fmt.Errorf("VP %d, from %d to %d, got %v, while thread %d lay in node %d", op.vp, o.Call, o.Return, o.Output, id, n)
			}
		}
	}
	return nil
}

// lay tells in which node thread id lay from begin to end, if it was in one all the time.
func (g *grove) lay(id int, begin, end int64) (node int, lay bool) {
	in, assigned := 0, int64(-1) // when the last operation began that says where it belongs
	for _, o := range g.ops {
		op := o.Input.(queueOp)
		mine := op.thread == id
		if op.name == "take" || op.name == "next" {
			mine = o.Output == id
		}
		if !mine || o.Call > end {
			continue
		}
		if o.Return > begin {
			return 0, false // it may have moved meanwhile
		}
		switch op.name {
		case "new", "assign":
			if o.Call > assigned {
				node, assigned = op.node, o.Call
			}
		}
		switch op.name {
		case "new", "put":
			in++
		case "take", "next":
			in--
		}
	}
	return g.reaching(node, id), in > 0
}

// TestNodesAreLinearizable: two that put threads on nodes, three VPs that take them and put some of them back, one that
// moves them from node to node.
func TestNodesAreLinearizable(t *testing.T) {
	defer func(n int) { minRing = n }(minRing)
	minRing = 2
	for round := range effort.Of(3000) {
		nodeRound(t, round)
	}
}

func nodeRound(t *testing.T, round int) {
	g := newGrove(t)
	putter := func(id int, r *rand.Rand) {
		var vps VPSet
		if r.IntN(3) == 0 {
			vps.Set(r.IntN(4))
			vps.Set(r.IntN(4))
		}
		op := queueOp{name: "new", node: r.IntN(treeNodes)}
		var x *thread
		op.thread, x = g.thread(g.s, defaultRank-rank(r.IntN(2)), vps)
		g.do(id, op, func(*queueOp) any {
			x.assign(g.nodes[op.node])
			x.enqueue()
			return nil
		})
		g.known(x)
	}
	var hands [3]*hand
	for i := range hands {
		hands[i] = newHand(g.s.vps[i], uint32(i+1))
	}
	vp := func(id int, r *rand.Rand) {
		h := hands[id-2]
		v := h.l.vp
		op := queueOp{name: "next", vp: v.id}
		over := []int{g.index[v.leaf], g.index[v.leaf.up], g.index[g.s.root]}
		if r.IntN(2) == 0 {
			op.name, op.node, op.rank = "take", over[r.IntN(3)], defaultRank-rank(r.IntN(2))
		}
		insist := op.name == "take" && r.IntN(2) == 0
		op.may = op.name == "take" && !insist // see excuse
		h.take()
		var x *thread
		g.do(id, op, func(*queueOp) any {
			if op.name == "next" {
				x = v.pop()
			} else {
				x = g.nodes[op.node].take(op.rank, v, insist)
			}
			return g.id(x)
		})
		if x != nil && x.vp != v {
			t.Error("taken, but not the VP's")
		}
		if x != nil && r.IntN(2) == 0 {
			g.do(id, queueOp{name: "put", thread: g.id(x)}, func(*queueOp) any { v.requeue(x); return nil })
		}
		h.letGo(false)
	}
	mover := func(id int, r *rand.Rand) {
		x := g.any(r)
		if x == nil {
			return
		}
		op := queueOp{thread: g.id(x), node: r.IntN(treeNodes)}
		begin := g.now.Add(1)
		if err := (Thread{x, x.id}).reassign(func(t *thread) { t.assign(g.nodes[op.node]) }); err != nil {
			t.Error(err)
		}
		end := g.now.Add(1)
		for _, op.name = range []string{"assign", "leave", "arrive"} {
			g.add(id, op, nil, begin, end)
		}
	}
	together(round, 6, putter, putter, vp, vp, vp, mover)
	g.excuse(func(queueOp) bool { return true })
	g.check(t, g.model())
	if err := g.misses(); err != nil {
		g.log(t)
		t.Fatal(err)
	}
	left, in := 0, 0
	for _, o := range g.ops {
		switch op := o.Input.(queueOp); op.name {
		case "new", "put":
			left++
		case "take", "next":
			if o.Output != -1 {
				left--
			}
		}
	}
	for _, n := range g.nodes {
		in += n.queue.total()
		if int(n.count.Load()) != n.queue.total() || n.ready.Load() != n.queue.present() {
			t.Fatalf("a node has %d threads, says %d", n.queue.total(), n.count.Load())
		}
	}
	if in != left || int(g.s.placed.Load()) != in {
		t.Fatalf("%d threads are left, %d of them in nodes, which say %d", left, in, g.s.placed.Load())
	}
}

// TestNodeModel: the check finds what it is there for.
func TestNodeModel(t *testing.T) {
	g := newGrove(t)
	g.made = []made{{rank: 2}, {rank: 2}, {2, OneVP(3)}}
	root, numa0, numa1 := 0, g.index[g.s.vps[0].leaf.up], g.index[g.s.vps[3].leaf.up]
	op := func(o queueOp, out any, begin, end int64) porcupine.Operation {
		return porcupine.Operation{Input: o, Output: out, Call: begin, Return: end}
	}
	fresh := func(id, node int, begin int64) porcupine.Operation {
		return op(queueOp{name: "new", thread: id, node: node}, nil, begin, begin+1)
	}
	take := func(node, vp int, may bool, got int, begin int64) porcupine.Operation {
		return op(queueOp{name: "take", node: node, vp: vp, rank: 2, may: may}, got, begin, begin+1)
	}
	next := func(vp, got int, begin int64) porcupine.Operation {
		return op(queueOp{name: "next", vp: vp}, got, begin, begin+1)
	}
	move := func(id, node int, begin, end int64) (all []porcupine.Operation) {
		for _, name := range []string{"assign", "leave", "arrive"} {
			all = append(all, op(queueOp{name: name, thread: id, node: node}, nil, begin, end))
		}
		return
	}
	for _, c := range []struct {
		name       string
		ops        []porcupine.Operation
		ok, misses bool
	}{
		{"in order", []porcupine.Operation{fresh(0, root, 1), fresh(1, root, 3), take(root, 1, false, 0, 5), next(2, 1, 7)}, true, false},
		{"out of order", []porcupine.Operation{fresh(0, root, 1), fresh(1, root, 3), take(root, 1, false, 1, 5)}, false, false},
		{"taken twice", []porcupine.Operation{fresh(0, root, 1), next(0, 0, 3), next(1, 0, 5)}, false, false},
		{"not seen", []porcupine.Operation{fresh(0, root, 1), take(root, 1, false, -1, 3)}, false, false},
		{"given up", []porcupine.Operation{fresh(0, root, 1), take(root, 1, true, -1, 3)}, true, false},
		{"another VP's", []porcupine.Operation{fresh(2, root, 1), take(root, 1, false, 2, 3)}, false, false},
		{"another node's", []porcupine.Operation{fresh(0, numa0, 1), next(3, 0, 3)}, false, false},
		{"further up than it belongs", []porcupine.Operation{fresh(2, numa0, 1), take(root, 3, false, 2, 3)}, true, false},
		{"found where it was", append(move(0, numa1, 3, 4), fresh(0, numa0, 1), take(numa0, 0, false, 0, 5)), false, false},
		{"on its way", append(move(0, numa1, 3, 8), fresh(0, numa0, 1), take(numa0, 0, false, -1, 4), take(numa1, 3, false, -1, 6)), true, false},
		{"missed", []porcupine.Operation{fresh(0, root, 1), next(0, -1, 3)}, true, true},
		{"just come", []porcupine.Operation{fresh(0, root, 1), next(0, -1, 1)}, true, false},
	} {
		if g.ops = c.ops; porcupine.CheckOperations(g.model(), g.ops) != c.ok {
			t.Errorf("%s: possible %v", c.name, !c.ok)
		}
		if err := g.misses(); (err != nil) != c.misses {
			t.Errorf("%s: misses %v", c.name, err)
		}
	}
}
