package stress

import (
	"flag"
	"math/rand/v2"
	"runtime/debug"
	"testing"
	"time"
)

var flagStorm = flag.Duration("storm", 1500*time.Millisecond, "how long the storm goes on")

// TestStorm is the soak with many more threads at a time, while the process is collected,
// profiled, traced, and given other numbers of Ps. In every other round the collector is off:
// its stops of each goroutine set free a thread that the scheduler has left behind, and then such
// a one is not seen.
func TestStorm(t *testing.T) {
	percent := debug.SetGCPercent(-1)
	defer debug.SetGCPercent(percent)
	soak(t, *flagStorm, func(seed uint64) *round {
		w := newRound(t, seed)
		r := rand.New(rand.NewPCG(seed, 1))
		w.storm, w.calm = true, r.IntN(2) == 0
		if !w.calm {
			debug.SetGCPercent(5 + r.IntN(50))
		}
		w.do()
		debug.SetGCPercent(-1)
		return w
	})
}
