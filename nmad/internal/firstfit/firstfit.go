package firstfit

import (
	"cmp"
	"slices"
)

// List has the free runs of units, ordered by their beginnings. No two of them touch. The zero List has none. Take cuts from the beginning of the first run that is long enough, so memory that was used before is used again. Its
// time grows with the number of runs: at most one more than there are pieces that are taken.
type List []run

// New is the list of a memory of n units that are all free.
func New(n int) List { return List{{0, n}} }

type run struct{ at, n int }

// Take takes n units, and says where they begin; false: there is no run as long.
func (rs *List) Take(n int) (at int, ok bool) {
	i := slices.IndexFunc(*rs, func(r run) bool { return r.n >= n })
	if i < 0 {
		return 0, false
	}
	r := &(*rs)[i]
	at = r.at
	if r.at, r.n = at+n, r.n-n; r.n == 0 {
		*rs = slices.Delete(*rs, i, i+1)
	}
	return at, true
}

// Give gives units back that were taken.
func (rs *List) Give(at, n int) {
	i, _ := slices.BinarySearchFunc(*rs, at, func(r run, at int) int { return cmp.Compare(r.at, at) })
	if i < len(*rs) && (*rs)[i].at == at+n {
		n += (*rs)[i].n
		*rs = slices.Delete(*rs, i, i+1)
	}
	if i > 0 && (*rs)[i-1].at+(*rs)[i-1].n == at {
		(*rs)[i-1].n += n
	} else {
		*rs = slices.Insert(*rs, i, run{at, n})
	}
}

// Free is how many units are free.
func (rs List) Free() (n int) {
	for _, r := range rs {
		n += r.n
	}
	return n
}
