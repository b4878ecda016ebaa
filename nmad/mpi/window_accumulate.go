package mpi

import (
	"errors"
	"fmt"
	"slices"

	"github.com/pm2-go/pm2/nmad/mpi/datatype"
	"github.com/pm2-go/pm2/nmad/mpi/reduce"
	"github.com/pm2-go/pm2/nmad/rma"
)

// Replace and NoOp are operations of Accumulate and its like: the target becomes what the origin has, or stays.
var Replace, NoOp = reduce.Replace, reduce.NoOp

var predefined = []*Op{Sum, Prod, Min, Max, BAnd, BOr, BXor, LAnd, LOr, LXor, MinLoc, MaxLoc, Replace, NoOp}

// Accumulate combines the elements of origin with those at a target by a predefined operation: there[i] = origin[i] op there[i]; see Put. Numbers of 4 and 8 bytes, but for complex ones, lie at multiples of their size; they are changed by
// atomics, and all others under a lock of the target.
func (w *Window) Accumulate(op *Op, origin Buffer, target, at int, as ...Layout) error {
	return w.update("accumulate", op, origin, Buffer{}, target, at, as)
}

// GetAccumulate is Accumulate that reads what was there before into result, which has as many elements as origin. With NoOp origin may be the zero Buffer. It returns when result is there.
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
	switch {
	case err != nil:
	case a.span == 0:
		return nil
	case isWord(of.Uniform()) && of.Elements() == 1 && a.size() == of.Size():
		err = w.atomic(a, op, of.Uniform(), origin, result)
	case isWord(of.Uniform()) && of.Elements() == 1:
		err = w.atomics(a, op, of.Uniform(), origin, result)
	default:
		err = w.exclusively(a, op, of, origin, result)
	}
	if err != nil {
		return w.failsAt(what, target, err)
	}
	return nil
}

// accumulates says why an operation cannot be used for elements of a type, each of which is several of.
func accumulates(op *Op, t, of *datatype.Type) error {
	switch {
	case !slices.Contains(predefined, op):
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
const most = 32 << 10

func (w *Window) combine(a aim, op *Op, of *datatype.Type, origin, result Buffer) error {
	size := of.Size()
	n := a.size() / size
	step := min(n, max(1, most/size))
	packed := make([]byte, step*size)
	words := datatype.Words(step, of)
	here, there := make([]uint64, words), make([]uint64, words)
	for i := 0; i < n; i += step {
		k := min(step, n-i)
		mine, theirs, b := datatype.Within(here, k, of), datatype.Within(there, k, of), packed[:k*size]
		whole := Buffer{Base: datatype.AddressOf(b), Count: len(b), Type: datatype.Of(datatype.Byte)}
		err := a.pieces(i*size, whole, func(from rma.Ref, b []byte) error { return w.domain.GetNBI(b, from) })
		if err = errors.Join(err, w.domain.Flush(w.process(a.target))); err != nil {
			return err
		}
		theirs.Unpack(0, b)
		if result.Type != nil {
			result.Unpack(i*size, b)
		}
		switch op {
		case NoOp:
			continue
		case Replace:
			origin.Pack(i*size, b)
		default:
			origin.Pack(i*size, b)
			mine.Unpack(0, b)
			op.Apply(mine, theirs)
			theirs.Pack(0, b)
		}
		err = a.pieces(i*size, whole, w.domain.PutNBI)
		if err = errors.Join(err, w.domain.Flush(w.process(a.target))); err != nil {
			return err
		}
	}
	return nil
}
