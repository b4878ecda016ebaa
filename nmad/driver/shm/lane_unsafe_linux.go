package shm

import (
	"unsafe"

	"github.com/pm2-go/pm2/nmad/internal/lane"
	"github.com/pm2-go/pm2/nmad/driver/internal/life"
)

// Lane says where the state of the small track lies, for code that moves packets itself, as the callers of Send and Recv;
// see lane.Lane.
func (l *link) Lane(x *lane.Lane) {
	x.State, x.Over = &l.State, uint64(life.Closed|life.Broken|life.Lost)
	x.Sleeping, x.WantRoom = &l.theirs.sleeping, &l.theirs.wantRoom
	x.Inline, x.Line, x.Ahead = inline, lineSize, ahead
	x.Send = l.tx.lane(unsafe.Pointer(&l.tx.tail), l.tx.shift, l.tx.maxBody)
	x.Recv = l.rx.lane(unsafe.Pointer(&l.rx.head), l.rx.shift, l.rx.maxBody)
}

func (r *rings) lane(at unsafe.Pointer, shift uint8, maxBody uint32) lane.Ring {
	return lane.Ring{
		Cells: unsafe.Pointer(unsafe.SliceData(r.cells)), Bodies: unsafe.Pointer(unsafe.SliceData(r.bodies)), At: at, Told: unsafe.Pointer(r.credit),
		Mask: uint64(len(r.cells) - 1), Size: uint64(len(r.bodies)), Shift: uint64(shift), Most: uint64(maxBody),
	}
}

// Wake wakes the peer for what such code has sent, and the room that it has made. The caller is that of Send and of Recv.
func (l *link) Wake() {
	if l.theirs.sleeping.Load() != 0 {
		l.wake(life.Send, &l.hs, &l.theirs.sleeping)
	}
	if l.theirs.wantRoom.Load() != 0 {
		l.wake(life.Recv, &l.hr, &l.theirs.wantRoom)
	}
}
