package sched

import (
	"fmt"
	"sync/atomic"
)

// Priority says which ready threads go first. It is strict: as long as a thread is ready, none of a lower priority is
// begun on its VP, so those may starve, which is what PriorityBatch and PriorityIdle are for. Threads of equal priority
// take turns. These are Marcel's five classes.
//
// A thread that becomes ready runs at the next scheduling point of its VP (a wait, a yield, an end) before all of lower
// priority. If a thread of a lower priority computes on, the clock takes the VP from it after one or two periods
// (Config.Period) instead of a slice. A VP with something to run does not look at what is ready on others: for an order
// across VPs put the threads on the queue of a topology item that the VPs share (Attr.Level).
type Priority int8

// The priorities.
const (
	PriorityIdle         Priority = iota - 2 // only when nothing else is ready
	PriorityBatch                            // when nothing but PriorityIdle is ready
	PriorityDefault                          // the zero value
	PriorityUserRealTime                     // for programs
	PriorityRealTime                         // for what must not wait, such as the progress of communication
)

var priorityNames = [...]string{"idle", "batch", "default", "user real-time", "real-time"}

// String is the name of the priority, such as "user real-time".
func (p Priority) String() string {
	if p.check() != nil {
		return fmt.Sprintf("Priority(%d)", int8(p))
	}
	return priorityNames[p-PriorityIdle]
}

// check returns an error if there is no such priority.
func (p Priority) check() error {
	if p < PriorityIdle || p > PriorityRealTime {
		return fmt.Errorf("marcel: there is no priority %d: choose from PriorityIdle (%d) to PriorityRealTime (%d)", int8(p), PriorityIdle, PriorityRealTime)
	}
	return nil
}

// rank is a priority as the queues count: 0 is the highest. Threads of Default priority that were preempted (CPU-bound
// threads) have a rank of their own below Default, so that a thread that is woken does not wait for all of them; one of
// them has its turn once in a slice even so (vp.choose).
type rank uint32

const (
	ranks        = 6
	defaultRank  = rank(PriorityRealTime - PriorityDefault)
	cpuBoundRank = defaultRank + 1
)

func (p Priority) rank() rank {
	r := rank(PriorityRealTime - p)
	if r > defaultRank {
		r++
	}
	return r
}

func (r rank) priority() Priority {
	if r > defaultRank {
		r--
	}
	return PriorityRealTime - Priority(r)
}

func (r rank) bit() uint32 { return 1 << r }

// rank returns the rank of the ring to which t belongs: cpuBoundRank if t has Default priority and was preempted. The
// caller owns t, or wants a hint. The taker that parked t wrote cpuBound, and the race detector does not see how t has
// come to the caller.
//
//go:norace
func (t *thread) rank() rank {
	r := t.class.load().rank()
	if c := t.co; r == defaultRank && c != nil && c.cpuBound {
		return cpuBoundRank
	}
	return r
}

// queueClass says in which queue a thread belongs when it is ready: its priority in the lower bits, as the
// difference from Default, and whether that is the queue of a node rather than its VP's own. 0 is the
// ordinary case, which the hot paths look for. It changes under the thread's mu; any thread may read
// it.
type queueClass uint32

const (
	classPrio   = 7      // bits: rank ^ defaultRank
	classPlaced = 1 << 3 // its node is in extras; once it has been set that stays
)

func (cl *queueClass) load() queueClass { return queueClass(atomic.LoadUint32((*uint32)(cl))) }

// store is sequentially consistent: the one that changes a class looks afterwards where the thread is queued, and the
// one that moves a thread looks at its class afterwards.
func (cl *queueClass) store(n queueClass) { atomic.StoreUint32((*uint32)(cl), uint32(n)) }

// clear sets the class of a descriptor that the holder of a VP gives back.
func (cl *queueClass) clear()                { storeRel((*uint32)(cl), 0) }
func (cl queueClass) placed() bool           { return cl&classPlaced != 0 }
func (cl queueClass) rank() rank             { return rank(cl&classPrio) ^ defaultRank }
func (cl queueClass) with(r rank) queueClass { return cl&^classPrio | queueClass(r^defaultRank) }

// SetPriority changes the thread's priority. If it is ready in a queue it moves to the end of its new priority's; if it
// runs, the change counts from its next scheduling point on. It does not block. The errors: ErrNoThread for the zero
// Thread or one that has ended, and one for a priority that does not exist.
func (h Thread) SetPriority(p Priority) error {
	if err := p.check(); err != nil {
		return err
	}
	return h.reassign(func(t *thread) { t.class.store(t.class.load().with(p.rank())) })
}

// Priority returns the thread's priority; PriorityDefault if it has ended.
func (h Thread) Priority() Priority {
	if h.thread == nil {
		return PriorityDefault
	}
	l := h.thread.class.load()
	if h.Ended() { // looked at afterwards: else the class may be another thread's
		return PriorityDefault
	}
	return l.rank().priority()
}
