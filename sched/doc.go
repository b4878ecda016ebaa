// Package sched schedules user-space threads on bound OS threads, on two levels.
//
//	threads   t t t t t      t t t            what package marcel gives out
//	            \  |  /        |
//	VPs        [ VP 0 ]     [ VP 1 ]          run queues, one per CPU
//	              |            |
//	LWPs       L1 (L2)      L3 (L4 L5)        goroutines locked to OS threads that are
//	              |            |              bound to the VP's CPU; spares in parentheses
//	CPUs         #0           #1
//
// Go's scheduler cannot be told where to run a goroutine, nor tell when a core
// falls idle. This one can: threads are goroutines that it switches itself, straight
// from stack to stack (package direct), on OS threads that stay on their CPU; at its
// idle, context-switch and timer points it fires hooks (package hooks), from which a
// progress engine polls networks. A thread that waits in Go (a channel, sync, net,
// time.Sleep) gives its OS thread back and comes back at its next call; one that blocks
// in the kernel loses its VP to a spare LWP; one that computes past its slice is stopped
// by Go's asynchronous preemption. So the others go on: the scheduler activations'
// purpose (Anderson et al., 1991) reached as in Marcel (Danjean, Namyst, Russell, 2000),
// from user space.
//
// The protocols are written down in README.md beside this file: the switch, the VP's
// word, waking, threads that keep their VP or their OS thread, requests and stealing,
// ends, order of locks. Some of them are checked as models (testdata/spin).
//
// Users see package marcel. This package is for those who build primitives:
//
//	c := sched.Enter()         // the calling thread holds its VP; nil on a goroutine
//	mu.Lock()                  // a Spin
//	if nothing there {
//		c.Wait(&queue, &mu)    // parks; unlocks mu when parked; no Leave after it
//		return
//	}
//	...
//	mu.Unlock()
//	c.Leave()
//
// and for those who need a scheduler of their own (New), its hooks, or to
// decide how an idle process sleeps (Sleeper).
//
// Guarantees. All methods may be called from threads, goroutines and, unless
// they block, hooks. Nothing allocates in steady state when called from a
// thread, except SpawnWith and what starts goroutines and OS threads for the
// first time. Under the race detector release stores become atomic
// (store_other.go); all else is the same code.
//
// On platforms and Go releases that package direct does not know, and with the build tag
// portable, the Go scheduler switches threads, on OS threads that are not bound: the
// portable mode, of which the first scheduler tells (docs/platforms.md).
package sched
