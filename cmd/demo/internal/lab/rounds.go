package lab

import (
	"context"
	"fmt"

	"github.com/pm2-go/pm2/cmd/demo/internal/binding"
	"github.com/pm2-go/pm2/cmd/demo/internal/probe"
	"github.com/pm2-go/pm2/cmd/demo/internal/stat"
)

// rounds measures all variants in turn, o.Rounds times, and returns their rows. Of the
// rounds only those of one regime of the machine count.
func rounds(ctx context.Context, o Options, s *Sink, variants []Variant) ([]Row, error) {
	type round struct {
		probe float64 // ns; 0: none
		of    []result
	}
	var near, far []round
	for r := range o.Rounds {
		now := round{probe: coreToCore(o.CPUs), of: make([]result, len(variants))}
		for k := range variants {
			i := k
			if r%2 != 0 {
				i = len(variants) - 1 - k // there and back, so that what drifts favours nobody
			}
			v := &variants[i]
			if err := ctx.Err(); err != nil {
				return nil, context.Cause(ctx)
			}
			s.Label(v.Variant)
			samples, err := v.Measure()
			if err != nil {
				return nil, fmt.Errorf("%s: %w", v.Variant, err)
			}
			if len(samples) == 0 {
				return nil, fmt.Errorf("%s: nothing was measured", v.Variant)
			}
			now.of[i].Summary = stat.Summarize(samples)
			if v.Polls != nil {
				now.of[i].polls = *v.Polls
			}
			if v.CPU != nil {
				now.of[i].cpu = *v.CPU
			}
			s.Step(r*len(variants)+k+1, o.Rounds*len(variants))
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
	of, probes := make([][]result, len(variants)), make([]float64, 0, len(near))
	for _, r := range near {
		for i := range variants {
			of[i] = append(of[i], r.of[i])
		}
		if r.probe > 0 {
			probes = append(probes, r.probe)
		}
	}
	return rows(variants, of, probes), nil
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
func put(s *Sink, rows []Row) error {
	for _, r := range rows {
		if err := s.Row(r); err != nil {
			return err
		}
	}
	return nil
}
