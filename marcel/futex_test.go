package marcel_test

import (
	"context"
	"errors"
	"math/rand/v2"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/anishathalye/porcupine"

	"github.com/pm2-go/pm2/internal/test/effort"
	"github.com/pm2-go/pm2/marcel"
	"github.com/pm2-go/pm2/sched"
)

// A mutex of one word, with threads that wait only if it is taken (Drepper, Futexes
// are tricky): if a wake-up were lost it would stand still. Time limits and moves
// to another queue and back are mixed in.
func TestFutexMakesALock(t *testing.T) {
	worlds(t, func(w *world) {
		const parties = 6
		var (
			q, aside marcel.Futex
			word     atomic.Uint32 // 0 free, 1 taken, 2 taken and a thread may wait
			count    int           // guarded by it
			each     = effort.Of(1000)
		)
		take := func(r *rand.Rand) {
			d := time.Duration(1+r.IntN(60)) * time.Microsecond
			if word.CompareAndSwap(0, 1) {
				return
			}
			for word.Swap(2) != 0 {
				switch r.IntN(4) {
				case 0:
					q.WaitTimeout(&word, 2, d)
				case 1:
					_ = shortly(d, func(ctx context.Context) error { return q.WaitContext(ctx, &word, 2) })
				default:
					q.Wait(&word, 2)
				}
			}
		}
		release := func(r *rand.Rand) {
			if word.Swap(0) != 2 {
				return
			}
			if r.IntN(4) > 0 {
				q.Wake(1)
				return
			}
			q.Requeue(&aside, 0, r.IntN(3)) // while they are there none wakes them
			aside.Requeue(&q, 1, -1)
			q.Wake(1)
		}
		for i := range parties {
			w.Go(func() {
				r := rand.New(rand.NewPCG(uint64(i), 9))
				for range each {
					take(r)
					c := count
					whatHoldersDo(r)
					count = c + 1
					release(r)
				}
			})
		}
		w.all.Wait()
		if count != parties*each {
			w.Errorf("%d of %d updates are left", count, parties*each)
		}
		if n := q.WakeAll() + aside.WakeAll(); n != 0 {
			w.Errorf("%d still wait", n)
		}
	})
}

// waiters makes n threads wait in q, one behind the other.
func waiters(q *marcel.Futex, n int, order *[]int) (all []marcel.Thread) {
	var word atomic.Uint32
	for i := range n {
		all = append(all, marcel.Spawn(func() {
			if !q.Wait(&word, 0) {
				*order = append(*order, -1)
			}
			*order = append(*order, i)
		}))
	}
	marcel.Yield()
	return all
}

func TestFutexIsFIFO(t *testing.T) {
	run(t, undisturbed(), func(*sched.Scheduler) {
		var q, to marcel.Futex
		var order []int
		all := waiters(&q, 10, &order)
		see := func(what string, want ...int) {
			t.Helper()
			marcel.Yield()
			if !slices.Equal(order, want) {
				t.Errorf("%s: woken %v, want %v", what, order, want)
			}
			order = nil
		}
		if n := q.Wake(0); n != 0 {
			t.Errorf("Wake(0) woke %d", n)
		}
		see("Wake(0)")
		if n := q.Wake(2); n != 2 {
			t.Errorf("Wake(2) woke %d", n)
		}
		see("Wake(2)", 0, 1)
		if n, m := q.Requeue(&to, 1, 3); n != 1 || m != 3 {
			t.Errorf("Requeue(1, 3) woke %d and moved %d", n, m)
		}
		see("Requeue", 2)
		if n, m := to.Requeue(&q, 0, 1); n != 0 || m != 1 { // number 3, behind the others
			t.Errorf("Requeue(0, 1) woke %d and moved %d", n, m)
		}
		if n, m := q.Requeue(&q, 1, 1); n != 1 || m != 0 {
			t.Errorf("Requeue to itself woke %d and moved %d", n, m)
		}
		see("Requeue to itself", 6)
		if n := q.WakeAll(); n != 4 {
			t.Errorf("WakeAll woke %d", n)
		}
		see("WakeAll", 7, 8, 9, 3)
		if n := to.Wake(10); n != 2 {
			t.Errorf("Wake(10) woke %d", n)
		}
		see("the others", 4, 5)
		for _, x := range all {
			must(t, x.Join())
		}
	})
}

func TestFutexForms(t *testing.T) {
	onThreadAndOff(t, func(t *testing.T) {
		var q marcel.Futex
		var word atomic.Uint32
		word.Store(7)
		if q.Wait(&word, 6) || q.WaitTimeout(&word, 6, time.Hour) {
			t.Error("waited, though the word has another value")
		}
		if err := q.WaitContext(t.Context(), &word, 6); !errors.Is(err, marcel.ErrChanged) {
			t.Errorf("the word has another value: %v", err)
		}
		for _, d := range []time.Duration{-1, 0, 50 * time.Microsecond, time.Millisecond} {
			begin := time.Now()
			if q.WaitTimeout(&word, 7, d) || time.Since(begin) < d {
				t.Errorf("%v: over after %v", d, time.Since(begin))
			}
		}
		begin := time.Now()
		if err := shortly(time.Millisecond, func(ctx context.Context) error { return q.WaitContext(ctx, &word, 7) }); err == nil || time.Since(begin) < time.Millisecond {
			t.Errorf("%v after %v", err, time.Since(begin))
		}
		if n := q.WakeAll(); n != 0 {
			t.Errorf("%d have given up, but are there", n)
		}
		panics(t, "nil pointer", func() { q.Wait(nil, 0) })
		panics(t, "nil pointer", func() { (*marcel.Futex)(nil).Wait(&word, 7) })
		panics(t, "nil pointer", func() { (*marcel.Futex)(nil).Wake(1) })
		panics(t, "nil pointer", func() { q.Requeue(nil, 1, 1) })
		if marcel.OnThread() {
			must(t, marcel.Spawn(func() {}).Join())
		}
	})
}

// Wake-ups that meet time limits: as many come out woken as Wake says.
func TestWakeAgainstTimeLimit(t *testing.T) {
	worlds(t, func(w *world) {
		const parties = 8
		var (
			q, to      marcel.Futex
			word       atomic.Uint32
			woken      atomic.Int64
			begin, end = marcel.NewBarrier(parties + 1), marcel.NewBarrier(parties + 1)
			rounds     = effort.Of(races / parties / 4)
		)
		for i := range parties {
			limit := time.Duration(20+i) * time.Microsecond
			w.Go(func() {
				for range rounds {
					begin.Wait()
					if q.WaitTimeout(&word, 0, limit) {
						woken.Add(1)
					}
					end.Wait()
				}
			})
		}
		w.Go(func() {
			r := rand.New(rand.NewPCG(1, 2))
			for round := range rounds {
				begin.Wait()
				compute(time.Duration(r.IntN(40)) * time.Microsecond)
				n, _ := q.Requeue(&to, 2, 3)
				n += q.Wake(2)
				n += to.WakeAll()
				end.Wait()
				if got := woken.Swap(0); got != int64(n) {
					w.Errorf("round %d: woke %d, and %d were woken", round, n, got)
				}
				if n := q.WakeAll() + to.WakeAll(); n != 0 {
					w.Errorf("round %d: %d are left", round, n)
				}
			}
		})
	})
}

// A Wait is two steps, which both lie within the call: it joins if the word is 0,
// and leaves when it was woken, or gives up. Wake(1) wakes one if any thread
// waits.
type queueState struct{ word, waiting, woken int }

var queueModel = porcupine.Model{
	Init: func() any { return queueState{} },
	Step: func(state, in, out any) (bool, any) {
		s, ok := state.(queueState), out.(bool)
		switch in.(call).name {
		case "set":
			s.word = 1
			return true, s
		case "clear":
			s.word = 0
			return true, s
		case "Wake":
			if ok != (s.waiting > 0) {
				return false, s
			}
			if ok {
				s.waiting--
				s.woken++
			}
			return true, s
		case "join":
			s.waiting++
			return s.word == 0, s
		case "refused":
			return s.word == 1, s
		case "woken":
			s.woken--
			return s.woken >= 0, s
		default: // given up
			s.waiting--
			return s.waiting >= 0, s
		}
	},
	DescribeOperation: describe,
}

func TestFutexIsLinearizable(t *testing.T) {
	worlds(t, func(w *world) {
		for round := range effort.Of(60) {
			var (
				h    history
				q    marcel.Futex
				word atomic.Uint32
				over atomic.Bool
				done sync.WaitGroup
				all  sync.WaitGroup
			)
			const waiting = 3
			done.Add(waiting)
			all.Add(waiting + 1)
			for id := range waiting {
				w.Go(func() {
					defer all.Done()
					defer done.Done()
					r := rand.New(rand.NewPCG(uint64(id), uint64(round)))
					for range 6 {
						begin := h.now.Add(1)
						var err error
						if r.IntN(2) == 0 {
							d := time.Duration(1+r.IntN(40)) * time.Microsecond
							err = shortly(d, func(ctx context.Context) error { return q.WaitContext(ctx, &word, 0) })
						} else if !q.Wait(&word, 0) {
							err = marcel.ErrChanged
						}
						end := h.now.Add(1)
						switch {
						case errors.Is(err, marcel.ErrChanged):
							h.add(id, "refused", true, begin, end)
						case err == nil:
							h.add(id, "join", true, begin, end)
							h.add(id+waiting, "woken", true, begin, end)
						default: // if the context was over at once it has not even joined
						}
					}
				})
			}
			w.Go(func() {
				defer all.Done()
				for i := 0; !over.Load(); i++ {
					switch i % 4 {
					case 0:
						h.do(2*waiting, "set", func() bool { word.Store(1); return true })
					case 2:
						h.do(2*waiting, "clear", func() bool { word.Store(0); return true })
					default:
						h.do(2*waiting, "Wake", func() bool { return q.Wake(1) == 1 })
					}
					marcel.Sleep(time.Microsecond)
				}
			})
			done.Wait()
			over.Store(true)
			all.Wait()
			h.check(w, queueModel)
		}
	})
}
