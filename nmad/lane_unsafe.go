package nmad

import (
	"unsafe"

	"github.com/pm2-go/pm2/marcel"
	"github.com/pm2-go/pm2/nmad/driver"
)

// laned is a link whose packets code outside of Go can move; see driver.Lane.
type laned interface {
	Lane(*driver.Lane)
	Wake()
}

// looksInLane is how often such code looks for a message before it leaves the wait to Go: about 10 us.
const looksInLane = 400

// Way sets w to how messages of the context between this process and a rank of its group go, for code outside of Go that moves short ones itself: w.Lane stays nil if that is
// not possible. False: that is not known yet, as the gate has no links. It is for package nmad/mpi/abi; the rank's gate, and all that it belongs to, stays as it is while w is used. Any thread may call it.
func (c *Context) Way(rank int, w *driver.Way) (known bool) {
	g, err := c.gate(rank)
	if err != nil {
		return false
	}
	if g.rank == g.own || g.owned != nil || g.worker != nil || g.offload != nil || g.mu.joint || len(g.rails) != 1 || marcel.Tracing() {
		return true
	}
	h := g.enter()
	defer h.letGo()
	if !h.linked() {
		return h.end != nil
	}
	link, ok := h.link.(laned)
	if !ok || h.flow.Context(c.number) != c.any {
		return true
	}
	if h.lane == nil {
		h.lane = h.newLane(link)
	}
	h.flow.Way(c.number, w)
	head := driver.Header{Context: c.number}
	w.Revoked, w.Extent = &c.revoked, head.Extent()
	w.Lane.Store(h.lane)
	return true
}

// newLane is the lane of a gate with one link.
func (h *held) newLane(link laned) *driver.Lane {
	g := h.g
	x := &driver.Lane{
		Lock: &g.mu.word, Incoming: unsafe.Pointer(&g.inbox.incoming), Due: &g.inbox.due,
		Armed: &h.armed, Guarded: &h.guarded, Awake: &h.awake, Looks: 1,
		Tend: func() {
			h := g.enter()
			link.Wake()
			h.letGo()
		},
	}
	if g.spin > 0 && !g.shared {
		x.Looks = looksInLane
	}
	h.flow.Lane(x)
	link.Lane(x)
	return x
}
