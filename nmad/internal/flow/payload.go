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
func (p *Pieces) piece(c *cursor, limit int) []byte {
	if limit == 0 {
		return nil
	}
	w := newWalker(nil, 0, 0)
	w.walk(p, c, w.onFirst)
	b := w.buf
	w.end()
	return b[:min(len(b), limit, largestPiece)]
}

// skip moves c on by n bytes.
func (p *Pieces) skip(c *cursor, n int) {
	c.offset += n
	for p.Data == nil && c.part < len(p.Parts) && c.offset >= len(p.Parts[c.part]) {
		c.part, c.offset = c.part+1, c.offset-len(p.Parts[c.part])
	}
}

// gather fills dst with what comes next, as far as there is something, moves c on, and says
// how much it was. It stops before a piece of long bytes or more.
func (p *Pieces) gather(c *cursor, dst []byte, long int) int {
	w := newWalker(dst, 0, long)
	w.walk(p, c, w.onGather)
	n := w.end()
	p.skip(c, n)
	return n
}

// scatter puts src to where what comes next belongs, as far as there is room, moves c on, and
// says how much it was.
func (p *Pieces) scatter(c *cursor, src []byte) int {
	w := newWalker(src, 0, 0)
	w.walk(p, c, w.onScatter)
	n := w.end()
	p.skip(c, n)
	return n
}

// measure says how many bytes come next, at most most, before a piece of long bytes or more.
func (p *Pieces) measure(c *cursor, most, long int) int {
	w := newWalker(nil, most, long)
	w.walk(p, c, w.onMeasure)
	return w.end()
}

// walker is what goes over pieces. Its functions are made once, so that a walk
// allocates nothing.
type walker struct {
	step func(piece []byte) bool // one of the below
	buf  []byte
	n    int // bytes
	most int
	long int

	onFirst, onGather, onScatter, onMeasure func(piece []byte) bool
}

var walkers = shelf.Free[walker]{Most: 16}

// newWalker takes a walker, and end gives it back, and returns its n.
func newWalker(buf []byte, most, long int) *walker {
	w := walkers.Get()
	if w == nil {
		w = new(walker)
		w.onFirst = func(b []byte) bool {
			w.buf = b
			return len(b) == 0
		}
		w.onGather = func(b []byte) bool {
			if len(b) >= w.long {
				return false
			}
			w.n += copy(w.buf[w.n:], b)
			return w.n < len(w.buf)
		}
		w.onScatter = func(b []byte) bool {
			w.n += copy(b, w.buf[w.n:])
			return w.n < len(w.buf)
		}
		w.onMeasure = func(b []byte) bool {
			if len(b) >= w.long {
				return false
			}
			w.n = min(w.n+len(b), w.most)
			return w.n < w.most
		}
	}
	w.buf, w.n, w.most, w.long = buf, 0, most, long
	return w
}

func (w *walker) end() int {
	n := w.n
	w.buf = nil
	walkers.Put(w)
	return n
}

// walk calls step for the pieces from c on, until it says false.
func (w *walker) walk(p *Pieces, c *cursor, step func([]byte) bool) {
	if p.Data != nil {
		w.step = step
		Guarded(func() { p.Data.Pieces(c.offset, w.step) })
		return
	}
	offset := c.offset
	for _, b := range p.Parts[c.part:] {
		if !step(b[offset:]) {
			return
		}
		offset = 0
	}
}
