package sched

import (
	"errors"
	"sync"

	"github.com/pm2-go/pm2/sched/internal/machine"
	"github.com/pm2-go/pm2/sched/topo"
)

// discoverOnce returns the topology of this machine, read at the first call.
var discoverOnce = sync.OnceValues(topo.Discover)

// adopt sets VPs and CPUs from Topology, if they are open: a VP for each PU, and, if the process may use all of them,
// the CPUs of the PUs.
func (cfg *Config) adopt() error {
	t := cfg.Topology
	if t == nil {
		return nil
	}
	if len(t.PUs()) == 0 {
		return errors.New("sched: Config.Topology has no PUs: use one that package topo has made")
	}
	if cfg.VPs == 0 {
		cfg.VPs = len(t.PUs())
	}
	if len(cfg.CPUs) > 0 {
		return nil
	}
	for _, pu := range t.PUs() {
		if !machine.IsUsable(pu.OS) {
			cfg.CPUs = nil
			return nil
		}
		cfg.CPUs = append(cfg.CPUs, pu.OS)
	}
	return nil
}

// arrange returns the topology to schedule for, nil if it is not known, and the PU of each VP, nil if that is not
// known.
func (cfg *Config) arrange() (t *topo.Topology, pus []*topo.Item) {
	if t = cfg.Topology; t != nil {
		return t, pusInTurn(t, cfg.VPs)
	}
	pus = pusInTurn(nil, cfg.VPs)
	t, err := discoverOnce()
	if err != nil {
		return nil, pus
	}
	for i := range pus {
		pus[i] = t.CPU(cfg.CPUs[i%len(cfg.CPUs)])
	}
	return t, pus
}

// pusInTurn returns a PU of t for each of n VPs, in turn; nil ones if t is nil.
func pusInTurn(t *topo.Topology, n int) []*topo.Item {
	pus := make([]*topo.Item, n)
	for i := range pus {
		if t != nil {
			pus[i] = t.PUs()[i%len(t.PUs())]
		}
	}
	return pus
}

// Plan returns the Queues that a scheduler of n VPs would have on machine t, nil if nothing is known of it, without
// making the scheduler: for simulations of what uses the tree. No thread ever waits in these queues.
func Plan(t *topo.Topology, n int) []*Queue {
	s := &Scheduler{}
	for i := range n {
		s.vps = append(s.vps, &vp{sched: s, id: i})
	}
	s.buildTree(t, pusInTurn(t, n))
	return s.Queues()
}

// buildTree makes the tree of nodes: a node for each item with VPs, and a leaf for each VP. Of nested items with the
// same VPs only the outermost has a node. A VP whose PU is not known has its leaf below the machine's node.
func (s *Scheduler) buildTree(t *topo.Topology, pus []*topo.Item) {
	s.topo, s.nodes = t, map[*topo.Item]*queueNode{}
	s.root = s.newNode(nil, nil, s.vps)
	for i, v := range s.vps {
		v.pu = pus[i]
	}
	if len(s.vps) == 1 {
		s.vps[0].leaf = s.root
	}
	if t != nil {
		s.root.item = t.Root
		s.addNodes(t.Root, s.root)
	}
	for _, v := range s.vps {
		if v.leaf == nil {
			s.leaf(v, s.root)
		}
	}
	for _, v := range s.vps {
		v.vpsByDistance = v.ringsByDistance()
	}
}

// addNodes makes the nodes of the items below it, whose own node is at.
func (s *Scheduler) addNodes(it *topo.Item, at *queueNode) {
	s.nodes[it] = at
	for _, c := range it.Children {
		var vps []*vp
		for _, v := range at.vps {
			for a := v.pu; a != nil; a = a.Parent {
				if a == c {
					vps = append(vps, v)
				}
			}
		}
		switch len(vps) {
		case 0:
		case len(at.vps):
			s.addNodes(c, at)
		case 1:
			s.addNodes(c, s.leaf(vps[0], at))
			vps[0].leaf.item = c
		default:
			n := s.newNode(c, at, vps)
			at.down = append(at.down, n)
			s.addNodes(c, n)
		}
	}
	if len(it.Children) == 0 && len(at.vps) > 1 { // several VPs on one PU
		for _, v := range at.vps {
			s.leaf(v, at)
		}
	}
}

// leaf makes the leaf of v, below up.
func (s *Scheduler) leaf(v *vp, up *queueNode) *queueNode {
	v.leaf = s.newNode(v.pu, up, []*vp{v})
	up.down = append(up.down, v.leaf)
	return v.leaf
}

// ringsByDistance lists the other VPs in rings of equal distance, the nearest first: those that share the innermost
// node with v, those that share the next one, and so on.
func (v *vp) ringsByDistance() (near [][]*vp) {
	seen := map[*vp]bool{v: true}
	for n := v.leaf; n != nil; n = n.up {
		var ring []*vp
		for _, o := range n.vps {
			if !seen[o] {
				seen[o] = true
				ring = append(ring, o)
			}
		}
		if len(ring) > 0 {
			near = append(near, ring)
		}
	}
	return near
}

// Topology returns the topology that s schedules for: Config.Topology, or this machine's. It returns nil if that could
// not be read. VPsOf tells which VPs an item has.
func (s *Scheduler) Topology() *topo.Topology { return s.topo }

// Parts lists the nearest items below it that have run queues of their own: a policy chooses
// between these. A single VP has none.
func (s *Scheduler) Parts(it *topo.Item) (parts []*topo.Item) {
	if n := s.nodes[it]; n != nil {
		for _, d := range n.down {
			if s.nodes[d.item] == d {
				parts = append(parts, d.item)
			}
		}
	}
	return parts
}

// ReadyOn returns the number of threads that wait in the run queue of an item, without those of the items below. It is
// a hint: the number changes all the time.
func (s *Scheduler) ReadyOn(it *topo.Item) int {
	if n := s.nodes[it]; n != nil {
		return n.Waiting()
	}
	return 0
}

// VPsOf returns the VPs that an item of the topology has; none if it has none, or is of another topology.
func (s *Scheduler) VPsOf(it *topo.Item) (set VPSet) {
	if n := s.nodes[it]; n != nil {
		for _, v := range n.vps {
			set.Set(v.id)
		}
	}
	return set
}

// PU returns the processing unit of VP i in the topology; nil if it is not known. It panics if there is no VP i, as an
// index would.
func (s *Scheduler) PU(i int) *topo.Item { return s.vps[i].pu }
