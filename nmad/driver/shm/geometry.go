package shm

import (
	"encoding/binary"
	"fmt"
	"math/bits"
)

// geometry has the sizes of a segment. The two sides of a link agree upon them before they map it, and never read
// them from the segment.
type geometry struct {
	cells    uint32 // cells of a small ring; power of two
	maxBody  uint32 // largest body, bytes
	bodies   uint32 // bytes of a body ring; power of two, at least 4*maxBody
	slots    uint32 // slots of a large ring; power of two
	slotSize uint32 // bytes of a slot; multiple of lineSize
}

// standard is what links use, chosen by measurement: see docs/decisions/large-messages-over-shm.md. What is long enough
// to be offered is no body: both sides copy an offer at once, and a window of them takes a third of the time on far
// cores.
var standard = geometry{cells: 128, maxBody: standardMinOffer - lineSize, bodies: 128 << 10, slots: 32, slotSize: 16 << 10}

// crowded is what links use where processes share CPUs (driver.Config.SharedCPUs). A message by rendezvous is four
// turns, for each of which its process has to come to the CPU: announced, asked for, sent, fetched. As a packet it is
// two, and its second copy takes less than the turns up to twice this size.
var crowded = geometry{cells: 128, maxBody: 128<<10 - lineSize, bodies: 512 << 10, slots: 32, slotSize: 16 << 10}

// boundOf says, for people, why the largest body has so many bytes.
func boundOf(maxBody uint32) string {
	switch maxBody {
	case standard.maxBody:
		return "beyond: 2 copies"
	case crowded.maxBody:
		return "CPUs are shared"
	}
	return ""
}

const (
	cellSize = 64   // bytes of a cell: one cache line
	inline   = 32   // bytes of body inside a cell
	lineSize = 64   // bytes of a cache line
	padding  = 128  // bytes between words that different cores write: two lines, as they are fetched in pairs
	pageSize = 4096 // bytes; what follows a page boundary here need not be a page, it is only alignment

	geometrySize = 5 * 4 // encoded, bytes
)

// check refuses a geometry that a peer may not propose.
func (g geometry) check() error {
	pow2 := func(n, least, most uint32) bool { return bits.OnesCount32(n) == 1 && n >= least && n <= most }
	switch {
	case !pow2(g.cells, 2, 1<<16):
		return fmt.Errorf("%d cells", g.cells)
	case g.maxBody < 1 || g.maxBody > 1<<20:
		return fmt.Errorf("bodies of %d bytes", g.maxBody)
	case !pow2(g.bodies, lineSize, 1<<24) || g.bodies < 4*roundUp(g.maxBody, lineSize):
		return fmt.Errorf("a body ring of %d bytes for bodies of %d", g.bodies, g.maxBody)
	case !pow2(g.slots, 2, 1<<12):
		return fmt.Errorf("%d slots", g.slots)
	case g.slotSize < lineSize || g.slotSize%lineSize != 0 || g.slotSize > 1<<22:
		return fmt.Errorf("slots of %d bytes", g.slotSize)
	case g.size() > 1<<28:
		return fmt.Errorf("a segment of %d bytes", g.size())
	}
	return nil
}

// encode returns the geometry in geometrySize bytes.
func (g geometry) encode() []byte {
	var b []byte
	for _, v := range []uint32{g.cells, g.maxBody, g.bodies, g.slots, g.slotSize} {
		b = binary.LittleEndian.AppendUint32(b, v)
	}
	return b
}

// decode reads geometrySize bytes.
func (g *geometry) decode(b []byte) {
	for i, v := range []*uint32{&g.cells, &g.maxBody, &g.bodies, &g.slots, &g.slotSize} {
		*v = binary.LittleEndian.Uint32(b[4*i:])
	}
}

// layout of a segment, in bytes from its start:
//
//	0     flags of the dialer, then of the listener (padding each)
//	256   for either direction (dialer to listener first):
//	        credit of the small ring, of the large ring, share (padding each)
//	        cells, ready words of the slots (padding each), body ring, slots
type layout struct {
	credit, slotCredit, share, cells, words, bodies, slots, end uint64
}

// direction returns where the parts of direction d lie: 0 is dialer to listener.
func (g geometry) direction(d int) layout {
	var l layout
	at := uint64(2 * padding)
	take := func(n uint64) uint64 {
		start := at
		at += (n + padding - 1) &^ (padding - 1)
		return start
	}
	for range d + 1 {
		l.credit = take(padding)
		l.slotCredit = take(padding)
		l.share = take(padding)
		l.cells = take(uint64(g.cells) * cellSize)
		l.words = take(uint64(g.slots) * padding)
		at = (at + pageSize - 1) &^ (pageSize - 1)
		l.bodies = take(uint64(g.bodies))
		l.slots = take(uint64(g.slots) * uint64(g.slotSize))
		at = (at + pageSize - 1) &^ (pageSize - 1)
		l.end = at
	}
	return l
}

// size returns the size of the segment in bytes.
func (g geometry) size() uint64 { return g.direction(1).end }

// roundUp rounds n up to a multiple of the power of two to.
func roundUp(n, to uint32) uint32 { return (n + to - 1) &^ (to - 1) }
