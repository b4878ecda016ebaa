package marcel

import (
	"context"
	"fmt"
	"slices"
	"time"
)

// WeightedSemaphore is a semaphore of which a caller takes several units at once: for shares of something, such as
// memory. Waiters are served in order of arrival, so waiters that want few units do not overtake one that wants many.
// Threads and goroutines may use it. It must not be copied after first use.
type WeightedSemaphore struct {
	mu        Mutex             // guards free and queue
	total     int64             // units; constant
	available int64             // units that no caller has
	queue     []*weightedWaiter // in order of arrival
}

// weightedWaiter is one waiter of a WeightedSemaphore.
type weightedWaiter struct {
	units   int64
	granted Semaphore // has a unit once the waiter has got its units
}

// NewWeightedSemaphore returns a semaphore with so many units.
func NewWeightedSemaphore(units int64) *WeightedSemaphore {
	return &WeightedSemaphore{total: units, available: units}
}

// Acquire takes so many units, or waits until they are free. It panics if units is negative, or more than
// NewWeightedSemaphore was given.
func (w *WeightedSemaphore) Acquire(units int64) { _ = w.AcquireContext(context.Background(), units) }

// TryAcquire takes so many units if they are free and no caller waits. It does not wait for units.
func (w *WeightedSemaphore) TryAcquire(units int64) bool {
	w.check(units)
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.take(units)
}

// AcquireTimeout is Acquire for at most d: it returns false, and takes none, if the units were not free in time. If
// d <= 0 it is TryAcquire.
func (w *WeightedSemaphore) AcquireTimeout(units int64, d time.Duration) bool {
	ctx, stop := context.WithTimeout(context.Background(), d)
	defer stop()
	return w.TryAcquire(units) || w.AcquireContext(ctx, units) == nil
}

// AcquireContext is Acquire until ctx is done: then it returns the cause, and takes none.
func (w *WeightedSemaphore) AcquireContext(ctx context.Context, units int64) error {
	w.check(units)
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	w.mu.Lock()
	if w.take(units) {
		w.mu.Unlock()
		return nil
	}
	x := &weightedWaiter{units: units}
	w.queue = append(w.queue, x)
	w.mu.Unlock()
	if ctx.Done() == nil {
		x.granted.Acquire()
		return nil
	}
	err := x.granted.AcquireContext(ctx)
	if err == nil {
		return nil
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if i := slices.Index(w.queue, x); i >= 0 {
		w.queue = slices.Delete(w.queue, i, i+1)
	} else {
		w.available += units // serve has given them a moment ago
	}
	w.serve() // the waiters behind may want fewer
	return err
}

// Release gives back so many units; callers may give units back in other portions than they have taken them. It panics
// if more units would be free than there are.
func (w *WeightedSemaphore) Release(units int64) {
	w.check(units)
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.available += units; w.available > w.total {
		panic(fmt.Sprintf("marcel: release of %d units of a semaphore with %d, of which %d are taken", units, w.total, w.total-w.available+units))
	}
	w.serve()
}

// check panics unless a caller can take so many units.
func (w *WeightedSemaphore) check(units int64) {
	if units < 0 || units > w.total {
		panic(fmt.Sprintf("marcel: %d units of a semaphore with %d", units, w.total))
	}
}

// take takes so many units if they are free and no caller waits, and reports whether it did. Under mu.
func (w *WeightedSemaphore) take(units int64) bool {
	if len(w.queue) > 0 || w.available < units {
		return false
	}
	w.available -= units
	return true
}

// serve gives the waiters their units, in order of arrival, as long as enough are free. Under mu.
func (w *WeightedSemaphore) serve() {
	for len(w.queue) > 0 && w.queue[0].units <= w.available {
		x := w.queue[0]
		w.queue = w.queue[1:]
		w.available -= x.units
		x.granted.Release()
	}
}
