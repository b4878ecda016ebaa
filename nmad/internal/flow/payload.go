package flow

import "github.com/pm2-go/pm2/internal/shelf"

// Pieces is where the bytes of a message lie, or go, that is not in one piece: in parts, or as a Data says. They are never
// put together: the small track copies them one by one into the driver's memory, the large track takes long pieces as they
// lie and short ones a bounce buffer full at a time (bounce.go).
type Pieces struct {
	Parts [][]byte // one after the other; nil: as Data says
	Data  Data     // nil: as Parts
}

// cursor is a place in pieces: a part and an offset in it, or
// with a Data the offset in the message.
type cursor struct{ part, offset int }

// piece is the next piece, at c: at most limit bytes of it. Empty: there
// is none, or limit is 0.
func (ps *Pieces) piece(c *cursor, limit int) []byte {
	if limit == 0 {
		return nil
	}
	w := walk{does: finds}
	ps.each(c, &w)
	return w.buf[:min(len(w.buf), limit, largestPiece)]
}

// skip moves c on by n bytes.
func (ps *Pieces) skip(c *cursor, n int) {
	c.offset += n
	for ps.Data == nil && c.part < len(ps.Parts) && c.offset >= len(ps.Parts[c.part]) {
		c.part, c.offset = c.part+1, c.offset-len(ps.Parts[c.part])
	}
}

// gather fills dst with what comes next, as far as there is something, moves c on, and says
// how much it was. It stops before a piece of long bytes or more.
func (ps *Pieces) gather(c *cursor, dst []byte, long int) int {
	w := walk{does: gathers, buf: dst, most: len(dst), long: long}
	ps.each(c, &w)
	ps.skip(c, w.n)
	return w.n
}

// scatter puts src to where what comes next belongs, as far as there is room, moves c on, and
// says how much it was.
func (ps *Pieces) scatter(c *cursor, src []byte) int {
	w := walk{does: scatters, buf: src, most: len(src)}
	ps.each(c, &w)
	ps.skip(c, w.n)
	return w.n
}

// measure says how many bytes come next, at most most, before a piece of long bytes or more.
func (ps *Pieces) measure(c *cursor, most, long int) int {
	w := walk{does: measures, most: most, long: long}
	ps.each(c, &w)
	return w.n
}

// walk is what one call does with the pieces, one after the other.
type walk struct {
	does uint8
	buf  []byte // finds: the piece; else what is filled, or scattered
	n    int    // bytes so far
	most int    // of n
	long int    // ends before a piece of so many bytes
}

const (
	finds = iota // the first piece that is not empty
	gathers
	scatters
	measures
)

// take takes the next piece, and says whether the walk goes on.
func (w *walk) take(b []byte) bool {
	switch {
	case w.does == finds:
		w.buf = b
		return len(b) == 0
	case w.does == scatters:
		w.n += copy(b, w.buf[w.n:])
	case len(b) >= w.long:
		return false
	case w.does == gathers:
		w.n += copy(w.buf[w.n:], b)
	default:
		w.n = min(w.n+len(b), w.most)
	}
	return w.n < w.most
}

// each has w take the pieces from c on.
func (ps *Pieces) each(c *cursor, w *walk) {
	if ps.Data != nil {
		d := walkers.Get()
		if d == nil {
			d = new(dataWalk)
			d.step = d.take
		}
		d.walk = *w
		Guarded(func() { ps.Data.Pieces(c.offset, d.step) })
		*w, d.walk = d.walk, walk{}
		walkers.Put(d)
		return
	}
	offset := c.offset
	for _, b := range ps.Parts[c.part:] {
		if !w.take(b[offset:]) {
			return
		}
		offset = 0
	}
}

// dataWalk is a walk over a Data. Its function is made once, so that a walk allocates nothing.
type dataWalk struct {
	walk
	step func(piece []byte) bool // take
}

var walkers = shelf.Free[dataWalk]{Most: 16}
