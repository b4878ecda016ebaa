//go:build cgo && linux

package main

import (
	"slices"

	"github.com/pm2-go/pm2/nmad/mpi/datatype"
)

// cType is a datatype: an MPI_Datatype.
type cType struct {
	object
	typ       *datatype.Type
	class     opClass  // of a predefined one
	contents  contents // how it was made
	committed bool     // messages may use it
	freed     bool     // the program has freed it; under mu
	loans     int      // calls of reduction functions that have its handle; under mu
	reissued  handle   // handle for such calls, made after the program has freed t; 0: none; under mu
}

// lendHandle returns a handle of t for a call of the program's reduction function. The program may have freed t
// since it began the reduction; then t gets a new handle for the time of such calls. returnHandle ends the use of
// the handle.
func (t *cType) lendHandle() handle {
	if t.handle < predefined {
		return t.handle
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.loans++; t.loans == 1 && t.freed {
		var err error
		if t.reissued, err = types.add(t); err != nil { // the table is full
			t.reissued = nullType
		}
	}
	if t.reissued != 0 {
		return t.reissued
	}
	return t.handle
}

func (t *cType) returnHandle() {
	if t.handle < predefined {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.loans--; t.loans > 0 || !t.freed {
		return
	}
	if t.reissued == 0 {
		types.drop(t.handle)
	} else {
		types.drop(t.reissued)
	}
	t.reissued = 0
}

// release ends the program's use of t. False: the program has freed it before.
func (t *cType) release() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.freed {
		return false
	}
	if t.freed = true; t.loans == 0 {
		types.drop(t.handle)
	}
	return true
}

// contents are the arguments with which a datatype was made, as MPI_Type_get_contents returns them.
type contents struct {
	combiner  int // MPI_COMBINER_...
	ints      []int
	addresses []int
	large     []int // numbers that the wide form of the constructor has as MPI_Count
	types     []*cType
}

// opClass says with which predefined operations elements can be reduced, by the table of the standard.
type opClass uint8

const (
	classNone          opClass = iota // no operation
	classInteger                      // C and Fortran integers
	classFloating                     // floating-point numbers
	classComplex                      // complex numbers
	classLogical                      // logicals
	classByte                         // MPI_BYTE
	classMultiLanguage                // types of several languages: MPI_AINT and its like
	classPair                         // a value and an index
)

const (
	nullType  handle = 0x200
	firstType handle = 0x200
	lastType  handle = 0x300
	byteType  handle = 0x247
)

// MPI_COMBINER_...
const (
	combinerNamed         = 101
	combinerDup           = 102
	combinerContiguous    = 103
	combinerVector        = 104
	combinerHvector       = 105
	combinerIndexed       = 106
	combinerHindexed      = 107
	combinerIndexedBlock  = 108
	combinerHindexedBlock = 109
	combinerStruct        = 110
	combinerSubarray      = 111
	combinerDarray        = 112
	combinerF90Real       = 113
	combinerF90Complex    = 114
	combinerF90Integer    = 115
	combinerResized       = 116
	combinerValueIndex    = 117
)

// predefinedTypes are the predefined datatypes, by their handles less firstType.
var predefinedTypes = func() (all [lastType - firstType]*cType) {
	add := func(h handle, name string, s opClass, t *datatype.Type) {
		all[h-firstType] = &cType{object: object{kind: ofType, handle: h, name: name}, typ: t.Named(name), class: s, committed: true, contents: contents{combiner: combinerNamed}}
	}
	of := func(h handle, name string, s opClass, k datatype.Kind) { add(h, name, s, datatype.Of(k)) }
	pairOf := func(h handle, name string, v *datatype.Type, index datatype.Kind) {
		i := datatype.Of(index)
		at := (v.Size() + i.Size() - 1) / i.Size() * i.Size()
		t, err := datatype.Struct([]int{1, 1}, []int{0, at}, []*datatype.Type{v, i})
		if err != nil {
			panic(err)
		}
		add(h, name, classPair, t)
	}
	pair := func(h handle, name string, value, index datatype.Kind) { pairOf(h, name, datatype.Of(value), index) }
	// These types have fewer bytes in external32 than here.
	long, unsignedLong, wide := datatype.Narrow(datatype.Int64, 4), datatype.Narrow(datatype.Uint64, 4), datatype.Narrow(datatype.Uint32, 2)
	opaque := func(h handle, name string, s opClass, size int) {
		t, err := datatype.Contiguous(size, datatype.Of(datatype.Byte))
		if err != nil {
			panic(err)
		}
		add(h, name, s, t)
	}
	signed := map[int]datatype.Kind{1: datatype.Int8, 2: datatype.Int16, 4: datatype.Int32, 8: datatype.Int64}
	unsigned := map[int]datatype.Kind{1: datatype.Uint8, 2: datatype.Uint16, 4: datatype.Uint32, 8: datatype.Uint64}
	of(0x201, "MPI_AINT", classMultiLanguage, datatype.Int64)
	of(0x202, "MPI_COUNT", classMultiLanguage, datatype.Int64)
	of(0x203, "MPI_OFFSET", classMultiLanguage, datatype.Int64)
	of(0x207, "MPI_PACKED", classNone, datatype.Packed)
	of(0x208, "MPI_SHORT", classInteger, datatype.Int16)
	of(0x209, "MPI_INT", classInteger, datatype.Int32)
	add(0x20a, "MPI_LONG", classInteger, long)
	of(0x20b, "MPI_LONG_LONG", classInteger, datatype.Int64)
	of(0x20c, "MPI_UNSIGNED_SHORT", classInteger, datatype.Uint16)
	of(0x20d, "MPI_UNSIGNED", classInteger, datatype.Uint32)
	add(0x20e, "MPI_UNSIGNED_LONG", classInteger, unsignedLong)
	of(0x20f, "MPI_UNSIGNED_LONG_LONG", classInteger, datatype.Uint64)
	of(0x210, "MPI_FLOAT", classFloating, datatype.Float32)
	of(0x212, "MPI_C_FLOAT_COMPLEX", classComplex, datatype.Complex64)
	of(0x213, "MPI_CXX_FLOAT_COMPLEX", classComplex, datatype.Complex64)
	of(0x214, "MPI_DOUBLE", classFloating, datatype.Float64)
	of(0x216, "MPI_C_DOUBLE_COMPLEX", classComplex, datatype.Complex128)
	of(0x217, "MPI_CXX_DOUBLE_COMPLEX", classComplex, datatype.Complex128)
	of(0x218, "MPI_LOGICAL", classLogical, datatype.Int32)
	of(0x219, "MPI_INTEGER", classInteger, datatype.Int32)
	of(0x21a, "MPI_REAL", classFloating, datatype.Float32)
	of(0x21b, "MPI_COMPLEX", classComplex, datatype.Complex64)
	of(0x21c, "MPI_DOUBLE_PRECISION", classFloating, datatype.Float64)
	of(0x21d, "MPI_DOUBLE_COMPLEX", classComplex, datatype.Complex128)
	of(0x21e, "MPI_CHARACTER", classNone, datatype.Int8)
	of(0x220, "MPI_LONG_DOUBLE", classFloating, datatype.LongDouble)
	of(0x224, "MPI_C_LONG_DOUBLE_COMPLEX", classComplex, datatype.LongComplex)
	of(0x225, "MPI_CXX_LONG_DOUBLE_COMPLEX", classComplex, datatype.LongComplex)
	pair(0x228, "MPI_FLOAT_INT", datatype.Float32, datatype.Int32)
	pair(0x229, "MPI_DOUBLE_INT", datatype.Float64, datatype.Int32)
	pairOf(0x22a, "MPI_LONG_INT", long, datatype.Int32)
	pair(0x22b, "MPI_2INT", datatype.Int32, datatype.Int32)
	pair(0x22c, "MPI_SHORT_INT", datatype.Int16, datatype.Int32)
	pair(0x22d, "MPI_LONG_DOUBLE_INT", datatype.LongDouble, datatype.Int32)
	pair(0x230, "MPI_2REAL", datatype.Float32, datatype.Float32)
	pair(0x231, "MPI_2DOUBLE_PRECISION", datatype.Float64, datatype.Float64)
	pair(0x232, "MPI_2INTEGER", datatype.Int32, datatype.Int32)
	of(0x238, "MPI_C_BOOL", classLogical, datatype.Bool)
	of(0x239, "MPI_CXX_BOOL", classLogical, datatype.Bool)
	add(0x23c, "MPI_WCHAR", classNone, wide)
	of(0x243, "MPI_CHAR", classInteger, datatype.Int8) // the standard defines no reductions for it; other libraries do
	of(0x244, "MPI_SIGNED_CHAR", classInteger, datatype.Int8)
	of(0x245, "MPI_UNSIGNED_CHAR", classInteger, datatype.Uint8)
	of(0x247, "MPI_BYTE", classByte, datatype.Byte)
	for i, size := range []int{1, 2, 4, 8} {
		h, bits := handle(8*i), [...]string{"8", "16", "32", "64"}[i]
		of(0x240+h, "MPI_INT"+bits+"_T", classInteger, signed[size])
		of(0x241+h, "MPI_UINT"+bits+"_T", classInteger, unsigned[size])
		n := [...]string{"1", "2", "4", "8"}[i]
		of(0x2c0+h, "MPI_LOGICAL"+n, classLogical, signed[size])
		of(0x2c1+h, "MPI_INTEGER"+n, classInteger, signed[size])
	}
	opaque(0x2ca, "MPI_REAL2", classNone, 2)
	of(0x2d2, "MPI_REAL4", classFloating, datatype.Float32)
	opaque(0x2d3, "MPI_COMPLEX4", classNone, 4)
	of(0x2da, "MPI_REAL8", classFloating, datatype.Float64)
	of(0x2db, "MPI_COMPLEX8", classComplex, datatype.Complex64)
	opaque(0x2e0, "MPI_LOGICAL16", classNone, 16)
	opaque(0x2e1, "MPI_INTEGER16", classNone, 16)
	opaque(0x2e2, "MPI_REAL16", classNone, 16)
	of(0x2e3, "MPI_COMPLEX16", classComplex, datatype.Complex128)
	opaque(0x2eb, "MPI_COMPLEX32", classNone, 32)
	return all
}()

// typeOf returns the datatype of a handle.
func typeOf(h handle) (*cType, error) {
	if h < lastType && h >= firstType {
		if t := predefinedTypes[h-firstType]; t != nil {
			return t, nil
		}
		if h == nullType {
			return nil, errorf(errType, "it is MPI_DATATYPE_NULL")
		}
	}
	return types.get(h)
}

// dtype returns the datatype whose handle is argument i.
func (a *cCall) dtype(i int) (*cType, error) { return typeOf(a.handle(i)) }

// committed is a datatype that was committed, so that messages may use it.
type committed = cType

// committedType returns the datatype of a handle. It refuses one that was not committed.
func committedType(h handle) (*committed, error) {
	t, err := typeOf(h)
	if err == nil && !t.committed {
		err = errorf(errType, "it was not committed (MPI_Type_commit)")
	}
	return t, err
}

// committed returns the committed datatype whose handle is argument i.
func (a *cCall) committed(i int) (*committed, error) { return committedType(a.handle(i)) }

// dtypes returns the n datatypes whose handles lie at argument i.
func (a *cCall) dtypes(i, n int) (all []*cType, err error) {
	hs, err := a.handles(i, n)
	if err != nil {
		return nil, err
	}
	for _, h := range hs {
		t, err := typeOf(h)
		if err != nil {
			return nil, err
		}
		all = append(all, t)
	}
	return all, nil
}

// newType returns the cType of a datatype that the program has made. It has no handle yet. err is passed on.
func newType(t *datatype.Type, made contents, err error) (*cType, error) {
	return &cType{typ: t, contents: made}, err
}

// enlist gives t a handle.
func (t *cType) enlist() (err error) {
	t.kind = ofType
	t.handle, err = types.add(t)
	return err
}

// setType writes the handle of t to argument i. It makes one first if t has none.
func (a *cCall) setType(i int, t *cType) error {
	if _, err := a.out(i); err != nil {
		return err
	}
	if t.handle == 0 {
		if err := t.enlist(); err != nil {
			return err
		}
	}
	return a.setHandle(i, t.handle)
}

// elementCount is a number of elements, 0 or more.
type elementCount = int

// count returns argument i, a count, and refuses one below 0.
func (a *cCall) count(i int) (elementCount, error) {
	n := a.int(i)
	if n < 0 {
		return 0, errorf(errCount, "a count of %d", n)
	}
	return n, nil
}

// contentsOf returns the contents of a datatype whose arguments were these. The wide form of a constructor has all
// numbers as large counts.
func (a *cCall) contentsOf(combiner int, ints, addresses []int, types ...*cType) contents {
	if a.wide != 0 {
		return contents{combiner: combiner, large: append(ints, addresses...), types: types}
	}
	return contents{combiner: combiner, ints: ints, addresses: addresses, types: types}
}

func (a *cCall) typeContiguous(n elementCount, t *cType) (*cType, error) {
	x, err := datatype.Contiguous(n, t.typ)
	return newType(x, a.contentsOf(combinerContiguous, []int{n}, nil, t), err)
}

func (a *cCall) typeVector(n elementCount, length, stride int, t *cType) (*cType, error) {
	x, err := datatype.Vector(n, length, stride, t.typ)
	return newType(x, a.contentsOf(combinerVector, []int{n, length, stride}, nil, t), err)
}

func (a *cCall) typeCreateHvector(n elementCount, length, stride int, t *cType) (*cType, error) {
	x, err := datatype.Hvector(n, length, stride, t.typ)
	return newType(x, a.contentsOf(combinerHvector, []int{n, length}, []int{stride}, t), err)
}

func (a *cCall) typeIndexed(n elementCount, t *cType) (*cType, error) {
	blocks, at, err := a.blockLists(n, a.counts)
	if err != nil {
		return nil, err
	}
	x, err := datatype.Indexed(blocks, at, t.typ)
	return newType(x, a.contentsOf(combinerIndexed, prepend(n, blocks, at), nil, t), err)
}

func (a *cCall) typeCreateHindexed(n elementCount, t *cType) (*cType, error) {
	blocks, at, err := a.blockLists(n, a.addresses)
	if err != nil {
		return nil, err
	}
	x, err := datatype.Hindexed(blocks, at, t.typ)
	return newType(x, a.contentsOf(combinerHindexed, prepend(n, blocks), at, t), err)
}

// blockLists returns the lengths and the displacements of n blocks, at arguments 1 and 2.
func (a *cCall) blockLists(n int, displacements func(i, n int) ([]int, error)) (blocks, at []int, err error) {
	if blocks, err = a.counts(1, n); err == nil {
		at, err = displacements(2, n)
	}
	for _, b := range blocks {
		if err == nil && b < 0 {
			err = errorf(errArg, "a block of %d elements", b)
		}
	}
	return blocks, at, err
}

// prepend returns n followed by the lists.
func prepend(n int, lists ...[]int) []int {
	all := []int{n}
	for _, l := range lists {
		all = append(all, l...)
	}
	return all
}

func (a *cCall) typeCreateIndexedBlock(n elementCount, length int, t *cType) (*cType, error) {
	at, err := a.counts(2, n)
	if err != nil {
		return nil, err
	}
	x, err := datatype.IndexedBlock(length, at, t.typ)
	return newType(x, a.contentsOf(combinerIndexedBlock, prepend(n, []int{length}, at), nil, t), err)
}

func (a *cCall) typeCreateHindexedBlock(n elementCount, length int, t *cType) (*cType, error) {
	at, err := a.addresses(2, n)
	if err != nil {
		return nil, err
	}
	x, err := datatype.HindexedBlock(length, at, t.typ)
	return newType(x, a.contentsOf(combinerHindexedBlock, []int{n, length}, at, t), err)
}

func (a *cCall) typeCreateStruct(n elementCount) (*cType, error) {
	blocks, at, err := a.blockLists(n, a.addresses)
	if err != nil {
		return nil, err
	}
	members, err := a.dtypes(3, n)
	if err != nil {
		return nil, err
	}
	list := make([]*datatype.Type, n)
	for i, t := range members {
		list[i] = t.typ
	}
	x, err := datatype.Struct(blocks, at, list)
	return newType(x, a.contentsOf(combinerStruct, prepend(n, blocks), at, members...), err)
}

func (a *cCall) typeCreateResized(t *cType, lower, extent int) (*cType, error) {
	x, err := datatype.Resized(t.typ, lower, extent)
	return newType(x, a.contentsOf(combinerResized, nil, []int{lower, extent}, t), err)
}

func (a *cCall) typeDup(t *cType) (*cType, error) {
	x, err := datatype.Dup(t.typ)
	if err != nil {
		return nil, err
	}
	d := &cType{typ: x, contents: contents{combiner: combinerDup, types: []*cType{t}}, committed: t.committed}
	return d, t.copyAttributes(&d.object)
}

// MPI_ORDER_... and MPI_DISTRIBUTE_...
const (
	orderC            = 12
	orderFortran      = 15
	distributeNone    = 16
	distributeBlock   = 17
	distributeCyclic  = 18
	distributeDefault = 19
)

func arrayOrder(n int) (datatype.Order, error) {
	switch n {
	case orderC:
		return datatype.RowMajor, nil
	case orderFortran:
		return datatype.ColumnMajor, nil
	}
	return datatype.RowMajor, errorf(errArg, "%d is no order of an array", n)
}

func (a *cCall) typeCreateSubarray(n, inMemory int, t *cType) (_ *cType, err error) {
	var lists [3][]int
	for i := range lists {
		if lists[i], err = a.counts(1+i, n); err != nil {
			return nil, err
		}
	}
	how, err := arrayOrder(inMemory)
	if err != nil {
		return nil, err
	}
	x, err := datatype.Subarray(lists[0], lists[1], lists[2], how, t.typ)
	if err != nil {
		return nil, errorf(errArg, "%v", err)
	}
	made := contents{combiner: combinerSubarray, types: []*cType{t}}
	if a.wide != 0 {
		made.ints, made.large = []int{n, inMemory}, slices.Concat(lists[:]...)
	} else {
		made.ints = append(prepend(n, lists[:]...), inMemory)
	}
	return newType(x, made, nil)
}

func (a *cCall) typeCreateDarray(size, rank, n, inMemory int, t *cType) (*cType, error) {
	sizes, err := a.counts(3, n)
	if err != nil {
		return nil, err
	}
	var lists [3][]int // distributions, arguments, processes
	for i := range lists {
		if lists[i], err = a.ints(4+i, n); err != nil {
			return nil, err
		}
	}
	how, err := arrayOrder(inMemory)
	if err != nil {
		return nil, err
	}
	dealt, blocks, all := make([]datatype.Distribution, n), make([]int, n), 1
	for i, d := range lists[0] {
		switch d {
		case distributeNone:
			dealt[i] = datatype.NotDistributed
		case distributeBlock:
			dealt[i] = datatype.Block
		case distributeCyclic:
			dealt[i] = datatype.Cyclic
		default:
			return nil, errorf(errArg, "%d is no distribution", d)
		}
		if blocks[i] = lists[1][i]; blocks[i] == distributeDefault {
			blocks[i] = datatype.DefaultBlock
		} else if blocks[i] < 1 && d != distributeNone {
			return nil, errorf(errArg, "blocks of %d", blocks[i])
		}
		all *= lists[2][i]
	}
	if all != size {
		return nil, errorf(errArg, "a grid of %v has not %d processes", lists[2], size)
	}
	x, err := datatype.Darray(rank, sizes, dealt, blocks, lists[2], how, t.typ)
	if err != nil {
		return nil, errorf(errArg, "%v", err)
	}
	made, head := contents{combiner: combinerDarray, types: []*cType{t}}, []int{size, rank, n}
	if a.wide != 0 {
		made.large = sizes
	} else {
		head = append(head, sizes...)
	}
	made.ints = append(slices.Concat(head, lists[0], lists[1], lists[2]), inMemory)
	return newType(x, made, nil)
}

func (a *cCall) typeCommit(h *handle) error {
	t, err := typeOf(*h)
	if err == nil {
		t.committed = true
	}
	return err
}

func (a *cCall) typeFree(h *handle) error {
	if *h < predefined {
		return errorf(errType, "a predefined datatype cannot be freed")
	}
	t, err := types.get(*h)
	if err != nil {
		return err
	}
	if t.contents.combiner == combinerF90Real || t.contents.combiner == combinerF90Complex || t.contents.combiner == combinerF90Integer {
		return errorf(errType, "a datatype of MPI_Type_create_f90 cannot be freed")
	}
	if err := t.endAttributes(); err != nil {
		return err
	}
	if !t.release() {
		return errorf(errType, "the datatype %#x was freed", uintptr(*h))
	}
	*h = nullType
	return nil
}
