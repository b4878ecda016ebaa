package pioman

import (
	"github.com/pm2-go/pm2/marcel"
	"github.com/pm2-go/pm2/sched"
)

// The marcel flavour: what the engine needs from those whose threads it serves, in
// terms of marcel, which works for its threads and for plain goroutines
// alike. Nothing else in this package knows marcel; flavours for system threads
// or for none at all replace this file.

// semaphore is what a passive waiter sleeps on.
type semaphore = marcel.Semaphore

// mutex guards what is changed rarely. Never held while a handler runs.
type mutex = marcel.Mutex

// othersReady tells whether a thread waits for the caller's virtual processor, so
// that spinning would cost it time. Always false on a plain goroutine.
func othersReady() bool { return marcel.Ready() }

// yield lets other threads (goroutines) run.
func yield() { marcel.Yield() }

// blocking runs f, which blocks in the kernel, without holding up other threads.
func blocking(f func()) { marcel.Blocking(f) }

// sharedByDefault tells what the default scheduler knows of other processes on our
// CPUs, for the default engine while it is explicit. It does not start that
// scheduler for the sake of the answer.
func sharedByDefault() bool { return marcel.OnThread() && sched.Default().Shared() }

// Enable hooks the default engine to marcel's default scheduler, which it starts
// if need be: from now on requests progress whenever a virtual processor is
// idle, switches threads, or computes past a timer period. stop unhooks it:
// the engine is explicit again, who waits polls for himself. stop may be called
// again, without effect. ErrAttached if it is enabled already.
func Enable() (stop func(), err error) {
	return Default().Attach(sched.Default())
}
