// Package copies copies what must not be copied. go vet has to complain about each
// line.
package copies

import "github.com/pm2-go/pm2/marcel"

func pass(
	_ marcel.Semaphore,
	_ marcel.Mutex,
	_ marcel.RecursiveMutex,
	_ marcel.RWMutex,
	_ marcel.SpinLock,
	_ marcel.Cond,
	_ marcel.Barrier,
	_ marcel.Once,
	_ marcel.Latch,
	_ marcel.WaitGroup,
	_ marcel.Group,
	_ marcel.WaitQueue,
) {
}

var _ = pass
