package sched

import (
	"iter"
	"sync/atomic"

	"github.com/pm2-go/pm2/asm"
	"github.com/pm2-go/pm2/sched/topo"
)

// queueNode is a run queue that the VPs of a topology item share. A VP looks into the nodes above it, up to the
// machine's, while any node has a ready thread (Scheduler.placed). A node without VPs is a hold: its threads do not
// run, such as those of a bubble that has not been woken.
type queueNode struct {
	sched *Scheduler
	item  *topo.Item   // the outermost item with these VPs; nil: none
	up    *queueNode   // the node of the next larger item; nil: none
	down  []*queueNode // the nodes whose up this one is
	vps   []*vp        // those below item

	_     [128]byte
	mu    Spin
	queue queue         // under mu
	ready atomic.Uint32 // the ranks of the threads in q, as bits: written under mu, read by VPs without it
	count atomic.Int32  // the number of threads in q: written under mu, read without it
	turn  atomic.Uint32 // how often announce has looked for a VP: says with which VP it begins
	_     [128]byte
}

// Queue is the run queue of an item of the topology, or one that no VP looks at.
type Queue = queueNode

// Queue returns the run queue of an item; nil: the item has no VPs here.
func (s *Scheduler) Queue(it *topo.Item) *Queue { return s.nodes[it] }

// RootQueue returns the run queue that all VPs share.
func (s *Scheduler) RootQueue() *Queue { return s.root }

// Leaf returns the innermost run queue of VP number vp: other VPs do not look there.
func (s *Scheduler) Leaf(vp int) *Queue { return s.vps[vp].leaf }

// Queues lists the run queues that VPs look at: the queue of the whole machine first, and each queue after that of the
// next larger item. They stay the same for the life of s.
func (s *Scheduler) Queues() []*Queue { return s.root.tree(nil) }

// tree appends n and all nodes below it to list.
func (n *queueNode) tree(list []*Queue) []*Queue {
	list = append(list, n)
	for _, d := range n.down {
		list = d.tree(list)
	}
	return list
}

// NewHold makes a queue for threads that are not to run.
func (s *Scheduler) NewHold() *Queue { return s.newNode(nil, nil, nil) }

// newNode returns an empty node; the caller adds it to the down of up.
func (s *Scheduler) newNode(it *topo.Item, up *queueNode, vps []*vp) *queueNode {
	n := &queueNode{sched: s, item: it, up: up, vps: vps}
	n.mu.ranked(rankNode)
	return n
}

// Item returns the item of the topology to which the queue belongs; nil for a hold, and for a machine that is not
// known.
func (n *queueNode) Item() *topo.Item { return n.item }

// Up returns the queue of the next larger item; nil: there is none.
func (n *queueNode) Up() *Queue { return n.up }

// VPs yields the numbers of the VPs that look into the queue, each with its PU, which is nil if it is not known.
func (n *queueNode) VPs() iter.Seq2[int, *topo.Item] {
	return func(yield func(int, *topo.Item) bool) {
		for _, v := range n.vps {
			if !yield(v.id, v.pu) {
				return
			}
		}
	}
}

// Waiting returns how many threads wait in this queue, without those in the queues below: a hint.
func (n *queueNode) Waiting() int { return int(n.count.Load()) }

// IsHold reports whether no VP looks into the queue.
func (n *queueNode) IsHold() bool { return len(n.vps) == 0 }

func (n *queueNode) name() string {
	if n.item == nil {
		return "nothing"
	}
	return n.item.String()
}

// node returns the node in whose queue t waits when it is ready; nil: its VP's own.
func (t *thread) node() *queueNode {
	if !t.class.load().placed() {
		return nil
	}
	return t.extras.Load().node.Load()
}

// put queues t, which is ready and in no queue, in the queue of n, its node. Where t belongs may change meanwhile:
// SetPriority, SetVPs and Place write that, then look whether t waits in a node, and sort that node anew (Resort). put
// writes where t waits (extras.queuedOn), then looks whether t belongs there. So one of the two sees what the other has
// written. Any thread, goroutine or hook may call put.
func (n *queueNode) put(t *thread) {
	for x := t.extras.Load(); n != nil; n = t.node() {
		at := n.reaching(t)
		at.mu.Lock()
		x.queuedOn.Store(at)
		if t.node() == n && n.reaching(t) == at {
			at.add(t)
			at.mu.Unlock()
			at.announce(t)
			return
		}
		x.queuedOn.Store(nil)
		at.mu.Unlock()
	}
	t.vpHint().post(t)
}

// reaching returns n, or if t may run on none of n's VPs, the nearest node above with a VP on which t may run.
func (n *queueNode) reaching(t *thread) *queueNode {
	if t.set.Load() == nil || len(n.vps) == 0 {
		return n
	}
	for ; n.up != nil; n = n.up {
		for _, v := range n.vps {
			if t.inSet(v) {
				return n
			}
		}
	}
	return n
}

// add queues t, and updates what VPs read without the lock. Under mu.
func (n *queueNode) add(t *thread) {
	n.queue.add(t)
	n.count.Add(1)
	if len(n.vps) > 0 {
		n.sched.placed.Add(1)
	}
	n.ready.Store(n.queue.present()) // last: a VP that sees it has seen placed
}

// settle updates what VPs read without the lock after so many threads were taken out of q. Under mu.
func (n *queueNode) settle(taken int) {
	n.ready.Store(n.queue.present())
	n.count.Add(int32(-taken))
	if len(n.vps) > 0 {
		n.sched.placed.Add(uint32(-taken))
	}
}

// announce wakes a sleeping VP for t, which has been added. VPs that are awake look by themselves.
func (n *queueNode) announce(t *thread) {
	s := n.sched
	if s.wants.Load() == 0 || len(n.vps) == 0 {
		return
	}
	s.wakeClock()
	if v := t.vpHint(); s.wants.Load() >= wantsVP && !(n.covers(v) && v.wakeFor(t)) {
		first := int(n.turn.Add(1))
		for i := range n.vps {
			if n.vps[(first+i)%len(n.vps)].wakeFor(t) {
				return
			}
		}
		if s.planners.Load() != nil {
			n.kickNearby()
		}
	}
}

// kickNearby kicks the nearest VP that sleeps outside of n, so that it asks the planners whether it may help. It does
// so once in helpGap at most, as wakeHelper. The figure for which it is there: BenchmarkBubbleBesideSleepingVP of
// package marcel (docs/decisions/mechanisms.md).
func (n *queueNode) kickNearby() {
	s := n.sched
	now := asm.Cycles()
	if now < s.kickNearbyAt.Load() {
		return
	}
	s.kickNearbyAt.Store(now + s.helpGap.Load())
	for n = n.up; n != nil; n = n.up {
		for _, v := range n.vps {
			if v.idle.asleep() && !v.idle.waking() {
				v.kick()
				return
			}
		}
	}
}

// covers reports whether v is one of n's VPs.
func (n *queueNode) covers(v *vp) bool { return v.leaf.Under(n) }

// wakeFor wakes v for t if v sleeps, no LWP is on its way to it, and t may run there. It reports whether it did.
func (v *vp) wakeFor(t *thread) bool {
	if !v.idle.asleep() || v.idle.waking() || v.mode() != vpFree || !t.mayRun(v) {
		return false
	}
	v.wakeSpare(toClaim, true)
	return true
}

// take takes the oldest thread of rank r that may run on v out of the queue; nil: there is none. If the lock is taken,
// take waits for it, or returns nil if wait is false. The holder of v calls it.
func (n *queueNode) take(r rank, v *vp, wait bool) *thread {
	if wait {
		n.mu.Lock()
	} else if !n.mu.TryLock() {
		return nil
	}
	var t *thread
	if n.queue.present()&r.bit() != 0 {
		var one [1]*thread
		if v.takeAllowed(n.queue.of(r), one[:]) == 1 {
			t = one[0]
			t.extras.Load().queuedOn.Store(nil)
		}
		if n.queue.took(r); t != nil {
			n.settle(1)
		}
	}
	n.mu.Unlock()
	return t
}

// Resort sorts the queue anew: threads that belong to another queue by now go there, the others into the rings of their
// priorities, in the same order. Any thread, goroutine or hook may call it.
func (n *queueNode) Resort() {
	var misplaced []*thread
	n.mu.Lock()
	for r := range rank(ranks) {
		if n.queue.present()&r.bit() == 0 {
			continue
		}
		o := n.queue.of(r)
		for range o.len() {
			t := o.pop()
			at := t.node() // once: it changes meanwhile
			switch {
			case at == nil || at.reaching(t) != n:
				t.extras.Load().queuedOn.Store(nil)
				misplaced = append(misplaced, t)
			case t.rank() == r:
				o.push(t)
			default:
				n.queue.add(t)
			}
		}
		n.queue.took(r)
	}
	n.settle(len(misplaced))
	n.mu.Unlock()
	for _, t := range misplaced {
		t.enqueue()
	}
}

// enqueue queues t, which is ready and in no queue. Any thread, goroutine or hook may call it.
func (t *thread) enqueue() {
	if n := t.node(); n != nil {
		n.put(t)
	} else {
		t.vpHint().post(t)
	}
}

// assign sets in which node's queue t waits from now on when it is ready; nil: in its VP's own. Afterwards the caller
// calls sort, or Resort of the former node. Under t.mu, or while only the caller knows t.
func (t *thread) assign(n *queueNode) {
	l := t.class.load()
	if n == nil {
		t.class.store(l &^ classPlaced)
		return
	}
	t.extras.Load().node.Store(n)
	t.class.store(l | classPlaced)
}

// Under reports whether n is o, or below it.
func (n *queueNode) Under(o *queueNode) bool {
	for ; n != nil; n = n.up {
		if n == o {
			return true
		}
	}
	return false
}

// Relieve assigns up to most of the threads that wait in n to o, the oldest first, if may allows it. It returns how
// many. Afterwards the caller calls n.Resort, which moves them.
func (n *queueNode) Relieve(o *Queue, most int, may func(Thread) bool) (moved int) {
	n.mu.Lock()
	for r := range rank(ranks) {
		if n.queue.present()&r.bit() == 0 {
			continue
		}
		for q, i := n.queue.of(r), uint32(0); i < uint32(q.len()) && moved < most; i++ {
			t := *q.at(q.head + i)
			// A joiner of t has its lock while it looks for work on this node: then t stays.
			if may(Thread{t, t.extras.Load().id}) && o.reaching(t) == o && t.mu.TryLock() {
				t.assign(o)
				t.mu.Unlock()
				moved++
			}
		}
	}
	n.mu.Unlock()
	return moved
}

// Fullest returns the queue below n in which the most threads wait; nil if all are empty.
func (n *queueNode) Fullest() (most *Queue) {
	for _, d := range n.down {
		for _, x := range []*queueNode{d, d.Fullest()} {
			if x != nil && x.count.Load() > 0 && (most == nil || x.count.Load() > most.count.Load()) {
				most = x
			}
		}
	}
	return most
}
