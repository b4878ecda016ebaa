// Package taskqueue has the ways to hand small tasks to pollers that the papers compare, behind one interface, so that
// they are measured and counted alike:
//
//	tree      pioman's engine: a queue per item of the machine, try-locks, lock-free submission
//	levels    the same places, a spinlock each, every level visited every round (TD09)
//	spinlock  one global queue under a spinlock
//	fifo      one global lock-free queue: a bounded ring (Vyukov's), as later PIOMans have it
//
// TD09 is Trahay & Denis, "A scalable and generic task scheduling system for communication
// libraries", 2009.
//
//	Submit(job) ──▶ queue of job.CPUs, or the global one
//	                      ▲
//	Poll(vp) ─────────────┘   a round: runs what there is, job.Run on the poller's stack
//
// # Simulation
//
// Every variant calls its Touch before each access to a line that several processors write, the tree by way of pioman's
// Watch. Machine runs pollers as coroutines that are switched at these calls, the one whose clock is behind first, and
// counts what the accesses would do to the caches: which lines travel, which try-locks fail. The code is that which is
// timed for real; the machine is not, and no figure of it is a time.
package taskqueue
