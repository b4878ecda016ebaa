package shm

import (
	"fmt"
	"math/bits"

	"github.com/pm2-go/pm2/asm"
	"github.com/pm2-go/pm2/nmad/driver"
	"github.com/pm2-go/pm2/nmad/driver/internal/relaxed"
)

// smallSend is the sending end of a small ring. Its fields belong to the caller of Send; Arm reads those that are
// relaxed.
type smallSend struct {
	rings
	shift   uint8  // log2 of the number of cells
	maxBody uint32 // bytes
	tail    uint64 // packets sent
	bytes   uint64 // position in the body ring behind the last body

	freeCells uint64 // copy of credit.cells as last read
	freeBytes uint64 // copy of credit.bytes as last read

	refused   uint64 // 1: the last Send was refused (relaxed)
	wantCells uint64 // it fits once credit.cells is there (relaxed)
	wantBytes uint64 // and credit.bytes there (relaxed)
}

func (ss *smallSend) init(r rings, g geometry) {
	*ss = smallSend{rings: r, shift: uint8(bits.TrailingZeros32(g.cells)), maxBody: g.maxBody}
}

// lap returns the mark of packet or slot number pos in a ring of 1<<shift: never zero, which is what fresh memory
// holds, and another one than in the lap before, which is all that a cell can hold otherwise.
func lap(pos uint64, shift uint8) uint16 { return uint16(pos>>(shift&63)) | 0x8000 }

// ahead is how many cells ahead of the next one the sender has the CPU fetch a cell for writing. The
// receiver has read that cell a lap ago, and to take its line away from the receiver takes as long as several
// packets do. It is not the next cell: the receiver may be looking at that.
const ahead = 2

// send writes one packet, whose body is body followed by parts. It returns false if there is no room.
func (ss *smallSend) send(h *driver.Header, body []byte, parts [][]byte) (bool, error) {
	size := len(body)
	if parts != nil {
		size += driver.Length(parts)
	}
	n := uint32(size)
	if h.Body != n || size > int(ss.maxBody) {
		return false, fmt.Errorf("%w: %d bytes, header says %d, at most %d", driver.ErrBody, size, h.Body, ss.maxBody)
	}
	tail := ss.tail
	if tail-ss.freeCells >= uint64(len(ss.cells)) {
		if ok, err := ss.room(tail, ss.bytes); !ok || err != nil {
			return false, err
		}
	}
	c := &ss.cells[tail&uint64(len(ss.cells)-1)]
	asm.PrefetchWrite(&ss.cells[(tail+ahead)&uint64(len(ss.cells)-1)].ready.word)
	if n <= inline {
		if at := copy(c.body[:], body); parts != nil {
			driver.Gather(c.body[at:], parts)
		}
	} else {
		start, end := placeBody(ss.bytes, n, uint64(len(ss.bodies)))
		if end-ss.freeBytes > uint64(len(ss.bodies)) {
			if ok, err := ss.room(tail, end); !ok || err != nil {
				return false, err
			}
		}
		to := ss.bodies[start&uint64(len(ss.bodies)-1):]
		if at := asm.Copy(to, body); parts != nil {
			driver.Gather(to[at:], parts)
		}
		ss.bytes = end
	}
	c.tag, c.sizeAndContext, c.cookie, c.seq = h.Tag, h.SizeAndContext(), h.Cookie, h.Seq
	// The cell and the body are the peer's from here on: what follows (the look at its sleeping) is not done before it
	// can see them.
	c.ready.publish(h.Word(lap(tail, ss.shift)))
	ss.tail = tail + 1
	if ss.refused != 0 {
		relaxed.Store(&ss.refused, 0)
	}
	return true, nil
}

// placeBody returns where a body of n bytes begins, and the position behind it, in a ring of that size whose next free
// position is pos. Both sides compute it from the lengths alone. A body is in one piece and begins on a cache line
// of its own; bytes at the end of the ring into which it does not fit are skipped.
func placeBody(pos uint64, n uint32, size uint64) (start, end uint64) {
	need := uint64(roundUp(n, lineSize))
	if left := size - pos&(size-1); need > left {
		pos += left
	}
	return pos, pos + need
}

// room reads the credit again and reports whether one more cell, and bodies up to position end, fit now. If not it
// notes for what the sender waits.
func (ss *smallSend) room(tail, end uint64) (bool, error) {
	cells, bytes := ss.credit.cells.Load(), ss.credit.bytes.Load()
	// The peer may only have moved on, and not past what was sent.
	if cells-ss.freeCells > tail-ss.freeCells || bytes-ss.freeBytes > ss.bytes-ss.freeBytes {
		return false, fmt.Errorf("%w: it claims to have received %d packets of %d, %d bytes of %d",
			driver.ErrProtocol, cells, tail, bytes, ss.bytes)
	}
	ss.freeCells, ss.freeBytes = cells, bytes
	if tail-cells < uint64(len(ss.cells)) && end-bytes <= uint64(len(ss.bodies)) {
		return true, nil
	}
	relaxed.Store(&ss.wantCells, tail+1-uint64(len(ss.cells)))
	relaxed.Store(&ss.wantBytes, end-uint64(len(ss.bodies)))
	relaxed.Store(&ss.refused, 1)
	return false, nil
}

// waiting reports whether a Send that was refused would still be refused. Arm calls it, maybe while Send runs: see
// package relaxed.
func (ss *smallSend) waiting() bool {
	return relaxed.Load(&ss.refused) != 0 &&
		(behind(ss.credit.cells.Load(), relaxed.Load(&ss.wantCells)) || behind(ss.credit.bytes.Load(), relaxed.Load(&ss.wantBytes)))
}

// behind reports whether position a lies before b. Positions wrap around.
func behind(a, b uint64) bool { return int64(a-b) < 0 }

// smallRecv is the receiving end of a small ring. Its fields belong to the caller of Recv; Arm reads head.
type smallRecv struct {
	rings
	shift   uint8
	maxBody uint32 // bytes
	head    uint64 // packets received (relaxed)
	bytes   uint64 // position in the body ring behind the last body

	toldCells uint64 // what credit.cells holds
	toldBytes uint64 // what credit.bytes holds
	owing     bool   // enough has been received to tell the sender
}

func (sr *smallRecv) init(g rings, geo geometry) {
	*sr = smallRecv{rings: g, shift: uint8(bits.TrailingZeros32(geo.cells)), maxBody: geo.maxBody}
}

// recv returns the next packet, if it has come. The peer can still change the body, but not its length.
func (sr *smallRecv) recv(h *driver.Header) (body []byte, ok bool, err error) {
	head := sr.head
	c := &sr.cells[head&uint64(len(sr.cells)-1)]
	w := c.ready.Load()
	if uint16(w>>16) != lap(head, sr.shift) {
		return nil, false, nil
	}
	n := uint32(w >> 32)
	if n <= inline {
		body = c.body[:n]
	} else {
		if n > sr.maxBody {
			return nil, false, fmt.Errorf("%w: a body of %d bytes, at most %d", driver.ErrProtocol, n, sr.maxBody)
		}
		start, end := placeBody(sr.bytes, n, uint64(len(sr.bodies)))
		off := start & uint64(len(sr.bodies)-1)
		body = sr.bodies[off : off+uint64(n)]
		sr.bytes = end
	}
	h.SetWord(w)
	h.SetSizeAndContext(c.sizeAndContext)
	h.Tag, h.Cookie, h.Seq = c.tag, c.cookie, c.seq
	head++
	relaxed.Store(&sr.head, head)
	// A quarter of either ring: rarely, as it costs the sender a line; often enough that any packet fits in what the
	// sender then knows to be free.
	sr.owing = head-sr.toldCells >= uint64(len(sr.cells)+3)/4 || sr.bytes-sr.toldBytes >= uint64(len(sr.bodies))/4
	return body, true, nil
}

// release tells the sender that all packets received so far are free. Recv calls it if owing, before it takes the
// next packet: until then the caller has the last body.
func (sr *smallRecv) release() {
	sr.toldCells, sr.toldBytes, sr.owing = sr.head, sr.bytes, false
	sr.credit.bytes.Store(sr.bytes)
	sr.credit.cells.publish(sr.head) // the look at wantRoom comes after it
}

// ready reports whether a packet has come. Arm calls it, maybe while Recv runs: see package relaxed.
func (sr *smallRecv) ready() bool {
	head := relaxed.Load(&sr.head)
	return uint16(sr.cells[head&uint64(len(sr.cells)-1)].ready.Load()>>16) == lap(head, sr.shift)
}
