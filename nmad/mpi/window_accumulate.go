package mpi

import (
	"errors"
	"fmt"
	"sync"

	"github.com/pm2-go/pm2/nmad/mpi/datatype"
	reduction "github.com/pm2-go/pm2/nmad/mpi/reduce"
	"github.com/pm2-go/pm2/nmad/rma"
)

// Accumulates are atomic, element by element. How one is carried out depends on its elements:
//
//	words of 4 or 8 bytes                     an atomic of the processor for each: by this process where it has mapped the
//	                                          memory, else by the target, which gets up to 8 KiB of words in a message
//	                                          (rma.CombineNBI)
//	short runs of words, close together       where they are not mapped: swaps of a piece that has them (window_runs.go)
//	all other elements                        under the mutex of the target: this process gets them, combines, and puts
//	                                          them back, or combines them where they are mapped
//	many words, while this process is alone   as other elements, without the mutex (see excludeOthers)
//
// So one word costs one atomic, and takes no lock. Accumulates of one process are in order: the target answers messages
// of one word in the order in which they come, and after messages of many words the next accumulate waits (awaitRuns).

// Replace and NoOp are operations of accumulates: Replace copies the origin to the target, NoOp leaves the target as it
// is.
var Replace, NoOp = reduction.Replace, reduction.NoOp

// Accumulate combines the elements of origin with those at a target by a predefined operation: there[i] = origin[i] op
// there[i]; see Put. Real numbers of 4 and 8 bytes lie at multiples of their size, and are changed by atomics; all
// other elements are changed under a lock of the target.
func (w *Window) Accumulate(op *Op, origin Buffer, target, at int, as ...Layout) error {
	return w.update("accumulate", op, origin, Buffer{}, target, at, as)
}

// GetAccumulate is Accumulate that also stores in result what the elements were before; result has as many elements as
// origin. With NoOp origin may be the zero Buffer. It waits until result is stored.
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

// update is an accumulate. what is the name of the call.
func (w *Window) update(what string, op *Op, origin, result Buffer, target, at int, as []Layout) error {
	if target == ProcNull {
		return w.usable()
	}
	if op == NoOp && result.Type != nil {
		origin = result
	}
	a, err := w.locate(what, target, at, origin.Count, origin.Type, as)
	if err != nil {
		return err
	}
	if result.Type != nil {
		err = checkElements(origin.Count, origin.Type, result.Count, result.Type)
	}
	of := a.datatype.Element()
	if err == nil {
		err = checkAccumulate(op, a.datatype, of)
	}
	if err == nil {
		err = w.awaitRuns(target)
	}
	switch {
	case err != nil:
	case a.span == 0:
		return nil
	case !isWord(of.Uniform()) || of.Elements() != 1:
		err = w.combineExclusively(a, op, of, origin, result)
	case a.size() == of.Size():
		err = w.combineWord(a, op, of.Uniform(), origin, result)
	default:
		err = w.combineMany(a, op, of, origin, result)
	}
	return w.unlessAt(what, target, err)
}

// checkAccumulate says why an operation cannot be used for elements of t, which consist of elements of; nil: it can.
func checkAccumulate(op *Op, t, of *datatype.Type) error {
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

// combineExclusively combines elements that are no words, under the mutex of the target.
func (w *Window) combineExclusively(a access, op *Op, of *datatype.Type, origin, result Buffer) error {
	if err := w.lockMutex(a.target); err != nil {
		return err
	}
	return errors.Join(w.combine(a, op, of, origin, result), w.unlockMutex(a.target))
}

// combinedBytes is how many bytes of elements combine gets and puts at a time.
const combinedBytes = 64 << 10

// combine combines elements that no other thread changes meanwhile.
func (w *Window) combine(a access, op *Op, of *datatype.Type, origin, result Buffer) error {
	if there, ok := w.mapped(a); ok && of.Dense() && w.inPlace(op, of, there, origin, result) {
		return nil
	}
	size := of.Size()
	n := a.size() / size
	step := min(n, max(1, combinedBytes/size))
	s := scratches.Get().(*scratch)
	defer scratches.Put(s)
	s.grow(step, of)
	for i := 0; i < n; i += step {
		k := min(step, n-i)
		b := s.remote[:k*size]
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

// scratch is memory for elements of an accumulate.
type scratch struct {
	remote, local []byte   // elements of the target and of this process, without the gaps inside of them
	there, here   []uint64 // these elements with their gaps, if they have any
}

var scratches = sync.Pool{New: func() any { return new(scratch) }}

// grow makes room for n elements of a type.
func (sc *scratch) grow(n int, of *datatype.Type) {
	if words := (n*of.Size() + 7) / 8; 8*words > len(sc.remote) {
		sc.remote, sc.local = bytesOf(make([]uint64, words)), bytesOf(make([]uint64, words))
	}
	if words := datatype.Words(n, of); !of.Dense() && words > len(sc.there) {
		sc.there, sc.here = make([]uint64, words), make([]uint64, words)
	}
}

// apply combines elements of origin, from byte from of its data on, with remote, those of a target.
func (sc *scratch) apply(op *Op, of *datatype.Type, origin Buffer, from int, remote []byte) {
	local, ok := origin.Dense()
	if ok {
		local = local[from : from+len(remote)]
	} else {
		local = sc.local[:len(remote)]
		origin.Pack(from, local)
	}
	if of.Dense() {
		op.Apply(elementsIn(local, of), elementsIn(remote, of))
		return
	}
	n := len(remote) / of.Size()
	a, b := datatype.Within(sc.here, n, of), datatype.Within(sc.there, n, of)
	a.Unpack(0, local)
	b.Unpack(0, remote)
	op.Apply(a, b)
	b.Pack(0, remote)
}

// inPlace combines elements in the mapped memory of the target. It reports false, and does nothing, if the elements
// of a buffer have gaps between them.
func (w *Window) inPlace(op *Op, of *datatype.Type, there, origin, result Buffer) bool {
	remote, ok := there.Dense()
	if !ok {
		return false
	}
	local, ok := origin.Dense()
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
	for step := max(1, combinedBytes/size) * size; len(remote) > 0; {
		n := min(step, len(remote))
		if olds != nil {
			copy(olds, remote[:n])
			olds = olds[n:]
		}
		switch op {
		case NoOp:
		case Replace:
			copy(remote, local[:n])
		default:
			op.Apply(elementsIn(local[:n], of), elementsIn(remote[:n], of))
		}
		remote = remote[n:]
		if op != NoOp {
			local = local[n:]
		}
	}
	return true
}

// elementsIn returns bytes as elements of a type without gaps.
func elementsIn(b []byte, of *datatype.Type) Buffer {
	return Buffer{Base: datatype.AddressOf(b), Count: len(b) / of.Size(), Type: of}
}
