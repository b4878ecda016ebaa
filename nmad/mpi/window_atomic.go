package mpi

import (
	"bytes"
	"errors"
	"fmt"

	"github.com/pm2-go/pm2/nmad/mpi/datatype"
	"github.com/pm2-go/pm2/nmad/rma"
)

// isWord reports whether atomics of the processor change elements of a kind.
func isWord(k datatype.Kind) bool {
	switch k {
	case datatype.Int32, datatype.Int64, datatype.Uint32, datatype.Uint64, datatype.Float32, datatype.Float64:
		return true
	}
	return false
}

// atomicOf returns the atomic that computes an operation, and reports whether there is one.
func atomicOf(op *Op) (rma.AtomicOp, bool) {
	switch op {
	case Sum:
		return rma.Add, true
	case Min:
		return rma.Min, true
	case Max:
		return rma.Max, true
	case BAnd:
		return rma.And, true
	case BOr:
		return rma.Or, true
	case BXor:
		return rma.Xor, true
	case Replace:
		return rma.Swap, true
	}
	return 0, false
}

// combineWord is an accumulate of one word by an atomic.
func (w *Window) combineWord(a access, op *Op, k datatype.Kind, origin, result Buffer) error {
	size := k.Size()
	if err := a.checkWhole(); err != nil {
		return err
	}
	v := wordAt(origin.First(), size)
	if result.Type == nil {
		return w.post(op, k, a.at, v)
	}
	old, err := w.fetch(op, k, a.at, v)
	if err == nil {
		setWord(result.First(), size, old)
	}
	return err
}

// post combines a word at a target with v. It does not wait for an answer, except for an operation that no atomic
// computes.
func (w *Window) post(op *Op, k datatype.Kind, at rma.Ref, v uint64) error {
	o, ok := atomicOf(op)
	if !ok {
		_, err := w.fetch(op, k, at, v)
		return err
	}
	d := w.domain
	switch k {
	case datatype.Int32:
		return rma.UpdateNBI(d, o, at, int32(v))
	case datatype.Int64:
		return rma.UpdateNBI(d, o, at, int64(v))
	case datatype.Uint32:
		return rma.UpdateNBI(d, o, at, uint32(v))
	case datatype.Uint64:
		return rma.UpdateNBI(d, o, at, v)
	case datatype.Float32:
		return rma.UpdateNBI(d, o, at, valueOf[float32](v))
	}
	return rma.UpdateNBI(d, o, at, valueOf[float64](v))
}

// fetch is post that waits, and returns what the word was before.
func (w *Window) fetch(op *Op, k datatype.Kind, at rma.Ref, v uint64) (uint64, error) {
	o, ok := atomicOf(op)
	d := w.domain
	if !ok {
		return w.fetchOther(op, k, at, v)
	}
	switch k {
	case datatype.Int32:
		old, err := rma.Fetch(d, o, at, int32(v))
		return uint64(uint32(old)), err
	case datatype.Int64:
		old, err := rma.Fetch(d, o, at, int64(v))
		return uint64(old), err
	case datatype.Uint32:
		old, err := rma.Fetch(d, o, at, uint32(v))
		return uint64(old), err
	case datatype.Uint64:
		return rma.Fetch(d, o, at, v)
	case datatype.Float32:
		old, err := rma.Fetch(d, o, at, valueOf[float32](v))
		return bitsOf(old), err
	}
	old, err := rma.Fetch(d, o, at, valueOf[float64](v))
	return bitsOf(old), err
}

// fetchOther is fetch of an operation that no atomic computes: it swaps until no other thread has changed the word
// meanwhile.
func (w *Window) fetchOther(op *Op, k datatype.Kind, at rma.Ref, v uint64) (uint64, error) {
	if op == NoOp {
		return w.load(k, at)
	}
	local, remote := []uint64{0}, []uint64{0}
	a, b := datatype.Within(local, 1, datatype.Of(k)), datatype.Within(remote, 1, datatype.Of(k))
	setWord(a.First(), k.Size(), v)
	old, err := w.load(k, at)
	for err == nil {
		setWord(b.First(), k.Size(), old)
		op.Apply(a, b)
		expected := old
		if old, err = w.swap(k.Size(), at, expected, wordAt(b.First(), k.Size())); old == expected {
			break
		}
	}
	return old, err
}

// load reads a word at a target.
func (w *Window) load(k datatype.Kind, at rma.Ref) (uint64, error) {
	if k.Size() == 4 {
		old, err := rma.Load[uint32](w.domain, at)
		return uint64(old), err
	}
	return rma.Load[uint64](w.domain, at)
}

// swap replaces a word at a target if it has the bits of old, and returns what it was before.
func (w *Window) swap(size int, at rma.Ref, old, next uint64) (uint64, error) {
	if size == 4 {
		found, err := rma.CompareAndSwap(w.domain, at, uint32(old), uint32(next))
		return uint64(found), err
	}
	return rma.CompareAndSwap(w.domain, at, old, next)
}

// CompareAndSwap replaces one element at a target by next if the element has the bits of old, and stores in result what
// the element was before: if that equals old, the element was replaced. Each buffer has one element of one predefined
// type. CompareAndSwap waits until result is stored. See Accumulate.
func (w *Window) CompareAndSwap(old, next, result Buffer, target, at int) error {
	const what = "compare-and-swap"
	if target == ProcNull {
		return w.usable()
	}
	a, err := w.locate(what, target, at, next.Count, next.Type, nil)
	if err != nil {
		return err
	}
	if err := w.awaitRuns(target); err != nil {
		return w.failsAt(what, target, err)
	}
	of := a.datatype.Element()
	switch {
	case a.count != 1 || of == nil || of.Elements() != a.datatype.Elements() || old.Type == nil || result.Type == nil || old.Size() != a.size() || result.Size() != a.size():
		err = fmt.Errorf("%w: one element of a predefined type each: %d of %v", ErrType, next.Count, next.Type)
	case isWord(of.Uniform()) && of.Elements() == 1 && a.parts != nil:
		err = a.checkWhole()
	case isWord(of.Uniform()) && of.Elements() == 1:
		size := of.Size()
		var found uint64
		if found, err = w.swap(size, a.at, wordAt(old.First(), size), wordAt(next.First(), size)); err == nil {
			setWord(result.First(), size, found)
		}
	default:
		err = w.swapExclusively(a, of, old, next, result)
	}
	return w.unlessAt(what, target, err)
}

// swapExclusively is CompareAndSwap of an element that is no word, under the mutex of the target.
func (w *Window) swapExclusively(a access, of *datatype.Type, old, next, result Buffer) (err error) {
	if err := w.lockMutex(a.target); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, w.unlockMutex(a.target)) }()
	b := make([]byte, 2*of.Size())
	found, expected := b[:of.Size()], b[of.Size():]
	there := Buffer{Base: datatype.AddressOf(found), Count: len(found), Type: datatype.Of(datatype.Byte)}
	old.Pack(0, expected)
	err = a.pieces(0, there, func(from rma.Ref, b []byte) error { return w.domain.Get(b, from) })
	if err != nil {
		return err
	}
	if bytes.Equal(found, expected) {
		err = a.pieces(0, next, w.domain.Put)
	}
	result.Unpack(0, found)
	return err
}
