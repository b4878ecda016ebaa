package mpi

import (
	"fmt"
	"math"
	"slices"
)

// Dims returns the numbers of processes in each dimension of a grid of n processes. It keeps the elements of dims that
// are not 0, and replaces the others, in falling order, so that the largest and the smallest of these differ as little
// as possible; of several solutions it takes the one whose last dimension is largest, then the one before it, and so
// on. ErrCount: the elements that are kept do not divide n.
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

// balanced returns k factors of n in falling order, as Dims chooses them.
func balanced(n, k int) []int {
	if k == 0 {
		return nil
	}
	s := grids{divisors: divisors(n), at: make([]int, k)}
	s.search(n, k-1, 0)
	return s.best
}

// grids is a search for the best factors. It chooses the last factor first, which is the smallest, and tries its values
// in falling order, then the factor before it, and so on. So of solutions whose largest and smallest factors differ
// equally it finds the best one first.
type grids struct {
	divisors []int // in rising order
	at       []int // the factors that are chosen so far, from the last one on
	best     []int // nil: none was found yet
}

// search chooses factor at and all before it, whose product is rest. None is smaller than divisors[least].
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
			continue // the factors before would have to be smaller
		}
		if gs.at[at] = d; gs.best != nil && pow(gs.limit(), at) < rest/d {
			return // the factors before would have to be too large, and with a smaller d even larger
		}
		gs.search(rest/d, at-1, i)
		if gs.best != nil && gs.best[0] == gs.best[last] {
			return
		}
	}
}

// limit returns the largest first factor that differs less from the current last factor than those of best differ.
func (gs *grids) limit() int {
	last := len(gs.at) - 1
	return gs.at[last] + gs.best[0] - gs.best[last] - 1
}

// divisors returns the divisors of n, in rising order.
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

// pow returns x^k, 0 if x is negative, and math.MaxInt if the result is larger.
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
