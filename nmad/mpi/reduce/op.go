package reduce

import (
	"errors"
	"fmt"

	"github.com/pm2-go/pm2/nmad/mpi/datatype"
)

// ErrOp says that an operation is not defined for a datatype.
var ErrOp = errors.New("operation not defined for the datatype")

// Op is an operation. It does not change, and is safe for concurrent use. It combines elements by one of the kernels of
// this package, or by a function.
type Op struct {
	name       string
	commutes   bool
	predefined predefinedOp                    // if user is nil
	user       func(in, inout datatype.Buffer) // nil: kernels compute
	extension  bool                            // of Of: user computes a predefined operation
}

// predefinedOp is the number of a predefined operation in a kernelRow.
type predefinedOp uint8

const (
	sums predefinedOp = iota
	multiplies
	minima
	maxima
	ands
	ors
	xors
	logicalAnds
	logicalOrs
	logicalXors
	minLocations
	maxLocations
	replaces
	leaves
	operations
)

// The predefined operations, with MPI's names. Sum and Prod are for numbers, Min and Max for numbers except complex
// ones, BAnd, BOr and BXor for integers and bytes, LAnd, LOr and LXor for integers and bools. MinLoc and MaxLoc are for
// pairs of a value and an index; of equal values they take the one with the smaller index. Replace (the result is the
// left operand) and NoOp (the result is the right operand) are for accumulates of windows.
var (
	Sum     = &Op{name: "sum", commutes: true, predefined: sums}
	Prod    = &Op{name: "prod", commutes: true, predefined: multiplies}
	Min     = &Op{name: "min", commutes: true, predefined: minima}
	Max     = &Op{name: "max", commutes: true, predefined: maxima}
	BAnd    = &Op{name: "band", commutes: true, predefined: ands}
	BOr     = &Op{name: "bor", commutes: true, predefined: ors}
	BXor    = &Op{name: "bxor", commutes: true, predefined: xors}
	LAnd    = &Op{name: "land", commutes: true, predefined: logicalAnds}
	LOr     = &Op{name: "lor", commutes: true, predefined: logicalOrs}
	LXor    = &Op{name: "lxor", commutes: true, predefined: logicalXors}
	MinLoc  = &Op{name: "minloc", commutes: true, predefined: minLocations}
	MaxLoc  = &Op{name: "maxloc", commutes: true, predefined: maxLocations}
	Replace = &Op{name: "replace", predefined: replaces}
	NoOp    = &Op{name: "no-op", predefined: leaves}
)

// reduceKernel computes out[i] = a[i] op b[i] for n elements of a kind. out may be b.
type reduceKernel func(a, b, out datatype.Address, n int)

// User returns an operation of the program. f computes inout[i] = in[i] op inout[i]; both Buffers have equally many
// elements of one type. The operation must be associative. Several threads may call f at once, also with locks held: f
// must neither block nor communicate.
func User(name string, commutes bool, f func(in, inout datatype.Buffer)) *Op {
	return &Op{name: name, commutes: commutes, user: f}
}

// Of returns the predefined operation for elements with which Go does not compute, such as long doubles: f computes, as
// for User.
func (o *Op) Of(f func(in, inout datatype.Buffer)) *Op {
	return &Op{name: o.name, commutes: o.commutes, user: f, extension: true}
}

// Predefined reports whether the operation is one of this package's variables, or of Of.
func (o *Op) Predefined() bool { return o != nil && o.name != "" && (o.user == nil || o.extension) }

// String returns the name.
func (o *Op) String() string { return o.name }

// Commutes reports whether the operation is commutative.
func (o *Op) Commutes() bool { return o.commutes }

// Check returns why the operation cannot be used for elements of t; nil: it can.
func (o *Op) Check(t *datatype.Type) error {
	if o.user != nil || o.kernel(t) != nil {
		return nil
	}
	return fmt.Errorf("%w: %s of %v", ErrOp, o.name, t)
}

// Apply computes inout[i] = in[i] op inout[i]. Both Buffers have equally many elements of one Type, which Check has
// passed, and do not overlap.
func (o *Op) Apply(in, inout datatype.Buffer) { o.Combine(in, inout, inout) }

// Combine computes out[i] = a[i] op b[i]. The Buffers have equally many elements of one Type, which Check has passed.
// out may be b; otherwise they do not overlap.
func (o *Op) Combine(a, b, out datatype.Buffer) {
	switch t := a.Type; {
	case a.Count == 0 || t.Size() == 0:
	case o.user != nil:
		if b.First() != out.First() {
			datatype.Copy(&out, &b)
		}
		o.user(a, out)
	case o.locates():
		o.kernel(t)(a.First(), b.First(), out.First(), a.Count)
	default:
		kernels[t.Uniform()][o.predefined](a.First(), b.First(), out.First(), a.Count*t.Elements())
	}
}

// locates reports whether the operation is for pairs.
func (o *Op) locates() bool { return o.predefined == minLocations || o.predefined == maxLocations }

// kernel returns the kernel that computes with elements of t; nil: there is none.
func (o *Op) kernel(t *datatype.Type) reduceKernel {
	if o.locates() {
		value, index, _ := t.Pair()
		r := pairs[locatedKinds{value, index}]
		return r[o.predefined]
	}
	if r := kernels[t.Uniform()]; r != nil && t.Dense() {
		return r[o.predefined]
	}
	return nil
}

// locatedKinds has the kinds of a pair: of a value, and of its index.
type locatedKinds struct{ value, index datatype.Kind }
