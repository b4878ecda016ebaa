package mpi

import (
	"fmt"
	"math"
	"slices"
)

// Dims returns how n processes stand on a grid whose dimensions are as alike as can be, in falling order: the largest
// and the smallest one differ as little as can be; of such each from the last one on is as large as can be. Those of
// dims that are not 0 stay as they are; the others it fills in.
func Dims(n int, dims ...int) ([]int, error) {
	all, free, rest := slices.Clone(dims), 0, n
	for _, d := range dims {
		switch {
		case d < 0 || d > 0 && rest%d != 0:
			return nil, fmt.Errorf("mpi: dims: %w: %d processes on a grid of %v", ErrCount, n, dims)
		case d == 0:
			free++
		default:
			rest /= d
		}
	}
	if n < 1 || free == 0 && rest != 1 {
		return nil, fmt.Errorf("mpi: dims: %w: %d processes on a grid of %v", ErrCount, n, dims)
	}
	fill := balanced(rest, free)
	for i, d := range all {
		if d == 0 {
			all[i], fill = fill[0], fill[1:]
		}
	}
	return all, nil
}

// balanced is k factors of n in falling order, as Dims has them.
func balanced(n, k int) []int {
	if k == 0 {
		return nil
	}
	s := grids{divisors: divisors(n), at: make([]int, k)}
	s.search(n, k-1, 0)
	return s.best
}

// grids looks for the best factors: from the last one on, which is the smallest, each in falling order. So of those
// that differ as little the first ones that are found are the best.
type grids struct {
	divisors []int
	at       []int // factors so far
	best     []int // nil: none yet
}

// search looks for the factors of rest up to one, of which none is smaller than a divisor.
func (gs *grids) search(rest, at, least int) {
	if at == 0 {
		gs.at[0] = rest
		gs.best = slices.Clone(gs.at)
		return
	}
	last := len(gs.at) - 1
	for i := len(gs.divisors) - 1; i >= least; i-- {
		d := gs.divisors[i]
		if rest%d != 0 || pow(d, at+1) > rest {
			continue // those before would have to be smaller
		}
		if gs.at[at] = d; gs.best != nil && pow(gs.limit(), at) < rest/d {
			return // those before would have to be too large, and more so with a smaller one
		}
		gs.search(rest/d, at-1, i)
		if gs.best != nil && gs.best[0] == gs.best[last] {
			return
		}
	}
}

// limit is how large the first factor may be, at most, if the last one is as it is now and both differ less than
// those of the best.
func (gs *grids) limit() int {
	last := len(gs.at) - 1
	return gs.at[last] + gs.best[0] - gs.best[last] - 1
}

// divisors are those of n, in rising order.
func divisors(n int) (all []int) {
	var large []int
	for d := 1; d <= n/d; d++ {
		if n%d == 0 {
			if all = append(all, d); d != n/d {
				large = append(large, n/d)
			}
		}
	}
	slices.Reverse(large)
	return append(all, large...)
}

// pow is x^k, at least 0, and at most what an int has.
func pow(x, k int) int {
	n := 1
	for range k {
		if x > 0 && n > math.MaxInt/x {
			return math.MaxInt
		}
		n *= max(x, 0)
	}
	return n
}
