package probe

import (
	"errors"
	"fmt"
	"runtime"
	"slices"
	"sync/atomic"
	"time"

	"github.com/pm2-go/pm2/cmd/demo/internal/binding"
)

const (
	batches = 21
	trips   = 100                    // round trips of a batch
	patient = 500 * time.Millisecond // a free pair of cores needs 3 ms at most
	sliver  = 1 << 12                // polls between two looks at the clock
)

// NearLimit is where the two regimes part, in nanoseconds one way.
const NearLimit = 120

// ErrBusy reports that one of the two CPUs was not free for the probe.
var ErrBusy = errors.New("a CPU was not free for the core-to-core probe")

// A line is the word on a cache line of its own; 128 bytes because neighboring lines are fetched in pairs.
type line struct {
	_    [128]byte
	word atomic.Uint64 // the pinger writes odd values, the ponger even ones
	_    [120]byte
	over atomic.Bool // the pinger writes, the ponger reads; not in word, where an answer could overwrite it
}

// Near reports whether a figure belongs to the regime of nearby cores.
func Near(ns float64) bool { return ns < NearLimit }

// Measure returns the time of one cache line one way between CPUs a and b, in nanoseconds. It blocks for 1 to 3 ms (at
// most about half a second, on ErrBusy) and keeps both CPUs busy meanwhile. It needs two Ps.
func Measure(a, b int) (ns float64, err error) {
	if a == b {
		return 0, fmt.Errorf("probe: CPU %d has no distance to itself", a)
	}
	if p := runtime.GOMAXPROCS(0); p < 2 {
		runtime.GOMAXPROCS(2)
		defer runtime.GOMAXPROCS(p)
	}
	var l line
	// The goroutines end locked, and their OS threads with them, so that no narrowed mask stays behind.
	bound, start := make(chan error, 2), make(chan bool, 2)
	on := func(cpu int, run func()) {
		runtime.LockOSThread()
		bound <- binding.Thread(cpu)
		if <-start {
			run()
		}
	}
	var samples []float64
	var busy error
	done := make(chan struct{})
	go on(b, l.pong)
	go on(a, func() {
		defer close(done)
		samples, busy = l.ping(time.Now().Add(patient))
		l.over.Store(true)
	})
	if err := errors.Join(<-bound, <-bound); err != nil {
		start <- false
		start <- false
		return 0, fmt.Errorf("probe CPUs %d and %d: %w", a, b, err)
	}
	start <- true
	start <- true
	<-done
	if busy != nil {
		return 0, fmt.Errorf("probe CPUs %d and %d: %w", a, b, busy)
	}
	slices.Sort(samples)
	return samples[len(samples)/2], nil
}

// ping returns nanoseconds per one-way trip, one figure per batch.
func (l *line) ping(deadline time.Time) ([]float64, error) {
	samples := make([]float64, 0, batches)
	turn := uint64(1)
	for batch := range batches + 1 { // the first warms up
		start := time.Now()
		for range trips {
			l.word.Store(turn)
			for polls := 1; l.word.Load() != turn+1; polls++ {
				if polls%sliver == 0 && time.Now().After(deadline) {
					return nil, ErrBusy
				}
			}
			turn += 2
		}
		if batch > 0 {
			samples = append(samples, float64(time.Since(start).Nanoseconds())/(2*trips))
		}
	}
	return samples, nil
}

// pong answers until the pinger is through.
func (l *line) pong() {
	turn := uint64(1)
	for polls := 1; ; polls++ {
		if l.word.Load() == turn {
			l.word.Store(turn + 1)
			turn += 2
			polls = 0
		} else if polls%64 == 0 && l.over.Load() {
			return
		}
	}
}
