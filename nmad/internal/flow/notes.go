package flow

import (
	"slices"

	"github.com/pm2-go/pm2/nmad/driver"
)

// NotePiece is how many bytes of a note of an agreement go in one packet at most. Notes take no credit, since a
// process has few of them under way at a time.
const NotePiece = 4 << 10

// notes are those of agreements on their way between two processes: bytes to a flow.
type notes struct {
	out     [][]byte // notes that are to be sent
	sent    int      // how many bytes of the first one were sent
	in      []byte   // the bytes that have come of one
	missing uint64   // how many bytes of it are to follow
	limit   int      // the longest note that the peer may send, in bytes; 0: it may send none
}

func (ns *notes) empty() bool { return len(ns.out) == 0 }

// drop forgets all.
func (ns *notes) drop() { *ns = notes{limit: ns.limit} }

// Note sends a note, after those that wait, unless the flow has ended or this side leaves. False: so many wait already.
func (f *Flow) Note(b []byte, most int) bool {
	if f.ended || f.bye.sent {
		return true
	}
	if len(f.notes.out) == most {
		return false
	}
	f.notes.out = append(f.notes.out, b)
	f.setUnsent(unsentNotes, true)
	f.sendDue = true
	return true
}

// Noted says that no note waits to be sent, nor any bytes in the driver's buffer.
func (f *Flow) Noted() bool { return f.unsent&(unsentNotes|unsentBytes) == 0 }

// packNote makes the packet of the next piece of a note.
func (f *Flow) packNote() *Packet {
	rest := f.notes.out[0][f.notes.sent:]
	piece := rest[:min(len(rest), NotePiece, f.tx.room)]
	p := f.pack(noting, driver.Header{Kind: KindNote, Body: uint32(len(piece)), Size: uint64(len(rest))})
	p.Body = piece
	return p
}

// left goes on when the link has taken so many bytes of the first note.
func (ns *notes) left(bytes int) {
	if ns.sent += bytes; ns.sent == len(ns.out[0]) {
		ns.out, ns.sent = slices.Delete(ns.out, 0, 1), 0
	}
}

// handleNote takes a piece of a note in.
func (f *Flow) handleNote(h *driver.Header, body []byte) error {
	x := &f.notes
	if x.limit == 0 || len(body) == 0 || uint64(len(body)) > h.Size || x.missing != 0 && h.Size != x.missing ||
		x.missing == 0 && h.Size > uint64(x.limit) {
		return violation("%d bytes of a note of %d, of which %d had not come", len(body), h.Size, x.missing)
	}
	x.in, x.missing = append(x.in, body...), h.Size-uint64(len(body))
	return nil
}

// TakeNote takes out the note that has come with the last packet; nil: it is not complete.
func (f *Flow) TakeNote() []byte {
	x := &f.notes
	if x.missing != 0 || len(x.in) == 0 {
		return nil
	}
	b := x.in
	x.in = nil
	return b
}
