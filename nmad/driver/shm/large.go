package shm

import (
	"fmt"
	"math/bits"

	"github.com/pm2-go/pm2/asm"
	"github.com/pm2-go/pm2/nmad/driver"
	"github.com/pm2-go/pm2/nmad/driver/internal/relaxed"
)

// largeSend is the sending end of a large ring: a stream of bytes in slots, so that the receiver copies the first
// slots out while the sender fills the next ones. Its fields belong to the caller of Push; Arm reads those that
// are relaxed.
type largeSend struct {
	rings
	shift    uint8
	slotSize uint64 // bytes
	tail     uint64 // slots sent
	free     uint64 // copy of slotCredit.slots as last read

	minOffer  int     // bytes of the shortest message that may be offered
	slotsLeft int     // bytes left of a message that goes through slots
	current   offered // the offer that is out

	refused     uint64 // 1: the last Push found no room, or nothing fetched (relaxed)
	wantSlots   uint64 // there is room once slotCredit.slots is there (relaxed)
	offer       uint64 // position of the offer, plus 1; 0: there is none, and wantSlots counts (relaxed)
	fetchedSeen uint64 // slotCredit.fetched when nothing more was fetched (relaxed)
}

func (ls *largeSend) init(r rings, g geometry) {
	*ls = largeSend{rings: r, shift: uint8(bits.TrailingZeros32(g.slots)), slotSize: uint64(g.slotSize), minOffer: standardMinOffer}
}

// slotLap is lap for the ready word of a slot.
func slotLap(pos uint64, shift uint8) uint64 { return uint64(uint32(pos>>(shift&63)) | 1<<31) }

// room reports whether the next slot is free. If not it notes for how many released slots the sender waits.
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
	relaxed.Store(&ls.wantSlots, tail+1-uint64(len(ls.words)))
	relaxed.Store(&ls.refused, 1)
	return false, nil
}

// push fills the next slot from buf and returns how many bytes it took; 0 without room.
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

// fill puts the beginning of buf into the slot number pos, which is free, and publishes it. It returns how many
// bytes that were.
func (ls *largeSend) fill(pos uint64, buf []byte) int {
	i := pos & uint64(len(ls.words)-1)
	n := asm.Copy(ls.slots[i*ls.slotSize:(i+1)*ls.slotSize], buf)
	ls.words[i].ready.publish(slotLap(pos, ls.shift)<<32 | uint64(n))
	return n
}

// waiting reports whether a Push that was refused would still be refused. Arm calls it, maybe while Push runs. It
// does not matter that the sender could help with its offer: a side that wants to sleep need not help.
func (ls *largeSend) waiting() bool {
	if relaxed.Load(&ls.refused) == 0 {
		return false
	}
	if o := relaxed.Load(&ls.offer); o != 0 {
		return ls.slotCredit.fetched.Load() == relaxed.Load(&ls.fetchedSeen) && ls.slotCredit.declined.Load() != o
	}
	return behind(ls.slotCredit.slots.Load(), relaxed.Load(&ls.wantSlots))
}

// largeRecv is the receiving end of a large ring. Its fields belong to the caller of Pull; Arm reads those that
// are relaxed.
type largeRecv struct {
	rings
	shift     uint8
	slotSize  uint64 // bytes
	head      uint64 // slots received (relaxed)
	slotBytes uint64 // bytes in the slot at head, as read once from its word; 0: not read yet
	slotTaken uint64 // of these, bytes that Pull has returned

	minShare    int      // bytes of the shortest share with which the sender helps
	senderHelps bool     // the sender may write pieces: its process can be ended if it keeps one
	fetched     uint64   // bytes of offers handed out, ever
	current     borrowed // the offer at head
	copies      chooser

	waitsFor    uint64 // what the offer at head waits for: 0 nothing, or one of the constants below (relaxed)
	needWritten uint64 // waitsPieces: the written that ends it (relaxed)
}

// What the offer at head waits for.
const (
	waitsSlot   = 1 + iota // declined: for the slot to be filled; or withdrawn: for nothing any more
	waitsPieces            // for the pieces that the sender has taken
)

func (lr *largeRecv) init(g rings, geo geometry) {
	*lr = largeRecv{rings: g, shift: uint8(bits.TrailingZeros32(geo.slots)), slotSize: uint64(geo.slotSize), minShare: standardMinOffer}
}

// pull copies from the slot at head into buf, which is not empty. released: the slot is used up, and was given
// back. offer: the slot holds an offer. 0 bytes and no offer: nothing has arrived.
func (lr *largeRecv) pull(buf []byte) (n int, released, offer bool, err error) {
	head := lr.head
	i := head & uint64(len(lr.words)-1)
	if lr.slotBytes == 0 {
		w := lr.words[i].ready.Load()
		if w>>32 != slotLap(head, lr.shift) {
			return 0, false, false, nil
		}
		have := w & (1<<32 - 1)
		if have == offerMark {
			return 0, false, lr.waitsFor != waitsSlot, nil
		}
		if have == 0 || have > lr.slotSize {
			return 0, false, false, fmt.Errorf("%w: a slot of %d bytes, at most %d", driver.ErrProtocol, have, lr.slotSize)
		}
		lr.slotBytes, lr.slotTaken = have, 0
		if lr.waitsFor != 0 {
			relaxed.Store(&lr.waitsFor, 0)
		}
		lr.copies.via[bySlots] = true
	}
	n = copy(buf, lr.slots[i*lr.slotSize+lr.slotTaken:i*lr.slotSize+lr.slotBytes])
	if lr.slotTaken += uint64(n); lr.slotTaken < lr.slotBytes {
		return n, false, false, nil
	}
	lr.slotBytes = 0
	lr.release()
	return n, true, false, nil
}

// release gives the slot at head back to the sender.
func (lr *largeRecv) release() {
	relaxed.Store(&lr.head, lr.head+1)
	lr.slotCredit.slots.publish(lr.head) // the look at wantRoom comes after it
	if lr.head == uint64(len(lr.words)) {
		lr.copies.slotsWarm = true
	}
}

// ready reports whether bytes have arrived. Arm calls it, maybe while Pull runs. A slot that was taken in part keeps
// its mark.
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
	switch relaxed.Load(&lr.waitsFor) {
	case waitsSlot:
		return false
	case waitsPieces:
		need := written(relaxed.Load(&lr.needWritten))
		return lr.slotCredit.fetched.Load()&withdrawn != 0 || written(word.written.Load()).covers(need.share(), need.pieces())
	}
	return true
}
