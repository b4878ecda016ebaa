package pioman

import (
	"github.com/pm2-go/pm2/marcel"
	"github.com/pm2-go/pm2/sched"
)

// What the engine needs of marcel. Nothing else in this package knows it.

// threadSemaphore is where one of marcel's threads sleeps.
type threadSemaphore = marcel.Semaphore

// mutex guards what is changed rarely. Never held while a handler runs. It serves threads
// and goroutines alike, and starts no scheduler.
type mutex = marcel.Mutex

// caller tells how the caller waits. A few nanoseconds.
func caller() waiting {
	if marcel.OnThread() {
		return thread{}
	}
	return goroutine{}
}

// thread is the waiting of one of marcel's threads.
type thread struct{}

func (thread) yield()            { marcel.Yield() }
func (thread) blocking(f func()) { marcel.Blocking(f) }

func (thread) acquire(s *semaphore)              { s.thread.Acquire() }
func (thread) acquireOrCancel(s *semaphore) bool { return s.thread.AcquireOrCancel() }
func (thread) release(s *semaphore)              { s.thread.Release() }

// sharedByDefault tells what the default scheduler knows of other processes on our
// CPUs, for the default engine while it is explicit. It does not start that
// scheduler for the sake of the answer.
func sharedByDefault() bool {
	s := sched.Running()
	return s != nil && s.Shared()
}

// threadsReady tells whether other threads wait for the VP of the calling thread.
func threadsReady() bool { return marcel.Ready() }

// onThread tells whether the caller is one of marcel's threads.
func onThread() bool { return marcel.OnThread() }
