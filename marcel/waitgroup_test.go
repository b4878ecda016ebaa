package marcel_test

import (
	"context"
	"errors"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/anishathalye/porcupine"

	"github.com/pm2-go/pm2/internal/test/effort"
	"github.com/pm2-go/pm2/marcel"
	"github.com/pm2-go/pm2/sched"
)

// None passes before all is done, round after round, though the next round begins
// while those of the last one are still on their way out.
func TestWaitGroup(t *testing.T) {
	worlds(t, func(w *world) {
		const waiters, workers = 3, 4
		var (
			g          marcel.WaitGroup
			begin, end = marcel.NewBarrier(waiters + workers), marcel.NewBarrier(waiters + workers)
			finished   atomic.Int64
			rounds     = effort.Of(500)
		)
		g.Add(workers)
		for i := range waiters {
			w.Go(func() {
				r := rand.New(rand.NewPCG(uint64(i), 10))
				for round := range rounds {
					begin.Wait()
					passed := false
					switch d := time.Duration(r.IntN(60)) * time.Microsecond; r.IntN(4) {
					case 0:
						passed = g.TryWait()
					case 1:
						passed = g.WaitTimeout(d)
					case 2:
						passed = shortly(d, g.WaitContext) == nil
					default:
						g.Wait()
						passed = true
					}
					if n := finished.Load(); passed && n < int64((round+1)*workers) {
						w.Errorf("passed in round %d when %d of %d had finished", round, n, (round+1)*workers)
					}
					end.Wait()
				}
			})
		}
		for i := range workers {
			w.Go(func() {
				r := rand.New(rand.NewPCG(uint64(i), 11))
				for range rounds {
					begin.Wait()
					whatHoldersDo(r)
					finished.Add(1)
					g.Done()
					end.Wait()
					g.Add(1)
				}
			})
		}
	})
}

// A wait ends with its round even if the next one begins at once.
func TestWaitGroupRoundsOverlap(t *testing.T) {
	run(t, undisturbed(), func(*sched.Scheduler) {
		var g marcel.WaitGroup
		g.Add(1)
		passed := 0
		first := marcel.Spawn(func() { g.Wait(); passed++ })
		marcel.Yield()
		g.Done()
		g.Add(1)
		second := marcel.Spawn(func() { g.Wait(); passed++ })
		must(t, first.Join())
		marcel.Yield()
		if passed != 1 {
			t.Errorf("%d have passed, want 1", passed)
		}
		g.Done()
		must(t, second.Join())
	})
}

func TestWaitGroupGo(t *testing.T) {
	worlds(t, func(w *world) {
		w.Go(func() {
			var g marcel.WaitGroup
			var n atomic.Int32
			for i := range 20 {
				g.Go(func() {
					marcel.Yield()
					n.Add(1)
					if i%2 == 0 {
						marcel.Exit()
					}
				})
			}
			g.Wait()
			if n.Load() != 20 {
				w.Errorf("%d of 20 were done", n.Load())
			}
			if err := g.Go(func() {}).Join(); err != nil {
				w.Error(err)
			}
		})
	})
}

func TestCountdownForms(t *testing.T) {
	onThreadAndOff(t, func(t *testing.T) {
		var g marcel.WaitGroup
		l := marcel.NewLatch(2)
		cause := errors.New("enough")
		over, end := context.WithCancelCause(t.Context())
		end(cause)
		for name, x := range map[string]interface {
			Wait()
			TryWait() bool
			WaitTimeout(time.Duration) bool
			WaitContext(context.Context) error
		}{"WaitGroup": &g, "Latch": l} {
			if name == "WaitGroup" {
				g.Add(2)
			}
			for _, d := range []time.Duration{-1, 0, 50 * time.Microsecond, time.Millisecond} {
				begin := time.Now()
				if x.WaitTimeout(d) || x.TryWait() || time.Since(begin) < d {
					t.Errorf("%s: %v: over after %v", name, d, time.Since(begin))
				}
			}
			if err := x.WaitContext(over); !errors.Is(err, cause) {
				t.Errorf("%s: the context is over: %v", name, err)
			}
			if err := shortly(time.Millisecond, x.WaitContext); !errors.Is(err, context.DeadlineExceeded) {
				t.Errorf("%s: the deadline is over: %v", name, err)
			}
			go func() {
				for range 2 {
					if name == "Latch" {
						l.CountDown()
					} else {
						g.Done()
					}
				}
			}()
			if !x.WaitTimeout(patience) || x.WaitContext(t.Context()) != nil || !x.TryWait() || !x.WaitTimeout(-1) {
				t.Errorf("%s: does not end", name)
			}
			x.Wait()
			if err := x.WaitContext(over); !errors.Is(err, cause) {
				t.Errorf("%s: open, but the context is over: %v", name, err)
			}
		}
		panics(t, "negative WaitGroup counter", g.Done)
		panics(t, "negative WaitGroup counter", func() { g.Add(-5) })
		g.Wait() // nothing has changed
		if l.CountDown(); l.Count() != 0 || !l.TryWait() {
			t.Error("an open latch that is counted down stays open")
		}
		panics(t, "a latch of -1", func() { marcel.NewLatch(-1) })
		var zero marcel.Latch
		zero.Wait()
		marcel.NewLatch(0).Wait()
	})
}

// countModel: the state is the number.
var countModel = porcupine.Model{
	Init: func() any { return 0 },
	Step: func(state, in, out any) (bool, any) {
		n := state.(int)
		switch name := in.(call).name; {
		case name == "Add":
			return true, n + 1
		case name == "Done":
			return n > 0, n - 1
		default: // one of the waits
			return out.(bool) == (n == 0), n
		}
	},
	DescribeOperation: describe,
}

func TestWaitGroupIsLinearizable(t *testing.T) {
	worlds(t, func(w *world) {
		for round := range effort.Of(80) {
			var (
				h    history
				g    marcel.WaitGroup
				done sync.WaitGroup
			)
			done.Add(clients)
			for id := range clients {
				w.Go(func() {
					defer done.Done()
					r := rand.New(rand.NewPCG(uint64(id), uint64(round)))
					for range calls - 4 {
						d := time.Duration(r.IntN(60)) * time.Microsecond
						switch r.IntN(6) {
						case 0:
							h.do(id, "TryWait", g.TryWait)
						case 1:
							h.do(id, "WaitTimeout", func() bool { return g.WaitTimeout(d) })
						case 2:
							h.do(id, "Wait", func() bool { g.Wait(); return true })
						default:
							h.do(id, "Add", func() bool { g.Add(1); return true })
							if r.IntN(2) == 0 {
								marcel.Yield()
							}
							h.do(id, "Done", func() bool { g.Done(); return true })
						}
					}
				})
			}
			done.Wait()
			h.check(w, countModel)
		}
	})
}

// All pass when the last one has counted, none before.
func TestLatch(t *testing.T) {
	worlds(t, func(w *world) {
		const n = 5
		for range effort.Of(100) {
			var (
				l       = marcel.NewLatch(n)
				counted atomic.Int32
				all     sync.WaitGroup
			)
			all.Add(n + 3)
			for range n {
				w.Go(func() {
					defer all.Done()
					counted.Add(1)
					l.CountDown()
				})
			}
			for range 3 {
				w.Go(func() {
					defer all.Done()
					l.Wait()
					if got := counted.Load(); got != n {
						w.Errorf("open after %d of %d", got, n)
					}
				})
			}
			all.Wait()
		}
	})
}
