package mpi

import (
	"fmt"
	"reflect"

	"github.com/pm2-go/pm2/nmad/mpi/datatype"
)

// WindowOf is NewWindow of a slice; displacements count its elements.
func WindowOf[T any](c *Comm, s []T) (*Window, error) {
	if _, err := On(s); err != nil {
		return nil, err // at all processes alike
	}
	return NewWindow(c, bytesOf(s), max(sizeOf[T](), 1))
}

// Attach is Window.Attach.
func Attach[T any](w *Window, s []T) (at int, err error) {
	if _, err := On(s); err != nil {
		return 0, err
	}
	return w.Attach(bytesOf(s))
}

// Detach is Window.Detach.
func Detach[T any](w *Window, s []T) error { return w.Detach(bytesOf(s)) }

// Memory is Window.Shared as elements of a Go type.
func Memory[T any](w *Window, rank int) ([]T, error) {
	b, err := w.Shared(rank)
	if err != nil {
		return nil, err
	}
	if _, err := On([]T(nil)); err != nil {
		return nil, w.failsAt("memory", rank, err)
	}
	s, ok := elementsOf[T](b)
	if !ok {
		return nil, w.failsAt("memory", rank, fmt.Errorf("%w: it does not begin where elements of %v may lie", ErrType, reflect.TypeFor[T]()))
	}
	return s, nil
}

// Put is Window.Put.
func Put[T any](w *Window, s []T, target, at int, as ...Layout) error {
	b, err := On(s)
	if err != nil {
		return err
	}
	return w.put("put", b, target, at, as)
}

// Get is Window.Get.
func Get[T any](w *Window, s []T, target, at int, as ...Layout) error {
	b, err := On(s)
	if err != nil {
		return err
	}
	return w.get("get", b, target, at, as)
}

// Accumulate is Window.Accumulate.
func Accumulate[T any](w *Window, op *Op, s []T, target, at int, as ...Layout) error {
	b, err := On(s)
	if err != nil {
		return err
	}
	return w.Accumulate(op, b, target, at, as...)
}

// GetAccumulate is Window.GetAccumulate. With NoOp in may be nil.
func GetAccumulate[T any](w *Window, op *Op, in, result []T, target, at int, as ...Layout) error {
	a, b, err := both(in, result)
	if err != nil {
		return err
	}
	return w.GetAccumulate(op, a, b, target, at, as...)
}

// FetchAndOp is Window.FetchAndOp: it combines v with one element at a target, and returns what that was before.
func FetchAndOp[T any](w *Window, op *Op, v T, target, at int) (old T, err error) {
	t, err := typeOf[T]()
	if err != nil || target == ProcNull {
		return old, err
	}
	if k := t.Uniform(); isWord(k) && t.Elements() == 1 {
		bits, err := w.fetchOne(op, t, bitsOf(v), target, at)
		return valueOf[T](bits), err
	}
	in, out := []T{v}, []T{old}
	a, b, err := both(in, out)
	if err == nil {
		err = w.FetchAndOp(op, a, b, target, at)
	}
	return out[0], err
}

// CompareAndSwap is Window.CompareAndSwap: it replaces one element at a target by next if it has the bits of old, and
// returns what it was before.
func CompareAndSwap[T any](w *Window, old, next T, target, at int) (found T, err error) {
	t, err := typeOf[T]()
	if err != nil || target == ProcNull {
		return found, err
	}
	if k := t.Uniform(); isWord(k) && t.Elements() == 1 {
		bits, err := w.swapOne(t, bitsOf(old), bitsOf(next), target, at)
		return valueOf[T](bits), err
	}
	all := []T{old, next, found}
	b, err := On(all)
	if err == nil {
		err = w.CompareAndSwap(b.Part(0, 1), b.Part(1, 1), b.Part(2, 1), target, at)
	}
	return all[2], err
}

// typeOf returns the datatype of a Go type.
func typeOf[T any]() (*datatype.Type, error) {
	b, err := On([]T(nil))
	return b.Type, err
}

// fetchOne is FetchAndOp of one word.
func (w *Window) fetchOne(op *Op, t *datatype.Type, v uint64, target, at int) (uint64, error) {
	const what = "fetch-and-op"
	a, err := w.locate(what, target, at, 1, t, nil)
	if err != nil {
		return 0, err
	}
	if err = w.awaitRuns(target); err == nil {
		err = checkAccumulate(op, t, t)
	}
	if err == nil {
		err = a.checkWhole()
	}
	if err == nil {
		var old uint64
		if old, err = w.fetch(op, t.Uniform(), a.at, v); err == nil {
			return old, nil
		}
	}
	return 0, w.failsAt(what, target, err)
}

// swapOne is CompareAndSwap of one word.
func (w *Window) swapOne(t *datatype.Type, old, next uint64, target, at int) (uint64, error) {
	const what = "compare-and-swap"
	a, err := w.locate(what, target, at, 1, t, nil)
	if err != nil {
		return 0, err
	}
	var found uint64
	if err = w.awaitRuns(target); err == nil {
		err = a.checkWhole()
	}
	if err == nil {
		found, err = w.swap(t.Size(), a.at, old, next)
	}
	if err != nil {
		return 0, w.failsAt(what, target, err)
	}
	return found, nil
}
