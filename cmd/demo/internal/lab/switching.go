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

// switching is the EP kernel computed twice by the same threads on the same LWPs, while the engine is switched off and
// on again every few batches: this machine changes its speed by more, from one second to the next, than an engine
// costs.
//
//	worker 0  ..bbbb.│..bbbb.│..bbbb..│..bbbb.│     b a batch that counts, . one that does not
//	worker 1  ..bbbb.│..bbbb.│...bbbb.│..bbbb.│     │ all wait for all, and the engine is switched
//	engine      off      on       on     off
//
// A worker takes the time of its own batches, and computes on until the others have taken theirs: while time is taken
// no VP is idle. Batches that follow a switch do not count: an engine that has just been switched on polls for a
// millisecond before it leaves the work to the kernel, the scheduler's clock ticks on for 20 periods, and Go's monitor,
// after all were idle, looks around for some milliseconds, and again when 10 ms later it has found which thread sleeps.
// What is compared are the two phases of the same batches, pair by pair.
type switching struct {
	work  *computation
	setup duo.Setup // not Hooked
	asked bool      // a receive is pending all the time

	// Of the last run, while all took time and the engine was on:
	rounds int64   // that it made
	within float64 // in so many ns
	polls  float64 // per ms
}

const (
	coldBatches    = 48 // of each worker, after each switch; at most as many as there are in all
	countedBatches = 16 // of each worker, in each phase
)

// worker is one of the threads that compute.
type worker struct {
	start, done marcel.Semaphore
	phase       *phase // the present one; nil: the end
	batches     []int  // that count
	sums        []ep.Sums
	took        time.Duration
}

// phase is what the workers share in one: which takes time, and the engine's rounds while all of them do.
type phase struct {
	workers        int32
	cold           int
	rounds         *atomic.Int64
	before, within atomic.Int32 // workers that have not begun to take time, and those that have not ended
	begin, end     moment       // the last one began; the first one ended
}

// moment is when the engine had made so many rounds.
type moment struct {
	at     time.Time
	rounds int64
}

func (ph *phase) now() moment { return moment{time.Now(), ph.rounds.Load()} }

// main is the worker's life.
func (w *worker) main() {
	for w.start.Acquire(); w.phase != nil; w.start.Acquire() {
		p := w.phase
		w.sums = w.sums[:0]
		for i := range p.cold {
			ep.Batch(i)
		}
		if p.before.Add(-1) == 0 {
			p.begin = p.now()
		}
		began := time.Now()
		for _, b := range w.batches {
			w.sums = append(w.sums, ep.Batch(b))
		}
		w.took = time.Since(began)
		if p.within.Add(-1) == p.workers-1 {
			p.end = p.now()
		}
		for p.within.Load() > 0 {
			ep.Batch(0)
		}
		w.done.Release()
	}
}

// run measures once: the times of the phases in ns, means of the workers.
func (sw *switching) run(ctx context.Context) (off, on []float64, err error) {
	sw.setup.Driver = "shm"
	err = duo.Alone(ctx, sw.setup, func(w *duo.World) error {
		return counting(w, w.Far, w.Gate, sw.asked, func(rounds *atomic.Int64) (err error) {
			off, on, err = sw.compute(ctx, w, rounds)
			return err
		})
	})
	return off, on, err
}

// compute is run in a World.
func (sw *switching) compute(ctx context.Context, w *duo.World, rounds *atomic.Int64) (off, on []float64, err error) {
	workers := make([]*worker, len(sw.setup.CPUs))
	joins := make([]func() error, len(workers))
	for i := range workers {
		workers[i] = &worker{batches: make([]int, 0, countedBatches)} // before it begins: it may do so late
		joins[i] = w.Spawn(i, fmt.Sprint("EP ", i), workers[i].main)
	}
	defer func() {
		for i, k := range workers {
			k.phase = nil
			k.start.Release()
			err = errors.Join(err, joins[i]())
		}
	}()
	var times [2][]float64
	var sums [2][]ep.Sums
	sw.rounds, sw.within = 0, 0
	length := countedBatches * len(workers)
	for first := 0; first < sw.work.batches; first += length {
		for turn := range 2 {
			if ctx.Err() != nil {
				return nil, nil, context.Cause(ctx)
			}
			engine := (first/length + turn) % 2 // off on, on off, off on
			took, of, err := sw.play(w, workers, engine, first, min(length, sw.work.batches-first), rounds)
			if err != nil {
				return nil, nil, err
			}
			times[engine] = append(times[engine], took)
			sums[engine] = append(sums[engine], of...)
		}
	}
	sw.polls = float64(sw.rounds) / max(sw.within/1e6, 1e-6)
	return times[0], times[1], errors.Join(sw.work.verify(sums[0]), sw.work.verify(sums[1]))
}

// play has the workers compute n batches from first on, with the engine off (0) or on (1), and
// returns the time that a worker took for its own, the mean of all.
func (sw *switching) play(w *duo.World, workers []*worker, engine, first, n int, rounds *atomic.Int64) (took float64, sums []ep.Sums, err error) {
	if engine == 1 {
		stop, err := w.Hook()
		if err != nil {
			return 0, nil, err
		}
		defer stop()
	}
	p := &phase{workers: int32(len(workers)), cold: min(coldBatches, sw.work.batches), rounds: rounds}
	p.before.Store(p.workers)
	p.within.Store(p.workers)
	for i, k := range workers {
		k.phase, k.batches = p, k.batches[:0]
		for b := i; b < n; b += len(workers) {
			k.batches = append(k.batches, first+b)
		}
		k.start.Release()
	}
	for _, k := range workers {
		k.done.Acquire()
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
	took /= float64(busy)
	if within := p.end.at.Sub(p.begin.at); engine == 1 && within > 0 { // else one came so late that they never computed together
		sw.rounds += p.end.rounds - p.begin.rounds
		sw.within += float64(within.Nanoseconds())
	}
	return took, sums, nil
}

// variants are the two sides of sw: its base, and the engine switched on, called name.
func (sw *switching) variants(ctx context.Context, v Variant, name string, base int) []Variant {
	first, second := twin(func() ([]float64, []float64, error) { return sw.run(ctx) })
	off, on := v, v
	off.Variant, on.Variant = "engine off", name
	off.Base, on.Base = base, base
	off.Paired, on.Paired = true, true
	off.Measure, on.Measure = first, second
	on.Polls = &sw.polls
	return []Variant{off, on}
}
