package mpi

import (
	"errors"
	"fmt"
	"sync"

	"github.com/pm2-go/pm2/nmad/mpi/datatype"
	reduction "github.com/pm2-go/pm2/nmad/mpi/reduce"
	"github.com/pm2-go/pm2/nmad/rma"
)

// How accumulates are atomic, element by element, whichever way they go:
//
//	elements that are words of 4 or 8 bytes   an atomic of the processor for each, by this process where the memory is mapped, else by the target, which gets up to 8 KiB of them in a message (rma.Combine)
//	short runs of words, close together       where they are not mapped, by swaps of the piece that has them (window_runs.go)
//	all others                                under the mutex of the target: they are got, combined, and put back, or combined where they are mapped
//	many words, while no other has the lock   as under the mutex, without it: see alone
//
// So one element costs one atomic, and takes no lock. Those of one process go in order: messages of one word are
// answered in the order in which they come, and after many words by messages the next accumulate waits for these
// (inOrder).

// Replace and NoOp are operations of Accumulate and its like: the target becomes what the origin has, or stays.
var Replace, NoOp = reduction.Replace, reduction.NoOp

// Accumulate combines the elements of origin with those at a target by a predefined operation: there[i] = origin[i]
// op there[i]; see Put. Numbers of 4 and 8 bytes, but for complex ones, lie at multiples of their size; they are
// changed by atomics, and all others under a lock of the target.
func (w *Window) Accumulate(op *Op, origin Buffer, target, at int, as ...Layout) error {
	return w.update("accumulate", op, origin, Buffer{}, target, at, as)
}

// GetAccumulate is Accumulate that reads what was there before into result, which has as many elements as origin.
// With NoOp origin may be the zero Buffer. It returns when result is there.
func (w *Window) GetAccumulate(op *Op, origin, result Buffer, target, at int, as ...Layout) error {
	return w.update("get-accumulate", op, origin, result, target, at, as)
}

// Raccumulate is Accumulate with a request; see Rput.
func (w *Window) Raccumulate(op *Op, origin Buffer, target, at int, as ...Layout) *Request {
	return w.request("raccumulate", target, w.update("raccumulate", op, origin, Buffer{}, target, at, as))
}

// RgetAccumulate is GetAccumulate with a request; see Rput.
func (w *Window) RgetAccumulate(op *Op, origin, result Buffer, target, at int, as ...Layout) *Request {
	return w.request("rget-accumulate", target, w.update("rget-accumulate", op, origin, result, target, at, as))
}

// FetchAndOp is GetAccumulate of one element of a predefined type.
func (w *Window) FetchAndOp(op *Op, origin, result Buffer, target, at int) error {
	return w.update("fetch-and-op", op, origin, result, target, at, nil)
}

func (w *Window) update(what string, op *Op, origin, result Buffer, target, at int, as []Layout) error {
	if target == ProcNull {
		return w.usable()
	}
	if op == NoOp && result.Type != nil {
		origin = result
	}
	a, err := w.aim(what, target, at, origin.Count, origin.Type, as)
	if err != nil {
		return err
	}
	if result.Type != nil {
		err = alike(origin.Count, origin.Type, result.Count, result.Type)
	}
	of := a.t.Element()
	if err == nil {
		err = accumulates(op, a.t, of)
	}
	if err == nil {
		err = w.inOrder(target)
	}
	switch {
	case err != nil:
	case a.span == 0:
		return nil
	case !isWord(of.Uniform()) || of.Elements() != 1:
		err = w.exclusively(a, op, of, origin, result)
	case a.size() == of.Size():
		err = w.atomic(a, op, of.Uniform(), origin, result)
	default:
		err = w.many(a, op, of, origin, result)
	}
	return w.unlessAt(what, target, err)
}

// accumulates says why an operation cannot be used for elements of a type, each of which is several of.
func accumulates(op *Op, t, of *datatype.Type) error {
	switch {
	case !op.Predefined():
		return fmt.Errorf("%w: %v is not one of package reduce", ErrOp, op)
	case of == nil && t.Size() > 0:
		return fmt.Errorf("%w: %v has elements of several kinds", ErrType, t)
	case of == nil || op == NoOp || op == Replace:
		return nil
	}
	return op.Check(of)
}

// exclusively combines elements that have no atomic, under the mutex of the target.
func (w *Window) exclusively(a aim, op *Op, of *datatype.Type, origin, result Buffer) error {
	if err := w.lockMutex(a.target); err != nil {
		return err
	}
	return errors.Join(w.combine(a, op, of, origin, result), w.unlockMutex(a.target))
}

// most is how many bytes of elements are combined at a time.
const most = 64 << 10

// combine combines elements that no other process changes meanwhile.
func (w *Window) combine(a aim, op *Op, of *datatype.Type, origin, result Buffer) error {
	if there, ok := w.mapped(a); ok && of.Dense() && w.inPlace(op, of, there, origin, result) {
		return nil
	}
	size := of.Size()
	n := a.size() / size
	step := min(n, max(1, most/size))
	s := scratches.Get().(*scratch)
	defer scratches.Put(s)
	s.grow(step, of)
	for i := 0; i < n; i += step {
		k := min(step, n-i)
		b := s.theirs[:k*size]
		whole := Buffer{Base: datatype.AddressOf(b), Count: len(b), Type: datatype.Of(datatype.Byte)}
		if op != Replace || result.Type != nil {
			err := a.pieces(i*size, whole, func(from rma.Ref, b []byte) error { return w.domain.GetNBI(b, from) })
			if err = errors.Join(err, w.domain.Flush(w.process(a.target))); err != nil {
				return err
			}
		}
		if result.Type != nil {
			result.Unpack(i*size, b)
		}
		switch op {
		case NoOp:
			continue
		case Replace:
			origin.Pack(i*size, b)
		default:
			s.apply(op, of, origin, i*size, b)
		}
		err := a.pieces(i*size, whole, w.domain.PutNBI)
		if err = errors.Join(err, w.domain.Flush(w.process(a.target))); err != nil {
			return err
		}
	}
	return nil
}

// scratch is memory of an accumulate.
type scratch struct {
	theirs, mine []byte   // elements without the gaps in them, of the target and of this process
	there, here  []uint64 // memory of them with these, if they have some
}

var scratches = sync.Pool{New: func() any { return new(scratch) }}

// grow has it hold so many elements of a type.
func (sc *scratch) grow(n int, of *datatype.Type) {
	if words := (n*of.Size() + 7) / 8; 8*words > len(sc.theirs) {
		sc.theirs, sc.mine = bytesOf(make([]uint64, words)), bytesOf(make([]uint64, words))
	}
	if words := datatype.Words(n, of); !of.Dense() && words > len(sc.there) {
		sc.there, sc.here = make([]uint64, words), make([]uint64, words)
	}
}

// apply combines elements of origin, from a byte of its data on, with those of a target.
func (sc *scratch) apply(op *Op, of *datatype.Type, origin Buffer, from int, theirs []byte) {
	mine, ok := origin.Dense()
	if ok {
		mine = mine[from : from+len(theirs)]
	} else {
		mine = sc.mine[:len(theirs)]
		origin.Pack(from, mine)
	}
	if of.Dense() {
		op.Apply(elementsIn(mine, of), elementsIn(theirs, of))
		return
	}
	n := len(theirs) / of.Size()
	a, b := datatype.Within(sc.here, n, of), datatype.Within(sc.there, n, of)
	a.Unpack(0, mine)
	b.Unpack(0, theirs)
	op.Apply(a, b)
	b.Pack(0, theirs)
}

// inPlace combines elements, which lie without gaps at the target and here, where they are; false: they do not.
func (w *Window) inPlace(op *Op, of *datatype.Type, there, origin, result Buffer) bool {
	theirs, ok := there.Dense()
	if !ok {
		return false
	}
	mine, ok := origin.Dense()
	if !ok && op != NoOp {
		return false
	}
	var olds []byte
	if result.Type != nil {
		if olds, ok = result.Dense(); !ok {
			return false
		}
	}
	size := of.Size()
	for step := max(1, most/size) * size; len(theirs) > 0; {
		n := min(step, len(theirs))
		if olds != nil {
			copy(olds, theirs[:n])
			olds = olds[n:]
		}
		switch op {
		case NoOp:
		case Replace:
			copy(theirs, mine[:n])
		default:
			op.Apply(elementsIn(mine[:n], of), elementsIn(theirs[:n], of))
		}
		theirs = theirs[n:]
		if op != NoOp {
			mine = mine[n:]
		}
	}
	return true
}

// elementsIn is bytes as elements of a type without gaps.
func elementsIn(b []byte, of *datatype.Type) Buffer {
	return Buffer{Base: datatype.AddressOf(b), Count: len(b) / of.Size(), Type: of}
}
