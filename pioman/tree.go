package pioman

import (
	"slices"
	"sync/atomic"

	"github.com/pm2-go/pm2/asm"
	"github.com/pm2-go/pm2/sched"
	"github.com/pm2-go/pm2/sched/topo"
)

// CPUSet is a set of processors by the numbers that the system gives them. Empty: any.
type CPUSet = topo.CPUSet

// taskTree is the queues of an engine (PIOMan: Trahay & Denis, 2009). It is the scheduler's tree: a queue hangs on each of its
// run queues (sched.Scheduler.Queues), one for each item of the machine's topology that has siblings, down to the virtual
// processors. On no scheduler, and on one with a single virtual processor, it is the root alone.
//
//	         root                    tasks that may run anywhere: the root's queue,
//	      /        \                 the same in every tree of an engine
//	   NUMA 0     NUMA 1             a CPU set: the lowest item that covers it
//	  /  |  \     /  |  \
//	leaf leaf ...       leaf         a virtual processor's
//
// # Which processor visits which queue
//
// A round of a virtual processor goes from its leaf to the root. If k children of an item have polled lately, each of them
// visits the item in every k-th round, multiplied up the path, so that an item sees about one visit per round of all that
// is below it. Processors that sleep or compute do not count: a poller that is alone in its part of the machine visits all
// of its path in every round, and messages do not wait for visits that will not come.
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
type taskTree struct {
	laid     []*sched.Queue // what it hangs on
	nodes    []*taskNode    // outer ones first: nodes[0] is the root
	queues   []*Queue       // of nodes
	ways     [][]*taskNode  // by virtual processor: from the leaf to the root; none if there is the root alone
	visitors []visitor      // by virtual processor
	byCPU    []*taskNode    // leaves; nil: no virtual processor there

	_        [line]byte
	surveyed atomic.Int64  // asm.Cycles of the last survey; the poller that makes one writes
	counting atomic.Uint32 // 1: a survey counts: a try-lock, never spun on
	_        [line - 16]byte
}

// taskNode is a place in the tree with its queue.
type taskNode struct {
	queue  *Queue
	up     *taskNode
	vps    []int
	cpus   CPUSet // of these
	others CPUSet // of the tree's other ones

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

// plant makes the tree over a scheduler's run queues. Its root is the engine's.
func (e *Engine) plant(laid []*sched.Queue) *taskTree {
	tr := &taskTree{laid: laid, nodes: []*taskNode{{queue: e.root}}}
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

// grow makes what is below the root.
func (tr *taskTree) grow(e *Engine) {
	root := tr.nodes[0]
	on := map[*sched.Queue]*taskNode{tr.laid[0]: root}
	for _, q := range tr.laid[1:] {
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

// way is what a virtual processor visits, from its leaf to the root; nil: what is on none does, all queues.
func (tr *taskTree) way(vp int) []*taskNode {
	if uint(vp) < uint(len(tr.ways)) {
		return tr.ways[vp]
	}
	return nil
}

// visits is the nodes that a virtual processor visits, or what is on none: all.
func (tr *taskTree) visits(vp int) []*taskNode {
	if way := tr.way(vp); way != nil {
		return way
	}
	return tr.nodes
}

// covering is the queue of the lowest node that covers those CPUs of the set which have
// virtual processors; the root's if none has. It allocates nothing.
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

// round makes a round of a virtual processor. whole: it visits all queues above the leaf, and leaves none to
// other processors.
func (tr *taskTree) round(e *Engine, vp int, whole bool) (out roundOutcome) {
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
func (tr *taskTree) everywhere(e *Engine) (out roundOutcome) {
	for i := len(tr.queues) - 1; i >= 0; i-- {
		out = max(out, tr.queues[i].round(e.params.round))
	}
	return out
}

// survey counts the processors that poll, and visits the queues that no other poller visits. Only one poller at
// a time counts, at most once per period.
func (tr *taskTree) survey(e *Engine) (out roundOutcome) {
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

// count finds the processors that made rounds since the last time, and so the share of each node. The caller holds
// counting.
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

// replant gives the engine the tree of a scheduler, and brings the tasks that are in queues of another one to the root:
// their CPUs were meant of other processors. The caller holds e.mu; not inside a handler.
func (e *Engine) replant(laid []*sched.Queue) {
	old := e.tree.Load()
	if slices.Equal(old.laid, laid) {
		return
	}
	e.tree.Store(e.plant(laid))
	for _, q := range old.queues {
		e.rehome(q)
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
