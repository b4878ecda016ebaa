package datatype

import (
	"errors"
	"fmt"
	"math"
)

// ErrType says that a Type cannot be made as asked for; the text says why.
var ErrType = errors.New("no such datatype")

// Type is a list of basic elements, each at a displacement from the address of a buffer. The methods return bytes.
type Type struct {
	name    string
	made    Envelope
	root    *typeNode // nil: there are no elements
	lb, ub  int       // where the next element of the Type begins is ub - lb on
	forced  bool      // lb or ub was given by Resized
	align   int
	uniform Kind // of all elements; None: there are several kinds, or no elements
}

// Size is how many bytes of data it has. Of no Type, as a zero Buffer has, it is 0.
func (t *Type) Size() int {
	if t == nil {
		return 0
	}
	return t.root.bytes()
}

// Extent is how far apart successive elements of the Type begin. It may be 0, and below it.
func (t *Type) Extent() int { return t.ub - t.lb }

// Lower is its lower bound: the displacement from the address of a buffer at which the extent begins.
func (t *Type) Lower() int { return t.lb }

// True returns where its data begins, and how many bytes they and the gaps between them take.
func (t *Type) True() (lower, extent int) {
	if t.root == nil {
		return 0, 0
	}
	return t.root.low, t.root.high - t.root.low
}

// Elements is how many basic elements it has.
func (t *Type) Elements() int {
	if t.root == nil {
		return 0
	}
	return t.root.basics
}

// Uniform is the kind of all its elements; None: there are several, or none.
func (t *Type) Uniform() Kind { return t.uniform }

// Dense says that elements of the Type, one behind the other, have no gaps between their bytes, which lie in the order of the elements.
func (t *Type) Dense() bool {
	return t.root == nil || t.root.dense && t.root.size == t.Extent() && t.root.low == t.lb
}

// String returns its name, or how it was made.
func (t *Type) String() string {
	if t.name != "" {
		return t.name
	}
	return fmt.Sprintf("%v of %d elements in %d bytes", t.made.Combiner, t.Elements(), t.Extent())
}

// Named returns the same Type with a name.
func (t *Type) Named(name string) *Type {
	x := *t
	x.name = name
	return &x
}

// Of returns the Type that is one element of a kind.
func Of(k Kind) *Type { return &basic[k] }

var basic = func() (all [kinds]Type) {
	for k := range all {
		k := Kind(k)
		if all[k] = (Type{name: k.String(), made: Envelope{Combiner: Named}, ub: k.Size(), align: 1, uniform: k}); k != None {
			all[k].align = k.align()
			all[k].root = leaf(k, k.Size(), 1)
		}
	}
	return all
}()

// typeNode is a part of a Type: n elements of a kind behind each other, a loop, or a list of parts. Displacements are from where the node is put.
type typeNode struct {
	kind Kind // of a leaf

	stride int // of a loop
	count  int
	child  *typeNode

	parts []nodePart // of a list

	size, basics int
	wire         int  // bytes in external32
	low, high    int  // the first byte, and that behind the last one
	dense        bool // the bytes lie without gaps in the order of the elements
}

// nodePart is one of a list.
type nodePart struct {
	at     int // displacement
	before int // bytes of data in the parts before it
	of     *typeNode
}

func (n *typeNode) bytes() int {
	if n == nil {
		return 0
	}
	return n.size
}

// leaf is n elements of a kind, each of which has so many bytes in external32.
func leaf(k Kind, wire, n int) *typeNode {
	return &typeNode{kind: k, size: n * k.Size(), basics: n, wire: n * wire, high: n * k.Size(), dense: true}
}

// Most is how many bytes a Type, and a message, may have, and how far apart they may lie.
const Most = math.MaxInt / 4

func fits(a, b int) bool { // a times b is at most Most, either way
	if a < 0 {
		a = -a
	}
	if b < 0 {
		b = -b
	}
	return a >= 0 && b >= 0 && (a == 0 || b <= Most/a)
}

// repeat is count of n, each stride bytes behind the one before. nil: nothing. The caller has checked that they fit.
func repeat(n *typeNode, count, stride int) *typeNode {
	switch {
	case n == nil || count == 0:
		return nil
	case count == 1:
		return n
	case n.child == nil && n.parts == nil && stride == n.size:
		return leaf(n.kind, n.wire/n.basics, n.basics*count)
	}
	last := (count - 1) * stride
	return &typeNode{
		stride: stride, count: count, child: n, size: n.size * count, basics: n.basics * count, wire: n.wire * count,
		low: n.low + min(0, last), high: n.high + max(0, last), dense: n.dense && stride == n.size,
	}
}

// list is parts one after the other; their before is filled in.
func list(parts []nodePart) *typeNode {
	some := parts[:0]
	for _, p := range parts {
		if p.of != nil {
			some = append(some, p)
		}
	}
	switch {
	case len(some) == 0:
		return nil
	case len(some) == 1 && some[0].at == 0:
		return some[0].of
	}
	x := &typeNode{parts: some, low: math.MaxInt, high: math.MinInt, dense: true}
	for i := range some {
		p := &some[i]
		p.before = x.size
		if !p.of.dense || i > 0 && p.at+p.of.low != x.high {
			x.dense = false
		}
		x.size += p.of.size
		x.basics += p.of.basics
		x.wire += p.of.wire
		x.low, x.high = min(x.low, p.at+p.of.low), max(x.high, p.at+p.of.high)
	}
	return x
}

// Pair says that the Type is a value and behind it an index, as a struct of C or Go has them, and of which kinds they are.
func (t *Type) Pair() (value, index Kind, ok bool) {
	if t.Elements() != 2 {
		return None, None, false
	}
	n, places := 0, [2]int{}
	var of [2]Kind
	t.root.elements(0, func(k Kind, at, count int) bool {
		for i := range count {
			of[n], places[n] = k, at+i*k.Size()
			n++
		}
		return true
	})
	align := max(of[0].align(), of[1].align())
	behind := roundUp(of[0].Size(), of[1].align())
	ok = places == [2]int{0, behind} && t.lb == 0 && t.ub == roundUp(behind+of[1].Size(), align)
	return of[0], of[1], ok
}

func roundUp(n, unit int) int { return (n + unit - 1) / unit * unit }
