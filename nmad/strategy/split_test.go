package strategy

import (
	"math"
	"testing"

	"pgregory.net/rapid"
)

// What fill shares out is all there is, no rail gets too little for it to be worth it, and
// all that get some end at the same time.
func TestFill(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		size := rapid.IntRange(1, 1<<30).Draw(t, "size")
		rails := make([]Load, rapid.IntRange(1, 8).Draw(t, "rails"))
		for i := range rails {
			rails[i].Latency = rapid.Int64Range(0, 1_000_000).Draw(t, "latency")
			rails[i].Bandwidth = rapid.Float64Range(0.01, 100).Draw(t, "bandwidth")
			rails[i].Bytes = rapid.IntRange(0, 1<<24).Draw(t, "bytes")
		}
		shares := make([]int, len(rails))
		fill(size, rails, shares)
		sum, some := 0, 0
		first, last := math.Inf(1), 0.0
		for i, n := range shares {
			if n == 0 {
				continue
			}
			if sum += n; n < minShare && n < size {
				t.Fatalf("rail %d gets %d bytes: %v", i, n, shares)
			}
			some++
			first, last = min(first, rails[i].finish(n)), max(last, rails[i].finish(n))
		}
		if sum != size || some == 0 {
			t.Fatalf("%d of %d bytes are shared out", sum, size)
		}
		if last-first > 10/0.01+1e-6*last { // rounding, on the slowest rail
			t.Fatalf("the first ends after %g ns, the last after %g: %v", first, last, shares)
		}
	})
}

func TestEstimate(t *testing.T) {
	rails := func(bandwidths ...float64) []Load {
		var all []Load
		for _, b := range bandwidths {
			all = append(all, Load{Cost: Cost{1000, b}})
		}
		return all
	}
	for _, c := range []struct {
		s     Strategy
		rails []Load
		want  []float64
	}{
		{SplitBalance, rails(1), []float64{1}},
		{SplitBalance, rails(1, 1), []float64{0.5, 0.5}},
		{SplitBalance, rails(1, 3), []float64{0.25, 0.75}},
		{SplitBalance, rails(1, 0.001), []float64{1, 0}},
		{SplitEqual, rails(1, 3), []float64{0.5, 0.5}},
		{Default, rails(1, 3), []float64{0, 1}},
		{Priority, rails(2, 1), []float64{1, 0}},
	} {
		shares := make([]int, len(c.rails))
		Estimate(c.s, 4<<20, c.rails, shares)
		for i, n := range shares {
			if math.Abs(float64(n)/(4<<20)-c.want[i]) > 0.02 {
				t.Errorf("%s: rail %d gets %d of 4 MiB, want %.2f of it: %v", c.s.Name(), i, n, c.want[i], shares)
			}
		}
	}
}

// A rail that has enough to do is asked for nothing more, and an idle one for no more than
// half of what it should move in the end: what is left corrects what was assumed.
func TestSplitBalanceKeepsSomeBack(t *testing.T) {
	rails := []Load{{Cost: DefaultCost, Bytes: 1 << 20}, {Cost: DefaultCost}}
	shares := make([]int, 2)
	const rest = 8 << 20
	Split(SplitBalance, rest, rails, shares)
	if half := (rest + 1<<20) / 2 / 2; shares[0] != 0 || shares[1] < half || shares[1] > half+page {
		t.Errorf("a busy rail is asked for %d bytes, an idle one for %d; want 0, and %d or a page more", shares[0], shares[1], half)
	}
	Split(SplitBalance, 1<<30, rails[1:], shares[1:])
	if shares[1] != maxShare {
		t.Errorf("a chunk of %d bytes, want %d", shares[1], maxShare)
	}
}
