//go:build cgo && linux

package main

import (
	"slices"

	"github.com/pm2-go/pm2/nmad/mpi"
)

// cGroup is a group of processes.
type cGroup struct {
	group   mpi.Group
	session *cSession // of which it is; nil: none
}

// group returns the group whose handle is argument i.
func (a *cCall) group(i int) (mpi.Group, error) {
	if a.handle(i) == groupEmptyHandle {
		return mpi.Group{}, nil
	}
	g, err := groups.get(a.handle(i))
	if err != nil {
		return mpi.Group{}, err
	}
	return g.group, nil
}

// setGroup gives g a handle and writes that to argument i.
func (a *cCall) setGroup(i int, g mpi.Group) error {
	if g.Size() == 0 {
		return a.setHandle(i, groupEmptyHandle)
	}
	return setNewHandle(a, i, &groups, &cGroup{group: g})
}

// groupRank returns the rank of this process in g; MPI_UNDEFINED if it is not in g, or in no job.
func (a *cCall) groupRank(g mpi.Group) int {
	job.mu.Lock()
	all := job.allComm
	job.mu.Unlock()
	if all == nil {
		return mpiUndefined
	}
	return g.Rank(all.Rank(), all.Group())
}

func (a *cCall) groupFree(h *handle) error {
	if *h == groupEmptyHandle {
		*h = groupNullHandle
		return nil
	}
	return freeHandle(&groups, h, groupNullHandle)
}

func (a *cCall) groupSize(g mpi.Group) int                  { return g.Size() }
func (a *cCall) groupCompare(g, h mpi.Group) int            { return comparisons[g.Compare(h)] }
func (a *cCall) groupUnion(g, h mpi.Group) mpi.Group        { return g.Union(h) }
func (a *cCall) groupIntersection(g, h mpi.Group) mpi.Group { return g.Intersection(h) }
func (a *cCall) groupDifference(g, h mpi.Group) mpi.Group   { return g.Difference(h) }

// subgroup returns g, which was made of another group. The error of that is one of the ranks.
func subgroup(g mpi.Group, err error) (mpi.Group, error) {
	if err != nil {
		err = errorf(errRank, "%v", err)
	}
	return g, err
}

func (a *cCall) groupIncl(g mpi.Group, ranks []int) (mpi.Group, error) {
	return subgroup(g.Include(ranks...))
}

func (a *cCall) groupExcl(g mpi.Group, ranks []int) (mpi.Group, error) {
	return subgroup(g.Exclude(ranks...))
}

func (a *cCall) groupRangeIncl(g mpi.Group) (mpi.Group, error) {
	ranks, err := a.rankRanges(g)
	if err != nil {
		return g, err
	}
	return a.groupIncl(g, ranks)
}

func (a *cCall) groupRangeExcl(g mpi.Group) (mpi.Group, error) {
	ranks, err := a.rankRanges(g)
	if err != nil {
		return g, err
	}
	return a.groupExcl(g, ranks)
}

// rankRanges returns the ranks in the ranges (first, last, stride) at argument 2, as many as argument 1 says.
func (a *cCall) rankRanges(g mpi.Group) (all []int, err error) {
	n := a.int(1)
	if n < 0 {
		return nil, errorf(errArg, "%d ranges", n)
	}
	x, err := a.ints(2, 3*n)
	if err != nil {
		return nil, err
	}
	for r := range slices.Chunk(x, 3) {
		first, last, stride := r[0], r[1], r[2]
		if stride == 0 {
			return nil, errorf(errArg, "a range with a stride of 0")
		}
		if first < 0 || first >= g.Size() {
			return nil, errorf(errRank, "rank %d of a group of %d", first, g.Size())
		}
		for i := first; stride > 0 && i <= last || stride < 0 && i >= last; i += stride {
			if all = append(all, i); len(all) > g.Size() {
				break
			}
		}
	}
	return all, nil
}

func (a *cCall) groupTranslateRanks(g mpi.Group, all []int, h mpi.Group) ([]int, error) {
	for i, r := range all {
		switch {
		case r == mpiProcNull:
		case r < 0 || r >= g.Size():
			return nil, errorf(errRank, "rank %d of a group of %d", r, g.Size())
		default:
			all[i] = h.Rank(r, g)
		}
	}
	return all, nil
}
