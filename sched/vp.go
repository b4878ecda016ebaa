package sched

import (
	"math/bits"
	"sync/atomic"

	"github.com/pm2-go/pm2/sched/topo"
)

// vp is a virtual processor: run queue, timers, idle runners, and the LWP that holds it. One LWP at a time holds it
// (word); a taker may borrow it from a holder that is not inside the scheduler (borrow.go). The fields stand in groups,
// by which parties write them, on cache lines of their own.
type vp struct {
	sched *Scheduler
	id    int

	// Only the holder uses these fields, and a thief q while it has borrowed the VP; except that the clock, thieves and
	// Stats read q, the ticks and the counters as hints.
	q               queue
	chosenRank      rank                     // the rank of the thread that choose has taken last
	chosenTick      uint64                   // the tick of that thread; if tick has passed it a thread of Default priority runs
	pool            pool                     // idle runners
	cur             *co                      // what runs here: the co of a thread, the base, or vacant. The holder writes it, or a taker
	cpuBound        cpuBound                 // the account of CPU-bound threads
	vacant          co                       // what cur points to while no LWP has the VP
	outsideLWP      lwp                      // what co.l points to for threads that run as goroutines
	freeDescriptors *thread                  // descriptors of ended threads, for the next ones; linked through thread.link
	numFree         int                      // the number of freeDescriptors
	ids             ids                      // the numbers of the next threads
	trace           atomic.Pointer[Observer] // nil unless a trace is recorded or threads are counted: see Observe
	tick            uint64                   // threads put on this VP so far: started or continued
	polling         polling                  // whether the thread that runs here polls
	spawned         uint64                   // threads spawned here
	ended           uint64                   // threads that ended here
	stolen          uint64                   // threads that thieves have taken away
	seizures        uint64                   // times that the VP, or its OS thread, was taken from a thread: seizures and preemptions
	helpAt          int64                    // cycles: before this time v wakes no other VP to steal
	planAt          int64                    // cycles: before this time v asks no planners
	requesting      bool                     // Scheduler.request may name this VP
	fence           atomic.Uint32            // share stores it between two steps that must not change places
	choices         uint32                   // turns that choose has given: they say when nodes, and under LIFO old threads, get one
	randomState     uint32                   // the state of random; never 0
	wakesToLook     uint32                   // how many more wakes v makes before it looks again whether it may wake another VP
	spins           Estimator                // for how long threads here spin before they park
	leaf            *queueNode               // its leaf in the tree of nodes
	pu              *topo.Item               // its processing unit; nil: not known
	vpsByDistance   [][]*vp                  // the other VPs, in rings of equal distance, the nearest first
	cpu             int                      // the CPU to which its LWPs are bound
	self            VPSet                    // the set of this VP alone
	sortRequest     *thread                  // stands in the inbox to ask the holder to sort the queue: see sort.go
	counts          counts
	_               [128]byte

	word        vpWord // which LWP holds the VP
	_           [124]byte
	inbox       atomic.Pointer[thread] // threads made ready from outside, a stack: any OS thread pushes, the holder takes all
	urgent      atomic.Uint32          // the ranks above Default of threads in the inbox, as bits
	sortPending atomic.Uint32          // 1: sortRequest is in the inbox
	disabled    atomic.Bool            // the VP is out of use (DisableVP); written under barred.mu
	numBlocking atomic.Int32           // threads in Blocking
	numSeized   atomic.Int32           // threads that have lost the VP while stopped or in the kernel, and run on without it until they come back
	_           [128]byte

	idle    idleState
	numLWPs int // LWPs of the VP that are alive, spares included; under lwps.mu
	_       [128]byte

	timers timers // under its own lock
	_      [128]byte

	watch   vpWatch // only the clock uses it
	pursuit pursuit
}

// maxFreeDescriptors bounds vp.numFree.
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

// popFor is pop for t, which yields: it takes no thread of a lower priority than t's. Holder only.
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

// swap is popFor for t, which yields and leaves its runner parked; o is what the next co does for t. Mostly that is
// nothing: t changes places with the next thread of the ring. That takes one access to the queue instead of two, and
// none after the switch.
//
// So t is queued while it still runs, and must not be run before it is parked. It is not: only the holder of v, or a
// taker that borrows v from user code, takes threads out of v's queue. The holder is t's LWP until the thread that it
// switches to leaves the scheduler.
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

// hasWork reports whether a thread is ready for v: exact for the holder and while v is free, a racy hint otherwise.
func (v *vp) hasWork() bool {
	return v.hasOwn() || v.sched.placed.Load() != 0 && v.readyAbove() != 0
}

// hasOwn reports whether a thread is ready in v's own queue or inbox, where a thief may take it. For all but the holder
// it is a racy hint, which decides where they look and not what they take. It reads the fields itself, because the race
// detector watches the methods of the queue.
//
//go:norace
func (v *vp) hasOwn() bool {
	return v.q.head != v.q.tail || v.q.nonDefault&^lifoBit != 0 || v.inbox.Load() != nil
}

// peekQueue returns how many threads of Default priority v's queue holds, and the other ranks of which it holds
// threads, as bits: a racy hint, as hasOwn is.
//
//go:norace
func (v *vp) peekQueue() (n int, others uint32) {
	return int(max(int32(v.q.tail-v.q.head), 0)), v.q.nonDefault &^ lifoBit // a thread may be taken between the two reads
}

// readyAbove returns the ranks of which threads are ready on nodes above v, as bits.
func (v *vp) readyAbove() (b uint32) {
	for n := v.leaf; n != nil; n = n.up {
		b |= n.ready.Load()
	}
	return b
}

// queueLen returns how many threads v's queue holds, at least: a racy hint.
func (v *vp) queueLen() int {
	n, others := v.peekQueue()
	return n + bits.OnesCount32(others) // at least that many
}

// ticks returns the lower half of v.tick: a racy hint.
//
//go:norace
func (v *vp) ticks() uint32 { return uint32(v.tick) }

// outranked reports whether a thread is ready that has a higher priority than the one that runs: a racy hint. Then the
// clock stops the running thread before its slice is over. A thread of Default priority ranks above a CPU-bound one;
// behind any other thread of Default priority it waits for the end of the slice (README.md, section 4).
func (v *vp) outranked() bool {
	n, b := v.peekQueue()
	b |= v.urgent.Load() | v.readyAbove()
	if n != 0 || v.inbox.Load() != nil {
		b |= defaultRank.bit()
	}
	return b != 0 && highest(b) < v.currentRank()
}

// currentRank returns the rank of the thread that runs on v if that is known, and Default's otherwise: a racy hint.
//
//go:norace
func (v *vp) currentRank() rank {
	if v.chosenTick == v.tick {
		return v.chosenRank
	}
	return defaultRank
}

// descriptor returns a descriptor for a new thread: that of an ended thread, or a new one. Holder only.
func (v *vp) descriptor() *thread {
	t := v.freeDescriptors
	if t == nil {
		return newThread()
	}
	v.freeDescriptors, t.link = t.link, nil
	v.numFree--
	return t
}

// recycle keeps the descriptor of an ended thread for the next one, with a new number. Holder only.
func (v *vp) recycle(t *thread) {
	if v.numFree >= maxFreeDescriptors {
		return
	}
	t.confine(nil)
	t.class.clear()
	storeRel64(&t.id, v.ids.next())
	t.link, v.freeDescriptors = v.freeDescriptors, t
	v.numFree++
}
