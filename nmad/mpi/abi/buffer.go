//go:build cgo && linux

package main

import (
	"slices"

	"github.com/pm2-go/pm2/nmad/mpi"
	"github.com/pm2-go/pm2/nmad/mpi/datatype"
)

// elements returns the buffer at argument i, whose count and datatype are arguments i+1 and i+2.
func (a *cCall) elements(i int) (mpi.Buffer, error) {
	n, err := a.count(i + 1)
	if err != nil {
		return mpi.Buffer{}, err
	}
	h := a.handle(i + 2)
	if n == 0 && h == datatypeNullHandle { // programs pass MPI_DATATYPE_NULL for no elements
		h = byteHandle
	}
	t, err := committedType(h)
	if err != nil {
		return mpi.Buffer{}, err
	}
	return a.elementsAt(i, n, t)
}

// elementsAt returns the buffer of n elements of type t at the address in argument i. NULL is MPI_BOTTOM: the
// displacements of t are addresses then.
func (a *cCall) elementsAt(i, n int, t *cType) (mpi.Buffer, error) {
	base := a.word[i]
	b := mpi.Buffer{Count: n, Type: t.typ}
	if n == 0 || t.typ.Size() == 0 {
		return b, nil
	}
	if base == 0 { // MPI_BOTTOM: displacements are addresses
		low, _ := t.typ.True()
		base, b.At = uintptr(low), -low
	}
	if err := a.checkElements(i, base); err != nil {
		return b, err
	}
	b.Base = address(pointerAt(base))
	return b, nil
}

// firstAddress is the lowest address that a Go pointer may have: Go ends a process in which a pointer has a lower
// one.
const firstAddress = 4096

// checkElements refuses base, an address that argument i leads to, if it cannot be that of elements. It is called
// before base becomes a pointer.
func (a *cCall) checkElements(i int, base uintptr) error {
	switch {
	case a.word[i] == mpiInPlace:
		return errorf(errBuffer, "MPI_IN_PLACE is not for this argument, %d", i+1)
	case base < firstAddress:
		return errorf(errBuffer, "argument %d is no address of elements: %#x", i+1, base)
	}
	return nil
}

// inPlace reports whether argument i is MPI_IN_PLACE.
func (a *cCall) inPlace(i int) bool { return a.word[i] == mpiInPlace }

// equalBlocks reads n blocks of one length. The parameters say which arguments are the address, the count of a
// block, and the datatype.
func (a *cCall) equalBlocks(address, count, t, n int) (mpi.Blocks, error) {
	each, err := a.count(count)
	if err != nil {
		return mpi.Blocks{}, err
	}
	d, err := a.committed(t)
	if err != nil {
		return mpi.Blocks{}, err
	}
	b, err := a.elementsAt(address, each*n, d)
	return mpi.Blocks{Buffer: b, Each: each}, err
}

// varyingBlocks reads n blocks of different lengths. The parameters say which arguments are the address, the
// counts, the displacements, and the datatype. Displacements below 0: the blocks lie one behind the other. The
// result's buffer spans just the elements in use, so the displacements become relative to the first of them.
func (a *cCall) varyingBlocks(address, counts, displs, t, n int) (mpi.Blocks, error) {
	var b mpi.Blocks
	d, err := a.committed(t)
	if err != nil {
		return b, err
	}
	if b.Counts, err = a.blockLengths(counts, n); err != nil {
		return b, err
	}
	if displs >= 0 {
		if b.Displacements, err = a.counts(displs, n); err != nil {
			return b, err
		}
	}
	first, last, at := 0, 0, 0
	for i, c := range b.Counts {
		if b.Displacements != nil {
			at = b.Displacements[i]
		}
		if c > 0 {
			first, last = min(first, at), max(last, at+c)
		}
		at += c
	}
	if last == first {
		b.Buffer = mpi.Buffer{Type: d.typ}
		for i := range b.Displacements {
			b.Displacements[i] = 0
		}
		return b, nil
	}
	if b.Buffer, err = a.elementsAt(address, last-first, d); err != nil {
		return b, err
	}
	b.At += first * d.typ.Extent()
	for i := range b.Displacements {
		if b.Counts[i] == 0 {
			b.Displacements[i] = 0
		} else {
			b.Displacements[i] -= first
		}
	}
	return b, nil
}

// blockLengths returns the n counts at argument i. It refuses those below 0.
func (a *cCall) blockLengths(i, n int) ([]int, error) {
	all, err := a.counts(i, n)
	if err == nil && n > 0 && slices.Min(all) < 0 {
		err = errorf(errCount, "counts %v", all)
	}
	return all, err
}

// typedBlocks reads n blocks, each with a datatype and a displacement in bytes of its own. The parameters say
// which arguments are the address, the counts, the displacements, and the datatypes; read reads the displacements.
func (a *cCall) typedBlocks(address, counts, displs, types, n int, read func(i, n int) ([]int, error)) (mpi.Blocks, error) {
	b := mpi.Blocks{}
	hs, err := a.handles(types, n)
	if err != nil {
		return b, err
	}
	if b.Counts, err = a.blockLengths(counts, n); err != nil {
		return b, err
	}
	if b.Bytes, err = read(displs, n); err != nil {
		return b, err
	}
	if b.Types = make([]*datatype.Type, n); n == 0 {
		b.Type = datatype.Of(datatype.Byte)
	}
	base := a.word[address]
	for i, h := range hs {
		t, err := committedType(h)
		if err != nil && (b.Counts[i] > 0 || h == datatypeNullHandle) {
			return b, err
		}
		if err != nil {
			t = predefinedTypes[byteHandle-firstType]
		}
		b.Types[i] = t.typ
		if b.Counts[i] == 0 || t.typ.Size() == 0 || b.Base != nil {
			continue
		}
		if base == 0 { // MPI_BOTTOM: displacements are addresses
			low, _ := t.typ.True()
			base = uintptr(b.Bytes[i] + low)
			b.At = -int(base)
		}
		if err := a.checkElements(address, base); err != nil {
			return b, err
		}
		b.Base = datatype.Address(pointerAt(base))
	}
	return b, nil
}

// cloneBuffer copies the elements of b into memory of Go.
func cloneBuffer(b mpi.Buffer) mpi.Buffer {
	c := datatype.Within(make([]uint64, datatype.Words(b.Count, b.Type)), b.Count, b.Type)
	datatype.Copy(&c, &b)
	return c
}
