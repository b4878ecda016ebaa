package shm

import (
	"fmt"
	"math/bits"

	"github.com/pm2-go/pm2/asm"
	"github.com/pm2-go/pm2/nmad/driver"
)

// smallSend is the sending end of a small ring. Its fields belong to the
// caller of Send, except that Arm reads those that go through load and store.
type smallSend struct {
	rings
	shift   uint8  // log2 of the number of cells
	maxBody uint32 // bytes
	tail    uint64 // packets sent
	bytes   uint64 // position in the body ring behind the last body

	freeCells uint64 // copy of credit.cells as last read
	freeBytes uint64 // copy of credit.bytes as last read

	refused   uint64 // 1: the last Send was refused (store, load)
	wantCells uint64 // it fits once credit.cells is there (store, load)
	wantBytes uint64 // and credit.bytes there (store, load)
}

func (s *smallSend) init(r rings, g geometry) {
	*s = smallSend{rings: r, shift: uint8(bits.TrailingZeros32(g.cells)), maxBody: g.maxBody}
}

// lap is the mark of the packet or slot number pos in a ring of 1<<shift: never
// zero, which is what fresh memory holds, and different from that of the turn
// before, which is all that a cell can hold otherwise.
func lap(pos uint64, shift uint8) uint16 { return uint16(pos>>(shift&63)) | 0x8000 }

// ahead is how many cells before its turn the sender has a cell fetched for writing: the
// receiver has read it a turn ago, and to take it away from him takes as long as several
// packets do. Not the next one: at that he may be looking.
const ahead = 2

// send writes one packet, whose body is body and then parts. False: no room.
func (s *smallSend) send(h *driver.Header, body []byte, parts [][]byte) (bool, error) {
	size := len(body)
	if parts != nil {
		size += driver.Length(parts)
	}
	n := uint32(size)
	if h.Body != n || size > int(s.maxBody) {
		return false, fmt.Errorf("%w: %d bytes, header says %d, at most %d", driver.ErrBody, size, h.Body, s.maxBody)
	}
	tail := s.tail
	if tail-s.freeCells >= uint64(len(s.cells)) {
		if ok, err := s.room(tail, s.bytes); !ok || err != nil {
			return false, err
		}
	}
	c := &s.cells[tail&uint64(len(s.cells)-1)]
	asm.PrefetchWrite(&s.cells[(tail+ahead)&uint64(len(s.cells)-1)].ready.word)
	if n <= inline {
		if at := copy(c.body[:], body); parts != nil {
			driver.Gather(c.body[at:], parts)
		}
	} else {
		start, end := place(s.bytes, n, uint64(len(s.bodies)))
		if end-s.freeBytes > uint64(len(s.bodies)) {
			if ok, err := s.room(tail, end); !ok || err != nil {
				return false, err
			}
		}
		to := s.bodies[start&uint64(len(s.bodies)-1):]
		if at := asm.Copy(to, body); parts != nil {
			driver.Gather(to[at:], parts)
		}
		s.bytes = end
	}
	c.tag, c.size, c.cookie, c.seq = h.Tag, h.Size, h.Cookie, h.Seq
	// The cell and the body are the peer's from here on: what follows (the look at
	// its sleeping) is not done before it can see them.
	c.ready.publish(h.Word(lap(tail, s.shift)))
	s.tail = tail + 1
	if s.refused != 0 {
		store(&s.refused, 0)
	}
	return true, nil
}

// place says where a body of n bytes goes in a ring of that size whose next
// free position is pos: both sides compute it, from lengths alone. A body is in
// one piece and begins on a line of its own; what is left at the end of the
// ring when it does not fit is skipped.
func place(pos uint64, n uint32, size uint64) (start, end uint64) {
	need := uint64(roundUp(n, lineSize))
	if left := size - pos&(size-1); need > left {
		pos += left
	}
	return pos, pos + need
}

// room reads the credit again and says whether one more cell, and a body up to
// position end, fit now; if not, it notes what it takes.
func (s *smallSend) room(tail, end uint64) (bool, error) {
	cells, bytes := s.credit.cells.Load(), s.credit.bytes.Load()
	// The peer may only have moved on, and not past what was sent.
	if cells-s.freeCells > tail-s.freeCells || bytes-s.freeBytes > s.bytes-s.freeBytes {
		return false, fmt.Errorf("%w: it claims to have received %d packets of %d, %d bytes of %d",
			driver.ErrProtocol, cells, tail, bytes, s.bytes)
	}
	s.freeCells, s.freeBytes = cells, bytes
	if tail-cells < uint64(len(s.cells)) && end-bytes <= uint64(len(s.bodies)) {
		return true, nil
	}
	store(&s.wantCells, tail+1-uint64(len(s.cells)))
	store(&s.wantBytes, end-uint64(len(s.bodies)))
	store(&s.refused, 1)
	return false, nil
}

// waiting says whether a refused Send would still be refused. Called by Arm,
// possibly while Send runs; see relaxed_norace.go.
func (s *smallSend) waiting() bool {
	return load(&s.refused) != 0 &&
		(behind(s.credit.cells.Load(), load(&s.wantCells)) || behind(s.credit.bytes.Load(), load(&s.wantBytes)))
}

// behind says whether position a is before b. Positions wrap around.
func behind(a, b uint64) bool { return int64(a-b) < 0 }
