package bench

import (
	"slices"

	"github.com/pm2-go/pm2/cmd/demo/internal/probe"
)

// summary is a median with its quartiles, and the medians of the allocations and of the memory held.
type summary struct {
	q1, median, q3 float64 // ns per operation
	allocs, bytes  float64 // per operation
	share          float64 // the median
}

func summarize(samples []sample) summary {
	times := make([]float64, len(samples))
	allocs, bytes := make([]float64, len(samples)), make([]float64, len(samples))
	shares := make([]float64, len(samples))
	for i, s := range samples {
		times[i], allocs[i], bytes[i], shares[i] = s.ns, s.allocs, s.bytes, s.share
	}
	return summary{
		q1:     quantile(times, 0.25),
		median: quantile(times, 0.5),
		q3:     quantile(times, 0.75),
		allocs: quantile(allocs, 0.5),
		share:  quantile(shares, 0.5),
		bytes:  quantile(bytes, 0.5),
	}
}

// quantile interpolates linearly between the two samples around it. It is 0 of none.
func quantile(values []float64, q float64) float64 {
	if len(values) == 0 {
		return 0
	}
	v := slices.Sorted(slices.Values(values))
	at := q * float64(len(v)-1)
	i := int(at)
	if i+1 == len(v) {
		return v[i]
	}
	return v[i] + (at-float64(i))*(v[i+1]-v[i])
}

// repetition is one ours and one peer, and what the probe said around them.
type repetition struct {
	ours, peer sample
	probes     []float64 // ns; empty for rows that stay on one core
}

// steady says whether the machine stayed in one regime throughout.
func (r *repetition) steady() bool {
	for _, p := range r.probes {
		if probe.Near(p) != probe.Near(r.probes[0]) {
			return false
		}
	}
	return true
}

// oneRegime keeps the steady repetitions of the regime that was met more often.
func oneRegime(all []repetition) []repetition {
	var near, far []repetition
	for _, r := range all {
		switch {
		case !r.steady():
		case len(r.probes) == 0 || probe.Near(r.probes[0]):
			near = append(near, r)
		default:
			far = append(far, r)
		}
	}
	if len(far) > len(near) {
		return far
	}
	return near
}
