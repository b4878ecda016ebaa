package marcel

import (
	"context"
	"fmt"
	"slices"
	"time"
)

// WeightedSemaphore is a semaphore of which a caller takes several units at once: for shares of something, such as memory. Waiters
// are served in order of arrival, so waiters that want few units do not overtake one that wants many. Threads and goroutines may
// use it. It must not be copied after first use.
type Weighted struct {
	mu    Mutex             // guards free and queue
	all   int64             // units; constant
	free  int64             // units that no caller has
	queue []*weightedWaiter // in order of arrival
}

// weightedWaiter is one waiter of a WeightedSemaphore.
type weightedWaiter struct {
	units int64
	given Semaphore // has a unit once the waiter has got its units
}

// NewWeightedSemaphore returns a semaphore with so many units.
func NewWeighted(units int64) *Weighted { return &Weighted{all: units, free: units} }

// Acquire takes so many units, or waits until they are free. It panics if units is negative, or more than NewWeightedSemaphore was
// given.
func (w *Weighted) Acquire(units int64) { _ = w.AcquireContext(context.Background(), units) }

// TryAcquire takes so many units if they are free and no caller waits. It does not wait for units.
func (w *Weighted) TryAcquire(units int64) bool {
	w.check(units)
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.take(units)
}

// AcquireTimeout is Acquire for at most d; false: the units were not free in time, and it takes none. If d <= 0 it is TryAcquire.
func (w *Weighted) AcquireTimeout(units int64, d time.Duration) bool {
	ctx, stop := context.WithTimeout(context.Background(), d)
	defer stop()
	return w.TryAcquire(units) || w.AcquireContext(ctx, units) == nil
}

// AcquireContext is Acquire until ctx is done: then it returns the cause, and takes none.
func (w *Weighted) AcquireContext(ctx context.Context, units int64) error {
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
		x.given.Acquire()
		return nil
	}
	err := x.given.AcquireContext(ctx)
	if err == nil {
		return nil
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if i := slices.Index(w.queue, x); i >= 0 {
		w.queue = slices.Delete(w.queue, i, i+1)
	} else {
		w.free += units // serve has given them a moment ago
	}
	w.serve() // the waiters behind may want fewer
	return err
}

// Release gives back so many units; callers may give units back in other portions than they have taken them. It panics if more
// units would be free than there are.
func (w *Weighted) Release(units int64) {
	w.check(units)
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.free += units; w.free > w.all {
		panic(fmt.Sprintf("marcel: release of %d units of a semaphore with %d, of which %d are taken", units, w.all, w.all-w.free+units))
	}
	w.serve()
}

// check panics unless a caller can take so many units.
func (w *Weighted) check(units int64) {
	if units < 0 || units > w.all {
		panic(fmt.Sprintf("marcel: %d units of a semaphore with %d", units, w.all))
	}
}

// take takes so many units if they are free and no caller waits, and tells whether it did. Under mu.
func (w *Weighted) take(units int64) bool {
	if len(w.queue) > 0 || w.free < units {
		return false
	}
	w.free -= units
	return true
}

// serve gives the waiters their units, in order of arrival, as long as enough are free. Under mu.
func (w *Weighted) serve() {
	for len(w.queue) > 0 && w.queue[0].units <= w.free {
		x := w.queue[0]
		w.queue = w.queue[1:]
		w.free -= x.units
		x.given.Release()
	}
}
