package shm

import (
	"fmt"
	"math/bits"

	"github.com/pm2-go/pm2/nmad/driver"
)

// largeSend is the sending end of a large ring: a stream of bytes cut into
// slots, so that the receiver copies the first ones out while the sender copies
// the next ones in. Its fields belong to the caller of PushLarge, except that
// Arm reads those that go through load and store.
type largeSend struct {
	rings
	shift    uint8
	slotSize uint64 // bytes
	tail     uint64 // slots sent
	free     uint64 // copy of slotCredit.slots as last read

	refused uint64 // 1: the last PushLarge found no room (store, load)
	want    uint64 // there is room once slotCredit.slots is there (store, load)
}

func (s *largeSend) init(r rings, g geometry) {
	*s = largeSend{rings: r, shift: uint8(bits.TrailingZeros32(g.slots)), slotSize: uint64(g.slotSize)}
}

// slotLap is lap, for the ready word of a slot.
func slotLap(pos uint64, shift uint8) uint64 { return uint64(uint32(pos>>(shift&63)) | 1<<31) }

// push fills the next slot from buf and says how many bytes went. 0: no room.
func (s *largeSend) push(buf []byte) (int, error) {
	tail := s.tail
	if tail-s.free >= uint64(len(s.words)) {
		free := s.slotCredit.slots.Load()
		if free-s.free > tail-s.free {
			return 0, fmt.Errorf("%w: it claims to have received %d slots of %d", driver.ErrProtocol, free, tail)
		}
		s.free = free
		if tail-free >= uint64(len(s.words)) {
			store(&s.want, tail+1-uint64(len(s.words)))
			store(&s.refused, 1)
			return 0, nil
		}
	}
	i := tail & uint64(len(s.words)-1)
	n := copy(s.slots[i*s.slotSize:(i+1)*s.slotSize], buf)
	// Publishes the slot; a full barrier, as in smallSend.send.
	s.words[i].ready.Store(slotLap(tail, s.shift)<<32 | uint64(n))
	s.tail = tail + 1
	if s.refused != 0 {
		store(&s.refused, 0)
	}
	return n, nil
}

// waiting says whether a refused PushLarge would still be refused. Called by
// Arm, possibly while PushLarge runs.
func (s *largeSend) waiting() bool {
	return load(&s.refused) != 0 && behind(s.slotCredit.slots.Load(), load(&s.want))
}
