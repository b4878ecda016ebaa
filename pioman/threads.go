package pioman

import (
	"github.com/pm2-go/pm2/marcel"
	"github.com/pm2-go/pm2/sched"
)

// What the engine needs of marcel, beside a case for its Select (thread_case.go). All of it serves threads and plain goroutines
// alike, and starts no scheduler.

// semaphore is what a passive waiter sleeps on: one at a time.
type semaphore = marcel.Semaphore

// mutex guards what is changed rarely. Never held while a handler runs.
type mutex = marcel.Mutex

// yield lets others run.
func yield() { marcel.Yield() }

// blockingCall runs f, which blocks in the kernel, without holding up others.
func blockingCall(f func()) { marcel.Blocking(f) }

// threadsReady tells whether other threads wait for the VP of the calling thread.
func threadsReady() bool { return marcel.Ready() }

// onThread tells whether the caller is one of marcel's threads. A few nanoseconds.
func onThread() bool { return marcel.OnThread() }

// sharedByDefault tells what the default scheduler knows of other processes on our
// CPUs, for the default engine while it is explicit. It does not start that
// scheduler for the sake of the answer.
func sharedByDefault() bool {
	s := sched.Running()
	return s != nil && s.Shared()
}
