package lab

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/pm2-go/pm2/asm"
	"github.com/pm2-go/pm2/cmd/demo/internal/duo"
	"github.com/pm2-go/pm2/cmd/demo/internal/stat"
	"github.com/pm2-go/pm2/nmad"
	"github.com/pm2-go/pm2/nmad/mpi"
)

const kindCollective = "collective"

// collectivePart is what rank 0 asks of both ranks: a computation, with an operation beside it or without.
//
//	rank 0                                  rank 1
//	  part ───────────────── order ──────▶
//	  the gap, in step                        the gap, in step
//	       ◀──────────────── ready ──────▶
//	  start, compute, wait ══ operation ══    start, compute, wait
//	       ◀──────────────── have ────────    what it has measured
type collectivePart struct {
	Steps  [2]int64 `json:"steps"`  // of the computation, of the ranks; below 0: the end
	Beside bool     `json:"beside"` // an operation
}

// partTimes is what a rank has measured of a part, in ns.
type partTimes struct {
	Total float64 `json:"total"`
	Wait  float64 `json:"wait"` // of Total, after the computation
	CPU   float64 `json:"cpu"`  // that the process has used
}

// collectiveRank is one rank.
type collectiveRank struct {
	comm      *mpi.Comm
	gate      *nmad.Gate // to the other rank
	operation string
	in, out   []float64
	rate      float64 // steps of work per ns
	turn      int     // operations so far
}

func newCollectiveRank(w *duo.World, operation string) (*collectiveRank, error) {
	comm, err := mpi.New(w.Session)
	if err != nil {
		return nil, err
	}
	n := collectiveSize / 8
	return &collectiveRank{comm: comm, gate: w.Gate, operation: operation, in: make([]float64, 2*n), out: make([]float64, 2*n), rate: workRate()}, nil
}

// ourCollective is a round of ours.
func ourCollective(ctx context.Context, p *duo.Pair, caller int, operation string, iters int) (collectiveRound, error) {
	o := duo.Order{Kind: kindCollective, Count: slices.Index(collectiveNames, operation)}
	return onPair(ctx, p, collectiveCallers[caller].setup, o, func(w *duo.World) (collectiveRound, error) {
		c, err := newCollectiveRank(w, operation)
		if err != nil {
			return nil, err
		}
		both, err := c.round(iters)
		return collectiveRound{both}, err
	})
}

// round measures all parts of a round.
func (rk *collectiveRank) round(iters int) (both [2]covered, err error) {
	var alone []float64
	for i := range iters + 1 {
		at, err := rk.lead(collectivePart{Beside: true})
		if err != nil {
			return both, err
		}
		if i > 0 { // the first one warms up
			alone = append(alone, max(at[0].Total, at[1].Total))
		}
	}
	t := stat.Median(alone)
	steps, err := rk.stepsOf(t, iters)
	if err != nil {
		return both, err
	}
	longer := [2]int64{int64(longCompute * float64(steps[0])), int64(longCompute * float64(steps[1]))}
	var compute, total, wait, cpu, late [2][]float64
	for range iters {
		var of [4][2]partTimes
		for i, part := range []collectivePart{{steps, false}, {steps, true}, {longer, false}, {longer, true}} {
			if of[i], err = rk.lead(part); err != nil {
				return both, err
			}
		}
		for rank := range both {
			compute[rank] = append(compute[rank], of[0][rank].Total)
			total[rank], wait[rank] = append(total[rank], of[1][rank].Total), append(wait[rank], of[1][rank].Wait)
			cpu[rank], late[rank] = append(cpu[rank], of[3][rank].CPU-of[2][rank].CPU), append(late[rank], of[3][rank].Wait)
		}
	}
	for rank := range both {
		both[rank] = covered{t, stat.Median(compute[rank]), stat.Median(total[rank]), stat.Median(wait[rank]), stat.Median(cpu[rank]), stat.Median(late[rank]), iters}
	}
	_, err = rk.lead(collectivePart{Steps: [2]int64{-1, -1}})
	return both, err
}

// stepsOf is how many steps of work take so many ns, at either rank: by the best of several tries.
func (rk *collectiveRank) stepsOf(ns float64, iters int) (steps [2]int64, err error) {
	guess := int64(ns * rk.rate)
	var took [2][]float64
	for range iters {
		at, err := rk.lead(collectivePart{Steps: [2]int64{guess, guess}})
		if err != nil {
			return steps, err
		}
		for rank := range steps {
			took[rank] = append(took[rank], at[rank].Total)
		}
	}
	for rank := range steps {
		steps[rank] = int64(float64(guess) * ns / slices.Min(took[rank]))
	}
	return steps, nil
}

// lead has both ranks carry a part out, and returns what each has measured.
func (rk *collectiveRank) lead(part collectivePart) (at [2]partTimes, err error) {
	text, err := json.Marshal(part)
	if err != nil {
		return at, err
	}
	if err := rk.gate.Send(orderTag, text); err != nil || part.Steps[0] < 0 {
		return at, err
	}
	if at[0], err = rk.measure(part); err != nil {
		return at, err
	}
	answer := make([]byte, 256)
	n, err := rk.gate.Recv(haveTag, answer)
	if err == nil {
		err = json.Unmarshal(answer[:n], &at[1])
	}
	return at, err
}

// collectiveOther is rank 1's side.
func collectiveOther(w *duo.World, o *duo.Order) error {
	if o.Count < 0 || o.Count >= len(collectiveNames) {
		return fmt.Errorf("there is no operation %d", o.Count)
	}
	c, err := newCollectiveRank(w, collectiveNames[o.Count])
	if err != nil {
		return err
	}
	buf := make([]byte, 256)
	for {
		n, err := c.gate.Recv(orderTag, buf)
		if err != nil {
			return err
		}
		var part collectivePart
		if err := json.Unmarshal(buf[:n], &part); err != nil || part.Steps[0] < 0 {
			return err
		}
		t, err := c.measure(part)
		if err != nil {
			return err
		}
		text, err := json.Marshal(t)
		if err == nil {
			err = c.gate.Send(haveTag, text)
		}
		if err != nil {
			return err
		}
	}
}

// measure carries a part out at this rank.
func (rk *collectiveRank) measure(part collectivePart) (t partTimes, err error) {
	if part.Beside {
		rk.turn++
		rk.write()
	}
	workSteps(int64(collectiveGap * rk.rate))
	ready := rk.gate.Isend(readyTag, nil)
	if _, err := rk.gate.Recv(readyTag, nil); err != nil {
		return t, err
	}
	if err := ready.Wait(); err != nil {
		return t, err
	}
	used, began := cpuTime(), asm.Cycles()
	var r *mpi.Request
	if part.Beside {
		r = rk.start()
	}
	workSteps(part.Steps[rk.comm.Rank()])
	computed := asm.Cycles()
	if part.Beside {
		if _, err := r.Wait(); err != nil {
			return t, err
		}
	}
	ended := asm.Cycles()
	t = partTimes{Total: float64(asm.Nanos(ended - began)), Wait: float64(asm.Nanos(ended - computed)), CPU: cpuTime() - used}
	if part.Beside {
		err = rk.examine()
	}
	return t, err
}

// start starts the operation.
func (rk *collectiveRank) start() *mpi.Request {
	n := len(rk.in) / 2
	switch rk.operation {
	case "allreduce":
		return mpi.Allreduce(rk.comm.Immediate(), mpi.Sum, rk.in[:n], rk.out[:n])
	case "bcast":
		if rk.comm.Rank() == 0 {
			return mpi.Bcast(rk.comm.Immediate(), rk.in[:n], 0)
		}
		return mpi.Bcast(rk.comm.Immediate(), rk.out[:n], 0)
	}
	return mpi.Alltoall(rk.comm.Immediate(), rk.in, rk.out)
}

// write writes the operands of a turn.
func (rk *collectiveRank) write() {
	for i := range rk.in {
		rk.in[i], rk.out[i] = float64(rk.turn+rk.comm.Rank()+i%1000), -1
	}
}

// examine reports whether the result is right.
func (rk *collectiveRank) examine() error {
	n, rank := len(rk.in)/2, rk.comm.Rank()
	all := rk.out[:n]
	switch {
	case rk.operation == "alltoall":
		all = rk.out
	case rk.operation == "bcast" && rank == 0:
		return nil
	}
	for i, x := range all {
		want := float64(rk.turn + i%1000)
		switch rk.operation {
		case "allreduce":
			want = 2*want + 1
		case "alltoall": // block k is that of this rank, at rank k
			want = float64(rk.turn + i/n + (rank*n+i%n)%1000)
		}
		if x != want {
			return fmt.Errorf("%s %d, rank %d: element %d is %g, want %g", rk.operation, rk.turn, rank, i, x, want)
		}
	}
	return nil
}
