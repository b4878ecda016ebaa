package flow

import "github.com/pm2-go/pm2/internal/shelf"

// A message that does not lie in one piece goes over the large track piece by piece. Each piece costs a call of the link:
// over sockets a system call and a segment, over shared memory a slot. So short pieces go together: the sender copies as
// many of them as there is room for into a bounce buffer, which is in the cache, and hands that to the link; the receiver
// has the link fill a bounce buffer, and copies it to where it belongs. Long pieces go as they lie. A side does not know
// the pieces of the other one, because bytes on the large track have no framing.
//
//	sender:    empty ── gather ──▶ at = 0, end = n ── the link has moved k ──▶ at += k ... at = end: empty
//	receiver:  empty ── measure ─▶ at = 0, end = n ── the link has moved k, which are scattered ──▶ likewise
//
// Bytes of a bounce buffer that were given to a link stay where they are until all of them have moved, as driver.Link
// requires. The bounce buffer belongs to the stream while a chunk is under way, and to the copier while it copies.
type bounce struct {
	at, end int // what of buf is still to move
	buf     [BounceSize]byte
}

const (
	// BounceSize is how many bytes of short pieces go at once.
	BounceSize = 64 << 10
	// LongPiece is from how many bytes on a piece is not copied.
	LongPiece = 32 << 10
	// AtOnce is after how many bytes of pieces Copy returns, so that other callers of the flow do not wait for longer.
	AtOnce = 128 << 10
)

var bounces = shelf.Free[bounce]{Most: 2}

func newBounce() *bounce {
	if b := bounces.Get(); b != nil {
		return b
	}
	return new(bounce)
}

// someParts moves what comes next of a message that is not in one piece, until the link takes no more. The caller does not
// hold the lock of the Flow.
func (x *Stream) someParts(p *Pieces, c *chunk, left int, call func([]byte) (int, error)) (total int, err error) {
	for total < left && total < AtOnce && err == nil {
		var n int
		s := x.bounce
		if s == nil || s.at == s.end {
			b := x.long(p, c, left-total)
			if b != nil {
				if n, err = call(b); n < 0 || n > len(b) {
					return n, err // Complete says so
				}
				p.skip(&c.at, n)
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
		if x.dir == Pull && p.scatter(&c.at, b[:n]) < n {
			c.short = true
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
		err = nil // a link breaks for ever: the next call says it again
	}
	return total, err
}

// long is the next piece, if it is a long one, the rest of one, or all that is left of the chunk; nil: short ones
// come first, and the bounce buffer has been made ready for them.
func (x *Stream) long(p *Pieces, c *chunk, left int) []byte {
	b := p.piece(&c.at, left)
	if c.given > 0 && len(b) > 0 {
		return b[:min(c.given, len(b))] // however short: a link that borrows may have filled it already
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
		s.end = p.measure(&c.at, most, LongPiece)
	} else {
		s.end = p.gather(&c.at, s.buf[:most], LongPiece)
	}
	if s.end == 0 { // a Data with fewer bytes than it says
		s.end, c.short = most, true
		if x.dir == Push {
			clear(s.buf[:most])
		}
	}
	return nil
}
