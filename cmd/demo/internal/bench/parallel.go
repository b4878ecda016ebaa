package bench

import (
	"fmt"
	"runtime"
	"sync/atomic"
	"time"

	"github.com/pm2-go/pm2/asm"
	"github.com/pm2-go/pm2/cmd/demo/internal/stat"
	"github.com/pm2-go/pm2/hooks"
	"github.com/pm2-go/pm2/marcel"
)

const (
	crowd     = 100                    // threads
	crowdWork = 100 * time.Microsecond // of computation in each
)

func parallelRows() []Experiment {
	return []Experiment{
		{
			Name: "spawn parallel, 100 x 100 us, 2 VPs over 1", VPs: 2, PeerVPs: 1, PeerName: "the same threads on 1 VP",
			Crosses: true, Parallel: true, Most: 4, Ours: crowdOurs, PeerStage: crowdOurs,
		},
		{
			Name: "spawn to start, idle VP awake", VPs: 2, P: 2, PeerName: "go to start; only ours is kept awake, by a hook, P=2",
			Crosses: true, Most: 1000, Ours: startOurs, Peer: startPeer,
		},
	}
}

// labour computes for about d of undisturbed time: a number of steps, not a look at a clock, so that two threads that
// share a core take twice as long.
func labour(steps int) uint64 {
	x := uint64(88172645463325252)
	for range steps {
		x ^= x << 13
		x ^= x >> 7
		x ^= x << 17
	}
	return x
}

// stepsFor calibrates labour: the fastest of some tries is the undisturbed one.
func stepsFor(d time.Duration) int {
	const try = 100_000
	best := time.Duration(1 << 62)
	for range 20 {
		start := time.Now()
		sink.Store(labour(try))
		best = min(best, time.Since(start))
	}
	return max(int(float64(try)*float64(d)/float64(max(best, 1))), 1)
}

var sink atomic.Uint64 // keeps the compiler from leaving labour out

// crowdOurs spawns a hundred threads on one VP, never joins them, and waits for the last: n times. Idle VPs must come
// and take some.
func crowdOurs(s *stage, n int) error {
	steps := stepsFor(crowdWork)
	turns := func(n int) error {
		for range n {
			var left atomic.Int64
			var all marcel.Semaphore
			left.Store(crowd)
			for range crowd {
				marcel.Spawn(func() {
					sink.Store(labour(steps))
					if left.Add(-1) == 0 {
						all.Release()
					}
				}).Detach()
			}
			if !all.AcquireTimeout(patience) {
				return fmt.Errorf("%d of %d threads did not end within %v", left.Load(), crowd, patience)
			}
		}
		return nil
	}
	return s.watch.timed(n, 1, turns)
}

// startOurs measures from a spawn to the first instruction of the new thread, while its parent computes on and keeps
// its VP. The other VP is kept awake by a hook that always claims to be busy. The figure of a repetition is the median
// of n.
func startOurs(s *stage, n int) error {
	awake, err := s.sched.Hooks().Register(hooks.Idle, 99, "keep awake", func(int) hooks.Verdict { return hooks.Busy })
	if err != nil {
		return err
	}
	defer awake.Unregister()
	var late []float64
	err = nil
	parent := marcel.SpawnWith(marcel.Attr{VPs: marcel.OneVP(0)}, func() {
		late, err = starts(n, func(child func()) func() {
			t := marcel.Spawn(child)
			return func() { _ = t.Join() }
		}, s.watch)
	})
	if err := firstError(parent.Join(), err); err != nil {
		return err
	}
	s.watch.set(time.Duration(stat.Quantile(late, 0.5) * float64(n)))
	return nil
}

func startPeer(w *watch, n int) error {
	late, err := starts(n, func(child func()) func() {
		done := make(chan struct{})
		go func() { child(); close(done) }()
		return func() { <-done }
	}, w)
	if err == nil {
		w.set(time.Duration(stat.Quantile(late, 0.5) * float64(n)))
	}
	return err
}

// starts spawns n children one after the other and returns how late each began, in nanoseconds. The parent never gives
// its processor away between the spawn and the start. A child that does not start for as long as lost is an error.
func starts(n int, spawn func(child func()) (join func()), w *watch) ([]float64, error) {
	late := make([]float64, 0, n)
	steps := stepsFor(2 * time.Microsecond)
	w.begin()
	defer w.end()
	for range n {
		var began atomic.Int64
		spawned := asm.Cycles()
		join := spawn(func() { began.Store(asm.Cycles()) })
		for deadline := time.Now().Add(lost); began.Load() == 0; {
			sink.Store(labour(steps)) // computing
			if time.Now().After(deadline) {
				join()
				return nil, fmt.Errorf("a thread did not start within %v while another VP was idle", lost)
			}
		}
		late = append(late, float64(asm.Nanos(max(began.Load()-spawned, 0))))
		join()
		runtime.KeepAlive(&began)
	}
	return late, nil
}
