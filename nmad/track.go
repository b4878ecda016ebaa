package nmad

import (
	"github.com/pm2-go/pm2/marcel"
	"github.com/pm2-go/pm2/nmad/driver"
	"github.com/pm2-go/pm2/nmad/internal/flow"
)

// burst is how many packets one poll takes in at most, so that the lock is held
// for a bounded time.
const burst = 32

// bind has the small track use that link.
func (h *held) bind(link driver.Link, eager int) {
	caps := link.Caps()
	h.link, h.echoes, h.slow, h.apart = link, caps.Echoes, caps.Syscalls, h.g.mu.lists != nil
	h.flow.Bind(caps, eager)
}

// echo takes in what was sent over a link that echoes, on both tracks, until nothing moves. So the sending thread receives
// itself, and needs no poller. The bytes of long messages are copied under the lock.
func (h *held) echo() {
	for vain := 0; h.end == nil && (h.full || vain < 2 && h.flow.Streams()); { // what Push offers in one round Pull takes in the next one
		h.full = false
		for h.receive(nil) {
		}
		if h.flow.Outgoing() && !h.keepGathering() {
			h.drain()
		}
		h.g.copy(h.reserve())
		if vain++; h.complete() {
			vain = 0
		}
	}
}

// shortBody is the largest body, in bytes, that a link without system calls copies faster than the lists change hands.
const shortBody = 512

// leaveLists lets other threads have the lists while the caller is inside the link with a body of that many bytes, if that
// takes longer than to take the lists again. retakeLists ends that.
func (h *held) leaveLists(body int) {
	if h.apart && (h.slow || body > shortBody) {
		h.g.mu.dropLists()
	}
}

func (h *held) retakeLists(body int) {
	if h.apart {
		h.takeLists(body)
	}
}

//go:noinline
func (h *held) takeLists(body int) {
	if h.slow || body > shortBody {
		h.g.mu.takeLists()
	}
}

// drain hands the packets that wait to the link. It stops when that has no room.
func (h *held) drain() {
	if err := h.flow.Drain(h); err != nil {
		h.lose(err)
	}
}

// Emit hands a packet to the link. Emit, Flush, View and Begin are flow.Network.
func (h *held) Emit(p *flow.Packet, more bool) (bool, error) {
	began := stamp()
	h.leaveLists(int(p.Head.Body))
	ok, err := h.link.Send(&p.Head, p.Body, p.Parts, more)
	h.retakeLists(int(p.Head.Body))
	h.full = h.echoes
	if began != 0 && ok {
		p.Takes(func(tag, size uint64, seq uint32) {
			marcel.TraceMessage(marcel.TraceOut, h.g.own, h.g.rank, seq, tag, size, began)
		})
	}
	return ok, err
}

// Flush moves the driver's buffered bytes on.
func (h *held) Flush() (bool, error) {
	h.leaveLists(0)
	all, err := h.link.Flush()
	h.retakeLists(0)
	return all, err
}

// receive takes in the packets that are there, up to a burst. Once waiter (nil: none) is done and no other request waits,
// it looks for no more: the look would take the line of the next cell away from a peer that is about to write it. It says
// whether there were any. After the gate has ended it takes in nothing: receives have failed, and a later receive would
// get a message in the place of another one.
func (h *held) receive(waiter *Request) bool {
	head := &h.head
	for n := range burst {
		if h.end != nil {
			return n > 0
		}
		h.leaveLists(0)
		body, ok, err := h.link.Recv(head)
		h.retakeLists(0)
		if err != nil {
			h.g.tellLost(h)
			h.fail(h.g.rails[0].failure(err))
			return true
		}
		if !ok {
			return n > 0
		}
		wrong := h.flow.Packet(head, body, h)
		if !h.flow.Calm() {
			h.takeFinished()
		}
		if marcel.Tracing() && wrong == nil {
			h.traceArrived(body)
		}
		if head.Kind == flow.KindNote && wrong == nil {
			wrong = h.g.consensus.hear(h)
		}
		if wrong != nil {
			h.endOn(wrong)
			return true
		}
		if waiter != nil && waiter.core.Stage == flow.Done && h.flow.Posted() == 0 {
			return true
		}
	}
	return true
}

// traceArrived records the messages that the packet in head has brought, or announced.
func (h *held) traceArrived(body []byte) {
	flow.Messages(&h.head, body, func(tag, size uint64, seq uint32) {
		marcel.TraceMessage(marcel.TraceArrived, h.g.own, h.g.rank, seq, tag, size, 0)
	})
}
