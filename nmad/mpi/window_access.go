package mpi

import (
	"fmt"

	"github.com/pm2-go/pm2/nmad/mpi/datatype"
	"github.com/pm2-go/pm2/nmad/rma"
)

// Layout describes the elements of an access as they lie at the target: Count elements of a Type. Its data has as many
// bytes, and elements of the same kinds, as the buffer of the access.
type Layout struct {
	Count int
	Type  *datatype.Type
}

// access is the memory at a target that an access reads or writes.
type access struct {
	target   int     // rank
	at       rma.Ref // of the first byte of its data, if parts is nil
	low      int     // the displacement of that byte from the address of the elements
	span     int     // how many bytes the data takes, with the gaps; 0: there is none
	count    int     // of elements
	datatype *datatype.Type
	parts    *[]targetPart // the pieces of attached memory in a window of NewDynamicWindow, if there are several; else nil
}

// place returns the memory at a displacement from the address of the elements, and how many of n bytes from there on
// are in one piece.
func (a *access) place(at, n int) (rma.Ref, int) {
	if a.parts != nil {
		for _, r := range *a.parts {
			if at < r.low+r.size {
				return r.ref.Add(int64(at - r.low)), min(n, r.low+r.size-at)
			}
		}
	}
	return a.at.Add(int64(at - a.low)), n
}

// size returns how many bytes of data the access has.
func (a access) size() int { return a.count * a.datatype.Size() }

// locate finds the memory of an access of count elements of t, which lie at the target as they do here, or as the
// Layout in as says. It checks the target, the epoch, and the range. what is the name of the call. Without data the
// result has a span of 0.
func (w *Window) locate(what string, target, at, count int, t *datatype.Type, as []Layout) (access, error) {
	if w == nil || w.freed.Load() || uint(target) >= uint(len(w.peers)) {
		_, err := w.peer(what, target)
		return access{}, err
	}
	p := &w.peers[target]
	if p.open.Load() <= 0 && !w.fenced.Load() {
		if err := w.join(target); err != nil {
			return access{}, w.failsAt(what, target, err)
		}
	}
	a := access{target: target, count: count, datatype: t}
	if len(as) > 0 {
		a.count, a.datatype = as[0].Count, as[0].Type
		if err := checkElements(count, t, a.count, a.datatype); err != nil {
			return a, w.failsAt(what, target, err)
		}
	} else if t == nil {
		return a, w.failsAt(what, target, fmt.Errorf("%w: the buffer has none", ErrType))
	}
	ok := false
	if a.low, a.span, ok = datatype.Span(a.count, a.datatype); !ok {
		return a, w.failsAt(what, target, fmt.Errorf("%w: %d elements of %v", ErrCount, a.count, a.datatype))
	}
	if a.span == 0 {
		return a, nil
	}
	if w.kind == dynamicWindow {
		var err error
		if a.at, a.parts, err = w.find(target, at, a.low, a.span); err != nil {
			return a, w.failsAt(what, target, err)
		}
		return a, nil
	}
	if first := at*p.unit + a.low; at > datatype.MaxBytes/p.unit || at < -datatype.MaxBytes/p.unit || first < 0 || first > p.size || a.span > p.size-first {
		return a, w.failsAt(what, target, fmt.Errorf("%w: %d elements of %v at displacement %d in units of %d B: it has %d B", ErrRange, a.count, a.datatype, at, p.unit, p.size))
	}
	a.at = p.ref.Add(int64(at*p.unit + a.low))
	return a, nil
}

// checkElements says why count elements of t here cannot go with targets elements of type of at a target; nil: they
// can.
func checkElements(count int, t *datatype.Type, targets int, of *datatype.Type) error {
	if t == nil || of == nil {
		return fmt.Errorf("%w: there is none", ErrType)
	}
	if count < 0 || targets < 0 || targets*of.Size() != count*t.Size() {
		return fmt.Errorf("%w: %d elements of %v here, %d of %v there", ErrCount, count, t, targets, of)
	}
	a, b := t.Uniform(), of.Uniform()
	if a == b || a == datatype.Byte || a == datatype.Packed || b == datatype.Byte || b == datatype.Packed || count*t.Size() == 0 {
		return nil
	}
	return fmt.Errorf("%w: elements of %v here, of %v there", ErrType, t, of)
}

// Put writes the elements of origin to the memory of a target, from displacement at on. They lie there as in origin, or
// as a Layout says. The Put is done when the epoch ends, or a Flush returns; until then origin must not change.
func (w *Window) Put(origin Buffer, target, at int, as ...Layout) error {
	return w.put("put", origin, target, at, as)
}

// put is Put. what is the name of the call.
func (w *Window) put(what string, origin Buffer, target, at int, as []Layout) error {
	if target == ProcNull {
		return w.usable()
	}
	a, err := w.locate(what, target, at, origin.Count, origin.Type, as)
	if err != nil || a.span == 0 {
		return err
	}
	if src, ok := origin.Dense(); ok && a.parts == nil && datatype.Flat(a.count, a.datatype) {
		err = w.domain.PutNBI(a.at, src)
	} else {
		err = w.scatter(a, origin)
	}
	return w.unlessAt(what, target, err)
}

// scatter is a put of data that is not in one piece both here and at the target.
func (w *Window) scatter(a access, origin Buffer) error {
	if there, ok := w.mapped(a); ok {
		datatype.Copy(&there, &origin)
		return nil
	}
	return a.pieces(0, origin, w.domain.PutNBI)
}

// Get reads elements from the memory of a target, from displacement at on, into origin; see Put. The elements are in
// origin when the epoch has ended, or a Flush has returned.
func (w *Window) Get(origin Buffer, target, at int, as ...Layout) error {
	return w.get("get", origin, target, at, as)
}

// get is Get. what is the name of the call.
func (w *Window) get(what string, origin Buffer, target, at int, as []Layout) error {
	if target == ProcNull {
		return w.usable()
	}
	a, err := w.locate(what, target, at, origin.Count, origin.Type, as)
	if err != nil || a.span == 0 {
		return err
	}
	if to, ok := origin.Dense(); ok && a.parts == nil && datatype.Flat(a.count, a.datatype) {
		err = w.domain.GetNBI(to, a.at)
	} else {
		err = w.gather(a, origin)
	}
	return w.unlessAt(what, target, err)
}

// gather is a get of data that is not in one piece both here and at the target.
func (w *Window) gather(a access, origin Buffer) error {
	if there, ok := w.mapped(a); ok {
		datatype.Copy(&origin, &there)
		return nil
	}
	return a.pieces(0, origin, func(from rma.Ref, b []byte) error { return w.domain.GetNBI(b, from) })
}

// mapped returns the elements at the target as a Buffer, and reports whether this process has mapped them.
func (w *Window) mapped(a access) (Buffer, bool) {
	if w.unmapped || a.parts != nil {
		return Buffer{}, false
	}
	b, ok := w.domain.Local(a.at, a.span)
	return Buffer{Base: datatype.AddressOf(b), At: -a.low, Count: a.count, Type: a.datatype}, ok
}

// pieces calls move for each piece of memory that has no gaps both in b and at the target. b is the data of the access
// from byte from on.
func (a access) pieces(from int, b Buffer, move func(rma.Ref, []byte) error) (err error) {
	done, size := 0, b.Size()
	datatype.Stretches(a.count, a.datatype, from, func(at, n int) bool {
		b.Pieces(done, func(piece []byte) bool {
			for n > 0 && len(piece) > 0 && err == nil {
				ref, m := a.place(at, min(len(piece), n))
				err = move(ref, piece[:m])
				at, n, done, piece = at+m, n-m, done+m, piece[m:]
			}
			return err == nil && n > 0
		})
		return err == nil && done < size
	})
	return err
}

// Rput begins a Put; the request is done when origin may be used again. It needs an epoch of Lock or LockAll, whose
// Flush and end also wait for it.
func (w *Window) Rput(origin Buffer, target, at int, as ...Layout) *Request {
	return w.request("rput", target, w.put("rput", origin, target, at, as))
}

// Rget begins a Get; the request is done when the elements are in origin. See Rput.
func (w *Window) Rget(origin Buffer, target, at int, as ...Layout) *Request {
	return w.request("rget", target, w.get("rget", origin, target, at, as))
}

// request returns a request that is done when all accesses to a target that have begun are done. err is why the access
// of the call what could not begin; nil: it has begun.
func (w *Window) request(what string, target int, err error) *Request {
	if err != nil || target == ProcNull {
		return (&Request{}).endAtOnce(err)
	}
	p := &w.peers[target]
	if _, mapped := w.domain.Local(p.ref, p.size); mapped && w.kind != dynamicWindow {
		return (&Request{}).endAtOnce(nil)
	}
	r := NewRequest(nil)
	r.comm = w.comm
	go func() {
		err := w.domain.Flush(p.words.Rank())
		if err != nil {
			err = w.failsAt(what, target, err)
		}
		r.Complete(noStatus, err)
	}()
	return r
}
