package nmad

import "github.com/pm2-go/pm2/nmad/driver"

// payload is where the bytes of a message lie, or go: in one piece, or in parts,
// which are never put together: they are copied one by one into the driver's
// memory, or handed to it one by one.
type payload struct {
	buf   []byte   // all of it, unless there are parts
	parts [][]byte // one after the other; nil: buf
	size  int      // bytes altogether

	// Where a rendezvous stands in parts. It belongs to whoever carries the piece.
	part, offset int
}

func (p *payload) set(buf []byte, parts [][]byte) {
	if parts == nil {
		p.buf, p.parts, p.size = buf, nil, len(buf)
		return
	}
	p.buf, p.parts, p.size = nil, parts, driver.Length(parts)
	p.part, p.offset = 0, 0
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

// piece is what comes next of it, of which done bytes have moved: at most limit bytes,
// and not beyond the end of a part. It is empty only if limit is 0.
func (p *payload) piece(done, limit int) []byte {
	limit = min(limit, largestPiece)
	if p.parts == nil {
		return p.buf[done : done+limit]
	}
	for p.offset == len(p.parts[p.part]) && limit > 0 {
		p.part, p.offset = p.part+1, 0
	}
	b := p.parts[p.part][p.offset:]
	return b[:min(len(b), limit)]
}

// moved notes that n bytes of a piece have moved.
func (p *payload) moved(n int) {
	if p.parts != nil {
		p.offset += n
	}
}
