package datatype

import (
	"errors"
	"fmt"
	"math"
)

// ErrType says that a Type cannot be made; the text of the error says why.
var ErrType = errors.New("no such datatype")

// Type is a list of basic elements, each at a displacement from the address of a buffer, in bytes.
type Type struct {
	name    string
	made    made
	root    *typeNode // nil: there are no elements
	lb, ub  int       // lower and upper bound: the next element of the Type begins ub - lb bytes further on
	forced  bool      // Resized has set the bounds
	align   int       // in bytes
	uniform Kind      // of all elements; None: there are several kinds, or no elements
}

// Size returns how many bytes of data an element of the Type has; 0 of a nil Type, as a zero Buffer has it.
func (t *Type) Size() int {
	if t == nil {
		return 0
	}
	return t.root.bytes()
}

// Extent returns how many bytes apart successive elements of the Type begin. It may be 0 or negative.
func (t *Type) Extent() int { return t.ub - t.lb }

// Lower returns the lower bound: the displacement at which the extent begins.
func (t *Type) Lower() int { return t.lb }

// True returns the lowest displacement of the data, and how many bytes the data takes with the gaps inside (MPI's true
// lower bound and true extent).
func (t *Type) True() (lower, extent int) {
	if t.root == nil {
		return 0, 0
	}
	return t.root.low, t.root.high - t.root.low
}

// Elements returns how many basic elements an element of the Type has.
func (t *Type) Elements() int {
	if t.root == nil {
		return 0
	}
	return t.root.basics
}

// Uniform returns the kind of all basic elements; None: there are several kinds, or no elements.
func (t *Type) Uniform() Kind { return t.uniform }

// Dense reports whether successive elements of the Type lie in their order and without gaps.
func (t *Type) Dense() bool {
	return t.root == nil || t.root.dense && t.root.size == t.Extent() && t.root.low == t.lb
}

// String returns its name, or how it was made.
func (t *Type) String() string {
	if t.name != "" {
		return t.name
	}
	return fmt.Sprintf("%s of %d elements in %d bytes", t.made.by, t.Elements(), t.Extent())
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
		if all[k] = (Type{name: k.String(), ub: k.Size(), align: 1, uniform: k}); k != None {
			all[k].align = k.align()
			all[k].root = leaf(k, k.Size(), 1)
		}
	}
	return all
}()

// typeNode is a part of a Type: a leaf, which is successive elements of a kind; a loop; or a list of parts.
// Displacements count from the displacement of the node.
type typeNode struct {
	kind Kind // of a leaf

	stride int       // of a loop: bytes from one child to the next
	count  int       // of a loop: how many children there are
	child  *typeNode // of a loop; else nil

	parts []nodePart // of a list; else nil

	size, basics int  // how many bytes, and basic elements, there are
	wire         int  // how many bytes there are in external32
	low, high    int  // the displacement of the lowest byte, and of that behind the highest one
	dense        bool // the bytes lie in the order of the elements and without gaps
}

// nodePart is a part of a list.
type nodePart struct {
	at     int // displacement
	before int // how many bytes of data are in the parts before
	of     *typeNode
}

// bytes returns the size, 0 of nil.
func (n *typeNode) bytes() int {
	if n == nil {
		return 0
	}
	return n.size
}

// leaf returns the node of n elements of a kind, each of which has wire bytes in external32.
func leaf(k Kind, wire, n int) *typeNode {
	return &typeNode{kind: k, size: n * k.Size(), basics: n, wire: n * wire, high: n * k.Size(), dense: true}
}

// MaxBytes is how many bytes a Type, and a message, may have, and how far its displacements may reach.
const MaxBytes = math.MaxInt / 4

// fits reports whether the product of two numbers is between -MaxBytes and MaxBytes.
func fits(a, b int) bool {
	if a < 0 {
		a = -a
	}
	if b < 0 {
		b = -b
	}
	return a >= 0 && b >= 0 && (a == 0 || b <= MaxBytes/a)
}

// repeat returns the node of count nodes n, each stride bytes behind the one before; nil: there is none. The caller has
// checked that they fit.
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

// list returns the node of some parts, in which it sets before.
func list(parts []nodePart) *typeNode {
	present := parts[:0]
	for _, p := range parts {
		if p.of != nil {
			present = append(present, p)
		}
	}
	switch {
	case len(present) == 0:
		return nil
	case len(present) == 1 && present[0].at == 0:
		return present[0].of
	}
	x := &typeNode{parts: present, low: math.MaxInt, high: math.MinInt, dense: true}
	for i := range present {
		p := &present[i]
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

// Pair returns the kinds of a value and of an index, if the Type is a struct of these two, as C or Go lays it out; else
// false.
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

// roundUp returns the lowest multiple of unit that is at least n.
func roundUp(n, unit int) int { return (n + unit - 1) / unit * unit }
