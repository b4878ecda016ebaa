//go:build cgo && linux

package main

import (
	"slices"

	"github.com/pm2-go/pm2/nmad/mpi"
)

// group is a group of processes.
type group struct {
	g       mpi.Group
	session *session // that it is of; nil: none
}

const (
	nullGroup  handle = 0x108
	emptyGroup handle = 0x109
	procNull          = mpi.ProcNull
)

// group is an argument that is one.
func (a *call) group(i int) (mpi.Group, error) {
	switch h := a.handle(i); h {
	case emptyGroup:
		return mpi.Group{}, nil
	case nullGroup:
		return mpi.Group{}, wrong(errGroup, "it is MPI_GROUP_NULL")
	default:
		g, err := groups.get(h)
		if err != nil {
			return mpi.Group{}, err
		}
		return g.g, nil
	}
}

// setGroup takes a group in, and writes its handle.
func (a *call) setGroup(i int, g mpi.Group) error {
	if _, err := a.out(i); err != nil {
		return err
	}
	if g.Size() == 0 {
		return a.setHandle(i, emptyGroup)
	}
	h, err := groups.add(&group{g: g})
	if err != nil {
		return err
	}
	return a.setHandle(i, h)
}

// setGroupIf is setGroup of a result.
func (a *call) setGroupIf(i int, g mpi.Group, err error) error {
	if err != nil {
		return err
	}
	return a.setGroup(i, g)
}

// rankIn is this process's rank in a group.
func (a *call) rankIn(g mpi.Group) int {
	engine.mu.Lock()
	all := engine.all
	engine.mu.Unlock()
	if all == nil {
		return undefined
	}
	return g.Rank(all.Rank(), all.Group())
}

func (a *call) groupSize() error {
	g, err := a.group(0)
	if err != nil {
		return err
	}
	return a.setInt(1, g.Size())
}

func (a *call) groupRank() error {
	g, err := a.group(0)
	if err != nil {
		return err
	}
	return a.setInt(1, a.rankIn(g))
}

func (a *call) groupFree() error {
	h, err := a.handleAt(0)
	if err != nil {
		return err
	}
	if h == nullGroup {
		return wrong(errGroup, "it is MPI_GROUP_NULL")
	}
	if h != emptyGroup {
		if _, err := groups.get(h); err != nil {
			return err
		}
		groups.drop(h)
	}
	return a.setHandle(0, nullGroup)
}

// two are arguments that are groups.
func (a *call) two(i, j int) (g, h mpi.Group, err error) {
	if g, err = a.group(i); err == nil {
		h, err = a.group(j)
	}
	return g, h, err
}

func (a *call) groupCompare() error {
	g, h, err := a.two(0, 1)
	if err != nil {
		return err
	}
	return a.setInt(2, comparisons[g.Compare(h)])
}

func (a *call) groupUnion() error {
	g, h, err := a.two(0, 1)
	return a.setGroupIf(2, g.Union(h), err)
}

func (a *call) groupIntersection() error {
	g, h, err := a.two(0, 1)
	return a.setGroupIf(2, g.Intersection(h), err)
}

func (a *call) groupDifference() error {
	g, h, err := a.two(0, 1)
	return a.setGroupIf(2, g.Difference(h), err)
}

// ranked says why ranks are not all different ones of a group.
func ranked(all []int, g mpi.Group) error {
	seen := make([]bool, g.Size())
	for _, r := range all {
		if r < 0 || r >= g.Size() {
			return wrong(errRank, "rank %d of a group of %d", r, g.Size())
		}
		if seen[r] {
			return wrong(errRank, "rank %d is there twice", r)
		}
		seen[r] = true
	}
	return nil
}

// groupPart makes a group of the ranks, or without them, that the arguments behind the first one have.
func (a *call) groupPart(members func(mpi.Group) ([]int, error), part func(mpi.Group, ...int) (mpi.Group, error)) error {
	g, err := a.group(0)
	if err != nil {
		return err
	}
	all, err := members(g)
	if err != nil {
		return err
	}
	x, err := part(g, all...)
	return a.setGroupIf(3, x, err)
}

// listed are ranks in a list.
func (a *call) listed(g mpi.Group) ([]int, error) {
	all, err := a.ints(2, a.int(1))
	if err != nil {
		return nil, err
	}
	return all, ranked(all, g)
}

func (a *call) groupIncl() error      { return a.groupPart(a.listed, mpi.Group.Include) }
func (a *call) groupExcl() error      { return a.groupPart(a.listed, mpi.Group.Exclude) }
func (a *call) groupRangeIncl() error { return a.groupPart(a.ranges, mpi.Group.Include) }
func (a *call) groupRangeExcl() error { return a.groupPart(a.ranges, mpi.Group.Exclude) }

// ranges are ranks in ranges of first, last and stride.
func (a *call) ranges(g mpi.Group) (all []int, err error) {
	n := a.int(1)
	if n < 0 {
		return nil, wrong(errArg, "%d ranges", n)
	}
	x, err := a.ints(2, 3*n)
	if err != nil {
		return nil, err
	}
	for r := range slices.Chunk(x, 3) {
		first, last, stride := r[0], r[1], r[2]
		if stride == 0 {
			return nil, wrong(errArg, "a range with a stride of 0")
		}
		if first < 0 || first >= g.Size() {
			return nil, wrong(errRank, "rank %d of a group of %d", first, g.Size())
		}
		for i := first; stride > 0 && i <= last || stride < 0 && i >= last; i += stride {
			if all = append(all, i); len(all) > g.Size() {
				break
			}
		}
	}
	return all, ranked(all, g)
}

func (a *call) groupTranslateRanks() error {
	g, h, err := a.two(0, 3)
	if err != nil {
		return err
	}
	all, err := a.ints(2, a.int(1))
	if err != nil {
		return err
	}
	for i, r := range all {
		switch {
		case r == procNull:
		case r < 0 || r >= g.Size():
			return wrong(errRank, "rank %d of a group of %d", r, g.Size())
		default:
			all[i] = h.Rank(r, g)
		}
	}
	return a.setInts(4, all)
}
