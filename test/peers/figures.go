package main

import (
	"encoding/json"
	"fmt"
	"slices"
)

// A figure is what one run of a program measured for one message size: times in ns, one way. The probes are those that
// the program took itself, right before and right after; 0 where it took none.
type figure struct {
	Size       int     `json:"size"`
	Min        float64 `json:"min_ns"`
	Median     float64 `json:"median_ns"`
	P99        float64 `json:"p99_ns"`
	Probe      float64 `json:"probe_ns"`
	ProbeAfter float64 `json:"probe_after_ns"`
}

// parseFigure finds the row of the given size in a program's JSON, ours or a peer's.
func parseFigure(output []byte, size int) (figure, error) {
	var document struct {
		Rows []figure `json:"rows"`
	}
	if err := json.Unmarshal(output, &document); err != nil {
		return figure{}, fmt.Errorf("read the figures from %.80q: %w", output, err)
	}
	for _, f := range document.Rows {
		if f.Size != size {
			continue
		}
		if !(f.Min > 0 && f.Min <= f.Median && f.Median <= f.P99) {
			return figure{}, fmt.Errorf("figures for %d bytes make no sense: min %v, median %v, p99 %v ns", size, f.Min, f.Median, f.P99)
		}
		return f, nil
	}
	return figure{}, fmt.Errorf("no row for %d bytes in %.80q", size, output)
}

// A spread is the median of several runs' medians, with its quartiles, and the medians of their extremes. Times in ns.
type spread struct {
	Q1, Median, Q3 float64
	Min, P99       float64
}

func spreadOf(runs []figure) spread {
	pick := func(of func(figure) float64) []float64 {
		var v []float64
		for _, f := range runs {
			v = append(v, of(f))
		}
		slices.Sort(v)
		return v
	}
	medians := pick(func(f figure) float64 { return f.Median })
	return spread{
		Q1:     quantile(medians, 0.25),
		Median: quantile(medians, 0.5),
		Q3:     quantile(medians, 0.75),
		Min:    quantile(pick(func(f figure) float64 { return f.Min }), 0.5),
		P99:    quantile(pick(func(f figure) float64 { return f.P99 }), 0.5),
	}
}

// quantile interpolates between the two nearest of sorted values; 0 of none.
func quantile(sorted []float64, q float64) float64 {
	if len(sorted) == 0 {
		return 0
	}
	at := q * float64(len(sorted)-1)
	i := int(at)
	if i+1 == len(sorted) {
		return sorted[i]
	}
	return sorted[i] + (at-float64(i))*(sorted[i+1]-sorted[i])
}
