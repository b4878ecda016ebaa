package reduce

import (
	"errors"
	"fmt"

	"github.com/pm2-go/pm2/nmad/mpi/datatype"
)

// ErrOp says that an operation makes no sense for a datatype.
var ErrOp = errors.New("operation not defined for the datatype")

// Op is an operation. It does not change, and is safe for concurrent use.
type Op struct {
	name     string
	commutes bool
	what     predefinedOp // if it is predefined
	user     func(in, inout datatype.Buffer)
	stands   bool // user computes what a predefined operation is elsewhere
}

// predefinedOp is a predefined operation.
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

// The predefined operations, as MPI names them. Sum and Prod are for numbers, Min and Max for those that have an order, BAnd, BOr and BXor for integers and bytes, LAnd, LOr and
// LXor for integers and bools, MinLoc and MaxLoc for pairs of a value and an index: the smaller index goes with equal values.
var (
	Sum     = &Op{name: "sum", commutes: true, what: sums}
	Prod    = &Op{name: "prod", commutes: true, what: multiplies}
	Min     = &Op{name: "min", commutes: true, what: minima}
	Max     = &Op{name: "max", commutes: true, what: maxima}
	BAnd    = &Op{name: "band", commutes: true, what: ands}
	BOr     = &Op{name: "bor", commutes: true, what: ors}
	BXor    = &Op{name: "bxor", commutes: true, what: xors}
	LAnd    = &Op{name: "land", commutes: true, what: logicalAnds}
	LOr     = &Op{name: "lor", commutes: true, what: logicalOrs}
	LXor    = &Op{name: "lxor", commutes: true, what: logicalXors}
	MinLoc  = &Op{name: "minloc", commutes: true, what: minLocations}
	MaxLoc  = &Op{name: "maxloc", commutes: true, what: maxLocations}
	Replace = &Op{name: "replace", what: replaces}
	NoOp    = &Op{name: "no-op", what: leaves}
)

// reduceKernel computes out[i] = a[i] op b[i] for n elements. out may be b.
type reduceKernel func(a, b, out datatype.Address, n int)

// User returns an operation of a user: f computes inout[i] = in[i] op inout[i] for elements of one type and as many on both sides. It must be associative. Several threads may call f at
// once, also while a lock is held; so f only computes.
func User(name string, commutes bool, f func(in, inout datatype.Buffer)) *Op {
	return &Op{name: name, commutes: commutes, user: f}
}

// Of returns a predefined operation for elements with which Go does not compute: f does, as that of User.
func (o *Op) Of(f func(in, inout datatype.Buffer)) *Op {
	return &Op{name: o.name, commutes: o.commutes, user: f, stands: true}
}

// Predefined says that the operation is one of those above, or of Of.
func (o *Op) Predefined() bool { return o != nil && o.name != "" && (o.user == nil || o.stands) }

// String returns the name.
func (o *Op) String() string { return o.name }

// Commutes says that the operands may change places.
func (o *Op) Commutes() bool { return o.commutes }

// Check returns why the operation cannot be used for elements of t; nil: it can.
func (o *Op) Check(t *datatype.Type) error {
	if o.user != nil || o.kernel(t) != nil {
		return nil
	}
	return fmt.Errorf("%w: %s of %v", ErrOp, o.name, t)
}

// Apply computes inout[i] = in[i] op inout[i] for as many elements, of one Type, which Check has passed. The two do not overlap.
func (o *Op) Apply(in, inout datatype.Buffer) { o.Combine(in, inout, inout) }

// Combine computes out[i] = a[i] op b[i] for as many elements, of one Type, which Check has passed. out may be b; else none overlaps another.
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
		kernels[t.Uniform()][o.what](a.First(), b.First(), out.First(), a.Count*t.Elements())
	}
}

// locates says that the operation is for pairs.
func (o *Op) locates() bool { return o.what == minLocations || o.what == maxLocations }

// kernel is what computes with elements of t; nil: nothing does.
func (o *Op) kernel(t *datatype.Type) reduceKernel {
	if o.locates() {
		value, index, _ := t.Pair()
		r := pairs[locatedKinds{value, index}]
		return r[o.what]
	}
	if r := kernels[t.Uniform()]; r != nil && t.Dense() {
		return r[o.what]
	}
	return nil
}

// locatedKinds is the kinds of a value and of where it is.
type locatedKinds struct{ value, index datatype.Kind }
