package marcel

import (
	"context"
	"fmt"
	"slices"
	"time"
)

// Weighted is a semaphore of which a caller takes several units at once: for shares of something, such as memory. Waiters
// are served in order of arrival, so one that wants many is not overtaken for ever by those that want few. For threads and
// goroutines. It must not be copied after first use.
type Weighted struct {
	mu    Mutex
	all   int64
	free  int64
	queue []*weightedWaiter
}

// weightedWaiter is what one waiter waits for.
type weightedWaiter struct {
	units int64
	given Semaphore // has a unit once they are the waiter's
}

// NewWeighted returns a semaphore with so many units.
func NewWeighted(units int64) *Weighted { return &Weighted{all: units, free: units} }

// Acquire takes so many units, or waits until they are there. It panics for fewer than 0, and for more than there are in
// all.
func (w *Weighted) Acquire(units int64) { _ = w.AcquireContext(context.Background(), units) }

// TryAcquire takes them if they are there, and none waits for some. It does not block.
func (w *Weighted) TryAcquire(units int64) bool {
	w.check(units)
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.take(units)
}

// AcquireTimeout is Acquire for at most d; false: they were not there in time, and it takes none.
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
		w.free += units // they were given a moment ago
	}
	w.serve() // those behind may fit
	return err
}

// Release gives back so many units, which may be others than those that one Acquire took. It panics if there are more than
// in all then.
func (w *Weighted) Release(units int64) {
	w.check(units)
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.free += units; w.free > w.all {
		panic(fmt.Sprintf("marcel: release of %d units of a semaphore with %d, of which %d are taken", units, w.all, w.all-w.free+units))
	}
	w.serve()
}

func (w *Weighted) check(units int64) {
	if units < 0 || units > w.all {
		panic(fmt.Sprintf("marcel: %d units of a semaphore with %d", units, w.all))
	}
}

// take takes units that are there for a caller that overtakes no waiter. Under mu.
func (w *Weighted) take(units int64) bool {
	if len(w.queue) > 0 || w.free < units {
		return false
	}
	w.free -= units
	return true
}

// serve gives waiters what they wait for, in their order. Under mu.
func (w *Weighted) serve() {
	for len(w.queue) > 0 && w.queue[0].units <= w.free {
		x := w.queue[0]
		w.queue = w.queue[1:]
		w.free -= x.units
		x.given.Release()
	}
}
