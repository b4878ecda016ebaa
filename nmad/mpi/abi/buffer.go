//go:build cgo && linux

package main

import (
	"slices"

	"github.com/pm2-go/pm2/nmad/mpi"
	"github.com/pm2-go/pm2/nmad/mpi/datatype"
)

const (
	inPlace         = 1
	bufferAutomatic = 2
)

// elements are those at an argument, whose count and datatype are in the next two.
func (a *cCall) elements(i int) (mpi.Buffer, error) {
	n, err := a.count(i + 1)
	if err != nil {
		return mpi.Buffer{}, err
	}
	h := a.handle(i + 2)
	if n == 0 && h == nullType { // programs do, of nothing
		h = byteType
	}
	t, err := ready(h)
	if err != nil {
		return mpi.Buffer{}, err
	}
	return a.elementsAt(i, n, t)
}

// elementsAt are n elements at an argument.
func (a *cCall) elementsAt(i, n int, t *cType) (mpi.Buffer, error) {
	base := a.word[i]
	b := mpi.Buffer{Count: n, Type: t.t}
	if n == 0 || t.t.Size() == 0 {
		return b, nil
	}
	if base == 0 { // displacements are addresses
		low, _ := t.t.True()
		base, b.At = uintptr(low), -low
	}
	if err := a.mayBe(i, base); err != nil {
		return b, err
	}
	b.Base = address(at(base))
	return b, nil
}

// firstAddress is the lowest one that memory can have: Go ends a process that has a lower one in a pointer.
const firstAddress = 4096

// mayBe says why what argument i leads to is no address of elements, before it becomes a pointer.
func (a *cCall) mayBe(i int, base uintptr) error {
	switch {
	case a.word[i] == inPlace:
		return wrong(errBuffer, "MPI_IN_PLACE is not for this argument, %d", i+1)
	case base < firstAddress:
		return wrong(errBuffer, "argument %d is no address of elements: %#x", i+1, base)
	}
	return nil
}

// inPlace says that an argument is MPI_IN_PLACE.
func (a *cCall) inPlace(i int) bool { return a.word[i] == inPlace }

// equal is n blocks of one length at an argument.
func (a *cCall) equal(address, count, t, n int) (mpi.Blocks, error) {
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

// varied is n blocks of several lengths at an argument; places below 0: one behind the other.
func (a *cCall) varied(address, counts, places, t, n int) (mpi.Blocks, error) {
	var b mpi.Blocks
	d, err := a.committed(t)
	if err != nil {
		return b, err
	}
	if b.Counts, err = a.lengths(counts, n); err != nil {
		return b, err
	}
	if places >= 0 {
		if b.Places, err = a.counts(places, n); err != nil {
			return b, err
		}
	}
	first, last, at := 0, 0, 0
	for i, c := range b.Counts {
		if b.Places != nil {
			at = b.Places[i]
		}
		if c > 0 {
			first, last = min(first, at), max(last, at+c)
		}
		at += c
	}
	if last == first {
		b.Buffer = mpi.Buffer{Type: d.t}
		for i := range b.Places {
			b.Places[i] = 0
		}
		return b, nil
	}
	if b.Buffer, err = a.elementsAt(address, last-first, d); err != nil {
		return b, err
	}
	b.At += first * d.t.Extent()
	for i := range b.Places {
		if b.Counts[i] == 0 {
			b.Places[i] = 0
		} else {
			b.Places[i] -= first
		}
	}
	return b, nil
}

// lengths are n counts at an argument.
func (a *cCall) lengths(i, n int) ([]int, error) {
	all, err := a.counts(i, n)
	if err == nil && n > 0 && slices.Min(all) < 0 {
		err = wrong(errCount, "counts %v", all)
	}
	return all, err
}

// ownTypes is n blocks at an argument each of which has a datatype of its own, and begins at a displacement in bytes,
// as read has these.
func (a *cCall) ownTypes(address, counts, places, types, n int, read func(i, n int) ([]int, error)) (mpi.Blocks, error) {
	b := mpi.Blocks{}
	hs, err := a.handles(types, n)
	if err != nil {
		return b, err
	}
	if b.Counts, err = a.lengths(counts, n); err != nil {
		return b, err
	}
	if b.Bytes, err = read(places, n); err != nil {
		return b, err
	}
	if b.Types = make([]*datatype.Type, n); n == 0 {
		b.Type = datatype.Of(datatype.Byte)
	}
	base := a.word[address]
	for i, h := range hs {
		t, err := ready(h)
		if err != nil && (b.Counts[i] > 0 || h == nullType) {
			return b, err
		}
		if err != nil {
			t = predefinedTypes[byteType-firstType]
		}
		b.Types[i] = t.t
		if b.Counts[i] == 0 || t.t.Size() == 0 || b.Base != nil {
			continue
		}
		if base == 0 { // displacements are addresses
			low, _ := t.t.True()
			base = uintptr(b.Bytes[i] + low)
			b.At = -int(base)
		}
		if err := a.mayBe(address, base); err != nil {
			return b, err
		}
		b.Base = datatype.Address(at(base))
	}
	return b, nil
}

// copied is the elements of a buffer in memory of its own.
func copied(b mpi.Buffer) mpi.Buffer {
	c := datatype.Within(make([]uint64, datatype.Words(b.Count, b.Type)), b.Count, b.Type)
	datatype.Copy(&c, &b)
	return c
}
