package nmad

import (
	"cmp"
	"slices"
)

// runs are what is free of a memory, in units of its owner's, by where they begin. No two of them touch. What is taken is the beginning of the
// first run that is long enough, so what was used is used again. That takes a time that grows with the number of runs: at most one more than
// there are pieces that are taken.
type runs []run

type run struct{ at, n int }

// take takes n units, and says where they begin; false: there is no run as long.
func (p *runs) take(n int) (at int, ok bool) {
	i := slices.IndexFunc(*p, func(r run) bool { return r.n >= n })
	if i < 0 {
		return 0, false
	}
	r := &(*p)[i]
	at = r.at
	if r.at, r.n = at+n, r.n-n; r.n == 0 {
		*p = slices.Delete(*p, i, i+1)
	}
	return at, true
}

// give gives units back that were taken.
func (p *runs) give(at, n int) {
	i, _ := slices.BinarySearchFunc(*p, at, func(r run, at int) int { return cmp.Compare(r.at, at) })
	if i < len(*p) && (*p)[i].at == at+n {
		n += (*p)[i].n
		*p = slices.Delete(*p, i, i+1)
	}
	if i > 0 && (*p)[i-1].at+(*p)[i-1].n == at {
		(*p)[i-1].n += n
	} else {
		*p = slices.Insert(*p, i, run{at, n})
	}
}

// free is how many units are free.
func (p runs) free() (n int) {
	for _, r := range p {
		n += r.n
	}
	return n
}
