package mpi

import (
	"fmt"

	"github.com/pm2-go/pm2/nmad/mpi/datatype"
	"github.com/pm2-go/pm2/nmad/rma"
)

// Layout is how the elements of an access lie at the target: Count of a Type.
type Layout struct {
	Count int
	Type  *datatype.Type
}

// aim is where an access goes.
type aim struct {
	target int
	at     rma.Ref // of the first byte of its data, if over is nil
	low    int     // displacement of that byte, counted as those of the elements are
	span   int     // bytes, with the gaps
	count  int
	t      *datatype.Type
	over   *[]reach // the memory that it goes over, of a window of NewDynamicWindow, if that is attached in several pieces; else nil
}

// place is where the n bytes at a displacement are, and how many of them lie there.
func (a *aim) place(at, n int) (rma.Ref, int) {
	if a.over != nil {
		for _, r := range *a.over {
			if at < r.low+r.size {
				return r.ref.Add(int64(at - r.low)), min(n, r.low+r.size-at)
			}
		}
	}
	return a.at.Add(int64(at - a.low)), n
}

// size is how many bytes of data it has.
func (a aim) size() int { return a.count * a.t.Size() }

// aim finds where an access of count elements of t goes, or how they lie there by as. What is nowhere has a span of 0.
func (w *Window) aim(what string, target, at, count int, t *datatype.Type, as []Layout) (aim, error) {
	if w == nil || w.freed.Load() || uint(target) >= uint(len(w.peers)) {
		_, err := w.peer(what, target)
		return aim{}, err
	}
	p := &w.peers[target]
	if p.open.Load() <= 0 && !w.fenced.Load() {
		if err := w.join(target); err != nil {
			return aim{}, w.failsAt(what, target, err)
		}
	}
	a := aim{target: target, count: count, t: t}
	if len(as) > 0 {
		a.count, a.t = as[0].Count, as[0].Type
		if err := alike(count, t, a.count, a.t); err != nil {
			return a, w.failsAt(what, target, err)
		}
	} else if t == nil {
		return a, w.failsAt(what, target, fmt.Errorf("%w: the buffer has none", ErrType))
	}
	ok := false
	if a.low, a.span, ok = datatype.Span(a.count, a.t); !ok {
		return a, w.failsAt(what, target, fmt.Errorf("%w: %d elements of %v", ErrCount, a.count, a.t))
	}
	if a.span == 0 {
		return a, nil
	}
	if w.form == dynamic {
		var err error
		if a.at, a.over, err = w.find(target, at, a.low, a.span); err != nil {
			return a, w.failsAt(what, target, err)
		}
		return a, nil
	}
	if first := at*p.unit + a.low; at > datatype.Most/p.unit || at < -datatype.Most/p.unit || first < 0 || first > p.size || a.span > p.size-first {
		return a, w.failsAt(what, target, fmt.Errorf("%w: %d elements of %v at displacement %d in units of %d B: it has %d B", ErrRange, a.count, a.t, at, p.unit, p.size))
	}
	a.at = p.ref.Add(int64(at*p.unit + a.low))
	return a, nil
}

// alike says why elements at an origin cannot be those at a target.
func alike(count int, t *datatype.Type, targets int, of *datatype.Type) error {
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

// Put writes the elements of origin to the memory of a target, from displacement at on: as they lie here, or as a
// Layout says, of as many bytes and the same kinds. It is done when the epoch ends, or with a Flush; until then
// origin stays as it is.
func (w *Window) Put(origin Buffer, target, at int, as ...Layout) error {
	return w.put("put", origin, target, at, as)
}

func (w *Window) put(what string, origin Buffer, target, at int, as []Layout) error {
	if target == ProcNull {
		return w.usable()
	}
	a, err := w.aim(what, target, at, origin.Count, origin.Type, as)
	if err != nil || a.span == 0 {
		return err
	}
	if src, ok := origin.Dense(); ok && a.over == nil && datatype.Flat(a.count, a.t) {
		err = w.domain.PutNBI(a.at, src)
	} else {
		err = w.scatter(a, origin)
	}
	return w.unlessAt(what, target, err)
}

// scatter is a put of what does not lie in one piece on both sides.
func (w *Window) scatter(a aim, origin Buffer) error {
	if there, ok := w.mapped(a); ok {
		datatype.Copy(&there, &origin)
		return nil
	}
	return a.pieces(0, origin, w.domain.PutNBI)
}

// Get reads elements from the memory of a target, from displacement at on, into origin; see Put. They are there when
// the epoch ends, or with a Flush.
func (w *Window) Get(origin Buffer, target, at int, as ...Layout) error {
	return w.get("get", origin, target, at, as)
}

func (w *Window) get(what string, origin Buffer, target, at int, as []Layout) error {
	if target == ProcNull {
		return w.usable()
	}
	a, err := w.aim(what, target, at, origin.Count, origin.Type, as)
	if err != nil || a.span == 0 {
		return err
	}
	if to, ok := origin.Dense(); ok && a.over == nil && datatype.Flat(a.count, a.t) {
		err = w.domain.GetNBI(to, a.at)
	} else {
		err = w.gather(a, origin)
	}
	return w.unlessAt(what, target, err)
}

// gather is scatter of a get.
func (w *Window) gather(a aim, origin Buffer) error {
	if there, ok := w.mapped(a); ok {
		datatype.Copy(&origin, &there)
		return nil
	}
	return a.pieces(0, origin, func(from rma.Ref, b []byte) error { return w.domain.GetNBI(b, from) })
}

// mapped is the elements at the target as a Buffer, if loads and stores reach them.
func (w *Window) mapped(a aim) (Buffer, bool) {
	if w.apart || a.over != nil {
		return Buffer{}, false
	}
	b, ok := w.domain.Local(a.at, a.span)
	return Buffer{Base: datatype.AddressOf(b), At: -a.low, Count: a.count, Type: a.t}, ok
}

// pieces calls move for the pieces that are whole both in b and at the target, there from a byte of the data on.
func (a aim) pieces(from int, b Buffer, move func(rma.Ref, []byte) error) (err error) {
	done, size := 0, b.Size()
	datatype.Stretches(a.count, a.t, from, func(at, n int) bool {
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

// Rput begins what Put does: the request is done when origin may be used again. It needs an epoch of Lock or LockAll,
// whose Flush and end wait for it, too.
func (w *Window) Rput(origin Buffer, target, at int, as ...Layout) *Request {
	return w.request("rput", target, w.put("rput", origin, target, at, as))
}

// Rget begins what Get does: the request is done when the elements are there; see Rput.
func (w *Window) Rget(origin Buffer, target, at int, as ...Layout) *Request {
	return w.request("rget", target, w.get("rget", origin, target, at, as))
}

// request is one that is done when what was begun for a target is.
func (w *Window) request(what string, target int, err error) *Request {
	if err != nil || target == ProcNull {
		return (&Request{}).endAtOnce(err)
	}
	p := &w.peers[target]
	if _, near := w.domain.Local(p.ref, p.size); near && w.form != dynamic {
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
