package sched

import (
	"math/bits"
	"sync/atomic"

	"github.com/pm2-go/pm2/sched/topo"
)

// vp is a virtual processor.
type vp struct {
	sched *Scheduler
	id    int

	// The holder's alone; a thief uses q while it has borrowed the VP. The
	// clock and thieves read q, tick and running as hints.
	q               queue
	chosenRank      rank     // of the thread that choose took last
	chosenTick      uint64   // the tick of that thread; if tick has passed it a thread of Default priority runs
	pool            pool     // idle runners
	cur             *co      // runs here: the co of a thread, the base, or v.vacant. The holder, or a taker, writes it
	cpuBound        cpuBound // of its threads that were preempted
	vacant          co       // stands in cur while no LWP has v
	outsideLWP      lwp      // stands in co.l of threads that run as goroutines
	freeDescriptors *thread  // descriptors of threads that have ended, to use again
	numFree         int
	ids             ids                      // for the next lives of descriptors
	trace           atomic.Pointer[Observer] // nil unless a trace is recorded or threads are counted: see Observe
	tick            uint64                   // threads put on this VP so far: started or continued
	polling         polling                  // whether its thread polls
	spawned         uint64                   // threads spawned here
	ended           uint64                   // threads that ended here
	stolen          uint64                   // threads that thieves took away
	seizures        uint64                   // times that the VP, or its OS thread, was taken from a thread: seizures and preemptions
	helpAt          int64                    // cycles: not before this time wake another VP to steal
	planAt          int64                    // cycles: not before this time ask planners
	requesting      bool                     // Scheduler.request may name this VP
	fence           atomic.Uint32            // see share
	choices         uint32                   // of threads, so far
	randomState     uint32                   // of random, never 0
	wakesToLook     uint32                   // wakes before it looks again whether it may wake another VP
	spins           Estimator
	leaf            *queueNode // its leaf in the tree of nodes
	pu              *topo.Item
	neighbours      [][]*vp // the other VPs, in rings of equal distance, the nearest first
	cpu             int
	self            VPSet   // itself
	sortRequest     *thread // posted to say that the queue is to be sorted anew: see sort.go
	counts          counts
	_               [128]byte

	word        vpWord // which LWP holds it
	_           [124]byte
	inbox       atomic.Pointer[thread] // threads made ready from outside: any OS thread pushes, the holder takes all
	urgent      atomic.Uint32          // priorities above Default in the inbox (bits by rank)
	sortPending atomic.Uint32          // 1: sortRequest is in the inbox
	disabled    atomic.Bool            // disabled; under barred.mu
	numBlocking atomic.Int32           // threads in Blocking
	numSeized   atomic.Int32           // threads from which the VP was taken while they were stopped or in the kernel, and which run on without it until they come back
	_           [128]byte

	idle    idleState
	numLWPs int // alive; under lwps.mu
	_       [128]byte

	timers timers // under its own lock
	_      [128]byte

	watch   vpWatch // the clock's
	pursuit pursuit
}

// mostUsed bounds the descriptors that a VP keeps for use again.
const maxFreeDescriptors = 4096

// pop takes the next ready thread. Holder only.
func (v *vp) pop() *thread {
	if v.inbox.Load() != nil {
		v.collect()
	}
	if v.q.nonDefault|v.sched.placed.Load() != 0 {
		return v.choose(ranks - 1)
	}
	t := v.q.threadRing.pop()
	if t != nil && t.set.Load() != nil {
		return v.popAllowed(t, ranks-1)
	}
	return t
}

// popFor is pop for t, which yields: no thread of a lower priority runs.
func (v *vp) popFor(t *thread) *thread {
	if v.inbox.Load() != nil {
		v.collect()
	}
	if l := t.class.load(); uint32(l)|v.q.nonDefault|v.sched.placed.Load() != 0 {
		return v.choose(l.rank())
	}
	x := v.q.threadRing.pop()
	if x != nil && x.set.Load() != nil {
		return v.popAllowed(x, defaultRank)
	}
	return x
}

// swap is popFor for t, which yields and leaves its runner parked; o is what the next co does for t.
// Mostly o is nothing: t changes places with the next thread of the ring. That takes one
// access to the queue instead of two, and none after the switch.
//
// So t is queued while it still runs, and must not be run before it is parked. It is not:
// only the holder of v, or a taker that borrows v from user code, takes threads out of v's
// queue. The holder is t's LWP until the thread that it switches to leaves the scheduler.
func (v *vp) swap(t *thread) (next *thread, o switchOp) {
	if v.inbox.Load() != nil || uint32(t.class.load())|v.q.nonDefault|v.sched.placed.Load() != 0 {
		return v.popFor(t), opReady
	}
	x := v.q.threadRing.oldest()
	if x == nil {
		return nil, opNone
	}
	if x.set.Load() != nil {
		return v.popFor(t), opReady
	}
	v.q.threadRing.rotate(t)
	return x, opNone
}

// collect moves the inbox, a stack, to the queue, in order of arrival.
func (v *vp) collect() {
	if v.urgent.Load() != 0 {
		v.urgent.Store(0)
	}
	var rev *thread
	for t := v.inbox.Swap(nil); t != nil; {
		rev, t, t.link = t, t.link, rev
	}
	for t := rev; t != nil; {
		next := t.link
		t.link = nil
		if t == v.sortRequest {
			v.sortPending.Store(0) // first: a class that changes from now on posts again
			v.sortNow()
		} else {
			v.add(t)
		}
		t = next
	}
	if v.disabled.Load() {
		v.purge()
	}
}

// hasWork is exact for the holder and when v is free, a racy hint otherwise.
func (v *vp) hasWork() bool {
	return v.hasOwn() || v.sched.placed.Load() != 0 && v.readyAbove() != 0
}

// hasOwn is hasWork without what is ready on nodes: what a thief may take. To all but the holder it is a racy hint, which
// decides where they look and not what they take. It reads the fields itself: the race detector watches the methods of the
// queue, which are for the holder.
//
//go:norace
func (v *vp) hasOwn() bool {
	return v.q.head != v.q.tail || v.q.nonDefault&^lifoBit != 0 || v.inbox.Load() != nil
}

// peep returns how many threads of Default priority v's queue holds, and the bits of all other ranks that are there: a racy
// hint, as hasOwn is.
//
//go:norace
func (v *vp) peekQueue() (n int, others uint32) {
	return int(max(int32(v.q.tail-v.q.head), 0)), v.q.nonDefault &^ lifoBit // a thread may be taken between the two reads
}

// above returns the bits of all ranks of which a thread is ready on a node above v.
func (v *vp) readyAbove() (b uint32) {
	for n := v.leaf; n != nil; n = n.up {
		b |= n.ready.Load()
	}
	return b
}

// queued is a racy hint.
func (v *vp) queueLen() int {
	n, others := v.peekQueue()
	return n + bits.OnesCount32(others) // at least that many
}

// ticks is a racy hint.
//
//go:norace
func (v *vp) ticks() uint32 { return uint32(v.tick) }

// pressed is a racy hint. It tells whether a thread is ready that has a higher priority than the one
// that runs: then the clock stops that one before its slice is over. A thread of Default priority ranks above a CPU-bound one;
// behind any other thread of Default it waits for the end of the slice (README.md, section 4).
func (v *vp) outranked() bool {
	n, b := v.peekQueue()
	b |= v.urgent.Load() | v.readyAbove()
	if n != 0 || v.inbox.Load() != nil {
		b |= defaultRank.bit()
	}
	return b != 0 && highest(b) < v.currentRank()
}

// runs is the rank of the thread that runs, where that is known, and Default otherwise: a racy hint.
//
//go:norace
func (v *vp) currentRank() rank {
	if v.chosenTick == v.tick {
		return v.chosenRank
	}
	return defaultRank
}

// descriptor returns the descriptor of an ended thread, or a new one. Holder only.
func (v *vp) descriptor() *thread {
	t := v.freeDescriptors
	if t == nil {
		return newThread()
	}
	v.freeDescriptors, t.link = t.link, nil
	v.numFree--
	return t
}

// recycle keeps the descriptor of an ended thread. Holder only.
func (v *vp) recycle(t *thread) {
	if v.numFree >= maxFreeDescriptors {
		return
	}
	t.confine(nil)
	t.class.clear()
	storeRel64(&t.gen, v.ids.next())
	t.link, v.freeDescriptors = v.freeDescriptors, t
	v.numFree++
}
