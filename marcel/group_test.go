package marcel_test

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"sync/atomic"
	"testing"

	"github.com/pm2-go/pm2/marcel"
)

// All have run when Wait returns, never more than the limit at a time, for threads and
// goroutines that call Go.
func TestGroupRunsAllWithinItsLimit(t *testing.T) {
	worlds(t, func(w *world) {
		for _, limit := range []int{-1, 1, 3} {
			w.Go(func() {
				const n = 200
				var g marcel.Group
				g.SetLimit(limit)
				var done, now, most atomic.Int64
				for range n {
					g.Go(func() error {
						at := now.Add(1)
						for m := most.Load(); at > m && !most.CompareAndSwap(m, at); m = most.Load() {
						}
						marcel.Yield()
						now.Add(-1)
						done.Add(1)
						return nil
					})
				}
				if err := g.Wait(); err != nil || done.Load() != n {
					w.Errorf("%v, and %d of %d have run", err, done.Load(), n)
				}
				if limit > 0 && most.Load() > int64(limit) {
					w.Errorf("%d ran at a time, the limit is %d", most.Load(), limit)
				}
			})
		}
	})
}

// The first error cancels the context, with itself as the cause, and is what Wait returns.
func TestGroupFirstErrorCancels(t *testing.T) {
	worlds(t, func(w *world) {
		w.Go(func() {
			g, ctx := marcel.NewGroup(context.Background())
			for range 3 {
				g.Go(func() error {
					marcel.Select(marcel.Done(ctx))
					return fmt.Errorf("given up: %w", context.Cause(ctx))
				})
			}
			g.Go(func() error { return errOops })
			if err := g.Wait(); err != errOops || context.Cause(ctx) != errOops {
				w.Errorf("%v, and the context's cause is %v; want %v", err, context.Cause(ctx), errOops)
			}
			g.Go(func() error { return errors.New("another one") })
			if err := g.Wait(); err != errOops {
				w.Errorf("in the second round %v, want the first error", err)
			}
		})
	})
}

// Without an error it is Wait that ends the context; not WaitContext that gave up, nor a
// Select.
func TestGroupContextEndsWithWait(t *testing.T) {
	worlds(t, func(w *world) {
		w.Go(func() {
			g, ctx := marcel.NewGroup(context.Background())
			var goOn marcel.Semaphore
			g.Go(func() error { goOn.Acquire(); return nil })
			given, cancel := context.WithCancelCause(context.Background())
			cancel(errOops)
			if err := g.WaitContext(given); err != errOops {
				w.Errorf("WaitContext with a context that is done: %v", err)
			}
			if marcel.TrySelect(g.Case()) != -1 {
				w.Errorf("its case is ready while a function runs")
			}
			if ctx.Err() != nil {
				w.Errorf("its context is done while a function runs: %v", ctx.Err())
			}
			goOn.Release()
			marcel.Select(g.Case())
			if err := g.WaitContext(context.Background()); err != nil || ctx.Err() == nil {
				w.Errorf("after the end: %v, and the context's error is %v", err, ctx.Err())
			}
		})
	})
}

// TryGo runs nothing beyond the limit; SetLimit refuses to change it meanwhile.
func TestGroupTryGo(t *testing.T) {
	worlds(t, func(w *world) {
		w.Go(func() {
			var g marcel.Group
			g.SetLimit(1)
			var goOn marcel.Semaphore
			wait := func() error { goOn.Acquire(); return nil }
			if !g.TryGo(wait) || g.TryGo(wait) {
				w.Errorf("of two with a limit of 1 not exactly the first one was run")
			}
			func() {
				defer func() {
					if recover() == nil {
						w.Errorf("SetLimit has changed the limit of a group that is at work")
					}
				}()
				g.SetLimit(2)
			}()
			goOn.Release()
			must(w, g.Wait())
			g.SetLimit(0)
			if g.TryGo(wait) {
				w.Errorf("with a limit of 0 TryGo has run something")
			}
		})
	})
}

// One that exits or is canceled is counted as done, and makes room.
func TestGroupOfThoseThatDoNotReturn(t *testing.T) {
	worlds(t, func(w *world) {
		w.Go(func() {
			var g marcel.Group
			g.SetLimit(1)
			var never marcel.Semaphore
			g.Go(func() error { runtime.Goexit(); return errOops })
			must(w, g.Go(func() error { never.Acquire(); return errOops }).Cancel())
			g.Go(func() error { return nil })
			must(w, g.Wait())
		})
	})
}
