package rma

import (
	"fmt"

	"github.com/pm2-go/pm2/nmad"
)

// Hold keeps memory of this process open, for instance while a message is received straight into it: until Release
// neither Region.Close nor Segment.Free of that memory nor World.Close returns. It is a value; exactly one copy of it
// is released.
type Hold struct {
	w     *World
	r     *region
	bytes []byte
}

// Hold keeps the memory with the n bytes at a Ref open until Hold.Release. It takes no lock and does not wait. Errors:
// ErrKey, ErrRange, ErrClosed; ErrRef for memory of another process.
func (w *World) Hold(at Ref, n uint64) (Hold, error) {
	try := attempt{"use", at, n}
	if w == nil || int(at.rank) != w.rank {
		return Hold{}, try.fails(fmt.Errorf("%w: it is not one of this process", ErrRef))
	}
	r, status := w.borrow(at, n)
	if status == statusDone {
		return Hold{w, r, bytesAt(r.base, at.offset, n)}, nil
	}
	if r == nil {
		return Hold{}, try.refusal(status, 0)
	}
	return Hold{}, try.refusal(status, r.size)
}

// Bytes returns the memory, for use until Release.
func (h *Hold) Bytes() []byte { return h.bytes }

// Release ends the use. It does not block. Called again, and of the zero Hold, it does nothing.
func (h *Hold) Release() {
	if h.r != nil {
		w, r := h.w, h.r
		*h = Hold{}
		w.giveBack(r)
	}
}

// TryPut is a PutNB that is done when it returns true. It returns false, and has started nothing, where the bytes would
// go by messages, and in a callback at the first use of memory that is not from Alloc. The caller then carries the
// bytes by messages of its own: local, which may be nil, is in use until the caller calls local.End.
func (d *Domain) TryPut(dst Ref, src []byte, local *Event) (done bool, err error) {
	try := attempt{"put", dst, uint64(len(src))}
	if err := d.claim(local, nil); err != nil {
		return false, try.fails(err)
	}
	if done, err = d.tryPut(try, src); err != nil {
		unclaim(local, nil)
	} else if done {
		local.end(nil)
	}
	return done, err
}

// tryPut is TryPut without the event.
func (d *Domain) tryPut(try attempt, src []byte) (done bool, err error) {
	if r := d.reach(try.at, try.n); r != nil {
		copyIn(r, try.at.offset, src)
		return true, nil
	}
	if nmad.InCallback() && d.allowed(try) == nil && d.unknown(try.at) {
		return false, nil
	}
	return d.direct(try, src, true)
}

// unknown says that plan would wait for the process to say which way there is to the memory.
func (d *Domain) unknown(at Ref) bool {
	if uint64(at.rank) >= uint64(len(d.peers)) || int(at.rank) == d.w.rank || d.w.closed.Load() {
		return false
	}
	p := &d.peers[at.rank]
	r := p.find(at.index)
	return p.lost.Load() == nil && (r == nil || r.key != at.key)
}

// End makes an event done that TryPut has left in use; err, which may be nil, is the error of the operation. It does
// not block. Of a nil event it does nothing.
func (e *Event) End(err error) { e.end(err) }
