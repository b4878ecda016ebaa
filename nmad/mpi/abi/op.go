//go:build cgo && linux

package main

import (
	"slices"

	"github.com/pm2-go/pm2/nmad/mpi"
	"github.com/pm2-go/pm2/nmad/mpi/datatype"
	"github.com/pm2-go/pm2/nmad/mpi/reduce"
)

// cOp is an operation of reductions: a predefined one has op, one of the program function.
type cOp struct {
	op       *mpi.Op   // of a predefined one; nil: it is the program's
	number   int       // of a predefined one: its handle
	classes  []opClass // of a predefined one: the elements for which it is defined
	function uintptr   // of the program; 0: it is predefined
	wide     bool      // function takes a count of 64 bits
	commutes bool      // the order of operands does not matter
}

// predefinedOps are the predefined operations by their handles.
var predefinedOps = func() (all [0x40]*cOp) {
	for h, x := range map[handle]cOp{
		sumHandle:     {op: mpi.Sum, classes: []opClass{classInteger, classFloating, classComplex, classMultiLanguage}},
		minHandle:     {op: mpi.Min, classes: []opClass{classInteger, classFloating, classMultiLanguage}},
		maxHandle:     {op: mpi.Max, classes: []opClass{classInteger, classFloating, classMultiLanguage}},
		prodHandle:    {op: mpi.Prod, classes: []opClass{classInteger, classFloating, classComplex, classMultiLanguage}},
		bandHandle:    {op: mpi.BAnd, classes: []opClass{classInteger, classByte, classMultiLanguage}},
		borHandle:     {op: mpi.BOr, classes: []opClass{classInteger, classByte, classMultiLanguage}},
		bxorHandle:    {op: mpi.BXor, classes: []opClass{classInteger, classByte, classMultiLanguage}},
		landHandle:    {op: mpi.LAnd, classes: []opClass{classInteger, classLogical, classMultiLanguage}},
		lorHandle:     {op: mpi.LOr, classes: []opClass{classInteger, classLogical, classMultiLanguage}},
		lxorHandle:    {op: mpi.LXor, classes: []opClass{classInteger, classLogical, classMultiLanguage}},
		minlocHandle:  {op: mpi.MinLoc, classes: []opClass{classPair}},
		maxlocHandle:  {op: mpi.MaxLoc, classes: []opClass{classPair}},
		replaceHandle: {op: mpi.Replace},
		noOpHandle:    {op: mpi.NoOp},
	} {
		x.number, x.commutes = int(h), h < replaceHandle
		all[h] = &x
	}
	return all
}()

// opOf returns the operation of a handle.
func opOf(h handle) (*cOp, error) {
	if h < handle(len(predefinedOps)) && predefinedOps[h] != nil {
		return predefinedOps[h], nil
	}
	return ops.get(h)
}

// op returns the operation whose handle is argument i.
func (a *cCall) op(i int) (*cOp, error) { return opOf(a.handle(i)) }

// reduction returns the operation at argument i for elements of t.
func (a *cCall) reduction(i int, t *cType) (*mpi.Op, error) {
	o, err := a.op(i)
	if err != nil {
		return nil, err
	}
	return o.forType(t)
}

// forType returns the operation for elements of t. It refuses a predefined operation that is not defined for them.
func (o *cOp) forType(t *cType) (*mpi.Op, error) {
	if o.function != 0 {
		extent := t.typ.Extent()
		if low, length := t.typ.True(); t.typ.Lower() != 0 || low < 0 || low+length > extent {
			extent = 0 // its bounds are the program's, or elements overlap
		}
		return reduce.User("the program's", o.commutes, func(in, inout datatype.Buffer) {
			h := t.lendHandle()
			callReduction(o, origin(&in), origin(&inout), in.Count, extent, h)
			t.returnHandle()
		}), nil
	}
	if t.handle >= predefined && t.contents.combiner < mpiCombinerF90Real || t.handle < predefined && !o.allows(t.class) {
		return nil, errorf(errOp, "%v of %s is not defined", o.op, t.describe())
	}
	if computedInC(t.typ) {
		return reduce.User(o.op.String(), true, func(in, inout datatype.Buffer) {
			reduceInC(o.number, int(t.handle), origin(&in), origin(&inout), in.Count)
		}), nil
	}
	return o.op, nil
}

// allows reports whether a predefined operation is defined for elements of class c.
func (o *cOp) allows(c opClass) bool { return slices.Contains(o.classes, c) }

// computedInC reports whether C computes with elements of t, because Go has no such numbers.
func computedInC(t *datatype.Type) bool {
	if k := t.Uniform(); k == datatype.LongDouble || k == datatype.LongComplex {
		return true
	}
	value, index, ok := t.Pair()
	return ok && (value == datatype.LongDouble || index == datatype.Float32 || index == datatype.Float64)
}

// forWindow returns a predefined operation in the form that changes elements of t in a window. t may be a derived
// datatype of equal elements.
func (o *cOp) forWindow(t *cType) (*mpi.Op, error) {
	of := t.typ.Element()
	if of == nil || !computedInC(of) || o.op == mpi.Replace || o.op == mpi.NoOp {
		return o.op, nil
	}
	h, n := elementHandle(of)
	if locates := o.op == mpi.MinLoc || o.op == mpi.MaxLoc; n == 0 || locates != (predefinedTypes[h-firstType].class == classPair) {
		return o.op, nil // package mpi reports the error, or handles pairs itself
	}
	if !o.allows(predefinedTypes[h-firstType].class) {
		return nil, errorf(errOp, "%v of %s is not defined", o.op, t.describe())
	}
	return o.op.Of(func(in, inout datatype.Buffer) {
		reduceInC(o.number, int(h), origin(&in), origin(&inout), n*in.Count)
	}), nil
}

// elementHandle returns the predefined datatype that computedInC elements have, and how many of them an element of
// t is; 0 if its parts have other datatypes.
func elementHandle(of *datatype.Type) (h handle, n int) {
	switch of.Uniform() {
	case datatype.LongDouble:
		return longDoubleHandle, of.Elements()
	case datatype.LongComplex:
		return cLongDoubleComplexHandle, of.Elements()
	case datatype.Float32:
		return twoRealHandle, 1
	case datatype.Float64:
		return twoDoublePrecisionHandle, 1
	}
	if value, index, _ := of.Pair(); value == datatype.LongDouble && index == datatype.Int32 {
		return longDoubleIntHandle, 1
	}
	return 0, 0
}

// origin returns the address from which the displacements of a buffer count.
func origin(b *datatype.Buffer) pointer { return pointer(datatype.Add(b.Base, b.At)) }

// describe names the datatype in error messages.
func (t *cType) describe() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.name != "" {
		return t.name
	}
	return t.typ.String()
}

func (a *cCall) opCreate() error {
	if a.word[0] == 0 {
		return errorf(errArg, "there is no function")
	}
	return setNewHandle(a, 2, &ops, &cOp{function: a.word[0], wide: a.wide != 0, commutes: a.int(1) != 0})
}

func (a *cCall) opFree(h *handle) error { return freeHandle(&ops, h, opNullHandle) }

func (a *cCall) opCommutative(o *cOp) bool { return o.commutes }

func (a *cCall) reduceLocal() error {
	n, err := a.count(2)
	if err != nil {
		return err
	}
	t, err := a.committed(3)
	if err != nil {
		return err
	}
	in, err := a.elementsAt(0, n, t)
	if err != nil {
		return err
	}
	out, err := a.elementsAt(1, n, t)
	if err != nil {
		return err
	}
	o, err := a.reduction(4, t)
	if err != nil {
		return err
	}
	if err := o.Check(t.typ); err != nil {
		return err
	}
	if in.Count > 0 {
		o.Apply(in, out)
	}
	return nil
}
