package shm

import (
	"unsafe"

	"github.com/pm2-go/pm2/nmad/driver/internal/life"
	"github.com/pm2-go/pm2/nmad/internal/lane"
)

// Lane tells C where the state of the small track lies: see package lane. C then sends and receives packets as the
// callers of Send and Recv do.
func (l *link) Lane(x *lane.Lane) {
	x.State, x.EndedBits = &l.State, uint64(life.Closed|life.Broken|life.Lost)
	x.Sleeping, x.WantRoom = &l.peerFlags.sleeping, &l.peerFlags.wantRoom
	x.Inline, x.Line, x.Ahead = inline, lineSize, ahead
	x.Send = l.smallTx.lane(unsafe.Pointer(&l.smallTx.tail), l.smallTx.shift, l.smallTx.maxBody)
	x.Recv = l.smallRx.lane(unsafe.Pointer(&l.smallRx.head), l.smallRx.shift, l.smallRx.maxBody)
}

func (r *rings) lane(at unsafe.Pointer, shift uint8, maxBody uint32) lane.Ring {
	return lane.Ring{
		Cells: unsafe.Pointer(unsafe.SliceData(r.cells)), Bodies: unsafe.Pointer(unsafe.SliceData(r.bodies)), At: at, Told: unsafe.Pointer(r.credit),
		Mask: uint64(len(r.cells) - 1), Size: uint64(len(r.bodies)), Shift: uint64(shift), MaxBody: uint64(maxBody),
	}
}

// Wake wakes the peer after C has sent a message or made room. Its caller has the rights of those of Send and
// Recv.
func (l *link) Wake() {
	if l.peerFlags.sleeping.Load() != 0 {
		l.wake(life.Send, &l.sendDir, &l.peerFlags.sleeping)
	}
	if l.peerFlags.wantRoom.Load() != 0 {
		l.wake(life.Recv, &l.recvDir, &l.peerFlags.wantRoom)
	}
}
