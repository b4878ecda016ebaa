package nmad

import (
	"sync/atomic"
	"time"
	"unsafe"

	"github.com/pm2-go/pm2/marcel"
	"github.com/pm2-go/pm2/nmad/driver"
	"github.com/pm2-go/pm2/nmad/internal/flow"
	"github.com/pm2-go/pm2/nmad/internal/lane"
)

// laned is a link whose packets code outside of Go can move; see lane.Lane.
type laned interface {
	Lane(*lane.Lane)
	Wake()
}

// looksInLane is how often such code looks for a message before it leaves the wait to Go: about 10 us.
const looksInLane = 400

// Way sets w to how messages of the context between this process and a rank of its group go, for code outside of Go that
// moves short ones itself: w.Lane stays nil if that is not possible. False: that is not known yet, as the gate has no
// links. It is for package nmad/mpi/abi; the rank's gate, and all that it belongs to, stays as it is while w is used. Any
// thread may call it.
func (c *Context) Way(rank int, w *lane.Way) (known bool) {
	g, err := c.gate(rank)
	if err != nil {
		return false
	}
	if g.rank == g.ownRank || g.private != nil || g.worker != nil || g.offload != nil || g.mu.Joint() || len(g.rails) != 1 || marcel.Tracing() {
		return true
	}
	h := g.enter()
	defer h.unlock()
	if !h.linked() {
		return h.endErr != nil
	}
	link, ok := h.link.(laned)
	if !ok || h.flow.Context(c.number) != c.any {
		return true
	}
	x := g.inbox.lane.Load()
	if x == nil {
		x = h.newLane(link)
		g.inbox.lane.Store(x)
	}
	h.flow.Way(c.number, w)
	head := driver.Header{Context: c.number}
	w.Revoked, w.Extent = &c.revoked, head.Extent()
	w.Lane.Store(x)
	return true
}

// newLane is the lane of a gate with one link.
func (h *lockedGate) newLane(link laned) *lane.Lane {
	g := h.g
	x := &lane.Lane{
		Lock: g.mu.Word(), Incoming: unsafe.Pointer(&g.inbox.incoming), Due: &g.inbox.due,
		Armed: &h.armedRails, Guarded: &h.guarded, Awake: &h.wokenThreads, Looks: 1,
		Tend: func() {
			h := g.enter()
			link.Wake()
			h.unlock()
		},
	}
	w := slipWatch{lane: x}
	x.Watch = w.begin
	if g.spin > 0 && !g.shared {
		x.Looks = looksInLane
	}
	h.flow.Lane(x)
	link.Lane(x)
	return x
}

// laneSlips are the receives that code outside of Go begins.
type laneSlips struct {
	all []lane.Slip        // of the lane; empty: it begins none
	of  func(int) *Request // the request that one of them becomes
}

// mostOfSlips bounds the bytes for which slips wait: their messages fit into half of a link's memory, so that a sender
// does not wait because no thread of Go takes them in.
const mostOfSlips = 64 << 10

// Slips lets code outside of Go begin receives over a lane by these slips, whose number is a power of two and which the
// caller must leave alone. of returns the request that a slip becomes when Go takes it in; it must not be under way. Slips
// does nothing if the lane has slips.
func (c *Context) Slips(x *lane.Lane, slips []lane.Slip, of func(int) *Request) {
	for g := range c.d.all {
		if g.inbox.lane.Load() != x {
			continue
		}
		h := g.enter()
		if h.slips.all == nil {
			h.slips = laneSlips{slips, of}
			for i := range slips {
				slips[i].Lane = uintptr(unsafe.Pointer(x))
			}
			x.Slots, x.Spare = uint64(len(slips)-1), mostOfSlips
			atomic.StorePointer(&x.Slips, unsafe.Pointer(unsafe.SliceData(slips)))
		}
		h.unlock()
	}
}

// takeSlips posts the receives that code outside of Go has begun, in their order. The holder must not call it while it
// handles a packet.
func (h *lockedGate) takeSlips() {
	x := h.g.inbox.lane.Load()
	if x == nil || !x.Waiting() {
		return
	}
	tail := x.Tail.Load()
	for at := x.Head.Load(); at != tail; at++ {
		i := int(at & x.Slots)
		s := &h.slips.all[i]
		r := h.slips.of(i)
		in := h.g.domain.context(uint16((*lane.Way)(*(*unsafe.Pointer)(unsafe.Pointer(&s.Way))).Extent >> 48))
		x.Head.Store(at + 1)
		x.Spare += int64(s.Room)
		if in != nil && r.claim() == nil { // an open receive keeps its context, and its slip
			r.prepare(h.g, flow.OpRecv, in, s.Key, unsafe.Slice(*(**byte)(unsafe.Pointer(&s.Buf)), s.Room), flow.NotifyState)
			r.core.Entry.Age = s.Age
			h.startRecv(r)
		}
		s.State.Store(lane.SlipGiven) // its owner may look at r from here on
	}
}

// patience is for how long slips wait at least before Go takes them in though no thread calls; twice that is the most.
const patience = 2 * time.Millisecond

// slipWatch looks now and then whether the slips of a lane wait for long, as long as there are new ones.
type slipWatch struct {
	lane *lane.Lane
	last uint64 // Tail at the last look
}

func (sw *slipWatch) begin() {
	if sw.lane.Watches.Swap(1) == 0 {
		time.AfterFunc(patience, sw.look)
	}
}

func (sw *slipWatch) look() {
	tail := sw.lane.Tail.Load()
	stands := sw.last == tail
	sw.last = tail
	if !stands {
		time.AfterFunc(patience, sw.look)
		return
	}
	sw.lane.Watches.Store(0) // one that is begun from here on watches anew
	if sw.lane.Waiting() {
		sw.lane.Tend()
	}
}
