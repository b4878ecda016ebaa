package flow

import "github.com/pm2-go/pm2/internal/shelf"

// Pieces is where the bytes of a message lie, or go, that is not in one piece: in Parts, or as Data describes. The
// library never puts the whole message together: over the small track the driver copies the pieces one by one into its
// memory; over the large track long pieces go from where they lie, and short ones by way of a bounce buffer
// (bounce.go).
type Pieces struct {
	Parts [][]byte // one after the other; nil if Data is set
	Data  Data     // nil if Parts is set
}

// cursor is a place in Pieces: an index of Parts and an offset in that part, or, with a Data, an offset in the message.
type cursor struct{ part, offset int }

// piece returns the piece at c, at most limit bytes of it. It is empty if there is none, or limit is 0.
func (ps *Pieces) piece(c *cursor, limit int) []byte {
	if limit == 0 {
		return nil
	}
	w := walk{op: walkFirst}
	ps.each(c, &w)
	return w.buf[:min(len(w.buf), limit, maxPiece)]
}

// skip moves c on by n bytes.
func (ps *Pieces) skip(c *cursor, n int) {
	c.offset += n
	for ps.Data == nil && c.part < len(ps.Parts) && c.offset >= len(ps.Parts[c.part]) {
		c.part, c.offset = c.part+1, c.offset-len(ps.Parts[c.part])
	}
}

// gather copies the bytes from c on into dst, moves c on, and returns how many bytes it has copied. It stops when dst
// is full, at the end of the message, and before a piece of long bytes or more.
func (ps *Pieces) gather(c *cursor, dst []byte, long int) int {
	w := walk{op: walkGather, buf: dst, most: len(dst), long: long}
	ps.each(c, &w)
	ps.skip(c, w.n)
	return w.n
}

// scatter copies src to the places from c on, moves c on, and returns how many bytes it has copied: fewer than src has
// if the message ends before.
func (ps *Pieces) scatter(c *cursor, src []byte) int {
	w := walk{op: walkScatter, buf: src, most: len(src)}
	ps.each(c, &w)
	ps.skip(c, w.n)
	return w.n
}

// measure returns how many bytes, up to most, there are from c on before a piece of long bytes or more.
func (ps *Pieces) measure(c *cursor, most, long int) int {
	w := walk{op: walkMeasure, most: most, long: long}
	ps.each(c, &w)
	return w.n
}

// walk is one pass over pieces.
type walk struct {
	op   uint8  // walkFirst, walkGather, walkScatter or walkMeasure
	buf  []byte // walkFirst: the piece; walkGather: the destination; walkScatter: the source
	n    int    // bytes so far
	most int    // the walk ends when n is that many
	long int    // the walk ends before a piece of that many bytes or more
}

const (
	walkFirst   = iota // finds the first piece that is not empty
	walkGather         // copies pieces into buf
	walkScatter        // copies buf into pieces
	walkMeasure        // counts bytes
)

// take handles the next piece, and reports whether the walk goes on.
func (w *walk) take(b []byte) bool {
	switch {
	case w.op == walkFirst:
		w.buf = b
		return len(b) == 0
	case w.op == walkScatter:
		w.n += copy(b, w.buf[w.n:])
	case len(b) >= w.long:
		return false
	case w.op == walkGather:
		w.n += copy(w.buf[w.n:], b)
	default:
		w.n = min(w.n+len(b), w.most)
	}
	return w.n < w.most
}

// each calls w.take for the pieces from c on.
func (ps *Pieces) each(c *cursor, w *walk) {
	if ps.Data != nil {
		d := walkers.Get()
		if d == nil {
			d = new(dataWalk)
			d.step = d.take
		}
		d.walk = *w
		CallUser(func() { ps.Data.Pieces(c.offset, d.step) })
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

// dataWalk is a walk over a Data. It is used again, with the function that it passes to Data.Pieces, so that a walk
// allocates nothing.
type dataWalk struct {
	walk
	step func(piece []byte) bool // the method value take
}

// walkers keeps walks over Data to be used again, for all flows.
var walkers = shelf.Free[dataWalk]{Most: 16}
