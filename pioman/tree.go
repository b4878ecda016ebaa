package pioman

import (
	"sync"
	"sync/atomic"

	"github.com/pm2-go/pm2/asm"
	"github.com/pm2-go/pm2/sched/topo"
)

// CPUSet is a set of processors by the numbers that the system gives them. Empty: any.
type CPUSet = topo.CPUSet

// tree is the queues of an engine, laid over a machine (PIOMan: Trahay & Denis, 2009):
// one for each item of a level that has siblings, as far as there are virtual
// processors in it, down to Params.BindingLevel. Of items with the same virtual
// processors only the outermost has a queue. The shape never changes; on another scheduler an engine gets another tree.
//
//	         root                    tasks that may run anywhere: the root's queue,
//	      /        \                 the same in every tree of an engine
//	   NUMA 0     NUMA 1             a CPU set: the lowest item that covers it
//	  /  |  \     /  |  \
//	leaf leaf ...       leaf         a PU; its pollers are the VPs on it
//
// # Which processor visits which queue
//
// A round of a virtual processor goes from its leaf to the root. Of the k children of an
// item so many as polled lately visit it; each does so in every k-th round, multiplied
// up the path, so that an item sees about one visit per round of all that is below it.
// Processors that sleep or compute do not count: a poller that is alone in its part of
// the machine visits all of its path every round, and messages do not wait for visits
// of others that will not come.
//
// # No task starves
//
// While requests are pending a poller makes rounds, or the sleeper sleeps and is
// woken (README.md). Each queue gets its visits, whichever pollers there are:
//
//  1. A poller on no virtual processor (a goroutine, the Sleeper, any poller of an engine
//     that is not hooked) visits every queue in every round.
//  2. A queue below which some virtual processor makes rounds is visited by that one: the
//     leaf in every round, an item above in one of so many as there are
//     processors below it.
//  3. A queue below which none makes rounds is neglected: its processors sleep,
//     compute, are disabled or in a blocking call. The survey finds it by their counts of
//     rounds, and visits it. Every poller makes a survey in every sixty-fourth of
//     its rounds, and the timer hook at every tick, unless one was made in the
//     last 100 us.
//
// By 3 no queue depends on its own processors, nor on the timer; by 1 the Sleeper has
// seen all of them before it sleeps.
type tree struct {
	topology *topo.Topology
	pus      []*topo.Item // by virtual processor
	nodes    []*node      // outer ones first
	queues   []*Queue     // of nodes
	ways     [][]*node    // by virtual processor: from the leaf to the root
	byCPU    []*node      // leaves; nil: no virtual processor there
	visitors []visitor    // by virtual processor

	_        [line]byte
	surveyed atomic.Int64  // asm.Cycles of the last survey; the poller that makes one writes
	counting atomic.Uint32 // 1: a survey counts: a try-lock, never spun on
	_        [line - 16]byte
}

// node is an item of the tree with its queue.
type node struct {
	queue    *Queue
	item     *topo.Item // nil: the root, of a machine that nothing is known of
	up       *node
	children int
	vps      []int
	others   CPUSet // the CPUs of the tree that are not in it

	_         [line]byte
	share     atomic.Uint32 // how many children polled lately, at least 1: the survey writes, rarely
	neglected atomic.Bool   // no processor below made a round before the last survey
	live      uint32        // the survey's: children that polled
	_         [line - 12]byte
}

// visitor is what a virtual processor counts of its rounds, on lines of its own.
type visitor struct {
	rounds atomic.Uint32 // its LWP and the timer write, the survey reads
	seen   uint32        // the survey's: rounds when it last looked
	_      [line - 8]byte
}

// surveyRounds is how many rounds a poller makes between two looks whether a survey
// is due; a power of two.
const surveyRounds = 64

// machine is this machine, for schedulers that do not know it.
var machine = sync.OnceValues(topo.Discover)

// located is a scheduler that knows where its virtual processors are; sched.Scheduler does.
type located interface {
	Topology() *topo.Topology // nil: unknown
	PU(vp int) *topo.Item     // nil: unknown
}

// arrange finds the machine that an engine's tree is to be laid over, and the PU of each
// virtual processor: as Config.Topology says, else as the scheduler does, else the PUs
// of this machine in turn.
func (e *Engine) arrange(s Scheduler) (t *topo.Topology, pus []*topo.Item) {
	n := s.NumVP()
	t = e.config.Topology
	if l, ok := s.(located); ok && t == nil {
		if t = l.Topology(); t == nil {
			return nil, nil
		}
		for vp := range n {
			pus = append(pus, l.PU(vp))
		}
		return t, pus
	}
	if t == nil {
		var err error
		if t, err = machine(); err != nil {
			return nil, nil
		}
	}
	return t, inTurn(t, n)
}

// inTurn gives n virtual processors the PUs of t in turn.
func inTurn(t *topo.Topology, n int) (pus []*topo.Item) {
	if len(t.PUs()) == 0 {
		return nil
	}
	for vp := range n {
		pus = append(pus, t.PUs()[vp%len(t.PUs())])
	}
	return pus
}

// plant makes a tree above which stands the queue root; nil if that one queue is all
// of it.
func (e *Engine) plant(t *topo.Topology, pus []*topo.Item) *tree {
	if t == nil || len(pus) < 2 {
		return nil
	}
	tr := &tree{topology: t, pus: pus, ways: make([][]*node, len(pus)), visitors: make([]visitor, len(pus))}
	tr.surveyed.Store(never)
	top := &node{queue: e.root, item: t.Root}
	for vp := range pus {
		top.vps = append(top.vps, vp)
	}
	tr.nodes = append(tr.nodes, top)
	tr.graft(e, t.Root, top)
	if len(tr.nodes) == 1 {
		return nil
	}
	all := CPUSet{}
	for _, pu := range pus {
		if pu != nil {
			all = all.Or(pu.CPUs)
		}
	}
	for _, n := range tr.nodes {
		tr.queues = append(tr.queues, n.queue)
		n.share.Store(1)
		if n != top {
			n.others = all.Minus(n.item.CPUs)
		}
		for _, vp := range n.vps {
			tr.ways[vp] = append([]*node{n}, tr.ways[vp]...) // inner ones come later
		}
		if n.children == 0 {
			for cpu := range n.item.CPUs.And(all).All() {
				for len(tr.byCPU) <= cpu {
					tr.byCPU = append(tr.byCPU, nil)
				}
				tr.byCPU[cpu] = n
			}
		}
	}
	return tr
}

// graft makes the nodes for what is inside an item; at is its own, or that of the outermost
// item with the same virtual processors.
func (tr *tree) graft(e *Engine, it *topo.Item, at *node) {
	for _, c := range it.Children {
		var vps []int
		for _, vp := range at.vps {
			if pu := tr.pus[vp]; pu != nil && c.CPUs.Contains(pu.CPUs) {
				vps = append(vps, vp)
			}
		}
		switch finest := e.params.BindingLevel; {
		case len(vps) == 0 || finest != AnyLevel && int(c.Kind) > int(finest):
		case len(vps) == len(at.vps):
			tr.graft(e, c, at)
		default:
			n := &node{queue: &Queue{engine: e, item: c, watch: e.watch}, item: c, up: at, vps: vps}
			at.children++
			tr.nodes = append(tr.nodes, n)
			tr.graft(e, c, n)
		}
	}
}

// same tells whether a tree over that machine would be this one.
func (tr *tree) same(t *topo.Topology, pus []*topo.Item) bool {
	if tr == nil || tr.topology != t || len(tr.pus) != len(pus) {
		return false
	}
	for i, pu := range pus {
		if tr.pus[i] != pu {
			return false
		}
	}
	return true
}

// covering is the queue of the lowest node that covers those CPUs of the set which have
// virtual processors; the root's if none has. It allocates nothing.
func (tr *tree) covering(e *Engine, set CPUSet) *Queue {
	for cpu := range set.All() {
		if cpu >= len(tr.byCPU) {
			break
		}
		if n := tr.byCPU[cpu]; n != nil {
			for n.others.Intersects(set) {
				n = n.up
			}
			return n.queue
		}
	}
	return e.root
}

// round makes a round of a virtual processor. whole: it visits all queues above the leaf, and leaves none to
// other processors.
func (tr *tree) round(e *Engine, vp int, whole bool) (out outcome) {
	v := &tr.visitors[vp].rounds
	turn := v.Load() + 1
	asm.StoreRelease32(v, turn) // the timer may lose us one, or we it: no matter
	every := uint32(1)
	for _, n := range tr.ways[vp] {
		if k := n.share.Load(); k > 1 && !whole {
			every *= k
		}
		if every == 1 || turn%every == 0 {
			if n.queue.watch != nil {
				n.queue.tell(look)
				if n.queue.count.Load() == 0 {
					n.queue.tell(peek)
				}
			}
			out = max(out, n.queue.round(e.params.round))
		}
	}
	if turn%surveyRounds == 0 {
		out = max(out, tr.survey(e))
	}
	return out
}

// everywhere visits every queue, inner ones first.
func (tr *tree) everywhere(e *Engine) (out outcome) {
	for i := len(tr.nodes) - 1; i >= 0; i-- {
		out = max(out, tr.nodes[i].queue.round(e.params.round))
	}
	return out
}

// survey counts the processors that poll, and visits the queues that no other poller visits. Only one poller at
// a time counts, at most once per period.
func (tr *tree) survey(e *Engine) (out outcome) {
	now := asm.Cycles()
	if now-tr.surveyed.Load() < e.ticks.survey || !tr.counting.CompareAndSwap(0, 1) {
		return empty
	}
	tr.surveyed.Store(now)
	tr.count()
	tr.counting.Store(0)
	for i := len(tr.nodes) - 1; i >= 0; i-- {
		if n := tr.nodes[i]; n.neglected.Load() {
			out = max(out, n.queue.round(e.params.round))
			n.queue.settle()
		}
	}
	return out
}

// count finds the processors that made rounds since the last time, and so the share of
// each node. For the holder of counting.
func (tr *tree) count() {
	for _, n := range tr.nodes {
		n.live = 0
	}
	for vp := range tr.visitors {
		v := &tr.visitors[vp]
		if r := v.rounds.Load(); r != v.seen && len(tr.ways[vp]) > 0 {
			v.seen = r
			tr.ways[vp][0].live++
		}
	}
	for i := len(tr.nodes) - 1; i >= 0; i-- {
		n := tr.nodes[i]
		if idle := n.live == 0; n.neglected.Load() != idle {
			n.neglected.Store(idle)
		}
		if n.live > 0 && n.up != nil {
			n.up.live++
		}
		share := uint32(1)
		if n.children > 0 {
			share = max(n.live, 1)
		}
		if n.share.Load() != share {
			n.share.Store(share)
		}
	}
}

// replant gives the engine the tree for a scheduler's machine, and brings the tasks that are
// in queues of another one to the root: their CPUs were meant of other
// processors. For the holder of e.mu; not inside a handler.
func (e *Engine) replant(s Scheduler) {
	t, pus := e.arrange(s)
	old := e.tree.Load()
	if old.same(t, pus) {
		return
	}
	e.tree.Store(e.plant(t, pus))
	if old == nil {
		return
	}
	for _, n := range old.nodes {
		e.rehome(n.queue)
	}
}

// rehome brings the tasks of a queue that is in no tree any more to the root. A
// submitter looks after the push whether the tree has changed, and calls it; replant changes the tree
// first and calls it for all: one of them finds the task. A handler that
// the queue's holder runs need not: replant waits for that holder.
func (e *Engine) rehome(q *Queue) {
	if q == e.root || q.held(asm.G()) {
		return
	}
	for i := 0; !q.enter(); i++ {
		relax(i, true)
	}
	q.drain(q.roundNo)
	for t := q.head; t != nil; t = q.head {
		q.removeHead()
		opt := t.opt
		t.queue.Store(e.root)
		e.root.submitted.push(t) // from here on t may run, end, and be reused
		e.announce(e.root, opt)
	}
	q.clearMark()
	q.exit()
}
