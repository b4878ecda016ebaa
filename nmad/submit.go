package nmad

import (
	"github.com/pm2-go/pm2/asm"
	"github.com/pm2-go/pm2/marcel"
	"github.com/pm2-go/pm2/nmad/internal/flow"
)

// submit begins a request that is prepared, or leaves it for the holder of the lock, or for another core (Offload).
func (g *Gate) submit(r *Request) {
	if g.offloads(r) {
		g.offload.leaveRequest(r)
		return
	}
	h := g.tryLock()
	if h == nil {
		g.leaveRequest(r)
		return
	}
	if g.inbox.left() {
		h.handleInbox()
	}
	h.start(r)
	h.unlock()
}

// tend handles the inbox if the lock is free. Otherwise the holder of the lock does that when it releases the lock. The
// holder of a domain's lock may be busy with another gate; it sees by lock.Domain.Owed that it has to look at all
// gates. The holder may have looked at Owed for the last time before tend sets it, so tend then tries the lock again
// (testdata/spin/owed.pml).
//
// In a domain with a worker the lock is the worker's alone (lock.Domain.Strict). So both tries of another thread fail,
// and tend rings the worker's bell. The worker calls tend itself. The domain's engine does not poll the gate to the own
// rank: ownGateDue tells the worker to poll it, for what it has sent there.
func (g *Gate) tend() {
	h := g.tryLock()
	if l := g.mu.Domain(); h == nil && l != nil {
		l.Owed.Store(true)
		h = g.tryLock()
		if h == nil && g.worker != nil {
			g.worker.ring()
		}
	}
	if h != nil {
		h.handleInbox()
		h.unlock()
		if g.worker != nil && g.rank == g.ownRank {
			g.worker.ownGateDue.Store(true)
			g.worker.ring()
		}
	}
}

// handleInbox begins the requests that other threads have left, and handles the rest of the inbox. The holder must not
// call it while it handles a packet. It reports whether bytes of long messages have moved.
func (h *lockedGate) handleInbox() bool {
	h.takeReceives()
	h.takeReleased()
	due := false // drain at the end, so that the strategy sees all sends together
	for r := h.started.pop(); r != nil; r = h.started.pop() {
		if r.core.Kind == flow.RequestSend && (due || !h.started.Empty()) && h.flow.Dead == nil {
			due = h.flow.Send(&r.core) || due
		} else {
			h.start(r)
		}
	}
	if due {
		h.refreshCredit(h.flow.NextSize())
		if h.endErr == nil {
			h.drain()
		}
	}
	h.sendIfDue()
	return h.complete()
}

// start begins a request. The holder must not call it while it handles a packet. The request may end at once.
func (h *lockedGate) start(r *Request) {
	switch r.core.Kind {
	case flow.RequestSend:
		if !r.core.Synchronous() {
			h.refreshCredit(r.core.Data.Size)
		}
		if h.flow.Send(&r.core) {
			h.drain()
		}
	case flow.RequestRecv:
		h.startRecv(r)
		h.sendIfDue()
	case flow.RequestResume:
		h.flow.Deliver(&r.core, nil)
		h.sendIfDue()
	}
}

// startRecv begins a receive or a probe. The request may end at once.
func (h *lockedGate) startRecv(r *Request) {
	c := &r.core
	if !h.noLinks && h.flow.PostUsual(c) {
		return // the usual case
	}
	if !h.flow.Receive(c) && h.admitsReceive(c) {
		h.flow.Post(c)
	}
}

// recvApart begins a receive under the lock of the lists alone, while another thread may be inside the driver. It does
// so if an eager message for the receive has come; in a domain with a worker it also makes the receive wait, so that
// the worker need not be woken. Otherwise it does nothing, and returns false. It also does nothing while earlier
// requests are in the inbox: these go first.
func (g *Gate) recvApart(r *Request) (begun bool) {
	c := &r.core
	if c.UsesExtras || g.monitors.kinds.Load() != 0 {
		return false
	}
	notify := c.Notify
	h := g.lockLists()
	due := false
	if h.started.Empty() && g.inbox.incoming.Load() == nil {
		c.Notify = flow.NotifyState // the receive ends at once, if recvApart begins it in this way
		if begun, due = h.flow.ReceiveWhole(c); !begun {
			c.Notify = notify
			begun = g.worker != nil && !h.noLinks && h.flow.PostUsual(c)
		}
	}
	g.mu.UnlockLists()
	if due {
		g.lookAgain()
		g.tend()
	}
	return begun
}

// awaitFlush makes r a send whose packet the link has taken: it ends when the driver's buffer is empty.
func (h *lockedGate) awaitFlush(r *Request) {
	if h.endErr != nil { // the flush has failed
		h.flow.Finish(&r.core, h.flow.Dead)
	} else {
		h.flow.AwaitFlush(&r.core)
	}
}

// short sends a message at once, without a request, if it can go eagerly, in one packet, and no message waits before
// it. The message is buf followed by more, which may be nil. sent reports whether the link has taken the message; all,
// whether nothing of it is left in the driver's buffer: if it is false, the caller calls awaitFlush with a request. All
// short sends try short first. A message with more is never gathered, because gathering copies it.
func (h *lockedGate) short(msgContext *Context, tag uint64, buf, more []byte) (sent, all bool) {
	n := len(buf) + len(more)
	if h.flow.LacksCredit(n) {
		h.receive(nil)
	}
	if (h.wokenThreads > 0 || h.flow.HasGathered()) && more == nil && h.gather(msgContext, tag, buf) {
		return true, true
	}
	head := h.flow.ShortHeader(msgContext.numberOrDefault(), tag, n)
	if head == nil {
		return false, false
	}
	began := traceTime()
	var parts [][]byte
	if more != nil {
		h.injected[0], parts = more, h.injected[:]
	}
	h.unlockLists(n)
	sent, err := h.link.Send(head, buf, parts, false)
	h.relockLists(n)
	if more != nil {
		h.injected[0] = nil
	}
	if !sent || err != nil {
		h.flow.Refused()
		if err != nil {
			h.lose(err)
		}
		return false, false
	}
	h.flow.ShortSent(n)
	h.echoDue = h.echoes
	if began != 0 {
		marcel.TraceMessage(marcel.TraceOut, h.gate.ownRank, h.gate.rank, head.Seq, tag, uint64(n), began)
	}
	if all, err = h.flow.Flush(h); err != nil {
		h.lose(err)
	}
	if all && h.gate.monitors.kinds.Load() != 0 {
		h.note(SendDone, Envelope{h.gate.ownRank, tag, uint64(n)}, nil, nil)
	}
	return true, all
}

// Inject sends front followed by body as one message, like that of an IsendInto, if it can leave at once: no other
// message waits, and the network has room. Then it returns true, and the caller may use both again. Otherwise it sends
// nothing, and returns false. It needs no request, copies the bytes once, into the network, never blocks, and allocates
// nothing. in is nil, or a context of the gate's domain to whose group the rank belongs.
func (g *Gate) Inject(msgContext *Context, tag uint64, front, body []byte) bool {
	if g.accessError() != nil || msgContext.check(g.domain, g.rank) != nil || g.worker != nil || g.offload != nil ||
		marcel.Tracing() || g.monitors.kinds.Load() != 0 {
		return false
	}
	h := g.tryLock()
	if h == nil {
		return false
	}
	if g.inbox.left() {
		h.handleInbox()
	}
	if body == nil {
		body = []byte{}
	}
	sent, _ := h.short(msgContext, tag, front, body)
	h.unlock()
	return sent
}

// gather is short for a message that may go into the open packet (internal/flow/gather.go). It reports whether it has.
func (h *lockedGate) gather(msgContext *Context, tag uint64, buf []byte) bool {
	company := flow.WaitingSenders{Woken: h.wokenThreads, Ready: h.wokenReady(), Alone: msgContext != nil || marcel.Tracing()}
	gathered, err := h.flow.Gather(tag, buf, company, h)
	if err != nil {
		h.lose(err)
	}
	if gathered && h.gate.monitors.kinds.Load() != 0 {
		h.note(SendDone, Envelope{h.gate.ownRank, tag, uint64(len(buf))}, nil, nil)
	}
	return gathered
}

// sendNow sends a message if the lock is free, the message can go eagerly, and no message waits before it; else it
// returns false, and has done nothing. If all of the message has left, r ends without ever having been under way.
func (g *Gate) sendNow(r *Request, msgContext *Context, tag uint64, buf []byte) bool {
	if g.offload != nil || marcel.Tracing() || g.monitors.kinds.Load() != 0 {
		return false
	}
	h := g.tryLock()
	if h == nil {
		return false
	}
	if g.inbox.left() {
		h.handleInbox()
	}
	sent, all := h.short(msgContext, tag, buf, nil)
	if sent && !all {
		r.prepare(g, flow.RequestSend, msgContext, tag, buf, flow.NotifyState)
		h.awaitFlush(r)
	}
	h.unlock()
	if !all {
		return sent
	}
	r.endAtOnce(g, tag, len(buf))
	return true
}

// endAtOnce makes r a send of that many bytes that is done, and was never under way. A request that was used before
// still has the sign of its last end, State or the bits of its completion.
func (r *Request) endAtOnce(g *Gate, tag uint64, bytes int) {
	c := &r.core
	if c.UsesExtras {
		r.clearExtras()
	}
	c.Entry.Tag, r.gate, c.N, c.Size, c.Stage = tag, g, bytes, uint64(bytes), flow.Finished
	c.SetErr(nil)
	if !r.done() {
		asm.StoreRelease32(&c.State, flow.StateDone)
	}
}

// refreshCredit receives packets if an eager message of that size lacks credit, since one of them may bring credit: a
// thread that only sends would not receive otherwise.
func (h *lockedGate) refreshCredit(size int) {
	if h.flow.LacksCredit(size) {
		h.receive(nil)
	}
}
