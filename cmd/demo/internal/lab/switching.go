package lab

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/pm2-go/pm2/cmd/demo/internal/duo"
	"github.com/pm2-go/pm2/cmd/demo/internal/ep"
	"github.com/pm2-go/pm2/marcel"
)

// switching is the EP kernel computed twice by the same threads on the same LWPs, while the engine
// is switched off and on again every few batches: this machine changes its speed by more,
// from one second to the next, than an engine costs.
//
//	worker 0  ..bbbb│..bbbb│..bbbb│..bbbb│     . a batch that does not count, b one that does
//	worker 1  ..bbbb│..bbbb│..bbbb│..bbbb│     │ all wait for all, and the engine is switched
//	engine      off     on     on    off
//
// A worker takes the time of its own batches, so that waiting for the other one is not in
// it. Batches that follow a switch do not count: an engine that has just been switched
// on polls for a millisecond before it leaves the work to the kernel.
type switching struct {
	work  *computation
	setup duo.Setup  // not Hooked
	asked bool       // a receive is pending all the time
	polls float64    // rounds per ms of the last run, while the engine was on and time was taken
	cpu   [2]float64 // ns that the process used in phases with the engine off, and on, in the last run
}

const (
	coldBatches    = 8  // of each worker, after each switch
	countedBatches = 32 // of each worker, in each phase
)

// worker is one of the threads that compute.
type worker struct {
	start, done marcel.Semaphore
	batches     []int // nil: the end
	sums        []ep.Sums
	took        time.Duration
	used        *atomic.Pointer[float64] // where the first that is through puts the CPU time of the process
}

// run measures once: the times of the phases in ns, means of the workers.
func (x *switching) run(ctx context.Context) (off, on []float64, err error) {
	x.setup.Driver = "shm"
	err = duo.Alone(ctx, x.setup, func(w *duo.World) error {
		return counting(w, w.Far, w.Gate, x.asked, func(rounds *atomic.Int64) (err error) {
			off, on, err = x.compute(ctx, w, rounds)
			return err
		})
	})
	return off, on, err
}

// compute is run in a World.
func (x *switching) compute(ctx context.Context, w *duo.World, rounds *atomic.Int64) (off, on []float64, err error) {
	workers := make([]*worker, len(x.setup.CPUs))
	joins := make([]func() error, len(workers))
	for i := range workers {
		workers[i] = &worker{batches: make([]int, 0, countedBatches)} // before it begins: it may do so late
		joins[i] = w.Spawn(i, fmt.Sprint("EP ", i), workers[i].main)
	}
	defer func() {
		for i, k := range workers {
			k.batches = nil
			k.start.Release()
			err = errors.Join(err, joins[i]())
		}
	}()
	var times [2][]float64
	var sums [2][]ep.Sums
	x.polls, x.cpu = 0, [2]float64{}
	length := countedBatches * len(workers)
	for first := 0; first < x.work.batches; first += length {
		for turn := range 2 {
			if ctx.Err() != nil {
				return nil, nil, context.Cause(ctx)
			}
			engine := (first/length + turn) % 2 // off on, on off, off on
			took, of, err := x.phase(w, workers, engine, first, min(length, x.work.batches-first), rounds)
			if err != nil {
				return nil, nil, err
			}
			times[engine] = append(times[engine], took)
			sums[engine] = append(sums[engine], of...)
		}
	}
	all := 0.0
	for _, t := range times[1] {
		all += t
	}
	x.polls /= all / 1e6
	return times[0], times[1], errors.Join(x.work.verify(sums[0]), x.work.verify(sums[1]))
}

// phase has the workers compute n batches from first on, with the engine off (0) or on (1).
func (x *switching) phase(w *duo.World, workers []*worker, engine, first, n int, rounds *atomic.Int64) (took float64, sums []ep.Sums, err error) {
	if engine == 1 {
		stop, err := w.Hook()
		if err != nil {
			return 0, nil, err
		}
		defer stop()
	}
	deal := func(from, n int) {
		for i, k := range workers {
			k.batches = k.batches[:0]
			for b := i; b < n; b += len(workers) {
				k.batches = append(k.batches, from+b)
			}
		}
	}
	var used atomic.Pointer[float64]
	play := func() {
		for _, k := range workers {
			k.used = &used
			k.start.Release()
		}
		for _, k := range workers {
			k.done.Acquire()
		}
	}
	deal(first, coldBatches*len(workers))
	play()
	deal(first, n)
	used.Store(nil)
	before, polled := processCPU(), rounds.Load()
	play()
	x.cpu[engine] += *used.Load() - before
	if engine == 1 {
		x.polls += float64(rounds.Load() - polled)
	}
	sums = make([]ep.Sums, n)
	busy := 0
	for i, k := range workers {
		for j, s := range k.sums {
			sums[i+j*len(workers)] = s
		}
		if len(k.sums) > 0 {
			took += float64(k.took.Nanoseconds())
			busy++
		}
	}
	return took / float64(busy), sums, nil
}

// main is the worker's life.
func (k *worker) main() {
	for k.start.Acquire(); k.batches != nil; k.start.Acquire() {
		k.sums = k.sums[:0]
		began := time.Now()
		for _, b := range k.batches {
			k.sums = append(k.sums, ep.Batch(b))
		}
		k.took = time.Since(began)
		now := processCPU()
		k.used.CompareAndSwap(nil, &now)
		k.done.Release()
	}
}

// variants are the two sides of x: its base, and the engine switched on, called name.
func (x *switching) variants(ctx context.Context, v Variant, name string, base int) []Variant {
	first, second := twin(func() ([]float64, []float64, error) { return x.run(ctx) })
	off, on := v, v
	off.Variant, on.Variant = "engine off", name
	off.Base, on.Base = base, base
	off.Measure, on.Measure = first, second
	off.CPU, on.CPU, on.Polls = &x.cpu[0], &x.cpu[1], &x.polls
	return []Variant{off, on}
}
