package sched

import "sync/atomic"

// Entering the scheduler is a store (co.inside) and a load (the VP's word), each several times
// in a microsecond; taking something from a VP's queue from outside is rare. So the barrier
// between the two is the taker's: membarrier(2) has the kernel interrupt the process's other
// CPUs, some microseconds. (Biased locks do the same.) Where there is no such call the threads
// pass a barrier themselves: their co.id carries fencedBit, so Enter goes by comeBack, which
// has one. In the portable mode, where takers change the id of a thread that runs, all go that way.
var fenced bool // see chooseMode

// fence is a full barrier for all CPUs that run a thread of this process.
func fence() {
	if !fenced {
		membarrier()
	}
}

// announce is the store of Enter, and a barrier.
func (c *co) announce() { atomic.SwapUint32(&c.inside, c.rest|isIn) }
