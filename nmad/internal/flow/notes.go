package flow

import (
	"slices"

	"github.com/pm2-go/pm2/nmad/driver"
)

// NotePiece is the largest number of bytes of a note in one packet. Notes take no credit, since a process has few of
// them under way at a time.
const NotePiece = 4 << 10

// notes is the part of a flow that carries the notes of agreements (nmad/internal/consensus). To the flow a note is a
// string of bytes. It travels in pieces, in packets NOTE.
type notes struct {
	out     [][]byte // notes to be sent
	sent    int      // bytes of the first of them that were sent
	in      []byte   // bytes of the note that is coming
	missing uint64   // bytes of that note that have not come
	limit   int      // the longest note that the peer may send, in bytes; 0: the peer may send none
}

func (ns *notes) empty() bool { return len(ns.out) == 0 }

// drop forgets all notes.
func (ns *notes) drop() { *ns = notes{limit: ns.limit} }

// Note sends a note, after those that wait; it drops the note if the flow has ended or this side leaves. It returns
// false if most notes wait already.
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

// NotesSent reports whether neither a note nor bytes in the driver's buffer wait to be sent.
func (f *Flow) NotesSent() bool { return f.unsent&(unsentNotes|unsentBytes) == 0 }

// packNote makes the packet of the next piece of a note.
func (f *Flow) packNote() *Packet {
	rest := f.notes.out[0][f.notes.sent:]
	piece := rest[:min(len(rest), NotePiece, f.tx.maxBody)]
	p := f.pack(notePacket, driver.Header{Kind: KindNote, Body: uint32(len(piece)), Size: uint64(len(rest))})
	p.Body = piece
	return p
}

// noteTaken accounts for bytes of the first note that the link has taken.
func (ns *notes) noteTaken(bytes int) {
	if ns.sent += bytes; ns.sent == len(ns.out[0]) {
		ns.out, ns.sent = slices.Delete(ns.out, 0, 1), 0
	}
}

// handleNote handles a piece of a note.
func (f *Flow) handleNote(h *driver.Header, body []byte) error {
	x := &f.notes
	if x.limit == 0 || len(body) == 0 || uint64(len(body)) > h.Size || x.missing != 0 && h.Size != x.missing ||
		x.missing == 0 && h.Size > uint64(x.limit) {
		return violation("%d bytes of a note of %d, of which %d had not come", len(body), h.Size, x.missing)
	}
	x.in, x.missing = append(x.in, body...), h.Size-uint64(len(body))
	return nil
}

// TakeNote takes out the note that the last packet has completed; nil if it has completed none.
func (f *Flow) TakeNote() []byte {
	x := &f.notes
	if x.missing != 0 || len(x.in) == 0 {
		return nil
	}
	b := x.in
	x.in = nil
	return b
}
