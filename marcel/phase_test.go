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
)

// Arrive and Wait apart, with limited waits in between: none is let through before
// all have arrived, and an arrival is never lost, nor counted twice.
func TestPhases(t *testing.T) {
	worlds(t, func(w *world) {
		for _, n := range []int{1, 2, 6} {
			var (
				b       = marcel.NewBarrier(n)
				arrived atomic.Int64
				rounds  = effort.Of(400)
			)
			for i := range n {
				w.Go(func() {
					r := rand.New(rand.NewPCG(uint64(i), 13))
					for round := range rounds {
						arrived.Add(1)
						d := time.Duration(r.IntN(40)) * time.Microsecond
						switch r.IntN(5) {
						case 0: // an attempt that may be in vain, and then has not been
							arrived.Add(-1)
							whatHoldersDo(r)
							arrived.Add(1)
							if !b.WaitTimeout(d) && shortly(d, b.WaitContext) != nil && !b.TryWait() {
								b.Wait()
							}
						case 1:
							b.Wait()
						default:
							p := b.Arrive()
							whatHoldersDo(r)
							if !p.TryWait() && !p.WaitTimeout(d) && shortly(d, p.WaitContext) != nil {
								p.Wait()
							}
							if !p.TryWait() || !p.WaitTimeout(0) {
								w.Error("a phase has ended, then not")
							}
						}
						if a := arrived.Load(); a < int64(n*(round+1)) {
							w.Errorf("round %d of %d parties: let through when %d had come in all", round, n, a)
						}
					}
				})
			}
			w.all.Wait()
		}
	})
}

func TestPhaseForms(t *testing.T) {
	onThreadAndOff(t, func(t *testing.T) {
		b := marcel.NewBarrier(2)
		if b.TryWait() || b.WaitTimeout(-1) || b.WaitTimeout(50*time.Microsecond) {
			t.Error("let through alone")
		}
		cause := errors.New("enough")
		over, end := context.WithCancelCause(t.Context())
		end(cause)
		if err := b.WaitContext(over); !errors.Is(err, cause) {
			t.Errorf("the context is over: %v", err)
		}
		if err := shortly(time.Millisecond, b.WaitContext); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("the deadline is over: %v", err)
		}
		p := b.Arrive() // the first one: the others took back that they had come
		if p.TryWait() || p.WaitTimeout(0) || p.WaitTimeout(time.Millisecond) || shortly(time.Millisecond, p.WaitContext) == nil {
			t.Error("the phase has ended, with one of two")
		}
		if !b.TryWait() || !p.TryWait() || p.WaitContext(t.Context()) != nil {
			t.Error("the phase has not ended, with two of two")
		}
		p.Wait()
		if err := p.WaitContext(over); !errors.Is(err, cause) {
			t.Errorf("ended, but the context is over: %v", err)
		}
		q := b.Arrive()
		if q == p || q.TryWait() || !p.TryWait() {
			t.Error("the next phase is another one")
		}
		var none marcel.Phase
		none.Wait()
		if !none.TryWait() || !none.WaitTimeout(0) || none.WaitContext(t.Context()) != nil {
			t.Error("the zero Phase has ended")
		}
		panics(t, "nil pointer", func() { (*marcel.Barrier)(nil).Arrive() })
	})
}

// phaseModel: the state is the number of arrivals. The name of a call says
// for which phase it waits.
func phaseModel(parties int) porcupine.Model {
	return porcupine.Model{
		Init: func() any { return 0 },
		Step: func(state, in, out any) (bool, any) {
			n := state.(int)
			switch x := in.(call); x.name {
			case "Arrive":
				return out.(int) == n/parties, n + 1
			default: // has phase x.phase ended?
				return out.(bool) == (n/parties > x.phase), n
			}
		},
		DescribeOperation: describe,
	}
}

func TestPhasesAreLinearizable(t *testing.T) {
	const parties = 3
	worlds(t, func(w *world) {
		for round := range effort.Of(60) {
			var (
				h     history
				b     = marcel.NewBarrier(parties)
				mu    sync.Mutex
				known = map[marcel.Phase]int{} // which number a phase has
				done  sync.WaitGroup
			)
			done.Add(parties)
			for id := range parties {
				w.Go(func() {
					defer done.Done()
					r := rand.New(rand.NewPCG(uint64(id), uint64(round)))
					for phase := range 6 {
						begin := h.now.Add(1)
						p := b.Arrive()
						h.add(id, "Arrive", phase, begin, h.now.Add(1))
						mu.Lock()
						if k, ok := known[p]; ok && k != phase {
							w.Errorf("phase %d is number %d for another party", phase, k)
						}
						known[p] = phase
						mu.Unlock()
						d := time.Duration(r.IntN(40)) * time.Microsecond
						ended := false
						for !ended {
							begin := h.now.Add(1)
							switch r.IntN(4) {
							case 0:
								ended = p.TryWait()
							case 1:
								ended = p.WaitTimeout(d)
							case 2:
								ended = shortly(d, p.WaitContext) == nil
								if !ended {
									continue // it may have been late all the time
								}
							default:
								p.Wait()
								ended = true
							}
							h.addCall(id, call{"wait", phase}, ended, begin, h.now.Add(1))
						}
					}
				})
			}
			done.Wait()
			h.check(w, phaseModel(parties))
		}
	})
}
