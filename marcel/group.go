package marcel

import (
	"context"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/pm2-go/pm2/sched"
)

// Group runs functions that may fail as threads, and waits for all of them: what errgroup.Group (golang.org/x/sync) is
// to goroutines. The first error is what Wait returns; the others are dropped. With NewGroup that error also cancels a
// context, so that the others can give up. Its methods may be called by threads and goroutines. The zero value is a
// group without a context and without a limit. It takes 72 bytes and must not be copied after first use.
type Group struct {
	wg     WaitGroup
	limit  *Semaphore              // has a unit for each function that may still begin; nil: no limit
	cancel context.CancelCauseFunc // of the context of NewGroup; nil: none
	failed atomic.Bool             // a function has failed, and its thread writes err
	err    error                   // the first error; the thread that has set failed writes it before it counts as done
}

// NewGroup returns a group, and a context derived from ctx for its functions, which is canceled by the first of them
// that fails, with its error as the cause, and else when Wait returns.
func NewGroup(ctx context.Context) (*Group, context.Context) {
	ctx, cancel := context.WithCancelCause(ctx)
	return &Group{cancel: cancel}, ctx
}

// SetLimit limits the functions that run at a time to n from now on; a negative n means no limit. With
// 0 Go waits for ever. It panics while functions of the group are running, and must not be called at
// the same time as Go.
func (g *Group) SetLimit(n int) {
	if !g.wg.TryWait() {
		panic(fmt.Sprintf("marcel: Group.SetLimit(%d) while functions of the group are running: set it before the first Go, or after Wait", n))
	}
	if g.limit = nil; n >= 0 {
		g.limit = NewSemaphore(n)
	}
}

// Go runs f on a new thread. If the group has a limit Go waits until the limit lets f run. A thread
// that ends without returning from f (Goexit, Cancel) counts as one that has not failed. A panic in f
// ends the program, as in Spawn. It panics if f is nil.
func (g *Group) Go(f func() error) Thread {
	mustRun(f)
	if g.limit != nil {
		g.limit.Acquire()
	}
	return g.run(f)
}

// TryGo is Go that does not wait. If the limit does not let f run now, TryGo returns false and f does
// not run.
func (g *Group) TryGo(f func() error) bool {
	mustRun(f)
	if g.limit != nil && !g.limit.TryAcquire() {
		return false
	}
	g.run(f)
	return true
}

// mustRun panics if f is nil. The caller has no unit of the limit yet, which would be lost.
func mustRun(f func() error) {
	if f == nil {
		panic("marcel: Group.Go of a nil function")
	}
}

// run runs f on a new thread, which releases the unit of the limit that the caller has acquired.
func (g *Group) run(f func() error) Thread {
	g.wg.Add(1)
	return SpawnBody(&groupBody{calls.WrapperOf(f), g, g.limit, f})
}

// groupBody is what a thread of a Group runs.
type groupBody struct {
	sched.Wrapper
	group *Group
	limit *Semaphore
	fn    func() error
}

// Run implements Body.
func (a *groupBody) Run() {
	g := a.group
	defer g.wg.ended()
	if a.limit != nil {
		defer a.limit.Release()
	}
	if err := a.fn(); err != nil && g.failed.CompareAndSwap(false, true) {
		g.err = err
		if g.cancel != nil {
			g.cancel(err)
		}
	}
}

// Wait waits until all functions have returned, cancels the context of NewGroup, and returns the first
// error, nil if there was none. The group may be used again afterwards; it keeps its first error.
func (g *Group) Wait() error {
	g.wg.Wait()
	return g.outcome()
}

// TryWait is Wait if no function is running; done: err is what Wait returns. It does not block.
func (g *Group) TryWait() (done bool, err error) { return g.WaitTimeout(0) }

// WaitTimeout is Wait for at most d. If done is true err is what Wait returns; else the time was over, and the
// functions go on. If d <= 0 it is TryWait.
func (g *Group) WaitTimeout(d time.Duration) (done bool, err error) {
	if !g.wg.WaitTimeout(d) {
		return false, nil
	}
	return true, g.outcome()
}

// WaitContext is Wait until ctx is done: then it returns the cause, and the functions go on.
func (g *Group) WaitContext(ctx context.Context) error {
	if err := g.wg.WaitContext(ctx); err != nil {
		return err
	}
	return g.outcome()
}

// Case returns the case "Wait", to be taken when no function is running; Wait, which then does not wait, tells how they
// ended.
func (g *Group) Case() Case { return g.wg.Case() }

// outcome returns the first error, and cancels the context of NewGroup. All functions have returned.
func (g *Group) outcome() error {
	var err error
	if g.failed.Load() {
		err = g.err
	}
	if g.cancel != nil {
		g.cancel(err)
	}
	return err
}
