package shm

import (
	"fmt"
	"math/bits"

	"github.com/pm2-go/pm2/nmad/driver"
)

// largeRecv is the receiving end of a large ring. Its fields belong to the
// caller of Pull, except that Arm reads head.
type largeRecv struct {
	rings
	shift    uint8
	slotSize uint64 // bytes
	head     uint64 // slots received (store, load)
	have     uint64 // bytes in slot head, as read from its word once; 0: not looked yet
	taken    uint64 // bytes of it already handed out

	least   int    // bytes of the shortest share that the sender helps with
	helped  bool   // the sender may write pieces: its process can be ended if it keeps one
	fetched uint64 // bytes of offers handed out, ever
	in      borrowed
	copies  chooser

	waits uint64 // what the offer at head waits for: nothing, or one of the below (store, load)
	need  uint64 // waitsPieces: a written that ends it (store, load)
}

// What the offer at head waits for.
const (
	waitsSlot   = 1 + iota // declined: for the slot to be filled; or withdrawn: for nothing any more
	waitsPieces            // for the pieces that the sender has taken
)

func (r *largeRecv) init(g rings, geo geometry) {
	*r = largeRecv{rings: g, shift: uint8(bits.TrailingZeros32(geo.slots)), slotSize: uint64(geo.slotSize), least: leastOffer}
}

// pull copies from the slot at head into buf, which is not empty. released: that
// slot is used up and the sender was told so. 0 bytes: nothing is there, or an offer.
func (r *largeRecv) pull(buf []byte) (n int, released, offer bool, err error) {
	head := r.head
	i := head & uint64(len(r.words)-1)
	if r.have == 0 {
		w := r.words[i].ready.Load()
		if w>>32 != slotLap(head, r.shift) {
			return 0, false, false, nil
		}
		have := w & (1<<32 - 1)
		if have == offerMark {
			return 0, false, r.waits != waitsSlot, nil
		}
		if have == 0 || have > r.slotSize {
			return 0, false, false, fmt.Errorf("%w: a slot of %d bytes, at most %d", driver.ErrProtocol, have, r.slotSize)
		}
		r.have, r.taken = have, 0
		if r.waits != 0 {
			store(&r.waits, 0)
		}
		r.copies.came[bySlots] = true
	}
	n = copy(buf, r.slots[i*r.slotSize+r.taken:i*r.slotSize+r.have])
	if r.taken += uint64(n); r.taken < r.have {
		return n, false, false, nil
	}
	r.have = 0
	r.release()
	return n, true, false, nil
}

// release gives the slot at head back to the sender.
func (r *largeRecv) release() {
	store(&r.head, r.head+1)
	r.slotCredit.slots.publish(r.head) // the look at wantRoom comes after it
	if r.head == uint64(len(r.words)) {
		r.copies.warm = true
	}
}

// ready says whether bytes are there. Called by Arm, possibly while Pull
// runs. A slot of which a part is taken still has its mark.
func (r *largeRecv) ready() bool {
	head := load(&r.head)
	word := &r.words[head&uint64(len(r.words)-1)]
	w := word.ready.Load()
	if w>>32 != slotLap(head, r.shift) {
		return false
	}
	if w&(1<<32-1) != offerMark {
		return true
	}
	switch load(&r.waits) {
	case waitsSlot:
		return false
	case waitsPieces:
		need := written(load(&r.need))
		return r.slotCredit.fetched.Load()&withdrawn != 0 || written(word.written.Load()).covers(need.share(), need.pieces())
	}
	return true
}
