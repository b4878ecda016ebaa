package bench

import (
	"context"
	"errors"
	"fmt"
	"math"
	"runtime"
	"time"

	"github.com/pm2-go/pm2/cmd/demo/internal/binding"
	"github.com/pm2-go/pm2/cmd/demo/internal/probe"
	"github.com/pm2-go/pm2/cmd/demo/internal/report"
)

// LeastReps is the smallest number of repetitions that makes a row.
const LeastReps = 5

// Options say how to measure.
type Options struct {
	Reps int           // repetitions of each row, at least LeastReps
	Time time.Duration // of each repetition
	CPUs []int         // to use, the first one or two of them
}

// Outcome is what became of one experiment.
type Outcome struct {
	Row  *Row        // nil: skipped
	Skip report.Skip // why
}

// Measure measures the first one of rows, or those, from the first one on, that the same processes are measured for: as
// many as there are outcomes. For a row it blocks for about 2 * (Reps + 3) * Time, up to three times that if the
// machine switches between its regimes. It fails only if something is wrong with what was measured, or if ctx ends; a
// row that cannot be measured here is an Outcome.
func Measure(ctx context.Context, rows []Experiment, o Options) ([]Outcome, error) {
	rows = rows[:together(rows)]
	x := &rows[0]
	a, b, two := binding.Pair(o.CPUs)
	cpus := o.CPUs[:1]
	if x.Crosses {
		if !two {
			return skipAll(rows, "it needs two CPUs, and this process may use one only"), nil
		}
		cpus = []int{a, b}
	}
	if x.Exchange != nil {
		return measureExchanges(ctx, rows, o, cpus)
	}
	// A goroutine cannot be bound, a process can: both sides have the same CPUs, and the VPs one of them each. Two
	// schedulers of ours are bound alike already.
	if x.P > 0 && binding.Process(cpus...) == nil { // where it is forbidden, the VPs are not bound either
		defer func() { _ = binding.Process(o.CPUs...) }()
	}
	n, err := calibrate(x, o, cpus)
	if err != nil {
		return nil, fmt.Errorf("row %q: %w", x.Name, err)
	}
	var all []repetition
	skip, err := untilEnough(ctx, o, fmt.Sprintf("row %q", x.Name), func(peerFirst bool) (repetition, error) {
		r, err := repeat(x, n, cpus, peerFirst)
		if err == nil {
			all = append(all, r)
		}
		return r, err
	})
	if err != nil {
		return nil, err
	}
	if skip != "" {
		return skipAll(rows, "%s", skip), nil
	}
	row := newRow(x, oneRegime(all), n)
	return []Outcome{{Row: &row}}, nil
}

func skipAll(rows []Experiment, format string, args ...any) []Outcome {
	all := make([]Outcome, len(rows))
	for i := range rows {
		all[i].Skip = report.Skip{Name: rows[i].Name, Why: fmt.Sprintf(format, args...)}
	}
	return all
}

// untilEnough calls once until enough repetitions are of one regime; skip says why there are too few.
func untilEnough(ctx context.Context, o Options, what string, once func(peerFirst bool) (repetition, error)) (skip string, err error) {
	var all []repetition
	var blind error
	for try := 0; try < 3*o.Reps && len(oneRegime(all)) < o.Reps; try++ {
		if ctx.Err() != nil {
			return "", context.Cause(ctx)
		}
		r, err := once(try%2 == 1)
		switch {
		case errors.Is(err, probe.ErrBusy) || errors.Is(err, errNoProbe):
			blind = err
		case err != nil && ctx.Err() != nil:
			return "", context.Cause(ctx)
		case err != nil:
			return "", fmt.Errorf("%s: %w", what, err)
		default:
			all = append(all, r)
		}
	}
	good := oneRegime(all)
	switch {
	case len(good) >= LeastReps:
		return "", nil
	case blind != nil:
		return fmt.Sprintf("the probe beside it failed: %v", blind), nil
	}
	return fmt.Sprintf("the machine kept switching between near and far cores: only %d repetitions of %d fell into one regime", len(good), len(all)), nil
}

// errNoProbe reports that CPUs cannot be probed, because threads cannot be bound.
var errNoProbe = errors.New("no core-to-core probe")

// repeat measures ours and the peer once, with probes around each if it crosses cores. Ours goes first unless peerFirst
// says otherwise.
func repeat(x *Experiment, n int, cpus []int, peerFirst bool) (r repetition, err error) {
	var apart []int
	if x.Crosses {
		apart = cpus
	}
	var ours, peer sample
	r, err = inTurn(
		func() (err error) { ours, err = x.ours(n, cpus); return err },
		func() (err error) { peer, err = x.peer(n, cpus); return err }, apart, peerFirst)
	r.ours, r.peer = ours, peer
	return r, err
}

// inTurn calls ours and peer, with probes between two CPUs around each, if there are two.
func inTurn(ours, peer func() error, cpus []int, peerFirst bool) (r repetition, err error) {
	look := func() {
		if err != nil || len(cpus) < 2 {
			return
		}
		p, e := probe.Measure(cpus[0], cpus[1])
		if e != nil && !errors.Is(e, probe.ErrBusy) {
			e = fmt.Errorf("%w: %w", errNoProbe, e)
		}
		r.probes, err = append(r.probes, p), e
	}
	turns := []func() error{ours, peer}
	if peerFirst {
		turns = []func() error{peer, ours}
	}
	look()
	for _, turn := range turns {
		if err == nil {
			err = turn()
		}
		look()
	}
	return r, err
}

func (x *Experiment) ours(n int, cpus []int) (sample, error) {
	if x.P > 0 {
		defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(x.P)) // to which the scheduler adds its VPs
	}
	return perform(x.VPs, x.Policy, cpus, n, x.Ours)
}

func (x *Experiment) peer(n int, cpus []int) (sample, error) {
	if x.PeerStage != nil {
		return perform(x.PeerVPs, x.Policy, cpus, n, x.PeerStage)
	}
	return performPeer(x.P, n, x.Peer)
}

// longRun times Options.Time is what no interruption makes of a short run.
const longRun = 10

// calibrate finds how many operations take about o.Time on the slower side. A run that seems to take that long is done
// once more, and the faster one counts: one interruption would make a few operations look like enough.
func calibrate(x *Experiment, o Options, cpus []int) (int, error) {
	unit := max(x.Least, 1)
	round := func(n int) int {
		if x.Most > 0 {
			n = min(n, x.Most)
		}
		return max(n/unit*unit, unit)
	}
	n := round(256)
	first := time.Duration(math.MaxInt64) // of two runs of n operations
	for {
		ours, err := x.ours(n, cpus)
		if err != nil {
			return 0, err
		}
		peer, err := x.peer(n, cpus)
		if err != nil {
			return 0, err
		}
		took := min(first, time.Duration(max(ours.ns, peer.ns, 0.1)*float64(n)))
		want := round(int(float64(n) * float64(o.Time) / float64(max(took, 1))))
		if want <= 2*n || took >= o.Time/2 {
			if first < math.MaxInt64 || took > longRun*o.Time {
				return want, nil
			}
			first = took
			continue
		}
		first = math.MaxInt64
		n = min(want, 32*n) // a short run says little about a long one
		n = round(n)
	}
}
