package pioman

import (
	"slices"
	"sync/atomic"

	"github.com/pm2-go/pm2/asm"
	"github.com/pm2-go/pm2/sched"
	"github.com/pm2-go/pm2/sched/topo"
)

// CPUSet is a set of CPUs, by the numbers that the system gives them. For SetCPUs the empty set stands for all.
type CPUSet = topo.CPUSet

// taskTree is the queues of an engine (PIOMan: Trahay & Denis, 2009). It has the shape of the scheduler's tree of run
// queues (sched.Scheduler.Queues): one queue for each item of the machine's topology that has siblings, down to the
// VPs. Without a scheduler, and with a single VP, it is the root alone.
//
//	         root                    tasks that may run anywhere: the root's queue,
//	      /        \                 the same in every tree of an engine
//	   NUMA 0     NUMA 1             a CPU set: the lowest item that covers it
//	  /  |  \     /  |  \
//	leaf leaf ...       leaf         a VP's
//
// # Which VP visits which queue
//
// A round of a VP goes from its leaf to the root. If k children of an item have polled lately, a VP visits the item in
// every k-th of its rounds; on the way up the factors are multiplied. So an item gets about one visit while each VP
// below it makes one round. VPs that sleep or compute do not count: a poller that is alone in its part of the machine
// visits its whole path in every round.
//
// # No task starves
//
// While requests are pending a poller makes rounds, or the sleeper sleeps and is woken (README.md). Each queue gets its
// visits, whichever pollers there are:
//
//  1. A poller on no VP (a goroutine, the Sleeper, any poller of an engine
//     that is not hooked) visits every queue in every round.
//  2. If some VP below a queue makes rounds it visits the queue: its
//     leaf in every round, an item above in one of so many rounds as there are
//     VPs below the item.
//  3. If none makes rounds the queue is neglected: its VPs sleep,
//     compute, are disabled or in a blocking call. The survey finds it by their counts of
//     rounds, and visits it. Every poller makes a survey in every sixty-fourth of
//     its rounds, and the timer hook at every tick, unless one was made in the
//     last 100 us.
//
// By 3 no queue depends on its own VPs, nor on the timer; by 1 the Sleeper has visited all queues before it sleeps.
//
// The slices do not change once the tree is in use; replant makes another tree.
type taskTree struct {
	runQueues []*sched.Queue // the scheduler's run queues, in the order of nodes; nil: no scheduler
	nodes     []*taskNode    // outer ones first: nodes[0] is the root
	queues    []*Queue       // of nodes
	ways      [][]*taskNode  // by VP: from the leaf to the root; none if there is the root alone
	visitors  []visitor      // by VP
	byCPU     []*taskNode    // by the number of a CPU, its leaf; nil: no VP there

	_        [line]byte
	surveyed atomic.Int64  // asm.Cycles of the last survey; the poller that makes one writes
	counting atomic.Uint32 // 1: a poller makes a survey; a try-lock, on which no poller spins
	_        [line - 16]byte
}

// taskNode is a node of the tree, with its queue.
type taskNode struct {
	queue  *Queue
	up     *taskNode // the parent; nil: it is the root
	vps    []int     // below it
	cpus   CPUSet    // of vps
	others CPUSet    // of the other VPs of the tree

	_         [line]byte
	share     atomic.Uint32 // how many children have polled lately, at least 1; the survey writes, rarely, pollers read
	neglected atomic.Bool   // no VP below has made a round between the last two surveys; the survey writes
	live      uint32        // children that have polled; only the survey uses it
	_         [line - 12]byte
}

// visitor counts the rounds of a VP, on cache lines of its own.
type visitor struct {
	rounds atomic.Uint32 // the LWP and the timer write, the survey reads
	seen   uint32        // rounds at the last survey; only the survey uses it
	_      [line - 8]byte
}

// surveyRounds is how many rounds a poller makes from one call of survey to the next; a power of two.
const surveyRounds = 64

// plant makes the tree over a scheduler's run queues. Its root has the queue Engine.root.
func (e *Engine) plant(laid []*sched.Queue) *taskTree {
	tr := &taskTree{runQueues: laid, nodes: []*taskNode{{queue: e.root}}}
	tr.surveyed.Store(never)
	if len(laid) > 1 {
		tr.grow(e)
	}
	for _, n := range tr.nodes {
		tr.queues = append(tr.queues, n.queue)
		n.share.Store(1)
	}
	return tr
}

// grow makes the nodes below the root.
func (tr *taskTree) grow(e *Engine) {
	root := tr.nodes[0]
	on := map[*sched.Queue]*taskNode{tr.runQueues[0]: root}
	for _, q := range tr.runQueues[1:] {
		on[q] = &taskNode{queue: &Queue{engine: e, item: q.Item(), watch: e.watch}, up: on[q.Up()]}
		tr.nodes = append(tr.nodes, on[q])
	}
	for q, n := range on {
		for vp, pu := range q.VPs() {
			if n.vps = append(n.vps, vp); pu != nil {
				n.cpus = n.cpus.Or(pu.CPUs)
			}
		}
	}
	tr.ways, tr.visitors = make([][]*taskNode, len(root.vps)), make([]visitor, len(root.vps))
	for _, n := range tr.nodes {
		n.others = root.cpus.Minus(n.cpus)
		for _, vp := range n.vps {
			tr.ways[vp] = append([]*taskNode{n}, tr.ways[vp]...) // inner ones come later
		}
		for cpu := range n.cpus.All() {
			tr.byCPU = append(tr.byCPU, make([]*taskNode, max(cpu+1-len(tr.byCPU), 0))...)
			tr.byCPU[cpu] = n
		}
	}
}

// way returns the nodes that a VP visits, from its leaf to the root; nil: there is no such VP.
func (tr *taskTree) way(vp int) []*taskNode {
	if uint(vp) < uint(len(tr.ways)) {
		return tr.ways[vp]
	}
	return nil
}

// visits returns the nodes that a VP visits, or, for a poller on none (vp below 0), all nodes.
func (tr *taskTree) visits(vp int) []*taskNode {
	if way := tr.way(vp); way != nil {
		return way
	}
	return tr.nodes
}

// covering returns the queue of the lowest node that covers those CPUs of the set which have VPs; if none has, the
// root's. It allocates nothing.
func (tr *taskTree) covering(set CPUSet) *Queue {
	for cpu := range set.All() {
		if cpu < len(tr.byCPU) && tr.byCPU[cpu] != nil {
			n := tr.byCPU[cpu]
			for n.others.Intersects(set) {
				n = n.up
			}
			return n.queue
		}
	}
	return tr.nodes[0].queue
}

// round makes a round of a VP. whole: it visits all queues from the leaf to the root, also those that are
// not due in this round.
func (tr *taskTree) round(e *Engine, vp int, whole bool) (out roundOutcome) {
	v := &tr.visitors[vp].rounds
	turn := v.Load() + 1
	asm.StoreRelease32(v, turn) // the LWP and the timer may lose a count of each other, which does no harm
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
func (tr *taskTree) everywhere(e *Engine) (out roundOutcome) {
	for i := len(tr.queues) - 1; i >= 0; i-- {
		out = max(out, tr.queues[i].round(e.params.round))
	}
	return out
}

// survey counts the VPs that poll, and makes a round of each neglected queue. One poller at a time counts, at most once
// per surveyPeriod; in other calls survey does nothing.
func (tr *taskTree) survey(e *Engine) (out roundOutcome) {
	now := asm.Cycles()
	if now-tr.surveyed.Load() < e.ticks.survey || !tr.counting.CompareAndSwap(0, 1) {
		return roundEmpty
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

// count finds the VPs that have made rounds since the last survey, and sets share and neglected of each node. The
// caller holds counting.
func (tr *taskTree) count() {
	for _, n := range tr.nodes {
		n.live = 0
	}
	for vp := range tr.visitors {
		v := &tr.visitors[vp]
		if r := v.rounds.Load(); r != v.seen {
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
		if share := max(n.live, 1); n.share.Load() != share {
			n.share.Store(share)
		}
	}
}

// replant gives the engine the tree of a scheduler, and moves the tasks in queues of the old tree to the root. The
// caller holds e.mu, and is no handler.
func (e *Engine) replant(laid []*sched.Queue) {
	old := e.tree.Load()
	if slices.Equal(old.runQueues, laid) {
		return
	}
	e.tree.Store(e.plant(laid))
	for _, q := range old.queues {
		e.rehome(q)
	}
}

// rehome moves the tasks of a queue that is in no tree any more to the root. A submitter pushes, and then looks whether
// the tree has changed: if so it calls rehome. replant changes the tree, and then calls rehome for all old queues. So
// one of them finds the task. If the submitter is a handler that the queue's holder runs it does nothing: replant waits
// for that holder.
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
