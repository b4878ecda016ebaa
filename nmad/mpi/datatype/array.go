package datatype

import (
	"fmt"
	"slices"
)

// Order is the order in which the elements of an array with several dimensions lie in memory.
type Order bool

// The orders.
const (
	RowMajor    Order = false // the last index changes fastest, as in Go and C
	ColumnMajor Order = true  // the first index changes fastest, as in Fortran
)

// Subarray returns a part of an array of elements of t. The array has sizes[d] elements in dimension d, the part
// subsizes[d] from index starts[d] on. The extent is that of the whole array.
func Subarray(sizes, subsizes, starts []int, order Order, t *Type) (*Type, error) {
	n := len(sizes)
	if t == nil || n == 0 || len(subsizes) != n || len(starts) != n {
		return nil, fmt.Errorf("%w: subarray: sizes %v, subsizes %v, starts %v", ErrType, sizes, subsizes, starts)
	}
	whole, err := newArrayLayout(sizes, order, t)
	if err != nil {
		return nil, fmt.Errorf("%w: subarray: %w", ErrType, err)
	}
	x, at := t, 0
	for _, d := range whole.inner {
		if starts[d] < 0 || subsizes[d] < 1 || subsizes[d] > sizes[d] || starts[d] > sizes[d]-subsizes[d] {
			return nil, fmt.Errorf("%w: subarray: dimension %d has %d elements, of which %d from %d on are asked for", ErrType, d, sizes[d], subsizes[d], starts[d])
		}
		if x, err = Hvector(subsizes[d], 1, whole.stride[d], x); err != nil {
			return nil, err
		}
		at += starts[d] * whole.stride[d]
	}
	return whole.place("subarray", x, at, t)
}

// arrayLayout describes where the elements of an array with several dimensions lie.
type arrayLayout struct {
	stride []int // by dimension: how many bytes the next index is further on
	inner  []int // the dimensions, first the one whose index changes fastest
	bytes  int   // the extent of the array
}

// newArrayLayout returns the layout of an array of elements of t.
func newArrayLayout(sizes []int, order Order, t *Type) (arrayLayout, error) {
	g := arrayLayout{stride: make([]int, len(sizes)), bytes: t.Extent()}
	for d := range sizes {
		g.inner = append(g.inner, d)
	}
	if order == RowMajor {
		slices.Reverse(g.inner)
	}
	for _, d := range g.inner {
		if sizes[d] < 1 || !fits(g.bytes, sizes[d]) {
			return g, fmt.Errorf("dimension %d of %v elements of %v", d, sizes, t)
		}
		g.stride[d] = g.bytes
		g.bytes *= sizes[d]
	}
	return g, nil
}

// place returns the Type that has x at a displacement of the array, and the array's extent. by is the constructor,
// which got the Type of.
func (g *arrayLayout) place(by string, x *Type, at int, of *Type) (*Type, error) {
	m := maker{by: by}
	m.add(at, x, 1, 1, 0)
	t, err := m.finish(of)
	if err != nil {
		return nil, err
	}
	t.lb, t.ub, t.forced = 0, g.bytes, true
	return t, nil
}

// Distribution is how the indices of a dimension are distributed to the processes of a grid.
type Distribution uint8

// The distributions.
const (
	NotDistributed Distribution = iota // one process has all indices: the dimension of the grid has one process
	Block                              // each process has a block of successive indices
	Cyclic                             // the processes have blocks in turns
)

// DefaultBlock as the length of blocks stands for the shortest one that covers the dimension with Block, and for 1 with
// Cyclic.
const DefaultBlock = 0

// Darray returns the part of an array of elements of t that the process rank of a grid of processes has. The array has
// sizes[d] elements in dimension d, which are distributed as how[d] says, in blocks of blocks[d], to procs[d]
// processes. The processes are counted in row-major order. The extent is that of the whole array.
func Darray(rank int, sizes []int, how []Distribution, blocks, procs []int, order Order, t *Type) (*Type, error) {
	n, all := len(sizes), 1
	if t == nil || n == 0 || len(how) != n || len(blocks) != n || len(procs) != n {
		return nil, fmt.Errorf("%w: darray: sizes %v, distributions %v, blocks %v, processes %v", ErrType, sizes, how, blocks, procs)
	}
	for _, p := range procs {
		if p < 1 || !fits(all, p) {
			return nil, fmt.Errorf("%w: darray: processes %v", ErrType, procs)
		}
		all *= p
	}
	if rank < 0 || rank >= all {
		return nil, fmt.Errorf("%w: darray: rank %d of %d", ErrType, rank, all)
	}
	whole, err := newArrayLayout(sizes, order, t)
	if err != nil {
		return nil, fmt.Errorf("%w: darray: %w", ErrType, err)
	}
	place, rest := make([]int, n), rank
	for d := n - 1; d >= 0; d-- {
		place[d], rest = rest%procs[d], rest/procs[d]
	}
	x := t
	for _, d := range whole.inner {
		runs, err := distributed(sizes[d], how[d], blocks[d], procs[d], place[d])
		if err != nil {
			return nil, fmt.Errorf("%w: darray: dimension %d: %w", ErrType, d, err)
		}
		m := maker{by: "darray"}
		for _, r := range runs {
			row, err := Hvector(r.n, 1, whole.stride[d], x)
			if err != nil {
				return nil, err
			}
			m.add(r.first*whole.stride[d], row, 1, 1, 0)
		}
		if x, err = m.finish(); err != nil {
			return nil, err
		}
	}
	return whole.place("darray", x, 0, t)
}

// indexRun is n successive indices.
type indexRun struct{ first, n int }

// distributed returns the indices of a dimension of size indices that the process at a place of the grid has.
func distributed(size int, how Distribution, block, procs, place int) (runs []indexRun, err error) {
	switch {
	case how == NotDistributed && procs != 1:
		return nil, fmt.Errorf("it is not distributed, but has %d processes", procs)
	case how == NotDistributed:
		return []indexRun{{0, size}}, nil
	case how > Cyclic || block < 0:
		return nil, fmt.Errorf("distribution %d in blocks of %d", how, block)
	}
	if block == DefaultBlock {
		if block = 1; how == Block {
			block = (size + procs - 1) / procs
		}
	}
	if how == Block && block < (size+procs-1)/procs {
		return nil, fmt.Errorf("%d blocks of %d are fewer than %d elements", procs, block, size)
	}
	for at := block * place; at < size; at += block * procs {
		runs = append(runs, indexRun{at, min(block, size-at)})
	}
	return runs, nil
}
