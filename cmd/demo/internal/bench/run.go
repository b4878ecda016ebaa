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

// Measure measures one row. It blocks for about 2 * (Reps + 3) * Time, up to
// three times that if the machine switches between its regimes. It fails only if
// something is wrong with what was measured, or if ctx ends; a row that cannot be
// measured here is an Outcome.
func Measure(ctx context.Context, x *Experiment, o Options) (Outcome, error) {
	skip := func(format string, args ...any) (Outcome, error) {
		return Outcome{Skip: report.Skip{Name: x.Name, Why: fmt.Sprintf(format, args...)}}, nil
	}
	a, b, two := binding.Pair(o.CPUs)
	cpus := o.CPUs[:1]
	if x.Crosses {
		if !two {
			return skip("it needs two CPUs, and this process may use one only")
		}
		cpus = []int{a, b}
	}
	// A goroutine cannot be bound, a process can: both sides have the same CPUs, and the VPs one of them each. Two schedulers
	// of ours are bound alike already.
	if x.P > 0 && binding.Process(cpus...) == nil { // where it is forbidden, the VPs are not bound either
		defer func() { _ = binding.Process(o.CPUs...) }()
	}
	n, err := calibrate(x, o, cpus)
	if err != nil {
		return Outcome{}, fmt.Errorf("row %q: %w", x.Name, err)
	}
	var all []repetition
	var blind error
	for try := 0; try < 3*o.Reps && len(oneRegime(all)) < o.Reps; try++ {
		if err := ctx.Err(); err != nil {
			return Outcome{}, context.Cause(ctx)
		}
		r, err := repeat(x, n, cpus, try%2 == 1)
		switch {
		case errors.Is(err, probe.ErrBusy) || errors.Is(err, errNoProbe):
			blind = err
		case err != nil:
			return Outcome{}, fmt.Errorf("row %q: %w", x.Name, err)
		default:
			all = append(all, r)
		}
	}
	good := oneRegime(all)
	if len(good) < LeastReps {
		if blind != nil {
			return skip("the probe beside it failed: %v", blind)
		}
		return skip("the machine kept switching between near and far cores: only %d repetitions of %d fell into one regime", len(good), len(all))
	}
	row := newRow(x, good, n)
	return Outcome{Row: &row}, nil
}

// errNoProbe: CPUs cannot be probed, because threads cannot be bound.
var errNoProbe = errors.New("no core-to-core probe")

// repeat measures ours and the peer once, with probes around each if it crosses cores. Ours
// goes first unless peerFirst says otherwise.
func repeat(x *Experiment, n int, cpus []int, peerFirst bool) (r repetition, err error) {
	look := func() {
		if err != nil || !x.Crosses {
			return
		}
		p, e := probe.Measure(cpus[0], cpus[1])
		if e != nil && !errors.Is(e, probe.ErrBusy) {
			e = fmt.Errorf("%w: %w", errNoProbe, e)
		}
		r.probes, err = append(r.probes, p), e
	}
	ours := func() { r.ours, err = x.ours(n, cpus) }
	peer := func() { r.peer, err = x.peer(n, cpus) }
	turns := []func(){ours, peer}
	if peerFirst {
		turns = []func(){peer, ours}
	}
	look()
	for _, turn := range turns {
		if err == nil {
			turn()
		}
		look()
	}
	return r, err
}

func (x *Experiment) ours(n int, cpus []int) (sample, error) {
	if x.Exchange != nil {
		return x.Exchange.perform(n, cpus)
	}
	if x.P > 0 {
		defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(x.P)) // to which the scheduler adds its VPs
	}
	return perform(x.VPs, x.Policy, cpus, n, x.Ours)
}

func (x *Experiment) peer(n int, cpus []int) (sample, error) {
	if x.PeerExchange != nil {
		return x.PeerExchange.perform(n, cpus)
	}
	if x.PeerStage != nil {
		return perform(x.PeerVPs, x.Policy, cpus, n, x.PeerStage)
	}
	return performPeer(x.P, n, x.Peer)
}

// longRun times Options.Time is what no interruption makes of a short run.
const longRun = 10

// calibrate finds how many operations take about o.Time on the slower side. A run that seems
// to take that long is done once more, and the faster one counts: one interruption would
// make a few operations look like enough.
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
