package datatype

import (
	"cmp"
	"fmt"
)

// Combiner is the constructor by which a Type was made.
type Combiner uint8

// The constructors.
const (
	CombinerNamed Combiner = iota
	CombinerDup
	CombinerContiguous
	CombinerVector
	CombinerHvector
	CombinerIndexed
	CombinerHindexed
	CombinerIndexedBlock
	CombinerHindexedBlock
	CombinerStruct
	CombinerSubarray
	CombinerDarray
	CombinerResized
)

var combiners = [...]string{"named", "dup", "contiguous", "vector", "hvector", "indexed", "hindexed", "indexed block", "hindexed block", "struct", "subarray", "darray", "resized"}

// String returns the name of the constructor.
func (c Combiner) String() string {
	if int(c) < len(combiners) {
		return combiners[c]
	}
	return fmt.Sprintf("combiner %d", uint8(c))
}

// Envelope says how a Type was made: the constructor and its arguments, in the order of MPI_Type_get_contents.
type Envelope struct {
	Combiner Combiner
	Ints     []int   // counts, lengths, displacements in elements
	Bytes    []int   // displacements and strides in bytes
	Types    []*Type // the Types of which it was made
}

// Envelope returns how t was made. The caller must not change the slices.
func (t *Type) Envelope() Envelope { return t.made }

// maker builds a Type of parts.
type maker struct {
	what   Combiner
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
		m.err = fmt.Errorf("%w: %v: %s", ErrType, m.what, fmt.Sprintf(format, args...))
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

// finish makes the Type.
func (m *maker) finish(e Envelope) (*Type, error) {
	if m.err != nil {
		return nil, m.err
	}
	e.Combiner = m.what
	t := &Type{made: e, root: list(m.parts), lb: m.lb, ub: m.ub, forced: m.forced, align: max(m.align, 1)}
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

// Dup returns a Type equal to t, with an Envelope that says so.
func Dup(t *Type) (*Type, error) {
	if t == nil {
		return nil, fmt.Errorf("%w: dup of none", ErrType)
	}
	x := *t
	x.name, x.made = "", Envelope{Combiner: CombinerDup, Types: []*Type{t}}
	return &x, nil
}

// Contiguous returns count elements of t, each where the one before ends.
func Contiguous(count int, t *Type) (*Type, error) {
	m := maker{what: CombinerContiguous}
	m.add(0, t, count, 1, 0)
	return m.finish(Envelope{Ints: []int{count}, Types: []*Type{t}})
}

// Vector returns count blocks of block elements of t; the blocks begin stride elements apart.
func Vector(count, block, stride int, t *Type) (*Type, error) {
	m := maker{what: CombinerVector}
	if t != nil && !fits(stride, cmp.Or(t.Extent(), 1)) {
		m.fail("a stride of %d elements", stride)
	} else if t != nil {
		m.add(0, t, block, count, stride*t.Extent())
	} else {
		m.add(0, nil, 0, 0, 0)
	}
	return m.finish(Envelope{Ints: []int{count, block, stride}, Types: []*Type{t}})
}

// Hvector is Vector with a stride in bytes.
func Hvector(count, block, stride int, t *Type) (*Type, error) {
	m := maker{what: CombinerHvector}
	m.add(0, t, block, count, stride)
	return m.finish(Envelope{Ints: []int{count, block}, Bytes: []int{stride}, Types: []*Type{t}})
}

// Indexed returns blocks of blocks[i] elements of t at displacements[i], which counts elements.
func Indexed(blocks, displacements []int, t *Type) (*Type, error) {
	m := maker{what: CombinerIndexed}
	m.indexed(len(blocks), func(i int) int { return blocks[i] }, displacements, true, t)
	return m.finish(Envelope{Ints: append(append([]int{len(blocks)}, blocks...), displacements...), Types: []*Type{t}})
}

// Hindexed is Indexed with displacements in bytes.
func Hindexed(blocks, displacements []int, t *Type) (*Type, error) {
	m := maker{what: CombinerHindexed}
	m.indexed(len(blocks), func(i int) int { return blocks[i] }, displacements, false, t)
	return m.finish(Envelope{Ints: append([]int{len(blocks)}, blocks...), Bytes: clone(displacements), Types: []*Type{t}})
}

// IndexedBlock is Indexed with blocks of one length.
func IndexedBlock(block int, displacements []int, t *Type) (*Type, error) {
	m := maker{what: CombinerIndexedBlock}
	m.indexed(len(displacements), func(int) int { return block }, displacements, true, t)
	return m.finish(Envelope{Ints: append([]int{len(displacements), block}, displacements...), Types: []*Type{t}})
}

// HindexedBlock is Hindexed with blocks of one length.
func HindexedBlock(block int, displacements []int, t *Type) (*Type, error) {
	m := maker{what: CombinerHindexedBlock}
	m.indexed(len(displacements), func(int) int { return block }, displacements, false, t)
	return m.finish(Envelope{Ints: []int{len(displacements), block}, Bytes: clone(displacements), Types: []*Type{t}})
}

func clone(x []int) []int { return append([]int(nil), x...) }

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
	m := maker{what: CombinerStruct}
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
	return m.finish(Envelope{Ints: append([]int{len(blocks)}, blocks...), Bytes: clone(displacements), Types: append([]*Type(nil), types...)})
}

// Resized returns t with a lower bound and an extent, in bytes.
func Resized(t *Type, lower, extent int) (*Type, error) {
	if t == nil || !fits(lower, 1) || !fits(extent, 1) || !fits(lower+extent, 1) {
		return nil, fmt.Errorf("%w: resized to %d bytes from %d on", ErrType, extent, lower)
	}
	x := *t
	x.name, x.lb, x.ub, x.forced = "", lower, lower+extent, true
	x.made = Envelope{Combiner: CombinerResized, Bytes: []int{lower, extent}, Types: []*Type{t}}
	return &x, nil
}
