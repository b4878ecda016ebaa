package marcel_test

import (
	"math/rand/v2"
	"sync/atomic"
	"testing"

	"github.com/pm2-go/pm2/internal/test/effort"
	"github.com/pm2-go/pm2/marcel"
)

// None is let through before all have come, round after round, and one of them
// is the last.
func TestBarrier(t *testing.T) {
	worlds(t, func(w *world) {
		for _, n := range []int{1, 2, 7} {
			var (
				b       = marcel.NewBarrier(n)
				arrived atomic.Int64
				last    atomic.Int64
				rounds  = effort.Of(1000)
			)
			for i := range n {
				w.Go(func() {
					r := rand.New(rand.NewPCG(uint64(i), 4))
					for round := range rounds {
						whatHoldersDo(r)
						arrived.Add(1)
						if b.Wait() {
							last.Add(1)
						}
						if a := arrived.Load(); a < int64(n*(round+1)) {
							w.Errorf("round %d of %d parties: let through when %d had come in all", round, n, a)
						}
					}
				})
			}
			w.all.Wait()
			if last.Load() != int64(rounds) {
				w.Errorf("%d parties: %d were the last in %d rounds", n, last.Load(), rounds)
			}
		}
	})
}

// Data written before the barrier may be read after it by the others.
func TestBarrierOrdersMemory(t *testing.T) {
	worlds(t, func(w *world) {
		const n = 4
		b := marcel.NewBarrier(n)
		var data [n]int
		for i := range n {
			w.Go(func() {
				for round := 1; round <= effort.Of(500); round++ {
					data[i] = round
					b.Wait()
					if got := data[(i+1)%n]; got != round {
						w.Errorf("read %d in round %d", got, round)
					}
					b.Wait()
				}
			})
		}
	})
}

func TestBarrierOfNone(t *testing.T) {
	panics(t, "0 parties", func() { marcel.NewBarrier(0) })
	panics(t, "-1 parties", func() { marcel.NewBarrier(-1) })
	var zero marcel.Barrier
	for range 3 {
		if !zero.Wait() {
			t.Error("the zero value: each thread is the last")
		}
	}
}
