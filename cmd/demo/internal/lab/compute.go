package lab

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"golang.org/x/sys/unix"

	"github.com/pm2-go/pm2/cmd/demo/internal/duo"
	"github.com/pm2-go/pm2/cmd/demo/internal/ep"
	"github.com/pm2-go/pm2/nmad"
	"github.com/pm2-go/pm2/pioman"
)

// computation is the EP kernel as a workload of experiments: the first batches of class S, computed by one thread on
// each of some VPs.
type computation struct {
	batches int
	sums    *ep.Sums // of the first run; the others must come to the same
	cpu     float64  // ns that the process used in the last run, until its first thread was through
}

// newComputation makes a computation of that many batches, at most those of class S.
func newComputation(batches int) *computation {
	return &computation{batches: min(max(batches, 1), ep.Batches(ep.ClassS))}
}

// run has threads of w, one on each of the VPs, compute all batches, and returns the time in ns.
func (comp *computation) run(w *duo.World, vps []int) (float64, error) {
	var next atomic.Int64
	var first atomic.Bool
	of := make([]ep.Sums, comp.batches)
	joins := make([]func() error, len(vps))
	start, before := time.Now(), processCPU()
	for i, vp := range vps {
		joins[i] = w.Spawn(vp, fmt.Sprint("EP ", i), func() {
			for k := next.Add(1) - 1; k < int64(comp.batches); k = next.Add(1) - 1 {
				of[k] = ep.Batch(int(k))
			}
			if first.CompareAndSwap(false, true) { // from here on a processor is idle, and may well poll
				comp.cpu = processCPU() - before
			}
		})
	}
	var failed error
	for _, join := range joins {
		failed = errors.Join(failed, join())
	}
	took := float64(time.Since(start).Nanoseconds())
	if failed != nil {
		return 0, failed
	}
	return took, comp.verify(of)
}

// processCPU is the CPU time of the process so far, in ns: other processes on the same CPUs do not show in it as they
// do in the time that passes.
func processCPU() float64 {
	var u unix.Rusage
	if err := unix.Getrusage(unix.RUSAGE_SELF, &u); err != nil {
		return 0
	}
	return float64(u.Utime.Nano() + u.Stime.Nano())
}

// verify compares the sums with the published ones, or with those of the first run, if not all of class S is computed:
// they must be the same to the last bit.
func (comp *computation) verify(of []ep.Sums) error {
	var all ep.Sums
	for _, s := range of {
		all.Add(s)
	}
	if comp.sums == nil {
		if comp.batches == ep.Batches(ep.ClassS) {
			if err := ep.VerifyS(all); err != nil {
				return err
			}
		}
		comp.sums = &all
	}
	if all != *comp.sums {
		return fmt.Errorf("EP: two runs of the same %d batches came to different sums: %+v and %+v", comp.batches, all, *comp.sums)
	}
	return nil
}

// String names the computation.
func (comp *computation) String() string {
	if comp.batches == ep.Batches(ep.ClassS) {
		return "EP class S"
	}
	return fmt.Sprintf("EP, %d batches of class S", comp.batches)
}

// alone measures one run in a World of its own, in which a receive over shm is pending all the time if that is wanted,
// and puts what was polled into polls.
func (comp *computation) alone(ctx context.Context, setup duo.Setup, vps []int, pending bool, polls *float64) ([]float64, error) {
	var took float64
	setup.Driver = "shm"
	err := duo.Alone(ctx, setup, func(w *duo.World) error {
		return withPending(w, w.Far, w.Gate, pending, polls, func() (err error) {
			took, err = comp.run(w, vps)
			return err
		})
	})
	return []float64{took}, err
}

// withPending runs f while a receive from a gate is pending, if that is wanted, counts into polls the engine's rounds
// per ms meanwhile, and then has the receive served: by what is sent to the gate serve, whose other end is from or, in
// another process, does the same.
func withPending(w *duo.World, from, serve *nmad.Gate, wanted bool, polls *float64, f func() error) (err error) {
	return counting(w, from, serve, wanted, func(rounds *atomic.Int64) error {
		start := time.Now()
		err := f()
		*polls = float64(rounds.Load()) / (float64(time.Since(start).Nanoseconds()) / 1e6)
		return err
	})
}

// counting is withPending for an f that looks itself how many rounds the engine has made.
func counting(w *duo.World, from, serve *nmad.Gate, wanted bool, f func(rounds *atomic.Int64) error) (err error) {
	var rounds atomic.Int64
	if !wanted {
		return f(&rounds)
	}
	const never = 99 // a tag on which nothing comes meanwhile
	r := from.Irecv(never, make([]byte, 1))
	var count pioman.Task
	count.Init("count rounds", func(*pioman.Task) pioman.Status {
		rounds.Add(1)
		return pioman.Again
	}, pioman.Repeat)
	if err := w.Engine.Submit(&count); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, count.Cancel()) }()
	if err := f(&rounds); err != nil {
		return err
	}
	if err := serve.Send(never, []byte{1}); err != nil {
		return err
	}
	return r.Wait()
}
