package sched

import (
	"errors"
	"sync"
)

// Goroutines inside a test of testing/synctest may use threads; the threads, and all that a scheduler starts, are
// outside of it, in real time.
//
// A channel or timer that is made inside belongs to that test: if a goroutine outside uses it the runtime panics. So
// neither may come into a pool, and a goroutine inside waits on a synctestLock instead: a locked mutex, which its waker
// unlocks. To synctest that is no durable wait, so the time inside stands still meanwhile. A time limit would never be
// over, and is refused.

// inSynctest reports whether the caller is inside a test of testing/synctest. The time there begins in the year 2000,
// before epoch, which is when the program began.
func inSynctest() bool {
	const years = 20 * 365 * 24 * 3600 * 1_000_000_000
	t := nanotime()
	return t < -years || t > years
}

// newSynctestLock returns a locked mutex, for BoundedWait.synctestLock.
func newSynctestLock() *sync.Mutex {
	m := new(sync.Mutex)
	m.Lock()
	return m
}

// needsTime panics if b is the wait of a goroutine inside a test of testing/synctest: a wait with a limit would never
// end there.
func (b *BoundedWait) needsTime() {
	if b.synctestLock != nil {
		panic("sched: a goroutine in a bubble of testing/synctest waits with a time limit or a context for what is outside of it")
	}
}

// errInSynctest is the error of New inside a test of testing/synctest, to which the goroutines of the scheduler would
// belong.
var errInSynctest = errors.New("sched: a scheduler cannot start in a bubble of testing/synctest: start it before, by sched.Default for instance")
