package flow

// A message that does not lie in one piece goes over the large track piece by piece. Each
// piece costs a call of the link: over sockets a system call and a segment, over
// shared memory a slot. So short pieces are taken together: the sender copies as many of
// them as there is room for into a tray, which is in the cache, and hands that to the link; the
// receiver has the link fill a tray, and copies it to where it belongs. Long pieces go as they
// lie. Neither side knows the pieces of the other, as bytes on the large track have no framing.
//
//	sender:    empty ── gather ──▶ at = 0, end = n ── the link has moved k ──▶ at += k ... at = end: empty
//	receiver:  empty ── measure ─▶ at = 0, end = n ── the link has moved k, which are scattered ──▶ likewise
//
// What of a tray was given to a link stays where it is until all of it has moved, as
// driver.Link wants it. The tray belongs to the stream while a chunk is under way, and
// to the carrier that is away with it.
type tray struct {
	at, end int // what of buf is still to move
	buf     [TraySize]byte
}

const (
	// TraySize is how many bytes of short pieces go at once.
	TraySize = 64 << 10
	// LongPiece is from how many bytes on a piece is not copied.
	LongPiece = 32 << 10
	// AtOnce is after how many bytes of pieces a carrier comes home, to see what others want.
	AtOnce = 128 << 10
)

var trays freeList[tray]

// someParts moves what comes next of a message that is not in one piece, until the link takes
// no more. Without the lock of the Flow.
func (x *Stream) someParts(c *chunk, left int, call func([]byte) (int, error)) (total int, err error) {
	for total < left && total < AtOnce && err == nil {
		var n int
		s := x.tray
		if s == nil || s.at == s.end {
			b := x.long(c, left-total)
			if b != nil {
				if n, err = call(b); n < 0 || n > len(b) {
					return n, err // Land says so
				}
				c.req.Data.skip(&c.at, n)
				if total += n; n < len(b) {
					break
				}
				continue
			}
			s = x.tray
		}
		b := s.buf[s.at:s.end]
		if n, err = call(b); n < 0 || n > len(b) {
			return n, err
		}
		if x.pulls && c.req.Data.scatter(&c.at, b[:n]) < n {
			c.short = true
		}
		s.at += n
		if total += n; n < len(b) {
			break
		}
	}
	if x.tray != nil && total == left {
		trays.put(x.tray)
		x.tray = nil
	}
	if total > 0 {
		err = nil // a link breaks for ever: the next call says it again
	}
	return total, err
}

// long is the next piece, if it is a long one, or all that is left of the chunk; nil: short ones
// come first, and the tray has been made ready for them.
func (x *Stream) long(c *chunk, left int) []byte {
	p := &c.req.Data
	if b := p.piece(&c.at, left); len(b) >= LongPiece || len(b) == left {
		return b
	}
	if x.tray == nil {
		x.tray = trays.get()
	}
	s, most := x.tray, min(left, TraySize)
	s.at = 0
	if x.pulls {
		s.end = p.measure(&c.at, most, LongPiece)
	} else {
		s.end = p.gather(&c.at, s.buf[:most], LongPiece)
	}
	if s.end == 0 { // a Data with fewer bytes than it says
		s.end, c.short = most, true
		if !x.pulls {
			clear(s.buf[:most])
		}
	}
	return nil
}
