package marcel

import (
	"context"
	"sync/atomic"
	"time"
)

// Once runs a function once, as sync.Once, for threads and goroutines alike: the others wait until that call has ended.
// A call that panics, or that ends its thread (Goexit), counts as done as well; only its caller gets the panic. The
// function must not call the same Once. Waiters are served as by a Mutex. The zero value is ready. It takes 40 bytes
// and must not be copied after first use.
type Once struct {
	mutex Mutex // held by the thread that runs the function
	done  atomic.Bool
}

// Do calls f if this is the first call, else waits until the first one has ended.
func (o *Once) Do(f func()) {
	if !o.done.Load() {
		o.mutex.Lock()
		o.first(f)
	}
}

// TryDo is Do that does not wait for another caller's function: while one runs, TryDo returns false at once. If TryDo
// returns true, the function has run, perhaps by this call.
func (o *Once) TryDo(f func()) bool { return o.DoTimeout(0, f) }

// DoTimeout is Do that waits for another caller's function for at most d. It returns false if that function has not
// ended in time. A function that the caller runs itself has no limit. If d <= 0 it is TryDo.
func (o *Once) DoTimeout(d time.Duration, f func()) bool {
	if o.done.Load() {
		return true
	}
	if !o.mutex.LockTimeout(d) {
		return o.done.Load()
	}
	o.first(f)
	return true
}

// DoContext is Do that waits for another caller's function until ctx is done: then it returns the cause, also if it
// need not have waited. For a function that the caller runs itself there is no limit.
func (o *Once) DoContext(ctx context.Context, f func()) error {
	if _, err := under(ctx); err != nil {
		return err
	}
	if o.done.Load() {
		return nil
	}
	if err := o.mutex.LockContext(ctx); err != nil {
		return err
	}
	o.first(f)
	return nil
}

// first runs f unless a call has run it; the caller holds o.mutex, and first unlocks it.
func (o *Once) first(f func()) {
	defer o.mutex.Unlock()
	if !o.done.Load() {
		defer o.done.Store(true) // also if f panics or ends the thread
		f()
	}
}
