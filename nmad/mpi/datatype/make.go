package datatype

import (
	"cmp"
	"fmt"
	"slices"
)

// made says how a Type was made: the name of the constructor, and the Types that the constructor got.
type made struct {
	by string
	of []*Type
}

// byStruct is made.by of a Type that Struct has made.
const byStruct = "struct"

// maker builds a Type of parts.
type maker struct {
	by     string // the name of the constructor
	parts  []nodePart
	bound  bool // lb and ub are known
	forced bool // lb and ub are those of parts that Resized has made
	lb, ub int
	align  int
	kind   Kind // of all elements, if kinds is 1
	kinds  int  // how many kinds of elements there are, up to 2
	size   int  // bytes of data
	err    error
}

// fail keeps the first error.
func (m *maker) fail(format string, args ...any) {
	if m.err == nil {
		m.err = fmt.Errorf("%w: %s: %s", ErrType, m.by, fmt.Sprintf(format, args...))
	}
}

// add adds rows blocks, stride bytes apart, of block elements of t each. The first one is at displacement at.
func (m *maker) add(at int, t *Type, block, rows, stride int) {
	switch {
	case t == nil:
		m.fail("no datatype at displacement %d", at)
		return
	case block < 0 || rows < 0:
		m.fail("%d blocks of %d elements: none may be below 0", rows, block)
		return
	case block == 0 || rows == 0:
		return
	case !fits(t.Extent(), block) || !fits(stride, rows) || !fits(at, 1) || !fits(t.Size(), block) || !fits(t.Size()*block, rows):
		m.fail("%d blocks of %d elements of %v, %d bytes apart, at %d are more than %d bytes", rows, block, t, stride, at, MaxBytes)
		return
	}
	m.align = max(m.align, t.align)
	if m.size += t.Size() * block * rows; m.size > MaxBytes {
		m.fail("it has more than %d bytes", MaxBytes)
		return
	}
	if t.root != nil {
		switch {
		case t.uniform == None || m.kinds == 1 && m.kind != t.uniform:
			m.kinds = 2
		case m.kinds == 0:
			m.kinds, m.kind = 1, t.uniform
		}
		m.parts = append(m.parts, nodePart{at: at, of: repeat(repeat(t.root, block, t.Extent()), rows, stride)})
	}
	if t.root == nil && !t.forced || m.forced && !t.forced {
		return
	}
	wide, far := (block-1)*t.Extent(), (rows-1)*stride
	lb, ub := at+t.lb+min(0, wide)+min(0, far), at+t.ub+max(0, wide)+max(0, far)
	if !m.bound || t.forced && !m.forced {
		m.bound, m.forced, m.lb, m.ub = true, t.forced, lb, ub
		return
	}
	m.lb, m.ub = min(m.lb, lb), max(m.ub, ub)
}

// finish makes the Type. of are the Types that the constructor got.
func (m *maker) finish(of ...*Type) (*Type, error) {
	if m.err != nil {
		return nil, m.err
	}
	t := &Type{made: made{m.by, of}, root: list(m.parts), lb: m.lb, ub: m.ub, forced: m.forced, align: max(m.align, 1)}
	if m.kinds == 1 {
		t.uniform = m.kind
	}
	low, extent := t.True()
	for _, x := range []int{t.lb, t.ub, low, low + extent} {
		if !fits(x, 1) {
			m.fail("it reaches %d bytes far", x)
			return nil, m.err
		}
	}
	return t, nil
}

// Dup returns a Type equal to t, without its name.
func Dup(t *Type) (*Type, error) {
	if t == nil {
		return nil, fmt.Errorf("%w: dup of none", ErrType)
	}
	x := *t
	x.name, x.made = "", made{"dup", []*Type{t}}
	return &x, nil
}

// Contiguous returns count elements of t, each where the one before ends.
func Contiguous(count int, t *Type) (*Type, error) {
	m := maker{by: "contiguous"}
	m.add(0, t, count, 1, 0)
	return m.finish(t)
}

// Vector returns count blocks of block elements of t; the blocks begin stride elements apart.
func Vector(count, block, stride int, t *Type) (*Type, error) {
	m := maker{by: "vector"}
	if t != nil && !fits(stride, cmp.Or(t.Extent(), 1)) {
		m.fail("a stride of %d elements", stride)
	} else if t != nil {
		m.add(0, t, block, count, stride*t.Extent())
	} else {
		m.add(0, nil, 0, 0, 0)
	}
	return m.finish(t)
}

// Hvector is Vector with a stride in bytes.
func Hvector(count, block, stride int, t *Type) (*Type, error) {
	m := maker{by: "hvector"}
	m.add(0, t, block, count, stride)
	return m.finish(t)
}

// Indexed returns blocks of blocks[i] elements of t at displacements[i], which counts elements.
func Indexed(blocks, displacements []int, t *Type) (*Type, error) {
	m := maker{by: "indexed"}
	m.indexed(len(blocks), func(i int) int { return blocks[i] }, displacements, true, t)
	return m.finish(t)
}

// Hindexed is Indexed with displacements in bytes.
func Hindexed(blocks, displacements []int, t *Type) (*Type, error) {
	m := maker{by: "hindexed"}
	m.indexed(len(blocks), func(i int) int { return blocks[i] }, displacements, false, t)
	return m.finish(t)
}

// IndexedBlock is Indexed with blocks of one length.
func IndexedBlock(block int, displacements []int, t *Type) (*Type, error) {
	m := maker{by: "indexed block"}
	m.indexed(len(displacements), func(int) int { return block }, displacements, true, t)
	return m.finish(t)
}

// HindexedBlock is Hindexed with blocks of one length.
func HindexedBlock(block int, displacements []int, t *Type) (*Type, error) {
	m := maker{by: "hindexed block"}
	m.indexed(len(displacements), func(int) int { return block }, displacements, false, t)
	return m.finish(t)
}

// indexed adds n blocks of block(i) elements of t at displacements, which count elements or bytes.
func (m *maker) indexed(n int, block func(int) int, displacements []int, elements bool, t *Type) {
	if n != len(displacements) {
		m.fail("%d blocks, %d displacements", n, len(displacements))
		return
	}
	if t == nil {
		m.fail("no datatype")
		return
	}
	unit := 1
	if elements {
		unit = t.Extent()
	}
	for i, d := range displacements {
		if block(i) == 0 {
			continue // an empty block may be anywhere
		}
		if !fits(d, cmp.Or(unit, 1)) {
			m.fail("block %d is at %d", i, d)
			return
		}
		m.add(d*unit, t, block(i), 1, 0)
	}
}

// Struct returns blocks of blocks[i] elements of types[i] at displacements[i] in bytes. Its extent is rounded up to the
// alignment, as a compiler does, unless one of the types is Resized.
func Struct(blocks, displacements []int, types []*Type) (*Type, error) {
	m := maker{by: byStruct}
	if len(blocks) != len(displacements) || len(blocks) != len(types) {
		m.fail("%d blocks, %d displacements, %d datatypes", len(blocks), len(displacements), len(types))
	} else {
		for i, t := range types {
			m.add(displacements[i], t, blocks[i], 1, 0)
		}
	}
	if m.err == nil && m.bound && !m.forced {
		if over := (m.ub - m.lb) % m.align; over != 0 {
			m.ub += m.align - over
		}
	}
	return m.finish(slices.Clone(types)...)
}

// Resized returns t with a lower bound and an extent, in bytes.
func Resized(t *Type, lower, extent int) (*Type, error) {
	if t == nil || !fits(lower, 1) || !fits(extent, 1) || !fits(lower+extent, 1) {
		return nil, fmt.Errorf("%w: resized to %d bytes from %d on", ErrType, extent, lower)
	}
	x := *t
	x.name, x.lb, x.ub, x.forced = "", lower, lower+extent, true
	x.made = made{"resized", []*Type{t}}
	return &x, nil
}
