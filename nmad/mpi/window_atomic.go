package mpi

import (
	"bytes"
	"errors"
	"fmt"

	"github.com/pm2-go/pm2/nmad/mpi/datatype"
	"github.com/pm2-go/pm2/nmad/rma"
)

// wordAccess is how words of a kind at a target are reached, given as their bits.
type wordAccess struct {
	load    func(d *rma.Domain, at rma.Ref) (uint64, error)
	post    func(d *rma.Domain, o rma.Op, at rma.Ref, v uint64) error
	fetch   func(d *rma.Domain, o rma.Op, at rma.Ref, v uint64) (uint64, error)
	swap    func(d *rma.Domain, at rma.Ref, old, next uint64) (uint64, error)
	combine func(d *rma.Domain, o rma.Op, at rma.Ref, values, olds []byte) error
	swapAll func(d *rma.Domain, at rma.Ref, old, next, found []byte) error
	look    func(d *rma.Domain, at rma.Ref, olds []byte) error // in the order of what this process changes there, by an atomic that leaves them
	store   func(there, values []byte)
}

// wordAccesses are those of the kinds whose elements are changed by atomics; nil: of another kind.
var wordAccesses = [...]*wordAccess{
	datatype.Int32: accessOf[int32, uint32](), datatype.Int64: accessOf[int64, uint64](), datatype.Uint32: accessOf[uint32, uint32](), datatype.Uint64: accessOf[uint64, uint64](),
	datatype.Float32: accessOf[float32, uint32](), datatype.Float64: accessOf[float64, uint64](),
}

// accessOf is that of words of type T, whose bits are a B.
func accessOf[T rma.Word, B uint32 | uint64]() *wordAccess {
	return &wordAccess{
		load: func(d *rma.Domain, at rma.Ref) (uint64, error) {
			v, err := rma.Load[B](d, at)
			return uint64(v), err
		},
		post: func(d *rma.Domain, o rma.Op, at rma.Ref, v uint64) error { return rma.Post(d, o, at, valueOf[T](v)) },
		fetch: func(d *rma.Domain, o rma.Op, at rma.Ref, v uint64) (uint64, error) {
			old, err := rma.Fetch(d, o, at, valueOf[T](v))
			return bitsOf(old), err
		},
		swap: func(d *rma.Domain, at rma.Ref, old, next uint64) (uint64, error) {
			was, err := rma.CompareAndSwap(d, at, B(old), B(next))
			return uint64(was), err
		},
		combine: func(d *rma.Domain, o rma.Op, at rma.Ref, values, olds []byte) error {
			return rma.Combine(d, o, at, wordsOf[T](values), wordsOf[T](olds))
		},
		swapAll: func(d *rma.Domain, at rma.Ref, old, next, found []byte) error {
			return rma.CompareAndSwapAll(d, at, wordsOf[B](old), wordsOf[B](next), wordsOf[B](found))
		},
		look: func(d *rma.Domain, at rma.Ref, olds []byte) error {
			return rma.Combine(d, rma.Or, at, make([]B, len(olds)/sizeOf[B]()), wordsOf[B](olds))
		},
		store: func(there, values []byte) { storeEach(wordsOf[B](there), wordsOf[B](values)) },
	}
}

// isWord says that elements of a kind are changed by atomics.
func isWord(k datatype.Kind) bool { return int(k) < len(wordAccesses) && wordAccesses[k] != nil }

// atomicOf is the atomic that does what an operation does; false: none does.
func atomicOf(op *Op) (rma.Op, bool) {
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

// atomic combines one word.
func (w *Window) atomic(a aim, op *Op, k datatype.Kind, origin, result Buffer) error {
	size := k.Size()
	if err := a.whole(); err != nil {
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

// post combines a word at a target with v. It waits for no answer where there is an atomic that does it.
func (w *Window) post(op *Op, k datatype.Kind, at rma.Ref, v uint64) error {
	o, ok := atomicOf(op)
	if !ok {
		_, err := w.fetchOther(op, k, at, v)
		return err
	}
	return wordAccesses[k].post(w.domain, o, at, v)
}

// fetch is post that returns what was there before.
func (w *Window) fetch(op *Op, k datatype.Kind, at rma.Ref, v uint64) (uint64, error) {
	o, ok := atomicOf(op)
	if !ok {
		return w.fetchOther(op, k, at, v)
	}
	return wordAccesses[k].fetch(w.domain, o, at, v)
}

// fetchOther is fetch of an operation that no atomic does.
func (w *Window) fetchOther(op *Op, k datatype.Kind, at rma.Ref, v uint64) (uint64, error) {
	word := wordAccesses[k]
	if op == NoOp {
		return word.load(w.domain, at)
	}
	mine, theirs := []uint64{0}, []uint64{0}
	a, b := datatype.Within(mine, 1, datatype.Of(k)), datatype.Within(theirs, 1, datatype.Of(k))
	setWord(a.First(), k.Size(), v)
	old, err := word.load(w.domain, at)
	for err == nil {
		setWord(b.First(), k.Size(), old)
		op.Apply(a, b)
		was := old
		if old, err = word.swap(w.domain, at, was, wordAt(b.First(), k.Size())); old == was {
			break
		}
	}
	return old, err
}

// CompareAndSwap replaces one element at a target by next if it has the bits of old, and reads what was there before
// into result: that of old if it was replaced. All have one element of one type. It returns when result is there. See
// Accumulate.
func (w *Window) CompareAndSwap(old, next, result Buffer, target, at int) error {
	const what = "compare-and-swap"
	if target == ProcNull {
		return w.usable()
	}
	a, err := w.aim(what, target, at, next.Count, next.Type, nil)
	if err != nil {
		return err
	}
	if err := w.inOrder(target); err != nil {
		return w.failsAt(what, target, err)
	}
	of := a.t.Element()
	switch {
	case a.count != 1 || of == nil || of.Elements() != a.t.Elements() || old.Type == nil || result.Type == nil || old.Size() != a.size() || result.Size() != a.size():
		err = fmt.Errorf("%w: one element of a predefined type each: %d of %v", ErrType, next.Count, next.Type)
	case isWord(of.Uniform()) && of.Elements() == 1 && a.over != nil:
		err = a.whole()
	case isWord(of.Uniform()) && of.Elements() == 1:
		size := of.Size()
		was, failed := wordAccesses[of.Uniform()].swap(w.domain, a.at, wordAt(old.First(), size), wordAt(next.First(), size))
		if err = failed; err == nil {
			setWord(result.First(), size, was)
		}
	default:
		err = w.swapExclusively(a, of, old, next, result)
	}
	return w.failsAt(what, target, err)
}

// swapExclusively is CompareAndSwap of an element that has no atomic.
func (w *Window) swapExclusively(a aim, of *datatype.Type, old, next, result Buffer) (err error) {
	if err := w.lockMutex(a.target); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, w.unlockMutex(a.target)) }()
	b := make([]byte, 2*of.Size())
	was, want := b[:of.Size()], b[of.Size():]
	there := Buffer{Base: datatype.AddressOf(was), Count: len(was), Type: datatype.Of(datatype.Byte)}
	old.Pack(0, want)
	err = a.pieces(0, there, func(from rma.Ref, b []byte) error { return w.domain.Get(b, from) })
	if err != nil {
		return err
	}
	if bytes.Equal(was, want) {
		err = a.pieces(0, next, w.domain.Put)
	}
	result.Unpack(0, was)
	return err
}
