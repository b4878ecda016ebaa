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
			t.reissued = datatypeNullHandle
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

// release ends the program's use of t. It reports false if the program has freed t before.
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

// Handles from firstType on, and below lastType, are of predefined datatypes.
const firstType, lastType = datatypeNullHandle, 0x300

// pairTypes are the predefined datatypes of a value and an index, by the handles of both.
var pairTypes = map[[2]handle]handle{
	{floatHandle, intHandle}: floatIntHandle, {doubleHandle, intHandle}: doubleIntHandle, {longHandle, intHandle}: longIntHandle,
	{intHandle, intHandle}: twoIntHandle, {shortHandle, intHandle}: shortIntHandle, {longDoubleHandle, intHandle}: longDoubleIntHandle,
	{realHandle, realHandle}: twoRealHandle, {doublePrecisionHandle, doublePrecisionHandle}: twoDoublePrecisionHandle,
	{integerHandle, integerHandle}: twoIntegerHandle,
}

// predefinedTypes are the predefined datatypes, by their handles less firstType.
var predefinedTypes = func() (all [lastType - firstType]*cType) {
	add := func(s opClass, t *datatype.Type, handles ...handle) {
		for _, h := range handles {
			name := handleNames[h]
			all[h-firstType] = &cType{object: object{kind: ofType, handle: h, name: name}, typ: t.Named(name), class: s, committed: true, contents: contents{combiner: mpiCombinerNamed}}
		}
	}
	of := func(s opClass, k datatype.Kind, handles ...handle) { add(s, datatype.Of(k), handles...) }
	of(classMultiLanguage, datatype.Int64, aintHandle, countHandle, offsetHandle)
	of(classByte, datatype.Byte, byteHandle)
	of(classNone, datatype.Packed, packedHandle)
	of(classNone, datatype.Int8, characterHandle)
	of(classInteger, datatype.Int8, charHandle, signedCharHandle, int8THandle, integer1Handle) // the standard defines no reductions for MPI_CHAR; other libraries do
	of(classInteger, datatype.Int16, shortHandle, int16THandle, integer2Handle)
	of(classInteger, datatype.Int32, intHandle, int32THandle, integerHandle, integer4Handle)
	of(classInteger, datatype.Int64, longLongHandle, int64THandle, integer8Handle)
	of(classInteger, datatype.Uint8, unsignedCharHandle, uint8THandle)
	of(classInteger, datatype.Uint16, unsignedShortHandle, uint16THandle)
	of(classInteger, datatype.Uint32, unsignedHandle, uint32THandle)
	of(classInteger, datatype.Uint64, unsignedLongLongHandle, uint64THandle)
	of(classLogical, datatype.Bool, cBoolHandle, cxxBoolHandle)
	of(classLogical, datatype.Int8, logical1Handle)
	of(classLogical, datatype.Int16, logical2Handle)
	of(classLogical, datatype.Int32, logicalHandle, logical4Handle)
	of(classLogical, datatype.Int64, logical8Handle)
	of(classFloating, datatype.Float32, floatHandle, realHandle, real4Handle)
	of(classFloating, datatype.Float64, doubleHandle, doublePrecisionHandle, real8Handle)
	of(classFloating, datatype.LongDouble, longDoubleHandle)
	of(classComplex, datatype.Complex64, cFloatComplexHandle, cxxFloatComplexHandle, complexHandle, complex8Handle)
	of(classComplex, datatype.Complex128, cDoubleComplexHandle, cxxDoubleComplexHandle, doubleComplexHandle, complex16Handle)
	of(classComplex, datatype.LongComplex, cLongDoubleComplexHandle, cxxLongDoubleComplexHandle)
	// These have fewer bytes in external32 than here.
	add(classInteger, datatype.Narrow(datatype.Int64, 4), longHandle)
	add(classInteger, datatype.Narrow(datatype.Uint64, 4), unsignedLongHandle)
	add(classNone, datatype.Narrow(datatype.Uint32, 2), wcharHandle)
	// Go and C have no such numbers.
	for h, size := range map[handle]int{real2Handle: 2, complex4Handle: 4, logical16Handle: 16, integer16Handle: 16, real16Handle: 16, complex32Handle: 32} {
		t, err := datatype.Contiguous(size, datatype.Of(datatype.Byte))
		if err != nil {
			panic(err)
		}
		add(classNone, t, h)
	}
	for parts, h := range pairTypes {
		v, i := all[parts[0]-firstType].typ, all[parts[1]-firstType].typ
		t, err := datatype.Struct([]int{1, 1}, []int{0, (v.Size() + i.Size() - 1) / i.Size() * i.Size()}, []*datatype.Type{v, i})
		if err != nil {
			panic(err)
		}
		add(classPair, t, h)
	}
	return all
}()

// typeOf returns the datatype of a handle.
func typeOf(h handle) (*cType, error) {
	if h < lastType && h >= firstType {
		if t := predefinedTypes[h-firstType]; t != nil {
			return t, nil
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
	return newType(x, a.contentsOf(mpiCombinerContiguous, []int{n}, nil, t), err)
}

func (a *cCall) typeVector(n elementCount, length, stride int, t *cType) (*cType, error) {
	x, err := datatype.Vector(n, length, stride, t.typ)
	return newType(x, a.contentsOf(mpiCombinerVector, []int{n, length, stride}, nil, t), err)
}

func (a *cCall) typeCreateHvector(n elementCount, length, stride int, t *cType) (*cType, error) {
	x, err := datatype.Hvector(n, length, stride, t.typ)
	return newType(x, a.contentsOf(mpiCombinerHvector, []int{n, length}, []int{stride}, t), err)
}

// blockSizes are the lengths of the blocks of a datatype, 0 or more.
type blockSizes = []int

// blockSizes returns the n lengths at argument i. It refuses those below 0.
func (a *cCall) blockSizes(i, n int) (blockSizes, error) {
	all, err := a.counts(i, n)
	for _, b := range all {
		if b < 0 {
			return nil, errorf(errArg, "a block of %d elements", b)
		}
	}
	return all, err
}

func (a *cCall) typeIndexed(n elementCount, blocks blockSizes, at []int, t *cType) (*cType, error) {
	x, err := datatype.Indexed(blocks, at, t.typ)
	return newType(x, a.contentsOf(mpiCombinerIndexed, prepend(n, blocks, at), nil, t), err)
}

func (a *cCall) typeCreateHindexed(n elementCount, blocks blockSizes, at []int, t *cType) (*cType, error) {
	x, err := datatype.Hindexed(blocks, at, t.typ)
	return newType(x, a.contentsOf(mpiCombinerHindexed, prepend(n, blocks), at, t), err)
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
	return newType(x, a.contentsOf(mpiCombinerIndexedBlock, prepend(n, []int{length}, at), nil, t), err)
}

func (a *cCall) typeCreateHindexedBlock(n elementCount, length int, t *cType) (*cType, error) {
	at, err := a.addresses(2, n)
	if err != nil {
		return nil, err
	}
	x, err := datatype.HindexedBlock(length, at, t.typ)
	return newType(x, a.contentsOf(mpiCombinerHindexedBlock, []int{n, length}, at, t), err)
}

func (a *cCall) typeCreateStruct(n elementCount, blocks blockSizes, at []int, members []*cType) (*cType, error) {
	list := make([]*datatype.Type, n)
	for i, t := range members {
		list[i] = t.typ
	}
	x, err := datatype.Struct(blocks, at, list)
	return newType(x, a.contentsOf(mpiCombinerStruct, prepend(n, blocks), at, members...), err)
}

func (a *cCall) typeCreateResized(t *cType, lower, extent int) (*cType, error) {
	x, err := datatype.Resized(t.typ, lower, extent)
	return newType(x, a.contentsOf(mpiCombinerResized, nil, []int{lower, extent}, t), err)
}

func (a *cCall) typeDup(t *cType) (*cType, error) {
	x, err := datatype.Dup(t.typ)
	if err != nil {
		return nil, err
	}
	d := &cType{typ: x, contents: contents{combiner: mpiCombinerDup, types: []*cType{t}}, committed: t.committed}
	return d, t.copyAttributes(&d.object)
}

func arrayOrder(n int) (datatype.Order, error) {
	switch n {
	case mpiOrderC:
		return datatype.RowMajor, nil
	case mpiOrderFortran:
		return datatype.ColumnMajor, nil
	}
	return datatype.RowMajor, errorf(errArg, "%d is no order of an array", n)
}

func (a *cCall) typeCreateSubarray(n int, sizes, subsizes, starts []int, inMemory int, t *cType) (*cType, error) {
	how, err := arrayOrder(inMemory)
	if err != nil {
		return nil, err
	}
	x, err := datatype.Subarray(sizes, subsizes, starts, how, t.typ)
	if err != nil {
		return nil, errorf(errArg, "%v", err)
	}
	made := contents{combiner: mpiCombinerSubarray, types: []*cType{t}}
	if a.wide != 0 {
		made.ints, made.large = []int{n, inMemory}, slices.Concat(sizes, subsizes, starts)
	} else {
		made.ints = append(prepend(n, sizes, subsizes, starts), inMemory)
	}
	return newType(x, made, nil)
}

func (a *cCall) typeCreateDarray(size, rank, n int, sizes, distributions, args, processes []int, inMemory int, t *cType) (*cType, error) {
	how, err := arrayOrder(inMemory)
	if err != nil {
		return nil, err
	}
	dealt, blocks, all := make([]datatype.Distribution, n), make([]int, n), 1
	for i, d := range distributions {
		switch d {
		case mpiDistributeNone:
			dealt[i] = datatype.NotDistributed
		case mpiDistributeBlock:
			dealt[i] = datatype.Block
		case mpiDistributeCyclic:
			dealt[i] = datatype.Cyclic
		default:
			return nil, errorf(errArg, "%d is no distribution", d)
		}
		if blocks[i] = args[i]; blocks[i] == mpiDistributeDfltDarg {
			blocks[i] = datatype.DefaultBlock
		} else if blocks[i] < 1 && d != mpiDistributeNone {
			return nil, errorf(errArg, "blocks of %d", blocks[i])
		}
		all *= processes[i]
	}
	if all != size {
		return nil, errorf(errArg, "a grid of %v has not %d processes", processes, size)
	}
	x, err := datatype.Darray(rank, sizes, dealt, blocks, processes, how, t.typ)
	if err != nil {
		return nil, errorf(errArg, "%v", err)
	}
	made, head := contents{combiner: mpiCombinerDarray, types: []*cType{t}}, []int{size, rank, n}
	if a.wide != 0 {
		made.large = sizes
	} else {
		head = append(head, sizes...)
	}
	made.ints = append(slices.Concat(head, distributions, args, processes), inMemory)
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
	t, err := types.get(*h)
	if err != nil {
		return err
	}
	if t.contents.combiner == mpiCombinerF90Real || t.contents.combiner == mpiCombinerF90Complex || t.contents.combiner == mpiCombinerF90Integer {
		return errorf(errType, "a datatype of MPI_Type_create_f90 cannot be freed")
	}
	if err := t.endAttributes(); err != nil {
		return err
	}
	if !t.release() {
		return errorf(errType, "the datatype %#x was freed", uintptr(*h))
	}
	*h = datatypeNullHandle
	return nil
}
