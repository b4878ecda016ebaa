package shm

import (
	"fmt"
	"math/bits"

	"github.com/pm2-go/pm2/asm"
	"github.com/pm2-go/pm2/nmad/driver"
	"github.com/pm2-go/pm2/nmad/driver/internal/relaxed"
)

// largeSend is the sending end of a large ring: a stream of bytes cut into
// slots, so that the receiver copies the first ones out while the sender copies
// the next ones in. Its fields belong to the caller of Push, except that
// Arm reads those that are relaxed.
type largeSend struct {
	rings
	shift    uint8
	slotSize uint64 // bytes
	tail     uint64 // slots sent
	free     uint64 // copy of slotCredit.slots as last read

	least     int // bytes of the shortest message that may be offered
	slotsLeft int // bytes left of a message of which a part went through slots
	out       offered

	refused uint64 // 1: the last Push found no room, or nothing fetched (relaxed)
	want    uint64 // there is room once slotCredit.slots is there (relaxed)
	offer   uint64 // position of the offer that is out, plus 1; 0: none is, and want counts (relaxed)
	seen    uint64 // slotCredit.fetched when nothing was found fetched (relaxed)
}

func (ls *largeSend) init(r rings, g geometry) {
	*ls = largeSend{rings: r, shift: uint8(bits.TrailingZeros32(g.slots)), slotSize: uint64(g.slotSize), least: leastOffer}
}

// slotLap is lap, for the ready word of a slot.
func slotLap(pos uint64, shift uint8) uint64 { return uint64(uint32(pos>>(shift&63)) | 1<<31) }

// room says whether the next slot is free; if not, it notes what it takes.
func (ls *largeSend) room() (bool, error) {
	tail := ls.tail
	if tail-ls.free < uint64(len(ls.words)) {
		return true, nil
	}
	free := ls.slotCredit.slots.Load()
	if free-ls.free > tail-ls.free {
		return false, fmt.Errorf("%w: it claims to have received %d slots of %d", driver.ErrProtocol, free, tail)
	}
	ls.free = free
	if tail-free < uint64(len(ls.words)) {
		return true, nil
	}
	relaxed.Store(&ls.want, tail+1-uint64(len(ls.words)))
	relaxed.Store(&ls.refused, 1)
	return false, nil
}

// push fills the next slot from buf and says how many bytes went. 0: no room.
func (ls *largeSend) push(buf []byte) (int, error) {
	if ok, err := ls.room(); !ok {
		return 0, err
	}
	n := ls.fill(ls.tail, buf)
	ls.tail++
	if ls.refused != 0 {
		relaxed.Store(&ls.refused, 0)
	}
	return n, nil
}

// fill puts the beginning of buf into the slot at that position, which is free, and
// publishes it.
func (ls *largeSend) fill(pos uint64, buf []byte) int {
	i := pos & uint64(len(ls.words)-1)
	n := asm.Copy(ls.slots[i*ls.slotSize:(i+1)*ls.slotSize], buf)
	ls.words[i].ready.publish(slotLap(pos, ls.shift)<<32 | uint64(n))
	return n
}

// waiting says whether a refused Push would still be refused. Called by
// Arm, possibly while Push runs. That the sender could help with its offer does not
// count: a side that wants to sleep is left alone.
func (ls *largeSend) waiting() bool {
	if relaxed.Load(&ls.refused) == 0 {
		return false
	}
	if o := relaxed.Load(&ls.offer); o != 0 {
		return ls.slotCredit.fetched.Load() == relaxed.Load(&ls.seen) && ls.slotCredit.declined.Load() != o
	}
	return behind(ls.slotCredit.slots.Load(), relaxed.Load(&ls.want))
}

// largeRecv is the receiving end of a large ring. Its fields belong to the
// caller of Pull, except that Arm reads head.
type largeRecv struct {
	rings
	shift    uint8
	slotSize uint64 // bytes
	head     uint64 // slots received (relaxed)
	have     uint64 // bytes in slot head, as read from its word once; 0: not looked yet
	taken    uint64 // bytes of it already handed out

	least   int    // bytes of the shortest share that the sender helps with
	helped  bool   // the sender may write pieces: its process can be ended if it keeps one
	fetched uint64 // bytes of offers handed out, ever
	in      borrowed
	copies  chooser

	waits uint64 // what the offer at head waits for: nothing, or one of the below (relaxed)
	need  uint64 // waitsPieces: a written that ends it (relaxed)
}

// What the offer at head waits for.
const (
	waitsSlot   = 1 + iota // declined: for the slot to be filled; or withdrawn: for nothing any more
	waitsPieces            // for the pieces that the sender has taken
)

func (lr *largeRecv) init(g rings, geo geometry) {
	*lr = largeRecv{rings: g, shift: uint8(bits.TrailingZeros32(geo.slots)), slotSize: uint64(geo.slotSize), least: leastOffer}
}

// pull copies from the slot at head into buf, which is not empty. released: that
// slot is used up and the sender was told so. 0 bytes: nothing is there, or an offer.
func (lr *largeRecv) pull(buf []byte) (n int, released, offer bool, err error) {
	head := lr.head
	i := head & uint64(len(lr.words)-1)
	if lr.have == 0 {
		w := lr.words[i].ready.Load()
		if w>>32 != slotLap(head, lr.shift) {
			return 0, false, false, nil
		}
		have := w & (1<<32 - 1)
		if have == offerMark {
			return 0, false, lr.waits != waitsSlot, nil
		}
		if have == 0 || have > lr.slotSize {
			return 0, false, false, fmt.Errorf("%w: a slot of %d bytes, at most %d", driver.ErrProtocol, have, lr.slotSize)
		}
		lr.have, lr.taken = have, 0
		if lr.waits != 0 {
			relaxed.Store(&lr.waits, 0)
		}
		lr.copies.came[bySlots] = true
	}
	n = copy(buf, lr.slots[i*lr.slotSize+lr.taken:i*lr.slotSize+lr.have])
	if lr.taken += uint64(n); lr.taken < lr.have {
		return n, false, false, nil
	}
	lr.have = 0
	lr.release()
	return n, true, false, nil
}

// release gives the slot at head back to the sender.
func (lr *largeRecv) release() {
	relaxed.Store(&lr.head, lr.head+1)
	lr.slotCredit.slots.publish(lr.head) // the look at wantRoom comes after it
	if lr.head == uint64(len(lr.words)) {
		lr.copies.warm = true
	}
}

// ready says whether bytes are there. Called by Arm, possibly while Pull
// runs. A slot of which a part is taken still has its mark.
func (lr *largeRecv) ready() bool {
	head := relaxed.Load(&lr.head)
	word := &lr.words[head&uint64(len(lr.words)-1)]
	w := word.ready.Load()
	if w>>32 != slotLap(head, lr.shift) {
		return false
	}
	if w&(1<<32-1) != offerMark {
		return true
	}
	switch relaxed.Load(&lr.waits) {
	case waitsSlot:
		return false
	case waitsPieces:
		need := written(relaxed.Load(&lr.need))
		return lr.slotCredit.fetched.Load()&withdrawn != 0 || written(word.written.Load()).covers(need.share(), need.pieces())
	}
	return true
}
