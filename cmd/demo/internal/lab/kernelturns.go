package lab

import (
	"context"
	"errors"
	"time"

	"github.com/pm2-go/pm2/cmd/demo/internal/duo"
	"github.com/pm2-go/pm2/cmd/demo/internal/nas"
	"github.com/pm2-go/pm2/nmad/mpi"
)

const (
	kindKernel = "NAS kernel, engine off and on"

	kernelSettles = 60 * time.Millisecond // after each switch, as in E14
	kernelCounts  = 20 * time.Millisecond // at least, of each share: a shorter one is computed several times
)

// kernelPair is one share of a kernel, computed with the engine off [0] and on [1], in ns: what a whole run takes at
// that pace.
type kernelPair struct {
	took [2]float64 // by the slower rank
	cpu  [2]float64 // CPU time of a process, mean of the two
}

// kernelTurns is a kernel that both ranks compute twice, while they switch the engine off and on again between the
// shares:
//
//	rank 0  ....ssss│....ssss│....ssss│....ssss│     s a step that counts, . one that does not
//	rank 1  ....ssss│....ssss│....ssss│....ssss│     │ the ranks meet, and each switches its engine
//	engine     off      on       on      off
//	share       1        1        2       2
//
// Two runs are on their way, one for either state of the engine, in the memory of one kernel. Each takes its share from
// where it stands, so both come to the published result. The steps that do not count are of the same share. The ranks
// do not meet again before those that count: a wait has the engine's clock tick for 20 ms more, also where a kernel
// only computes.
type kernelTurns struct {
	w      *duo.World
	kernel *nas.Kernel
	at     *nas.Course // what computes
	cold   int         // steps after each switch
	step   time.Duration
}

// kernelInTurns is the part of either rank in one round: as many pairs as there are shares.
func kernelInTurns(ctx context.Context, w *duo.World, o *duo.Order) (pairs []kernelPair, err error) {
	c, err := mpi.New(w.Session)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, c.Finalize()) }()
	k, err := nas.New(c, o.Kernel, o.Class)
	if err != nil {
		return nil, err
	}
	t := &kernelTurns{w: w, kernel: k, at: k.Begin()}
	if err := t.warm(); err != nil {
		return nil, err
	}
	runs := [2]*nas.Course{k.Begin(), k.Begin()}
	shares := min(max(o.Iters, 1), k.Steps())
	for i := range shares {
		var p kernelPair
		steps := (i+1)*k.Steps()/shares - i*k.Steps()/shares
		for turn := range 2 {
			if ctx.Err() != nil {
				return nil, context.Cause(ctx)
			}
			engine := (i + turn + o.Count) % 2
			if p.took[engine], p.cpu[engine], err = t.share(engine == 1, runs[engine], steps); err != nil {
				return nil, err
			}
		}
		pairs = append(pairs, p)
	}
	return pairs, nil
}

// kernelOther is rank 1's part.
func kernelOther(w *duo.World, o *duo.Order) error {
	_, err := kernelInTurns(context.Background(), w, o)
	return err
}

// warm takes a whole run, and finds out how long a step takes at best, at the slower rank.
func (kt *kernelTurns) warm() error {
	if err := kt.kernel.Comm.Barrier(); err != nil {
		return err
	}
	best := []int64{int64(time.Hour)}
	for kt.at.Left() > 0 {
		began := time.Now()
		if err := kt.at.Step(); err != nil {
			return err
		}
		best[0] = min(best[0], int64(time.Since(began)))
	}
	if _, err := kt.at.Verify(); err != nil {
		return err
	}
	if err := mpi.Allreduce(kt.kernel.Comm, mpi.Max, nil, best); err != nil {
		return err
	}
	kt.step = max(time.Duration(best[0]), time.Nanosecond)
	kt.cold = atLeast(kernelSettles, kt.step)
	return nil
}

// atLeast is how many times something is done that takes so long, for a time to pass.
func atLeast(d, each time.Duration) int { return int((d + each - 1) / each) }

// share has a run take some steps with the engine on or off, and verifies it at its end.
func (kt *kernelTurns) share(on bool, run *nas.Course, steps int) (took, cpu float64, err error) {
	times := atLeast(kernelCounts, kt.step*time.Duration(steps))
	wall, used, err := kt.phase(on, run, steps, times)
	if err != nil {
		return 0, 0, err
	}
	c := kt.kernel.Comm
	if err := mpi.Allreduce(c, mpi.Max, nil, wall); err != nil {
		return 0, 0, err
	}
	if err := mpi.Allreduce(c, mpi.Sum, nil, used); err != nil {
		return 0, 0, err
	}
	run.Set(kt.at)
	if run.Left() == 0 {
		if _, err := run.Verify(); err != nil {
			return 0, 0, err
		}
	}
	runs := float64(steps*times) / float64(kt.kernel.Steps())
	return wall[0] / runs, used[0] / runs / float64(c.Size()), nil
}

// phase is share at this rank, up to its times: it returns what passes, and the CPU time that the process uses.
func (kt *kernelTurns) phase(on bool, run *nas.Course, steps, times int) (wall, used []float64, err error) {
	if on {
		stop, err := kt.w.Hook()
		if err != nil {
			return nil, nil, err
		}
		defer stop()
	}
	if err := kt.kernel.Comm.Barrier(); err != nil {
		return nil, nil, err
	}
	kt.at.Set(run)
	for range kt.cold {
		if kt.at.Left() == 0 {
			kt.at.Set(run)
		}
		if err := kt.at.Step(); err != nil {
			return nil, nil, err
		}
	}
	began, before := time.Now(), processCPU()
	for range times {
		kt.at.Set(run)
		for range steps {
			if err := kt.at.Step(); err != nil {
				return nil, nil, err
			}
		}
	}
	after := processCPU()
	return []float64{float64(time.Since(began).Nanoseconds())}, []float64{after - before}, nil
}
