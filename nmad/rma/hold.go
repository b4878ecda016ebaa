package rma

import (
	"fmt"

	"github.com/pm2-go/pm2/nmad"
)

// Hold is memory of this process that is in use for another one, as for a message that goes straight into it. Until
// Release no Region.Close, no Segment.Free of that memory and no World.Close returns. It is a value; one copy of it
// is released.
type Hold struct {
	w     *World
	r     *region
	bytes []byte
}

// Hold begins a use of the n bytes at a Ref to memory of this process. It takes no lock and does not wait. ErrKey,
// ErrRange, ErrClosed; ErrRef for memory of another process.
func (w *World) Hold(at Ref, n uint64) (Hold, error) {
	x := attempt{"use", at, n}
	if w == nil || int(at.rank) != w.rank {
		return Hold{}, x.fails(fmt.Errorf("%w: it is not one of this process", ErrRef))
	}
	r, status := w.borrow(at, n)
	if status == statusDone {
		return Hold{w, r, bytesAt(r.base, at.offset, n)}, nil
	}
	if r == nil {
		return Hold{}, x.refusal(status, 0)
	}
	return Hold{}, x.refusal(status, r.size)
}

// Bytes returns the memory, for use until Release.
func (h *Hold) Bytes() []byte { return h.bytes }

// Release ends the use. It does not block. Again, and of the zero Hold, it does nothing.
func (h *Hold) Release() {
	if h.r != nil {
		w, r := h.w, h.r
		*h = Hold{}
		w.giveBack(r)
	}
}

// TryPut is a PutNB that is done when it returns, or is not started: then it returns false. It starts none that would
// go by messages, nor, in a callback, the first use of memory that is not from Alloc. It is for a package that then
// carries the bytes in messages of its own: local, which may be nil, is in use until that package calls local.End.
func (d *Domain) TryPut(dst Ref, src []byte, local *Event) (done bool, err error) {
	x := attempt{"put", dst, uint64(len(src))}
	if err := d.claim(local, nil); err != nil {
		return false, x.fails(err)
	}
	if done, err = d.tryPut(x, src); err != nil {
		unclaim(local, nil)
	} else if done {
		local.end(nil)
	}
	return done, err
}

func (d *Domain) tryPut(x attempt, src []byte) (done bool, err error) {
	if r := d.reach(x.at, x.n); r != nil {
		copyIn(r, x.at.offset, src)
		return true, nil
	}
	if nmad.InCallback() && d.allowed(x) == nil && d.unknown(x.at) {
		return false, nil
	}
	return d.direct(x, src, true)
}

// unknown says that plan would ask the process, which lives, what the Ref names.
func (d *Domain) unknown(at Ref) bool {
	if uint64(at.rank) >= uint64(len(d.peers)) || int(at.rank) == d.w.rank || d.w.closed.Load() {
		return false
	}
	p := &d.peers[at.rank]
	r := p.find(at.index)
	return p.lost.Load() == nil && (r == nil || r.key != at.key)
}

// End ends the use of an event that TryPut has begun: err says how. nil is fine. It does not block.
func (e *Event) End(err error) { e.end(err) }
