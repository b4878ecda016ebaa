package stress

import (
	"flag"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/pm2-go/pm2/sched"
	"github.com/pm2-go/pm2/sched/topo"
)

var (
	flagSoak    = flag.Duration("soak", 2*time.Second, "how long the soak goes on")
	flagActions = flag.String("actions", "", "what is done in the soak: a regular expression for the names of steps and of what goes on beside them (vps, threads, watch, weather)")
)

// patience is how many seconds a round of the soak may go by without a step, each seen
// by itself: a process that was stopped meanwhile, or had no CPU, has seen fewer than
// went by, and one in which the kernel lets a ready thread of ours wait does not count.
// On an idle machine a whole round takes half a second.
const patience = 60

// TestSoak starts and stops schedulers of all kinds, one or two at a time, has a crowd of
// threads and goroutines do on them all that marcel offers, and looks at what remains.
// The seed that a failure prints is that of its round: -seed begins with it.
func TestSoak(t *testing.T) {
	soak(t, *flagSoak, func(seed uint64) *round {
		w := newRound(t, seed)
		w.do()
		return w
	})
}

// soak does rounds for so long.
func soak(t *testing.T, long time.Duration, do func(seed uint64) *round) {
	seed := *flagSeed
	if seed == 0 {
		seed = uint64(time.Now().UnixNano())
	}
	var rounds, steps, threads int64
	var size growth
	began := time.Now()
	told := began
	for ; rounds == 0 || time.Since(began) < long; rounds++ {
		w := do(seed + uint64(rounds))
		size.check(t)
		steps += w.steps.Load()
		threads += w.made.Load()
		if t.Failed() {
			t.Fatalf("round %d failed: -seed %d begins with it", rounds, w.seed)
		}
		if time.Since(told) > time.Minute {
			told = time.Now()
			t.Logf("%v: %d rounds, %d steps, %d threads; %v", time.Since(began).Round(time.Second), rounds+1, steps, threads, size)
		}
	}
	t.Logf("seed %d: %d rounds, %d steps, %d threads in %v; %v", seed, rounds, steps, threads, time.Since(began).Round(time.Second), size)
}

// machines are the topologies for a number of VPs; "" stands for this machine's.
var machines = map[int][]string{
	1: {"", "pu:1", "numa:1 l3:1 core:1 pu:1"},
	2: {"", "core:2 pu:1", "numa:2 core:1 pu:1", "l3:1 core:1 pu:2"},
	4: {"", "numa:2 l3:1 core:2 pu:1", "l3:1 core:2 pu:2", "core:4 pu:1", "numa:4 pu:1"},
}

// soakConfig makes a configuration at random.
func soakConfig(t testing.TB, r *rand.Rand) sched.Config {
	t.Helper()
	cfg := config([]int{1, 2, 4}[r.IntN(3)])
	if text := pick(r, machines[cfg.VPs]...); text != "" {
		machine, err := topo.Synthetic(text)
		if err != nil {
			t.Fatal(err)
		}
		cfg.Topology = machine
	}
	cfg.Policy = pick(r, sched.Fair, sched.LIFO)
	cfg.SpareTime = pick(r, 0, time.Millisecond, 20*time.Millisecond)
	cfg.SpareRunners = pick(r, 0, 1, 16, -1)
	cfg.Watchdog = pick(r, 0, 5*time.Millisecond)
	cfg.Unbound = r.IntN(8) == 0
	cfg.SharedCPUs = r.IntN(8) == 0
	cfg.NoKernelSlices = r.IntN(4) == 0
	if r.IntN(4) == 0 { // hand-offs are rare
		cfg.Slice, cfg.Period = 0, 0
	}
	return cfg
}

func pick[T any](r *rand.Rand, of ...T) T { return of[r.IntN(len(of))] }
