package datatype

import (
	"fmt"
	"slices"
)

// Order is how the elements of an array with several dimensions lie.
type Order bool

// RowMajor: the last index changes fastest, as in Go and C. ColumnMajor: the first one does.
const (
	RowMajor    Order = false
	ColumnMajor Order = true
)

// Subarray is the part of an array of elements of t, of those sizes, that has subsizes elements in each dimension from starts on. Its extent is the whole
// array.
func Subarray(sizes, subsizes, starts []int, order Order, t *Type) (*Type, error) {
	e := Envelope{Combiner: IsSubarray, Ints: slices.Concat([]int{len(sizes)}, sizes, subsizes, starts, []int{boolInt(bool(order))}), Types: []*Type{t}}
	n := len(sizes)
	if t == nil || n == 0 || len(subsizes) != n || len(starts) != n {
		return nil, fmt.Errorf("%w: subarray: sizes %v, subsizes %v, starts %v", ErrType, sizes, subsizes, starts)
	}
	whole, err := newGrid(sizes, order, t)
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
	return whole.place(x, []int{at}, []int{1}, e)
}

func boolInt(b bool) int {
	if b {
		return 1
	}
	return 0
}

// arrayLayout is an array with several dimensions.
type arrayLayout struct {
	stride []int // bytes from an index to the next, by dimension
	inner  []int // the dimensions, the one whose index changes fastest first
	bytes  int   // the extent of all
}

func newGrid(sizes []int, order Order, t *Type) (arrayLayout, error) {
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

// place puts x at these displacements into the array, whose extent the Type has.
func (g *arrayLayout) place(x *Type, at, blocks []int, e Envelope) (*Type, error) {
	m := maker{what: e.Combiner}
	for i := range at {
		m.add(at[i], x, blocks[i], 1, 0)
	}
	t, err := m.finish(e)
	if err != nil {
		return nil, err
	}
	t.lb, t.ub, t.forced = 0, g.bytes, true
	return t, nil
}

// Distribution is how the indices of a dimension are dealt out to the processes of a grid.
type Distribution uint8

// Block: one block of successive ones to each. Cyclic: blocks to one after the other, again and again. Undealt: all to each; the dimension of
// the grid has one process.
const (
	Undealt Distribution = iota
	Block
	Cyclic
)

// DefaultBlock stands for the usual length of blocks: of Block as long as needed, of Cyclic 1.
const DefaultBlock = 0

// Darray is what a process of a grid of processes has of an array of elements of t: rank of the product of procs, which are counted in row-major order. Its extent is
// the whole array.
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
	whole, err := newGrid(sizes, order, t)
	if err != nil {
		return nil, fmt.Errorf("%w: darray: %w", ErrType, err)
	}
	place, rest := make([]int, n), rank
	for d := n - 1; d >= 0; d-- {
		place[d], rest = rest%procs[d], rest/procs[d]
	}
	e := Envelope{Combiner: IsDarray, Ints: slices.Concat([]int{all, rank, n}, sizes, distributions(how), blocks, procs, []int{boolInt(bool(order))}), Types: []*Type{t}}
	x := t
	for _, d := range whole.inner {
		runs, err := dealt(sizes[d], how[d], blocks[d], procs[d], place[d])
		if err != nil {
			return nil, fmt.Errorf("%w: darray: dimension %d: %w", ErrType, d, err)
		}
		m := maker{what: IsDarray}
		for _, r := range runs {
			row, err := Hvector(r.n, 1, whole.stride[d], x)
			if err != nil {
				return nil, err
			}
			m.add(r.first*whole.stride[d], row, 1, 1, 0)
		}
		if x, err = m.finish(Envelope{}); err != nil {
			return nil, err
		}
	}
	return whole.place(x, []int{0}, []int{1}, e)
}

func distributions(how []Distribution) (n []int) {
	for _, d := range how {
		n = append(n, int(d))
	}
	return n
}

// indexRun is successive indices.
type indexRun struct{ first, n int }

// dealt is the indices of a dimension that a process has.
func dealt(size int, how Distribution, block, procs, place int) (runs []indexRun, err error) {
	switch {
	case how == Undealt && procs != 1:
		return nil, fmt.Errorf("it is dealt to none of %d processes", procs)
	case how == Undealt:
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
