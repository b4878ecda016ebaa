package mpi

import (
	"fmt"
	"slices"
)

// Undefined is the rank of a process in a group that it is not in, the color of a process that is to be in no part of a
// Split, and the count of a message whose last element is not whole.
const Undefined = -32766

// Group is an ordered set of processes of a job, whose ranks are their places in it. It does not change, and is safe
// for concurrent use. The zero Group has no process.
type Group struct {
	job []int // ranks of the job
}

// Size returns how many processes the group has.
func (g Group) Size() int { return len(g.job) }

// Rank returns the rank in g of the process that has a rank in other. It is Undefined if that process is not in g, or
// if other has no such rank.
func (g Group) Rank(rank int, other Group) int {
	if rank < 0 || rank >= len(other.job) {
		return Undefined
	}
	return g.rankOf(other.job[rank])
}

// rankOf returns the rank in g of a process of the job, or Undefined.
func (g Group) rankOf(job int) int {
	if i := slices.Index(g.job, job); i >= 0 {
		return i
	}
	return Undefined
}

// Include returns the group of the processes with these ranks, in this order. ErrGroup: g has no such rank, or one is
// named twice.
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

// Exclude returns the group of all other processes, in their order. ErrGroup: as for Include.
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

// Union returns the processes of g, and behind them those of other that are not in g.
func (g Group) Union(other Group) Group {
	x := Group{slices.Clone(g.job)}
	for _, p := range other.job {
		if !slices.Contains(g.job, p) {
			x.job = append(x.job, p)
		}
	}
	return x
}

// Intersection returns the processes of g that are also in other, in the order of g.
func (g Group) Intersection(other Group) (x Group) {
	for _, p := range g.job {
		if slices.Contains(other.job, p) {
			x.job = append(x.job, p)
		}
	}
	return x
}

// Difference returns the processes of g that are not in other, in the order of g.
func (g Group) Difference(other Group) (x Group) {
	for _, p := range g.job {
		if !slices.Contains(other.job, p) {
			x.job = append(x.job, p)
		}
	}
	return x
}

// Comparison is how alike two groups, or two communicators, are.
type Comparison uint8

// The results of Group.Compare and of Compare, from the most alike to the least.
const (
	Identical Comparison = iota // groups with the same processes in the same order; a communicator and itself
	Congruent                   // two communicators whose groups are identical
	Similar                     // the same processes, in another order
	Unequal                     // other processes
)

var comparisonNames = [...]string{Identical: "identical", Congruent: "congruent", Similar: "similar", Unequal: "unequal"}

// String names the result.
func (co Comparison) String() string {
	if int(co) < len(comparisonNames) {
		return comparisonNames[co]
	}
	return fmt.Sprintf("comparison %d", uint8(co))
}

// Compare says how alike two communicators are. Of intercommunicators it compares the local groups, and the remote
// ones, and returns the result of those that are less alike. It looks at what this process knows, and does not block.
func Compare[C *Comm | *Intercomm](a, b C) Comparison {
	if a == b {
		return Identical
	}
	if a == nil || b == nil {
		return Unequal
	}
	if x, ok := any(a).(*Intercomm); ok {
		y := any(b).(*Intercomm)
		return max(Congruent, x.Group().Compare(y.Group()), x.RemoteGroup().Compare(y.RemoteGroup()))
	}
	return max(Congruent, any(a).(*Comm).group.Compare(any(b).(*Comm).group))
}

// Compare says how alike two groups are: Identical, Similar or Unequal.
func (g Group) Compare(other Group) Comparison {
	switch {
	case slices.Equal(g.job, other.job):
		return Identical
	case slices.Equal(slices.Sorted(slices.Values(g.job)), slices.Sorted(slices.Values(other.job))):
		return Similar
	}
	return Unequal
}
