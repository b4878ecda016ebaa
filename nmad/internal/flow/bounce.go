package flow

import "github.com/pm2-go/pm2/internal/shelf"

// bounce is a bounce buffer. A message that does not lie in one piece goes over the large track piece by piece, and
// each piece costs a call of the link: over sockets a system call and a segment, over shared memory a slot. So short
// pieces go together: the sender copies as many of them as fit into a bounce buffer, which stays in the cache, and
// gives that to the link; the receiver gives a bounce buffer to the link, and copies the bytes that come to their
// places. Long pieces are given to the link where they lie. Neither side knows the pieces of the other, because bytes
// on the large track have no framing.
//
//	sender:    empty ── gather n bytes ──▶ at = 0, end = n ── the link has moved k ──▶ at += k ... at = end: empty
//	receiver:  empty ── measure n bytes ─▶ at = 0, end = n ── the link has moved k: scatter them ──▶ at += k ... at = end: empty
//
// Bytes of a bounce buffer that were given to a link stay where they are until all of them have moved, as driver.Link
// requires. The bounce buffer belongs to the stream while a chunk is under way; the copier alone uses it while it
// copies.
type bounce struct {
	at, end int // buf[at:end] is still to move
	buf     [BounceSize]byte
}

const (
	// BounceSize is the length of a bounce buffer, in bytes.
	BounceSize = 64 << 10
	// LongPiece is the length, in bytes, from which on a piece is not copied.
	LongPiece = 32 << 10
	// AtOnce is the number of bytes after which a Copy of pieces returns, so that other callers of the flow need not
	// wait longer.
	AtOnce = 128 << 10
)

// bounces keeps bounce buffers to be used again, for all flows.
var bounces = shelf.Free[bounce]{Most: 2}

// newBounce returns a bounce buffer that is empty.
func newBounce() *bounce {
	if b := bounces.Get(); b != nil {
		return b
	}
	return new(bounce)
}

// copyPieces is Copy for a message that is not in one piece. It moves up to left bytes of chunk c by calls of the link,
// until the link takes no more, or AtOnce bytes have moved. The caller does not hold the lock of the Flow.
func (x *Stream) copyPieces(p *Pieces, c *chunk, left int, call func([]byte) (int, error)) (total int, err error) {
	for total < left && total < AtOnce && err == nil {
		var n int
		s := x.bounce
		if s == nil || s.at == s.end {
			b := x.nextLong(p, c, left-total)
			if b != nil {
				if n, err = call(b); n < 0 || n > len(b) {
					return n, err // Complete reports the violation
				}
				p.skip(&c.cursor, n)
				c.given = len(b) - n
				if total += n; n < len(b) {
					break
				}
				continue
			}
			s = x.bounce
		}
		b := s.buf[s.at:s.end]
		if n, err = call(b); n < 0 || n > len(b) {
			return n, err
		}
		if x.dir == Pull && p.scatter(&c.cursor, b[:n]) < n {
			c.shortData = true
		}
		s.at += n
		if total += n; n < len(b) {
			break
		}
	}
	if x.bounce != nil && total == left {
		bounces.Put(x.bounce)
		x.bounce = nil
	}
	if total > 0 {
		err = nil // a broken link stays broken, so the next call fails in the same way
	}
	return total, err
}

// nextLong returns the next piece of chunk c, of which left bytes are to move, if the link is to move it where it lies:
// it is long, or the rest of a piece that the link was given before, or all that is left of the chunk. Else it returns
// nil, and has prepared the bounce buffer for the short pieces that come next.
func (x *Stream) nextLong(p *Pieces, c *chunk, left int) []byte {
	b := p.piece(&c.cursor, left)
	if c.given > 0 && len(b) > 0 {
		return b[:min(c.given, len(b))] // even if short: a link that borrows may have filled it already
	}
	if len(b) >= LongPiece || len(b) == left {
		return b
	}
	if x.bounce == nil {
		x.bounce = newBounce()
	}
	s, most := x.bounce, min(left, BounceSize)
	s.at = 0
	if x.dir == Pull {
		s.end = p.measure(&c.cursor, most, LongPiece)
	} else {
		s.end = p.gather(&c.cursor, s.buf[:most], LongPiece)
	}
	if s.end == 0 { // the Data has fewer bytes than its Size: move zeros, or drop what comes
		s.end, c.shortData = most, true
		if x.dir == Push {
			clear(s.buf[:most])
		}
	}
	return nil
}
