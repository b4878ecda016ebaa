package lab

import (
	"errors"
	"strings"
	"testing"
	"time"
)

// TestKernelRow: the ratios are those of the pairs of all rounds.
func TestKernelRow(t *testing.T) {
	pair := func(off, on, cpuOff, cpuOn float64) kernelPair {
		return kernelPair{[2]float64{off, on}, [2]float64{cpuOff, cpuOn}}
	}
	rounds := [][]kernelPair{
		{pair(100, 101, 100, 100), pair(200, 202, 100, 101), pair(400, 404, 100, 102)},
		{pair(1000, 1030, 100, 103), pair(50, 49, 100, 104), pair(100, 101, 0, 1)},
	}
	k := &kernelCase{kernel: "cg", class: "W", goroutines: true}
	r := k.row(rounds)
	if r.Name != "CG, class W" || r.Caller != "goroutines" || r.Pairs != 6 || r.Rounds != 2 || r.Off != 150 || r.On != 151.5 {
		t.Errorf("%+v", r)
	}
	if r.Ratio != 1.01 || *r.RatioLow != 0.98 || *r.RatioHigh != 1.03 {
		t.Errorf("ratio %v [%v, %v]", r.Ratio, *r.RatioLow, *r.RatioHigh)
	}
	if r.CPURatio != 1.02 || r.CPULow != nil || r.CPUHigh != nil { // the clock of one has not moved, and five are too few for an interval
		t.Errorf("ratio of CPU time %v [%v, %v]", r.CPURatio, r.CPULow, r.CPUHigh)
	}
	if line := r.BriefLine(); !strings.Contains(line, "1.010 [0.980, 1.030]") || !strings.Contains(line, " 1.020              - ") {
		t.Error(line)
	}
	if line := r.Line(); !strings.Contains(line, "1.0100   [0.9800, 1.0300]") {
		t.Error(line)
	}
}

// TestKernelCases: the class that takes minutes is measured if it is named.
func TestKernelCases(t *testing.T) {
	for text, want := range map[string]int{"": 12, "cg": 4, "threads": 6, "EP, class W, goroutines": 1, "class a": 6, "cg, class A": 2} {
		cases, err := kernelCases(text)
		if err != nil || len(cases) != want {
			t.Errorf("%q: %d cases, %v", text, len(cases), err)
		}
		for _, k := range cases {
			if !strings.Contains(strings.ToLower(k.label()), strings.ToLower(text)) {
				t.Errorf("%q: %s", text, k.label())
			}
		}
	}
	if _, err := kernelCases("mg"); !errors.Is(err, ErrNoVariant) {
		t.Error(err)
	}
}

func TestAtLeast(t *testing.T) {
	for _, x := range []struct {
		d, each time.Duration
		want    int
	}{{60, 60, 1}, {60, 61, 1}, {61, 60, 2}, {60, 1, 60}, {60, time.Hour, 1}} {
		if got := atLeast(x.d, x.each); got != x.want {
			t.Errorf("%d of %d each: %d times, want %d", x.d, x.each, got, x.want)
		}
	}
}
