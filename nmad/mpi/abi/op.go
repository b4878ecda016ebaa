//go:build cgo && linux

package main

import (
	"github.com/pm2-go/pm2/nmad/mpi"
	"github.com/pm2-go/pm2/nmad/mpi/datatype"
	"github.com/pm2-go/pm2/nmad/mpi/reduce"
)

// cOp is an operation of a reduction.
type cOp struct {
	op       *mpi.Op // of a predefined one
	number   int     // likewise: the low bits of the handle
	sorts    []sort  // likewise: of which elements it is
	function uintptr // of the program
	wide     bool    // it takes a count of 64 bits
	commutes bool
}

const nullOp handle = 0x20

// predefinedOps has them by their handles.
var predefinedOps = func() (all [0x40]*cOp) {
	for h, x := range map[handle]cOp{
		0x21: {op: mpi.Sum, sorts: []sort{integer, floating, complexes, multi}},
		0x22: {op: mpi.Min, sorts: []sort{integer, floating, multi}},
		0x23: {op: mpi.Max, sorts: []sort{integer, floating, multi}},
		0x24: {op: mpi.Prod, sorts: []sort{integer, floating, complexes, multi}},
		0x28: {op: mpi.BAnd, sorts: []sort{integer, bytes, multi}},
		0x29: {op: mpi.BOr, sorts: []sort{integer, bytes, multi}},
		0x2a: {op: mpi.BXor, sorts: []sort{integer, bytes, multi}},
		0x30: {op: mpi.LAnd, sorts: []sort{integer, logical, multi}},
		0x31: {op: mpi.LOr, sorts: []sort{integer, logical, multi}},
		0x32: {op: mpi.LXor, sorts: []sort{integer, logical, multi}},
		0x38: {op: mpi.MinLoc, sorts: []sort{pairs}},
		0x39: {op: mpi.MaxLoc, sorts: []sort{pairs}},
		0x3c: {op: mpi.Replace},
		0x3d: {op: mpi.NoOp},
	} {
		x.number, x.commutes = int(h), h < 0x3c
		all[h] = &x
	}
	return all
}()

// opOf is the operation of a handle.
func opOf(h handle) (*cOp, error) {
	if h == nullOp {
		return nil, wrong(errOp, "it is MPI_OP_NULL")
	}
	if h < handle(len(predefinedOps)) && predefinedOps[h] != nil {
		return predefinedOps[h], nil
	}
	return ops.get(h)
}

// op is an argument that is an operation.
func (a *cCall) op(i int) (*cOp, error) { return opOf(a.handle(i)) }

// reduction is an argument that is an operation, for elements of a datatype.
func (a *cCall) reduction(i int, t *cType) (*mpi.Op, error) {
	o, err := a.op(i)
	if err != nil {
		return nil, err
	}
	return o.on(t)
}

// on is the operation for elements of a datatype.
func (o *cOp) on(t *cType) (*mpi.Op, error) {
	if o.function != 0 {
		extent := t.t.Extent()
		if low, length := t.t.True(); t.t.Lower() != 0 || low < 0 || low+length > extent {
			extent = 0 // it lies where the program says, or its elements reach into each other
		}
		return reduce.User("the program's", o.commutes, func(in, inout datatype.Buffer) {
			h := t.lend()
			callReduction(o, start(&in), start(&inout), in.Count, extent, h)
			t.giveBack()
		}), nil
	}
	if t.handle >= predefined && t.made.combiner < isF90Real || t.handle < predefined && !o.allows(t.sort) {
		return nil, wrong(errOp, "%v of %s is not defined", o.op, t.text())
	}
	if inC(t.t) {
		return reduce.User(o.op.String(), true, func(in, inout datatype.Buffer) {
			reduceInC(o.number, int(t.handle), start(&in), start(&inout), in.Count)
		}), nil
	}
	return o.op, nil
}

// allows says whether the operation is defined for elements of a sort.
func (o *cOp) allows(s sort) bool {
	for _, x := range o.sorts {
		if x == s {
			return true
		}
	}
	return false
}

// inC says that Go has no numbers like the elements.
func inC(t *datatype.Type) bool {
	if k := t.Uniform(); k == datatype.LongDouble || k == datatype.LongComplex {
		return true
	}
	value, index, ok := t.Pair()
	return ok && (value == datatype.LongDouble || index == datatype.Float32 || index == datatype.Float64)
}

// inWindow is a predefined operation for what an access changes, elements of a datatype, perhaps of the program's.
func (o *cOp) inWindow(t *cType) (*mpi.Op, error) {
	of := t.t.Element()
	if of == nil || !inC(of) || o.op == mpi.Replace || o.op == mpi.NoOp {
		return o.op, nil
	}
	h, n := elementInC(of)
	if locates := o.op == mpi.MinLoc || o.op == mpi.MaxLoc; n == 0 || locates != (predefinedTypes[h-firstType].sort == pairs) {
		return o.op, nil // which says what is wrong, or computes with the parts of a pair
	}
	if !o.allows(predefinedTypes[h-firstType].sort) {
		return nil, wrong(errOp, "%v of %s is not defined", o.op, t.text())
	}
	return o.op.Of(func(in, inout datatype.Buffer) {
		reduceInC(o.number, int(h), start(&in), start(&inout), n*in.Count)
	}), nil
}

// elementInC is the predefined datatype of an element that is inC, and how many of these it is; 0: it has other parts.
func elementInC(of *datatype.Type) (h handle, n int) {
	switch of.Uniform() {
	case datatype.LongDouble:
		return 0x220, of.Elements()
	case datatype.LongComplex:
		return 0x224, of.Elements()
	case datatype.Float32:
		return 0x230, 1
	case datatype.Float64:
		return 0x231, 1
	}
	if value, index, _ := of.Pair(); value == datatype.LongDouble && index == datatype.Int32 {
		return 0x22d, 1
	}
	return 0, 0
}

// start is where the displacements of a buffer count from.
func start(b *datatype.Buffer) pointer { return pointer(datatype.Add(b.Base, b.At)) }

// text names a datatype for people.
func (t *cType) text() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.name != "" {
		return t.name
	}
	return t.t.String()
}

func (a *cCall) opCreate() error {
	if a.word[0] == 0 {
		return wrong(errArg, "there is no function")
	}
	return setNew(a, 2, &ops, &cOp{function: a.word[0], wide: a.wide != 0, commutes: a.int(1) != 0})
}

func (a *cCall) opFree(h *handle) error {
	if *h < predefined {
		return wrong(errOp, "a predefined operation cannot be freed")
	}
	return free(&ops, h, nullOp)
}

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
	if err := o.Check(t.t); err != nil {
		return err
	}
	if in.Count > 0 {
		o.Apply(in, out)
	}
	return nil
}
