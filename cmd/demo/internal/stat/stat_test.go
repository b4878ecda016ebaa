package stat

import (
	"slices"
	"testing"
)

func TestQuantile(t *testing.T) {
	for _, test := range []struct {
		values    []float64
		q, expect float64
	}{
		{nil, 0.5, 0},
		{[]float64{7}, 0.25, 7},
		{[]float64{3, 1, 2}, 0.5, 2},
		{[]float64{4, 1, 3, 2}, 0.5, 2.5},
		{[]float64{5, 1, 3, 2, 4}, 0.25, 2},
		{[]float64{5, 1, 3, 2, 4}, 0.75, 4},
		{[]float64{5, 1, 3, 2, 4}, 1, 5},
	} {
		if got := Quantile(test.values, test.q); got != test.expect {
			t.Errorf("Quantile(%v, %g) = %g, want %g", test.values, test.q, got, test.expect)
		}
	}
}

func TestMidMean(t *testing.T) {
	for _, c := range []struct {
		values []float64
		want   float64
	}{
		{nil, 0},
		{[]float64{7}, 7},
		{[]float64{4, 2}, 3},
		{[]float64{1000, 1, 2, 3}, 2.5},
		{[]float64{10, 20, 10, 10, 20, 900, 10, 0}, 12.5}, // 0 10 | 10 10 10 20 | 20 900
	} {
		if got := MidMean(c.values); got != c.want {
			t.Errorf("%v: %v, want %v", c.values, got, c.want)
		}
	}
}

func TestValuesStay(t *testing.T) {
	values := []float64{4, 1, 3, 2}
	Median(values)
	if !slices.Equal(values, []float64{4, 1, 3, 2}) {
		t.Errorf("the values were sorted: %v", values)
	}
}

func TestSummarize(t *testing.T) {
	var values []float64
	for i := range 101 {
		values = append(values, float64(100-i))
	}
	want := Summary{Count: 101, Best: 0, Q1: 25, Median: 50, Q3: 75, Average: 50, P99: 99}
	if got := Summarize(values); got != want {
		t.Errorf("%+v, want %+v", got, want)
	}
	if got := Summarize(nil); got != (Summary{}) {
		t.Errorf("of none: %+v", got)
	}
}

// TestMedianWithin: the ranks are those of the tables for the sign test.
func TestMedianWithin(t *testing.T) {
	for _, test := range []struct {
		n         int
		low, high float64
	}{{0, 0, 0}, {5, 0, 0}, {6, 1, 6}, {9, 2, 8}, {10, 2, 9}, {15, 4, 12}, {25, 8, 18}, {100, 40, 61}, {1000, 469, 532}, {4000, 1938, 2063}} {
		values := make([]float64, test.n)
		for i := range values {
			values[i] = float64(test.n - i)
		}
		low, high, ok := MedianWithin(values, 0.95)
		if low != test.low || high != test.high || ok != (test.high > 0) {
			t.Errorf("of %d values: %g to %g, %v; want %g to %g", test.n, low, high, ok, test.low, test.high)
		}
	}
}
