//go:build cgo && linux

package main

import (
	"slices"

	"github.com/pm2-go/pm2/nmad/mpi/datatype"
)

// cType is a datatype.
type cType struct {
	object
	t         *datatype.Type
	sort      sort // of a predefined one
	made      contents
	committed bool
	freed     bool   // under mu: the program has freed it
	loans     int    // under mu: calls of functions of the program that have its handle
	again     handle // under mu: of one that was freed, for such calls
}

// lend is a handle of the datatype for a call of a function of the program, which has one also if it has freed the
// datatype meanwhile; giveBack takes it back.
func (t *cType) lend() handle {
	if t.handle < predefined {
		return t.handle
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.loans++; t.loans == 1 && t.freed {
		var err error
		if t.again, err = types.add(t); err != nil { // there are too many others
			t.again = nullType
		}
	}
	if t.again != 0 {
		return t.again
	}
	return t.handle
}

func (t *cType) giveBack() {
	if t.handle < predefined {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.loans--; t.loans > 0 || !t.freed {
		return
	}
	if t.again == 0 {
		types.drop(t.handle)
	} else {
		types.drop(t.again)
	}
	t.again = 0
}

// free ends a datatype of the program, but for calls that have its handle; false: it was freed before.
func (t *cType) free() bool {
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

// contents are what a datatype was made of, as MPI_Type_get_contents has it.
type contents struct {
	combiner  int
	ints      []int
	addresses []int
	large     []int // what the wide form of the constructor has as MPI_Count
	types     []*cType
}

// sort says which predefined operations an element can be reduced with.
type sort uint8

const (
	other     sort = iota // none
	integer               // of C or Fortran
	floating              // numbers
	complexes             //
	logical               //
	bytes                 //
	multi                 // several languages: MPI_AINT and the like
	pairs                 // of a value and an index
)

const (
	nullType  handle = 0x200
	firstType handle = 0x200
	lastType  handle = 0x300
	byteType  handle = 0x247
)

// Combiners.
const (
	isNamed         = 101
	isDup           = 102
	isContiguous    = 103
	isVector        = 104
	isHvector       = 105
	isIndexed       = 106
	isHindexed      = 107
	isIndexedBlock  = 108
	isHindexedBlock = 109
	isStruct        = 110
	isSubarray      = 111
	isDarray        = 112
	isF90Real       = 113
	isF90Complex    = 114
	isF90Integer    = 115
	isResized       = 116
	isValueIndex    = 117
)

// predefinedTypes has them by their handles.
var predefinedTypes = func() (all [lastType - firstType]*cType) {
	add := func(h handle, name string, s sort, t *datatype.Type) {
		all[h-firstType] = &cType{object: object{what: ofType, handle: h, name: name}, t: t.Named(name), sort: s, committed: true, made: contents{combiner: isNamed}}
	}
	of := func(h handle, name string, s sort, k datatype.Kind) { add(h, name, s, datatype.Of(k)) }
	pairOf := func(h handle, name string, v *datatype.Type, index datatype.Kind) {
		i := datatype.Of(index)
		at := (v.Size() + i.Size() - 1) / i.Size() * i.Size()
		t, err := datatype.Struct([]int{1, 1}, []int{0, at}, []*datatype.Type{v, i})
		if err != nil {
			panic(err)
		}
		add(h, name, pairs, t)
	}
	pair := func(h handle, name string, value, index datatype.Kind) { pairOf(h, name, datatype.Of(value), index) }
	// What has fewer bytes in external32 than here.
	long, unsignedLong, wide := datatype.Narrow(datatype.Int64, 4), datatype.Narrow(datatype.Uint64, 4), datatype.Narrow(datatype.Uint32, 2)
	opaque := func(h handle, name string, s sort, size int) {
		t, err := datatype.Contiguous(size, datatype.Of(datatype.Byte))
		if err != nil {
			panic(err)
		}
		add(h, name, s, t)
	}
	signed := map[int]datatype.Kind{1: datatype.Int8, 2: datatype.Int16, 4: datatype.Int32, 8: datatype.Int64}
	unsigned := map[int]datatype.Kind{1: datatype.Uint8, 2: datatype.Uint16, 4: datatype.Uint32, 8: datatype.Uint64}
	of(0x201, "MPI_AINT", multi, datatype.Int64)
	of(0x202, "MPI_COUNT", multi, datatype.Int64)
	of(0x203, "MPI_OFFSET", multi, datatype.Int64)
	of(0x207, "MPI_PACKED", other, datatype.Packed)
	of(0x208, "MPI_SHORT", integer, datatype.Int16)
	of(0x209, "MPI_INT", integer, datatype.Int32)
	add(0x20a, "MPI_LONG", integer, long)
	of(0x20b, "MPI_LONG_LONG", integer, datatype.Int64)
	of(0x20c, "MPI_UNSIGNED_SHORT", integer, datatype.Uint16)
	of(0x20d, "MPI_UNSIGNED", integer, datatype.Uint32)
	add(0x20e, "MPI_UNSIGNED_LONG", integer, unsignedLong)
	of(0x20f, "MPI_UNSIGNED_LONG_LONG", integer, datatype.Uint64)
	of(0x210, "MPI_FLOAT", floating, datatype.Float32)
	of(0x212, "MPI_C_FLOAT_COMPLEX", complexes, datatype.Complex64)
	of(0x213, "MPI_CXX_FLOAT_COMPLEX", complexes, datatype.Complex64)
	of(0x214, "MPI_DOUBLE", floating, datatype.Float64)
	of(0x216, "MPI_C_DOUBLE_COMPLEX", complexes, datatype.Complex128)
	of(0x217, "MPI_CXX_DOUBLE_COMPLEX", complexes, datatype.Complex128)
	of(0x218, "MPI_LOGICAL", logical, datatype.Int32)
	of(0x219, "MPI_INTEGER", integer, datatype.Int32)
	of(0x21a, "MPI_REAL", floating, datatype.Float32)
	of(0x21b, "MPI_COMPLEX", complexes, datatype.Complex64)
	of(0x21c, "MPI_DOUBLE_PRECISION", floating, datatype.Float64)
	of(0x21d, "MPI_DOUBLE_COMPLEX", complexes, datatype.Complex128)
	of(0x21e, "MPI_CHARACTER", other, datatype.Int8)
	of(0x220, "MPI_LONG_DOUBLE", floating, datatype.LongDouble)
	of(0x224, "MPI_C_LONG_DOUBLE_COMPLEX", complexes, datatype.LongComplex)
	of(0x225, "MPI_CXX_LONG_DOUBLE_COMPLEX", complexes, datatype.LongComplex)
	pair(0x228, "MPI_FLOAT_INT", datatype.Float32, datatype.Int32)
	pair(0x229, "MPI_DOUBLE_INT", datatype.Float64, datatype.Int32)
	pairOf(0x22a, "MPI_LONG_INT", long, datatype.Int32)
	pair(0x22b, "MPI_2INT", datatype.Int32, datatype.Int32)
	pair(0x22c, "MPI_SHORT_INT", datatype.Int16, datatype.Int32)
	pair(0x22d, "MPI_LONG_DOUBLE_INT", datatype.LongDouble, datatype.Int32)
	pair(0x230, "MPI_2REAL", datatype.Float32, datatype.Float32)
	pair(0x231, "MPI_2DOUBLE_PRECISION", datatype.Float64, datatype.Float64)
	pair(0x232, "MPI_2INTEGER", datatype.Int32, datatype.Int32)
	of(0x238, "MPI_C_BOOL", logical, datatype.Bool)
	of(0x239, "MPI_CXX_BOOL", logical, datatype.Bool)
	add(0x23c, "MPI_WCHAR", other, wide)
	of(0x243, "MPI_CHAR", integer, datatype.Int8) // as other libraries have it
	of(0x244, "MPI_SIGNED_CHAR", integer, datatype.Int8)
	of(0x245, "MPI_UNSIGNED_CHAR", integer, datatype.Uint8)
	of(0x247, "MPI_BYTE", bytes, datatype.Byte)
	for i, size := range []int{1, 2, 4, 8} {
		h, bits := handle(8*i), [...]string{"8", "16", "32", "64"}[i]
		of(0x240+h, "MPI_INT"+bits+"_T", integer, signed[size])
		of(0x241+h, "MPI_UINT"+bits+"_T", integer, unsigned[size])
		n := [...]string{"1", "2", "4", "8"}[i]
		of(0x2c0+h, "MPI_LOGICAL"+n, logical, signed[size])
		of(0x2c1+h, "MPI_INTEGER"+n, integer, signed[size])
	}
	opaque(0x2ca, "MPI_REAL2", other, 2)
	of(0x2d2, "MPI_REAL4", floating, datatype.Float32)
	opaque(0x2d3, "MPI_COMPLEX4", other, 4)
	of(0x2da, "MPI_REAL8", floating, datatype.Float64)
	of(0x2db, "MPI_COMPLEX8", complexes, datatype.Complex64)
	opaque(0x2e0, "MPI_LOGICAL16", other, 16)
	opaque(0x2e1, "MPI_INTEGER16", other, 16)
	opaque(0x2e2, "MPI_REAL16", other, 16)
	of(0x2e3, "MPI_COMPLEX16", complexes, datatype.Complex128)
	opaque(0x2eb, "MPI_COMPLEX32", other, 32)
	return all
}()

// typeOf is the datatype of a handle.
func typeOf(h handle) (*cType, error) {
	if h < lastType && h >= firstType {
		if t := predefinedTypes[h-firstType]; t != nil {
			return t, nil
		}
		if h == nullType {
			return nil, wrong(errType, "it is MPI_DATATYPE_NULL")
		}
	}
	return types.get(h)
}

// dtype returns the datatype whose handle is argument i.
func (a *cCall) dtype(i int) (*cType, error) { return typeOf(a.handle(i)) }

// committed is a datatype that messages may have.
type committed = cType

// ready returns the datatype of a handle, and refuses one that was not committed.
func ready(h handle) (*committed, error) {
	t, err := typeOf(h)
	if err == nil && !t.committed {
		err = wrong(errType, "it was not committed (MPI_Type_commit)")
	}
	return t, err
}

// committed returns the committed datatype whose handle is argument i.
func (a *cCall) committed(i int) (*committed, error) { return ready(a.handle(i)) }

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

// derived is a datatype that was made of others, without a handle.
func derived(t *datatype.Type, made contents, err error) (*cType, error) {
	return &cType{t: t, made: made}, err
}

// enlist gives a datatype its handle.
func (t *cType) enlist() (err error) {
	t.what = ofType
	t.handle, err = types.add(t)
	return err
}

// setType takes a datatype in, unless it has a handle, and writes that.
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

// elementCount is how many elements there are.
type elementCount = int

// count returns argument i, a count, and refuses one below 0.
func (a *cCall) count(i int) (elementCount, error) {
	n := a.int(i)
	if n < 0 {
		return 0, wrong(errCount, "a count of %d", n)
	}
	return n, nil
}

// combined is what a constructor's contents are. Its wide form has large counts in place of all of them.
func (a *cCall) combined(combiner int, ints, addresses []int, types ...*cType) contents {
	if a.wide != 0 {
		return contents{combiner: combiner, large: append(ints, addresses...), types: types}
	}
	return contents{combiner: combiner, ints: ints, addresses: addresses, types: types}
}

func (a *cCall) typeContiguous(n elementCount, t *cType) (*cType, error) {
	x, err := datatype.Contiguous(n, t.t)
	return derived(x, a.combined(isContiguous, []int{n}, nil, t), err)
}

func (a *cCall) typeVector(n elementCount, length, stride int, t *cType) (*cType, error) {
	x, err := datatype.Vector(n, length, stride, t.t)
	return derived(x, a.combined(isVector, []int{n, length, stride}, nil, t), err)
}

func (a *cCall) typeCreateHvector(n elementCount, length, stride int, t *cType) (*cType, error) {
	x, err := datatype.Hvector(n, length, stride, t.t)
	return derived(x, a.combined(isHvector, []int{n, length}, []int{stride}, t), err)
}

func (a *cCall) typeIndexed(n elementCount, t *cType) (*cType, error) {
	blocks, at, err := a.lists(n, a.counts)
	if err != nil {
		return nil, err
	}
	x, err := datatype.Indexed(blocks, at, t.t)
	return derived(x, a.combined(isIndexed, concat(n, blocks, at), nil, t), err)
}

func (a *cCall) typeCreateHindexed(n elementCount, t *cType) (*cType, error) {
	blocks, at, err := a.lists(n, a.addresses)
	if err != nil {
		return nil, err
	}
	x, err := datatype.Hindexed(blocks, at, t.t)
	return derived(x, a.combined(isHindexed, concat(n, blocks), at, t), err)
}

// lists are the lengths and the displacements of n blocks.
func (a *cCall) lists(n int, displacements func(i, n int) ([]int, error)) (blocks, at []int, err error) {
	if blocks, err = a.counts(1, n); err == nil {
		at, err = displacements(2, n)
	}
	for _, b := range blocks {
		if err == nil && b < 0 {
			err = wrong(errArg, "a block of %d elements", b)
		}
	}
	return blocks, at, err
}

func concat(n int, lists ...[]int) []int {
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
	x, err := datatype.IndexedBlock(length, at, t.t)
	return derived(x, a.combined(isIndexedBlock, concat(n, []int{length}, at), nil, t), err)
}

func (a *cCall) typeCreateHindexedBlock(n elementCount, length int, t *cType) (*cType, error) {
	at, err := a.addresses(2, n)
	if err != nil {
		return nil, err
	}
	x, err := datatype.HindexedBlock(length, at, t.t)
	return derived(x, a.combined(isHindexedBlock, []int{n, length}, at, t), err)
}

func (a *cCall) typeCreateStruct(n elementCount) (*cType, error) {
	blocks, at, err := a.lists(n, a.addresses)
	if err != nil {
		return nil, err
	}
	of, err := a.dtypes(3, n)
	if err != nil {
		return nil, err
	}
	list := make([]*datatype.Type, n)
	for i, t := range of {
		list[i] = t.t
	}
	x, err := datatype.Struct(blocks, at, list)
	return derived(x, a.combined(isStruct, concat(n, blocks), at, of...), err)
}

func (a *cCall) typeCreateResized(t *cType, lower, extent int) (*cType, error) {
	x, err := datatype.Resized(t.t, lower, extent)
	return derived(x, a.combined(isResized, nil, []int{lower, extent}, t), err)
}

func (a *cCall) typeDup(t *cType) (*cType, error) {
	x, err := datatype.Dup(t.t)
	if err != nil {
		return nil, err
	}
	d := &cType{t: x, made: contents{combiner: isDup, types: []*cType{t}}, committed: t.committed}
	return d, t.copyAttributes(&d.object)
}

// Orders of arrays, and how they are dealt out.
const (
	orderC       = 12
	orderFortran = 15
	dealtNone    = 16
	dealtBlock   = 17
	dealtCyclic  = 18
	dealtDefault = 19
)

func order(n int) (datatype.Order, error) {
	switch n {
	case orderC:
		return datatype.RowMajor, nil
	case orderFortran:
		return datatype.ColumnMajor, nil
	}
	return datatype.RowMajor, wrong(errArg, "%d is no order of an array", n)
}

func (a *cCall) typeCreateSubarray(n, inMemory int, t *cType) (_ *cType, err error) {
	var lists [3][]int
	for i := range lists {
		if lists[i], err = a.counts(1+i, n); err != nil {
			return nil, err
		}
	}
	how, err := order(inMemory)
	if err != nil {
		return nil, err
	}
	x, err := datatype.Subarray(lists[0], lists[1], lists[2], how, t.t)
	if err != nil {
		return nil, wrong(errArg, "%v", err)
	}
	made := contents{combiner: isSubarray, types: []*cType{t}}
	if a.wide != 0 {
		made.ints, made.large = []int{n, inMemory}, slices.Concat(lists[:]...)
	} else {
		made.ints = append(concat(n, lists[:]...), inMemory)
	}
	return derived(x, made, nil)
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
	how, err := order(inMemory)
	if err != nil {
		return nil, err
	}
	dealt, blocks, all := make([]datatype.Distribution, n), make([]int, n), 1
	for i, d := range lists[0] {
		switch d {
		case dealtNone:
			dealt[i] = datatype.NotDistributed
		case dealtBlock:
			dealt[i] = datatype.Block
		case dealtCyclic:
			dealt[i] = datatype.Cyclic
		default:
			return nil, wrong(errArg, "%d is no distribution", d)
		}
		if blocks[i] = lists[1][i]; blocks[i] == dealtDefault {
			blocks[i] = datatype.DefaultBlock
		} else if blocks[i] < 1 && d != dealtNone {
			return nil, wrong(errArg, "blocks of %d", blocks[i])
		}
		all *= lists[2][i]
	}
	if all != size {
		return nil, wrong(errArg, "a grid of %v has not %d processes", lists[2], size)
	}
	x, err := datatype.Darray(rank, sizes, dealt, blocks, lists[2], how, t.t)
	if err != nil {
		return nil, wrong(errArg, "%v", err)
	}
	made, head := contents{combiner: isDarray, types: []*cType{t}}, []int{size, rank, n}
	if a.wide != 0 {
		made.large = sizes
	} else {
		head = append(head, sizes...)
	}
	made.ints = append(slices.Concat(head, lists[0], lists[1], lists[2]), inMemory)
	return derived(x, made, nil)
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
		return wrong(errType, "a predefined datatype cannot be freed")
	}
	t, err := types.get(*h)
	if err != nil {
		return err
	}
	if t.made.combiner == isF90Real || t.made.combiner == isF90Complex || t.made.combiner == isF90Integer {
		return wrong(errType, "a datatype of MPI_Type_create_f90 cannot be freed")
	}
	if err := t.endAttributes(); err != nil {
		return err
	}
	if !t.free() {
		return wrong(errType, "the datatype %#x was freed", uintptr(*h))
	}
	*h = nullType
	return nil
}
