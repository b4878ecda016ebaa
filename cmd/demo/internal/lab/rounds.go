package lab

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/pm2-go/pm2/cmd/demo/internal/binding"
	"github.com/pm2-go/pm2/cmd/demo/internal/probe"
	"github.com/pm2-go/pm2/cmd/demo/internal/report"
	"github.com/pm2-go/pm2/cmd/demo/internal/stat"
)

// An entrant is one of the things that are measured in turn.
type entrant[T any] struct {
	name    string
	measure func() (T, error) // one round
}

// takeTurns measures all entrants in turn, o.Rounds times. Of the rounds only those of one regime of the machine count:
// of[e][r] is what entrant e came to in the r-th of these. probeNS is the median of what the probe took before them,
// nil if there is no probe.
func takeTurns[T any](ctx context.Context, o Options, s *Sink, entrants []entrant[T]) (of [][]T, probeNS *float64, err error) {
	type round struct {
		probe float64 // ns; 0: none
		of    []T
	}
	var near, far []round
	for r := range o.Rounds {
		now := round{probe: coreToCore(o.CPUs), of: make([]T, len(entrants))}
		for k := range entrants {
			i := k
			if r%2 != 0 {
				i = len(entrants) - 1 - k // there and back, so that what drifts favors no entrant
			}
			e := &entrants[i]
			if err := ctx.Err(); err != nil {
				return nil, nil, context.Cause(ctx)
			}
			s.Label(e.name)
			if now.of[i], err = e.measure(); err != nil {
				return nil, nil, fmt.Errorf("%s: %w", e.name, err)
			}
			s.Step(r*len(entrants)+k+1, o.Rounds*len(entrants))
		}
		if now.probe == 0 || probe.Near(now.probe) {
			near = append(near, now)
		} else {
			far = append(far, now)
		}
	}
	if len(far) > len(near) {
		near, far = far, near
	}
	if len(far) > 0 {
		s.Warn("%d rounds of %d fell into the machine's other regime (near or far cores) and do not count", len(far), o.Rounds)
	}
	of = make([][]T, len(entrants))
	var probes []float64
	for _, r := range near {
		for i := range entrants {
			of[i] = append(of[i], r.of[i])
		}
		if r.probe > 0 {
			probes = append(probes, r.probe)
		}
	}
	return of, report.Optional(stat.Median(probes)), nil
}

// rowsInTurn measures all entrants in turn and writes the row that summarize makes of each from the rounds of all.
func rowsInTurn[T any, R report.Row](ctx context.Context, o Options, s *Sink, entrants []entrant[T],
	summarize func(i int, of [][]T, probeNS *float64) R) ([]R, error) {
	of, probeNS, err := takeTurns(ctx, o, s, entrants)
	if err != nil {
		return nil, err
	}
	all := make([]R, len(entrants))
	for i := range all {
		all[i] = summarize(i, of, probeNS)
	}
	return all, put(s, all)
}

// rounds measures all variants in turn and returns their rows.
func rounds(ctx context.Context, o Options, s *Sink, variants []Variant) ([]Row, error) {
	entrants := make([]entrant[result], len(variants))
	for i := range variants {
		entrants[i] = entrant[result]{variants[i].Variant, variants[i].round}
	}
	of, probeNS, err := takeTurns(ctx, o, s, entrants)
	if err != nil {
		return nil, err
	}
	return rows(variants, of, probeNS), nil
}

// round measures the variant once.
func (v *Variant) round() (r result, err error) {
	samples, err := v.Measure()
	if err != nil {
		return r, err
	}
	if len(samples) == 0 {
		return r, errors.New("nothing was measured")
	}
	if v.Paired {
		r.samples = slices.Clone(samples)
	}
	r.Summary = stat.Summarize(samples)
	if v.Polls != nil {
		r.polls = *v.Polls
	}
	if v.CPU != nil {
		r.cpu = *v.CPU
	}
	return r, nil
}

// coreToCore is the probe between the two CPUs that experiments use; 0 if there is none.
func coreToCore(cpus []int) float64 {
	a, b, two := binding.Pair(cpus)
	if !two {
		return 0
	}
	ns, err := probe.Measure(a, b)
	if err != nil {
		return 0
	}
	return ns
}

// put writes rows.
func put[R report.Row](s *Sink, rows []R) error {
	for _, r := range rows {
		if err := s.Row(r); err != nil {
			return err
		}
	}
	return nil
}
