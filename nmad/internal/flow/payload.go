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
	var b []byte
	if p.Data != nil {
		w := newWalker()
		b = w.first(p.Data, c.offset)
		walkers.Put(w)
	} else {
		for c.part < len(p.Parts) && c.offset == len(p.Parts[c.part]) {
			c.part, c.offset = c.part+1, 0
		}
		if c.part < len(p.Parts) {
			b = p.Parts[c.part][c.offset:]
		}
	}
	return b[:min(len(b), limit, largestPiece)]
}

// skip moves c on by n bytes.
func (p *Pieces) skip(c *cursor, n int) {
	if p.Data != nil {
		c.offset += n
		return
	}
	for n > 0 {
		b := p.piece(c, n)
		if len(b) == 0 {
			return
		}
		c.offset += len(b)
		n -= len(b)
	}
}

// gather fills dst with what comes next, as far as there is something, moves c on, and says
// how much it was. It stops before a piece of long bytes or more.
func (p *Pieces) gather(c *cursor, dst []byte, long int) (n int) {
	if p.Data != nil {
		w := newWalker()
		n = w.gather(p.Data, c.offset, dst, long)
		walkers.Put(w)
		c.offset += n
		return n
	}
	for n < len(dst) && c.part < len(p.Parts) {
		b := p.Parts[c.part][c.offset:]
		if len(b) >= long {
			break
		}
		k := copy(dst[n:], b)
		if n += k; k < len(b) {
			c.offset += k
			break
		}
		c.part, c.offset = c.part+1, 0
	}
	return n
}

// scatter puts src to where what comes next belongs, as far as there is room, moves c on, and
// says how much it was.
func (p *Pieces) scatter(c *cursor, src []byte) (n int) {
	if p.Data != nil {
		w := newWalker()
		n = w.scatter(p.Data, c.offset, src)
		walkers.Put(w)
		c.offset += n
		return n
	}
	for n < len(src) && c.part < len(p.Parts) {
		b := p.Parts[c.part][c.offset:]
		k := copy(b, src[n:])
		if n += k; k < len(b) {
			c.offset += k
			break
		}
		c.part, c.offset = c.part+1, 0
	}
	return n
}

// measure says how many bytes come next, at most most, before a piece of long bytes or more.
func (p *Pieces) measure(c *cursor, most, long int) (n int) {
	if p.Data != nil {
		w := newWalker()
		n = w.measure(p.Data, c.offset, most, long)
		walkers.Put(w)
		return n
	}
	for part, offset := c.part, c.offset; n < most && part < len(p.Parts); part, offset = part+1, 0 {
		b := p.Parts[part][offset:]
		if len(b) >= long {
			break
		}
		n += len(b)
	}
	return min(n, most)
}

// walker is what goes over the pieces of a Data. Its functions are made once, so that a walk
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

// newWalker takes a walker.
func newWalker() *walker {
	if w := walkers.Get(); w != nil {
		return w
	}
	w := new(walker)
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
	return w
}

// walk calls step for the pieces of d from a byte on.
func (w *walker) walk(d Data, from int, step func([]byte) bool) {
	w.n, w.step = 0, step
	Guarded(func() { d.Pieces(from, w.step) })
}

func (w *walker) first(d Data, from int) []byte {
	w.buf = nil
	w.walk(d, from, w.onFirst)
	b := w.buf
	w.buf = nil
	return b
}

func (w *walker) gather(d Data, from int, dst []byte, long int) int {
	w.buf, w.long = dst, long
	w.walk(d, from, w.onGather)
	w.buf = nil
	return w.n
}

func (w *walker) scatter(d Data, from int, src []byte) int {
	w.buf = src
	w.walk(d, from, w.onScatter)
	w.buf = nil
	return w.n
}

func (w *walker) measure(d Data, from, most, long int) int {
	w.most, w.long = most, long
	w.walk(d, from, w.onMeasure)
	return w.n
}
