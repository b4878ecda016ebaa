package pioman

// waiting is how the caller waits, which the engine asks of it at each wait: one of marcel's threads (threads.go), or a
// plain goroutine (goroutines.go), which may be locked to its OS thread, or called from C. Both may wait for the same engine at the
// same time, and for the same completion.
type waiting interface {
	// yield lets others run.
	yield()
	// blocking runs f, which blocks in the kernel, without holding up others.
	blocking(f func())
	// acquire takes the unit of s, or waits for it. Only the caller of claim may.
	acquire(s *semaphore)
	// acquireOrCancel is acquire; false: the caller was cancelled, and has no unit.
	acquireOrCancel(s *semaphore) bool
	// release gives the unit to the claimer of s. From anywhere; never blocks.
	release(s *semaphore)
}

// semaphore is what a passive waiter sleeps on: one at a time, which claims it first, and
// one unit for each claim.
type semaphore struct {
	by     waiting         // the claimer writes it, before it lets itself be found
	thread threadSemaphore // one of marcel's threads sleeps here
	unit   chan struct{}   // a goroutine sleeps here; of capacity 1, so that giving never blocks
}

// init comes before first use.
func (s *semaphore) init() {
	s.thread.Uninterruptible()
	s.unit = make(chan struct{}, 1)
}

// claim makes the semaphore the caller's.
func (s *semaphore) claim(by waiting) { s.by = by }

// Acquire waits for the unit.
func (s *semaphore) Acquire() { s.by.acquire(s) }

// AcquireOrCancel is Acquire until the caller is cancelled.
func (s *semaphore) AcquireOrCancel() bool { return s.by.acquireOrCancel(s) }

// TryAcquire takes the unit if it is there, whichever claim it was for.
func (s *semaphore) TryAcquire() bool {
	select {
	case <-s.unit:
		return true
	default:
		return s.thread.TryAcquire()
	}
}

// Release gives the unit.
func (s *semaphore) Release() { s.by.release(s) }

// yield lets others run.
func yield() { caller().yield() }
