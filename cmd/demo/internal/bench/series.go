package bench

import (
	"github.com/pm2-go/pm2/cmd/demo/internal/probe"
	"github.com/pm2-go/pm2/cmd/demo/internal/stat"
)

// summary is a median with its quartiles, and the medians of the allocations and of the memory held.
type summary struct {
	q1, median, q3 float64 // ns per operation
	allocs, bytes  float64 // per operation
	share          float64 // the median
	osThreads      float64 // the median of each one's most; 0: not counted
	p90, p99       float64 // the medians; 0: not measured
}

func summarize(samples []sample) summary {
	times := make([]float64, len(samples))
	allocs, bytes := make([]float64, len(samples)), make([]float64, len(samples))
	shares, osThreads := make([]float64, len(samples)), make([]float64, len(samples))
	p90, p99 := make([]float64, len(samples)), make([]float64, len(samples))
	for i, s := range samples {
		times[i], allocs[i], bytes[i], shares[i], osThreads[i] = s.ns, s.allocs, s.bytes, s.share, float64(s.osThreads)
		p90[i], p99[i] = s.p90, s.p99
	}
	return summary{
		q1:     stat.Quantile(times, 0.25),
		median: stat.Quantile(times, 0.5),
		q3:     stat.Quantile(times, 0.75),
		allocs: stat.Quantile(allocs, 0.5),
		share:  stat.Quantile(shares, 0.5),
		bytes:  stat.Quantile(bytes, 0.5),

		osThreads: stat.Quantile(osThreads, 0.5),
		p90:       stat.Quantile(p90, 0.5),
		p99:       stat.Quantile(p99, 0.5),
	}
}

// repetition is one ours and one peer, and what the probe said around them.
type repetition struct {
	ours, peer sample
	probes     []float64 // ns; empty for rows that stay on one core
}

// steady reports whether the machine stayed in one regime throughout.
func (rep *repetition) steady() bool {
	for _, p := range rep.probes {
		if probe.Near(p) != probe.Near(rep.probes[0]) {
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
