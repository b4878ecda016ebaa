package shm

import (
	"fmt"
	"math/bits"

	"github.com/pm2-go/pm2/nmad/driver"
)

// largeRecv is the receiving end of a large ring. Its fields belong to the
// caller of PullLarge, except that Arm reads head.
type largeRecv struct {
	rings
	shift    uint8
	slotSize uint64 // bytes
	head     uint64 // slots received (store, load)
	have     uint64 // bytes in slot head, as read from its word once; 0: not looked yet
	taken    uint64 // bytes of it already handed out
}

func (r *largeRecv) init(g rings, geo geometry) {
	*r = largeRecv{rings: g, shift: uint8(bits.TrailingZeros32(geo.slots)), slotSize: uint64(geo.slotSize)}
}

// pull copies from the slot at head into buf, which is not empty. released: that
// slot is used up and the sender was told so. 0 bytes: nothing is there.
func (r *largeRecv) pull(buf []byte) (n int, released bool, err error) {
	head := r.head
	i := head & uint64(len(r.words)-1)
	if r.have == 0 {
		w := r.words[i].ready.Load()
		if w>>32 != slotLap(head, r.shift) {
			return 0, false, nil
		}
		have := w & (1<<32 - 1)
		if have == 0 || have > r.slotSize {
			return 0, false, fmt.Errorf("%w: a slot of %d bytes, at most %d", driver.ErrProtocol, have, r.slotSize)
		}
		r.have, r.taken = have, 0
	}
	n = copy(buf, r.slots[i*r.slotSize+r.taken:i*r.slotSize+r.have])
	if r.taken += uint64(n); r.taken < r.have {
		return n, false, nil
	}
	r.have = 0
	store(&r.head, head+1)
	r.slotCredit.slots.Store(head + 1) // a barrier: the look at wantRoom comes after it
	return n, true, nil
}

// ready says whether bytes are there. Called by Arm, possibly while PullLarge
// runs. A slot of which a part is taken still has its mark.
func (r *largeRecv) ready() bool {
	head := load(&r.head)
	return r.words[head&uint64(len(r.words)-1)].ready.Load()>>32 == slotLap(head, r.shift)
}
