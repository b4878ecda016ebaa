package mpi

import (
	"errors"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// TestDims: the factors multiply to all processes, fall, keep what was said, and none are better: nearer to each
// other, or with larger ones from the last one on.
func TestDims(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n, k := rapid.IntRange(1, 3000).Draw(t, "n"), rapid.IntRange(1, 5).Draw(t, "dimensions")
		got, err := Dims(n, make([]int, k)...)
		if err != nil {
			t.Fatal(err)
		}
		var best []int
		var all func(rest, most int, so []int)
		all = func(rest, most int, so []int) {
			if len(so) == k-1 {
				so = append(slices.Clone(so), rest)
				if rest <= most && (best == nil || slices.Compare(worth(so), worth(best)) < 0) {
					best = so
				}
				return
			}
			for d := 1; d <= most; d++ {
				if rest%d == 0 {
					all(rest/d, d, append(so, d))
				}
			}
		}
		all(n, n, nil)
		if !slices.Equal(got, best) {
			t.Fatalf("%d in %d dimensions: %v, want %v", n, k, got, best)
		}
	})
	for _, c := range []struct {
		n    int
		dims []int
		want []int
	}{
		{24, []int{0, 4, 0}, []int{3, 4, 2}},
		{5040, []int{0, 0, 0}, []int{21, 16, 15}},
		{5616, []int{0, 0, 0, 0}, []int{13, 9, 8, 6}},
		{98784, make([]int, 5), []int{14, 14, 9, 8, 7}},
		{1 << 17, make([]int, 17), slices.Repeat([]int{2}, 17)},
		{999983, make([]int, 12), append([]int{999983}, slices.Repeat([]int{1}, 11)...)},
		{720720, make([]int, 9), []int{13, 11, 7, 5, 4, 3, 3, 2, 2}},
	} {
		if got, err := Dims(c.n, c.dims...); err != nil || !slices.Equal(got, c.want) {
			t.Errorf("%d on %v: %v, %v, want %v", c.n, c.dims, got, err, c.want)
		}
	}
	for _, bad := range [][]int{{5}, {0, 5}, {-1, 0}, {2, 2}} {
		if got, err := Dims(24, bad...); !errors.Is(err, ErrCount) {
			t.Errorf("%v: %v, %v", bad, got, err)
		}
	}
}

// worth is what is to be small of factors in falling order: how much they differ, and the opposite of each from the
// last one on.
func worth(factors []int) []int {
	all := []int{factors[0] - factors[len(factors)-1]}
	for _, f := range slices.Backward(factors) {
		all = append(all, -f)
	}
	return all
}
