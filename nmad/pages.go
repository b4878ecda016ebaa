package nmad

import (
	"cmp"
	"slices"
)

// pageBytes is what buffers are made of, in bytes.
const pageBytes = 4096

// pages are the runs of pages of a memory that are free, by where they begin. No two of them touch. What is taken are the first pages of the
// first run that is long enough, so what is used is used again. That takes a time that grows with the number of runs: at most one more than there are buffers.
type pages []run

type run struct{ at, n int }

// take takes so many pages, and says where they begin; false: there is no run as long.
func (p *pages) take(n int) (at int, ok bool) {
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

// give gives pages back that were taken.
func (p *pages) give(at, n int) {
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

// free is how many pages are free.
func (p pages) free() (n int) {
	for _, r := range p {
		n += r.n
	}
	return n
}
