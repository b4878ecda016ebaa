package shm

import (
	"fmt"
	"sync/atomic"
	"unsafe"
)

// flags are by what one side lets the other know that it sleeps.
type flags struct {
	sleeping atomic.Uint32 // 1: ring when something arrives. Set by the owner, taken by either
	wantRoom atomic.Uint32 // 1: ring when room comes up. Set by the owner, taken by either
	_        [padding - 8]byte
}

// credit says how far the receiver of a small ring is. The receiver writes it now and then; the sender reads it
// when it has used up the room that it knew of.
type credit struct {
	cells notice        // packets released
	bytes atomic.Uint64 // position in the body ring up to which it is released; set before cells
	_     [padding - 16]byte
}

// slotCredit is credit for a large ring, with what the receiver says about offers.
type slotCredit struct {
	slots    notice        // slots released
	offers   atomic.Uint64 // bit i: messages of 2^i bytes up to twice that are to be offered
	fetched  atomic.Uint64 // bytes of offers fetched, ever; set by the receiver, withdrawn by the sender: both by compare-and-swap, which is a barrier as publish is
	declined notice        // position of the last offer that was declined, plus 1
	hidden   atomic.Uint32 // not 0: the sender has withdrawn what it has exposed; the sender sets it
	_        [padding - 36]byte
}

// offerShare is the part of an offer that is being fetched, and which side fetches which pieces.
type offerShare struct {
	claims atomic.Uint64 // a claims; changed by both, by compare-and-swap
	to     atomic.Uint64 // where it goes in the receiver's memory; like the rest set by the receiver before claims
	at     atomic.Uint64 // where it begins in the offer, bytes
	size   atomic.Uint64 // bytes
	piece  atomic.Uint64 // bytes of a piece; the last one may be shorter
	_      [padding - 40]byte
}

// cell is one packet in one cache line: its header in the wire form, with the lap in the 16 reserved bits of the first
// word, and a short body. The sender writes the first word last, atomically; until the lap in it is the one that the
// receiver waits for, nothing else in the cell is the receiver's.
type cell struct {
	ready          notice // Header.Word(lap)
	tag            uint64
	sizeAndContext uint64
	cookie         uint32
	seq            uint32
	body           [inline]byte
}

// slotWord is the ready word of a slot, the lap above and the bytes in the slot below, or, with offerMark in place
// of the bytes, an offer.
type slotWord struct {
	ready   notice
	address atomic.Uint64 // in the sender's memory
	size    atomic.Uint64 // bytes
	written notice        // a written: what the sender has done of the share
	_       [padding - 32]byte
}

// rings is one direction of a segment.
type rings struct {
	credit     *credit
	slotCredit *slotCredit
	share      *offerShare
	cells      []cell
	words      []slotWord
	bodies     []byte
	slots      []byte
}

// view returns direction d of a segment. All later access goes through the bounded slices that it returns.
func view(mem []byte, g geometry, d int) (rings, error) {
	l := g.direction(d)
	if uint64(len(mem)) < l.end || uintptr(unsafe.Pointer(unsafe.SliceData(mem)))%padding != 0 {
		return rings{}, fmt.Errorf("%d bytes of memory for a segment of %d", len(mem), l.end)
	}
	return rings{
		credit:     (*credit)(unsafe.Pointer(&mem[l.credit])),
		slotCredit: (*slotCredit)(unsafe.Pointer(&mem[l.slotCredit])),
		share:      (*offerShare)(unsafe.Pointer(&mem[l.share])),
		cells:      unsafe.Slice((*cell)(unsafe.Pointer(&mem[l.cells])), g.cells),
		words:      unsafe.Slice((*slotWord)(unsafe.Pointer(&mem[l.words])), g.slots),
		bodies:     mem[l.bodies : l.bodies+uint64(g.bodies) : l.bodies+uint64(g.bodies)],
		slots:      mem[l.slots : l.slots+uint64(g.slots)*uint64(g.slotSize) : l.slots+uint64(g.slots)*uint64(g.slotSize)],
	}, nil
}

// viewFlags returns the flags of the two sides.
func viewFlags(mem []byte) (dialer, listener *flags) {
	return (*flags)(unsafe.Pointer(&mem[0])), (*flags)(unsafe.Pointer(&mem[padding]))
}

// notice is a word of a segment by which one side tells the other that there is something for it, and then looks
// whether it sleeps: T1 and T2 of README.md. So it has no plain Store, only publish, after which no load is carried out
// before the other side can see the word.
type notice struct{ word atomic.Uint64 }

// Load reads the word.
func (n *notice) Load() uint64 { return n.word.Load() }
