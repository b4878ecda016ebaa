package nmad

import "github.com/pm2-go/pm2/nmad/driver"

// payload is where the bytes of a message lie, or go: in one piece, or in parts,
// which are never put together: they are copied one by one into the driver's
// memory, or handed to it one by one.
type payload struct {
	buf   []byte   // all of it, unless there are parts
	parts [][]byte // one after the other; nil: buf
	size  int      // bytes altogether
}

// cursor is a place in a payload that lies in parts.
type cursor struct{ part, offset int }

func (p *payload) set(buf []byte, parts [][]byte) {
	if parts == nil {
		p.buf, p.parts, p.size = buf, nil, len(buf)
		return
	}
	p.buf, p.parts, p.size = nil, parts, driver.Length(parts)
}

// fill copies src into it, as far as there is room, and says how much that was.
func (p *payload) fill(src []byte) int {
	if p.parts == nil {
		return copy(p.buf, src)
	}
	return driver.Scatter(p.parts, src)
}

// read copies it to dst, which must have room for all of it.
func (p *payload) read(dst []byte) {
	if p.parts == nil {
		copy(dst, p.buf)
		return
	}
	driver.Gather(dst, p.parts)
}

// from copies as much of q into p as there is room for, and says how much that was.
func (p *payload) from(q *payload) int {
	if q.parts == nil {
		return p.fill(q.buf)
	}
	total, part, offset := 0, 0, 0
	for _, b := range q.parts {
		for len(b) > 0 {
			if p.parts == nil {
				if total == p.size {
					return total
				}
				n := copy(p.buf[total:], b)
				total, b = total+n, b[n:]
				continue
			}
			if part == len(p.parts) {
				return total
			}
			n := copy(p.parts[part][offset:], b)
			total, b, offset = total+n, b[n:], offset+n
			if offset == len(p.parts[part]) {
				part, offset = part+1, 0
			}
		}
	}
	return total
}

// piece is what comes next of a payload in parts, at c: at most limit bytes, and not beyond
// the end of a part. It is empty only if limit is 0.
func (p *payload) piece(c *cursor, limit int) []byte {
	if limit == 0 {
		return nil
	}
	for c.offset == len(p.parts[c.part]) {
		c.part, c.offset = c.part+1, 0
	}
	b := p.parts[c.part][c.offset:]
	return b[:min(len(b), limit, largestPiece)]
}

// skip moves c on by n bytes of a payload in parts.
func (p *payload) skip(c *cursor, n int) {
	for n > 0 {
		b := p.piece(c, n)
		c.offset += len(b)
		n -= len(b)
	}
}
