package lab

import (
	"sync/atomic"

	"github.com/pm2-go/pm2/asm"
)

// A computation is a number of steps rather than a time, so that it takes longer when something else has the CPU
// meanwhile. Each step depends on the one before. test/peers has the same in C.

// workSink keeps the compiler from leaving the steps out.
var workSink atomic.Uint64

// workSteps computes.
func workSteps(n int64) {
	x := uint64(1)
	for range n {
		x = x*6364136223846793005 + 1442695040888963407
	}
	workSink.Store(x)
}

// workRate is how many steps this CPU makes in a ns when no other thread uses it: the best of
// several tries. It takes 10 ms, and more on a busy machine.
func workRate() float64 {
	const n, tries = 500_000, 10
	best := 0.0
	for range tries {
		began := asm.Cycles()
		workSteps(n)
		best = max(best, n/float64(max(asm.Nanos(asm.Cycles()-began), 1)))
	}
	return best
}

// compute uses its CPU and never yields, until end is set.
func compute(end *atomic.Bool) {
	for !end.Load() {
		workSteps(1000)
	}
}
