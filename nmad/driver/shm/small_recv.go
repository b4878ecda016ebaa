package shm

import (
	"fmt"
	"math/bits"

	"github.com/pm2-go/pm2/nmad/driver"
)

// smallRecv is the receiving end of a small ring. Its fields belong to the
// caller of Recv, except that Arm reads head.
type smallRecv struct {
	rings
	shift   uint8
	maxBody uint32 // bytes
	head    uint64 // packets received (store, load)
	bytes   uint64 // position in the body ring behind the last body

	toldCells uint64 // what credit.cells holds
	toldBytes uint64 // what credit.bytes holds
	owing     bool   // enough has been received to tell the sender
}

func (r *smallRecv) init(g rings, geo geometry) {
	*r = smallRecv{rings: g, shift: uint8(bits.TrailingZeros32(geo.cells)), maxBody: geo.maxBody}
}

// recv takes the next packet, if it is there. What it returns may change
// under the hands of the caller, if the peer wants it so; its length does not.
func (r *smallRecv) recv(h *driver.Header) (body []byte, ok bool, err error) {
	head := r.head
	c := &r.cells[head&uint64(len(r.cells)-1)]
	w := c.ready.Load()
	if uint16(w>>16) != lap(head, r.shift) {
		return nil, false, nil
	}
	n := uint32(w >> 32)
	if n <= inline {
		body = c.body[:n]
	} else {
		if n > r.maxBody {
			return nil, false, fmt.Errorf("%w: a body of %d bytes, at most %d", driver.ErrProtocol, n, r.maxBody)
		}
		start, end := place(r.bytes, n, uint64(len(r.bodies)))
		off := start & uint64(len(r.bodies)-1)
		body = r.bodies[off : off+uint64(n)]
		r.bytes = end
	}
	h.SetWord(w)
	h.Tag, h.Size, h.Cookie, h.Seq = c.tag, c.size, c.cookie, c.seq
	head++
	store(&r.head, head)
	// A quarter of either ring: rarely, as it costs the sender a line; often
	// enough that any packet fits in what the sender then knows to be free.
	r.owing = head-r.toldCells >= uint64(len(r.cells)+3)/4 || r.bytes-r.toldBytes >= uint64(len(r.bodies))/4
	return body, true, nil
}

// release tells the sender that all that was received so far is free; it is
// called at the next Recv, as the last body is lent until then, and only if
// owing.
func (r *smallRecv) release() {
	r.toldCells, r.toldBytes, r.owing = r.head, r.bytes, false
	r.credit.bytes.Store(r.bytes)
	r.credit.cells.publish(r.head) // the look at wantRoom comes after it
}

// ready says whether a packet is there. Called by Arm, possibly while Recv
// runs; see relaxed_norace.go.
func (r *smallRecv) ready() bool {
	head := load(&r.head)
	return uint16(r.cells[head&uint64(len(r.cells)-1)].ready.Load()>>16) == lap(head, r.shift)
}
