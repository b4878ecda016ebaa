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

// A lane lets C code (package nmad/mpi/abi) move short messages of a gate itself, without a call of Go: it tells where
// the state of the gate lies in memory. docs/decisions/messages-from-c.md has the protocol.

// laned is a link whose packets C code can move; see lane.Lane.
type laned interface {
	Lane(*lane.Lane)
	Wake()
}

// looksInLane is how often C code looks for a message, about 10 us, before it leaves the wait to Go.
const looksInLane = 400

// way is Calls.Way.
func (c *Context) way(rank int, w *lane.Way) (known bool) {
	g, err := c.gate(rank)
	if err != nil {
		return false
	}
	if g.rank == g.ownRank || g.private != nil || g.worker != nil || g.offload != nil || g.mu.Joint() ||
		len(g.rails) != 1 || marcel.Tracing() {
		return true
	}
	h := g.enter()
	defer h.unlock()
	if !h.linked() {
		return h.endErr != nil
	}
	link, ok := h.link.(laned)
	if !ok || h.flow.Context(c.number) != c.anyList {
		return true
	}
	x := g.inbox.lane.Load()
	if x == nil {
		x = h.newLane(link)
		g.inbox.lane.Store(x)
	}
	h.flow.Way(c.number, w)
	head := driver.Header{Context: c.number}
	w.Revoked, w.ContextBits = &c.revoked, head.SizeAndContext()
	w.Lane.Store(x)
	return true
}

// newLane makes the lane of a gate with one link.
func (h *lockedGate) newLane(link laned) *lane.Lane {
	g := h.gate
	x := &lane.Lane{
		Lock: g.mu.Word(), Incoming: unsafe.Pointer(&g.inbox.incoming), Due: &g.inbox.due,
		ArmedRails: &h.armedRails, NoLinks: &h.noLinks, WokenThreads: &h.wokenThreads, Looks: 1,
		Tend: func() {
			h := g.enter()
			link.Wake()
			h.unlock()
		},
	}
	w := slipTimer{lane: x}
	x.StartSlipTimer = w.begin
	if g.spin > 0 && !g.shared {
		x.Looks = looksInLane
	}
	h.flow.Lane(x)
	link.Lane(x)
	return x
}

// laneSlips are the receives that C code begins: a slip is a receive of which Go does not know yet.
type laneSlips struct {
	all []lane.Slip        // the ring of the lane; nil if C code begins no receives
	of  func(int) *Request // returns the request that a slip becomes
}

// maxSlipBytes bounds the bytes of the buffers of slips: their messages fit into half of a link's memory, so that no
// sender has to wait until a thread of Go receives them.
const maxSlipBytes = 64 << 10

// setSlips is Calls.Slips.
func (c *Context) setSlips(x *lane.Lane, slips []lane.Slip, of func(int) *Request) {
	for g := range c.domain.all {
		if g.inbox.lane.Load() != x {
			continue
		}
		h := g.enter()
		if h.slips.all == nil {
			h.slips = laneSlips{slips, of}
			for i := range slips {
				slips[i].Lane = uintptr(unsafe.Pointer(x))
			}
			x.SlipMask, x.SlipBytes = uint64(len(slips)-1), maxSlipBytes
			atomic.StorePointer(&x.Slips, unsafe.Pointer(unsafe.SliceData(slips)))
		}
		h.unlock()
	}
}

// takeSlips posts the receives that C code has begun, in their order.
func (h *lockedGate) takeSlips() {
	x := h.gate.inbox.lane.Load()
	if x == nil || !x.Waiting() {
		return
	}
	tail := x.Tail.Load()
	for at := x.Head.Load(); at != tail; at++ {
		i := int(at & x.SlipMask)
		s := &h.slips.all[i]
		r := h.slips.of(i)
		msgContext := h.gate.domain.context(uint16((*lane.Way)(*(*unsafe.Pointer)(unsafe.Pointer(&s.Way))).ContextBits >> 48))
		x.Head.Store(at + 1)
		x.SlipBytes += int64(s.Capacity)
		// C code keeps the context open, and uses a slip again only when its receive is done, so this is always true.
		if msgContext != nil && r.claim() == nil {
			r.prepare(h.gate, flow.RequestRecv, msgContext, s.Key, unsafe.Slice(*(**byte)(unsafe.Pointer(&s.Buf)), s.Capacity), flow.NotifyState)
			r.core.Entry.Age = s.Age
			h.startRecv(r)
		}
		s.State.Store(lane.SlipGiven) // from here on C code waits for r
	}
}

// slipDelay is the least time after which Go posts slips although no thread calls this package; the longest is twice
// that.
const slipDelay = 2 * time.Millisecond

// slipTimer posts the slips of a lane that have waited for slipDelay. It looks periodically, as long as C code begins
// receives.
type slipTimer struct {
	lane *lane.Lane
	last uint64 // Lane.Tail at the last look
}

// begin starts to look, unless the timer runs already. C code calls it by Lane.StartSlipTimer when it begins a receive.
func (sw *slipTimer) begin() {
	if sw.lane.SlipTimerOn.Swap(1) == 0 {
		time.AfterFunc(slipDelay, sw.look)
	}
}

// look posts the slips if no new one was begun since the last look; else it looks again later.
func (sw *slipTimer) look() {
	tail := sw.lane.Tail.Load()
	unchanged := sw.last == tail
	sw.last = tail
	if !unchanged {
		time.AfterFunc(slipDelay, sw.look)
		return
	}
	sw.lane.SlipTimerOn.Store(0) // a receive that is begun from here on starts the timer again
	if sw.lane.Waiting() {
		sw.lane.Tend()
	}
}
