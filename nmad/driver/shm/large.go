package shm

import (
	"fmt"
	"math/bits"

	"github.com/pm2-go/pm2/asm"
	"github.com/pm2-go/pm2/nmad/driver"
)

// largeSend is the sending end of a large ring: a stream of bytes cut into
// slots, so that the receiver copies the first ones out while the sender copies
// the next ones in. Its fields belong to the caller of Push, except that
// Arm reads those that go through load and store.
type largeSend struct {
	rings
	shift    uint8
	slotSize uint64 // bytes
	tail     uint64 // slots sent
	free     uint64 // copy of slotCredit.slots as last read

	least     int // bytes of the shortest message that may be offered
	slotsLeft int // bytes left of a message of which a part went through slots
	out       offered

	refused uint64 // 1: the last Push found no room, or nothing fetched (store, load)
	want    uint64 // there is room once slotCredit.slots is there (store, load)
	offer   uint64 // position of the offer that is out, plus 1; 0: none is, and want counts (store, load)
	seen    uint64 // slotCredit.fetched when nothing was found fetched (store, load)
}

func (s *largeSend) init(r rings, g geometry) {
	*s = largeSend{rings: r, shift: uint8(bits.TrailingZeros32(g.slots)), slotSize: uint64(g.slotSize), least: leastOffer}
}

// slotLap is lap, for the ready word of a slot.
func slotLap(pos uint64, shift uint8) uint64 { return uint64(uint32(pos>>(shift&63)) | 1<<31) }

// room says whether the next slot is free; if not, it notes what it takes.
func (s *largeSend) room() (bool, error) {
	tail := s.tail
	if tail-s.free < uint64(len(s.words)) {
		return true, nil
	}
	free := s.slotCredit.slots.Load()
	if free-s.free > tail-s.free {
		return false, fmt.Errorf("%w: it claims to have received %d slots of %d", driver.ErrProtocol, free, tail)
	}
	s.free = free
	if tail-free < uint64(len(s.words)) {
		return true, nil
	}
	store(&s.want, tail+1-uint64(len(s.words)))
	store(&s.refused, 1)
	return false, nil
}

// push fills the next slot from buf and says how many bytes went. 0: no room.
func (s *largeSend) push(buf []byte) (int, error) {
	if ok, err := s.room(); !ok {
		return 0, err
	}
	n := s.fill(s.tail, buf)
	s.tail++
	if s.refused != 0 {
		store(&s.refused, 0)
	}
	return n, nil
}

// fill puts the beginning of buf into the slot at that position, which is free, and
// publishes it.
func (s *largeSend) fill(pos uint64, buf []byte) int {
	i := pos & uint64(len(s.words)-1)
	n := asm.Copy(s.slots[i*s.slotSize:(i+1)*s.slotSize], buf)
	s.words[i].ready.publish(slotLap(pos, s.shift)<<32 | uint64(n))
	return n
}

// waiting says whether a refused Push would still be refused. Called by
// Arm, possibly while Push runs. That the sender could help with its offer does not
// count: a side that wants to sleep is left alone.
func (s *largeSend) waiting() bool {
	if load(&s.refused) == 0 {
		return false
	}
	if o := load(&s.offer); o != 0 {
		return s.slotCredit.fetched.Load() == load(&s.seen) && s.slotCredit.declined.Load() != o
	}
	return behind(s.slotCredit.slots.Load(), load(&s.want))
}

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
