package mpi

import (
	"fmt"
	"slices"
)

// Undefined is the rank of a process in a group that it is not in.
const Undefined = -32766

// Group is an ordered set of processes of a job. It does not change, and is safe for concurrent use. The zero Group
// has none.
type Group struct {
	job []int // ranks of the job
}

// Size is how many processes the group has.
func (g Group) Size() int { return len(g.job) }

// Rank is the rank in g of the process that has a rank in other; Undefined: it is not in g. A rank that is not in
// other is Undefined.
func (g Group) Rank(rank int, other Group) int {
	if rank < 0 || rank >= len(other.job) {
		return Undefined
	}
	return g.place(other.job[rank])
}

// place is the rank in g of a process of the job.
func (g Group) place(job int) int {
	if i := slices.Index(g.job, job); i >= 0 {
		return i
	}
	return Undefined
}

// Include is the processes of these ranks, in this order.
func (g Group) Include(ranks ...int) (Group, error) {
	var x Group
	for i, r := range ranks {
		if r < 0 || r >= len(g.job) || slices.Contains(ranks[:i], r) {
			return Group{}, fmt.Errorf("mpi: %w: ranks %v of a group of %d", ErrGroup, ranks, len(g.job))
		}
		x.job = append(x.job, g.job[r])
	}
	return x, nil
}

// Exclude is the processes of all other ranks, in their order.
func (g Group) Exclude(ranks ...int) (Group, error) {
	if _, err := g.Include(ranks...); err != nil {
		return Group{}, err
	}
	var x Group
	for i, p := range g.job {
		if !slices.Contains(ranks, i) {
			x.job = append(x.job, p)
		}
	}
	return x, nil
}

// Range is every stride-th rank from first to last, both included if stride leads there. stride may be below 0, and
// is not 0.
func (g Group) Range(first, last, stride int) (Group, error) {
	if stride == 0 {
		return Group{}, fmt.Errorf("mpi: %w: a range with a stride of 0", ErrGroup)
	}
	var ranks []int
	for r := first; stride > 0 && r <= last || stride < 0 && r >= last; r += stride {
		if ranks = append(ranks, r); len(ranks) > len(g.job) {
			break // Include says what is wrong
		}
	}
	return g.Include(ranks...)
}

// Union is the processes of g, and behind them those of other that are not in g.
func (g Group) Union(other Group) Group {
	x := Group{slices.Clone(g.job)}
	for _, p := range other.job {
		if !slices.Contains(g.job, p) {
			x.job = append(x.job, p)
		}
	}
	return x
}

// Intersection is the processes of g that are in other, too.
func (g Group) Intersection(other Group) (x Group) {
	for _, p := range g.job {
		if slices.Contains(other.job, p) {
			x.job = append(x.job, p)
		}
	}
	return x
}

// Difference is the processes of g that are not in other.
func (g Group) Difference(other Group) (x Group) {
	for _, p := range g.job {
		if !slices.Contains(other.job, p) {
			x.job = append(x.job, p)
		}
	}
	return x
}

// Comparison is how alike two groups are.
type Comparison uint8

// Identical groups have the same processes in the same order, Similar ones in another order. Compare never says Congruent:
// that is of communicators that are not the same one, but whose groups are Identical (MPI_Comm_compare in C).
const (
	Identical Comparison = iota
	Congruent
	Similar
	Unequal
)

// Compare says how alike two groups are.
func (g Group) Compare(other Group) Comparison {
	switch {
	case slices.Equal(g.job, other.job):
		return Identical
	case slices.Equal(slices.Sorted(slices.Values(g.job)), slices.Sorted(slices.Values(other.job))):
		return Similar
	}
	return Unequal
}
