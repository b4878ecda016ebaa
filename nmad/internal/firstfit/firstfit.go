package firstfit

import (
	"cmp"
	"slices"
)

// List is the list of free runs of units, ordered by their beginnings. No two runs touch. Take cuts from the beginning
// of the first run that is long enough, so memory that was used before is used again. The time of Take and Give grows
// with the number of runs, which is at most one more than the number of pieces that are in use. The zero List has no
// free unit. Not safe for concurrent use.
type List []run

// New returns the list of a memory of n units that are all free.
func New(n int) List { return List{{0, n}} }

// run is n free units from at on.
type run struct{ at, n int }

// Take takes n units, at least 1, and returns the first of them. ok is false, and nothing is taken, if no run is that
// long.
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

// Give gives back n units from at on, which must all be taken.
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

// Free returns how many units are free, in all runs together.
func (rs List) Free() (n int) {
	for _, r := range rs {
		n += r.n
	}
	return n
}
