package nmad

import (
	"cmp"
	"slices"
)

// runs are the free parts of a memory, in units that its owner chooses, ordered by their beginnings. No two of them touch.
// take cuts from the beginning of the first run that is long enough, so memory that was used before is used again. Its
// time grows with the number of runs: at most one more than there are pieces that are taken.
type runs []run

type run struct{ at, n int }

// take takes n units, and says where they begin; false: there is no run as long.
func (rs *runs) take(n int) (at int, ok bool) {
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

// give gives units back that were taken.
func (rs *runs) give(at, n int) {
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

// free is how many units are free.
func (rs runs) free() (n int) {
	for _, r := range rs {
		n += r.n
	}
	return n
}
