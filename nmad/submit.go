package nmad

import (
	"github.com/pm2-go/pm2/asm"
	"github.com/pm2-go/pm2/marcel"
	"github.com/pm2-go/pm2/nmad/internal/flow"
)

// submit starts r, or leaves it for the holder of the lock.
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

// tend does what the inbox asks for, if the lock is free. Else the holder of the lock does. A holder that is busy with
// another gate of the domain sees in owed that it has to look.
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

// handleInbox starts the requests that other threads have left, and takes in the rest of the inbox. The holder must not
// call it while it handles a packet. It says whether bytes have moved.
func (h *lockedGate) handleInbox() bool {
	h.takeReceives()
	h.takeReleased()
	due := false // sends, which the strategy is to see together, are to leave
	for r := h.started.pop(); r != nil; r = h.started.pop() {
		if r.core.Op == flow.OpSend && (due || !h.started.Empty()) && h.flow.Dead == nil {
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

// start begins what r is for. The holder must not call it while it handles a packet.
func (h *lockedGate) start(r *Request) {
	switch r.core.Op {
	case flow.OpSend:
		if !r.core.Synchronous() {
			h.refreshCredit(r.core.Data.Size)
		}
		if h.flow.Send(&r.core) {
			h.drain()
		}
	case flow.OpRecv:
		h.startRecv(r)
		h.sendIfDue()
	case flow.OpResume:
		h.flow.Deliver(&r.core, nil)
		h.sendIfDue()
	}
}

// startRecv begins a receive or a probe. The request may be done afterwards.
func (h *lockedGate) startRecv(r *Request) {
	c := &r.core
	if !h.guarded && h.flow.PostPlainly(c) {
		return // the usual case
	}
	if !h.flow.Receive(c) && h.admitsReceive(c) {
		h.flow.Post(c)
	}
}

// recvApart begins a receive under the lock of the lists alone, while another thread may be inside the driver, and says
// whether it did: it takes a message that has come whole. In a domain with a worker it also queues the receive, so that
// the worker need not be woken for it: the unexpected messages are the worker's event queue. Requests that were started
// before, and still lie in the inbox, go first.
func (g *Gate) recvApart(r *Request) (begun bool) {
	c := &r.core
	if c.UsesRare || g.monitors.kinds.Load() != 0 {
		return false
	}
	heard := c.Notify
	h := g.lockLists()
	due := false
	if h.started.Empty() && g.inbox.incoming.Load() == nil {
		c.Notify = flow.NotifyState // it is done at once, or not here
		if begun, due = h.flow.ReceiveWhole(c); !begun {
			c.Notify = heard
			begun = g.worker != nil && !h.guarded && h.flow.PostPlainly(c)
		}
	}
	g.mu.UnlockLists()
	if due {
		g.lookAgain()
		g.tend()
	}
	return begun
}

// awaitFlush ends a send, whose packet the link has taken, once the driver's buffer is empty.
func (h *lockedGate) awaitFlush(r *Request) {
	if h.endErr != nil { // the flush has failed
		h.flow.Finish(&r.core, h.flow.Dead)
	} else {
		h.flow.AwaitFlush(&r.core)
	}
}

// short sends a message, buf and behind it more, if it can go eagerly, in one packet, and no message waits before it. It
// needs no request, unless some of the message is still in the driver's buffer (all is false): then the caller has its
// request awaitFlush. All short sends try it first. One with more is not gathered: that copies it.
func (h *lockedGate) short(in *Context, tag uint64, buf, more []byte) (sent, all bool) {
	n := len(buf) + len(more)
	if h.flow.LacksCredit(n) {
		h.receive(nil)
	}
	if (h.wokenThreads > 0 || h.flow.HasGathered()) && more == nil && h.gather(in, tag, buf) {
		return true, true
	}
	head := h.flow.ShortHeader(in.numberOrPlain(), tag, n)
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
		marcel.TraceMessage(marcel.TraceOut, h.g.ownRank, h.g.rank, head.Seq, tag, uint64(n), began)
	}
	if all, err = h.flow.Flush(h); err != nil {
		h.lose(err)
	}
	if all && h.g.monitors.kinds.Load() != 0 {
		h.note(SendDone, Envelope{h.g.ownRank, tag, uint64(n)}, nil, nil)
	}
	return true, all
}

// Inject sends front and body, one behind the other, as one message if it can leave at once: no other one waits, and the
// network has room. Then both may be used again when it returns. false: nothing was sent. It needs no request, copies
// nothing but into the network, never blocks, and allocates nothing. in is nil, or a context of the gate's domain whose
// group has the rank; the message is one like those of IsendInto.
func (g *Gate) Inject(in *Context, tag uint64, front, body []byte) bool {
	if g.accessError() != nil || in.check(g.domain, g.rank) != nil || g.worker != nil || g.offload != nil || marcel.Tracing() || g.monitors.kinds.Load() != 0 {
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
	sent, _ := h.short(in, tag, front, body)
	h.unlock()
	return sent
}

// gather is short for a message that others are to join, or that joins others.
func (h *lockedGate) gather(in *Context, tag uint64, buf []byte) bool {
	gathered, err := h.flow.Gather(tag, buf, flow.Company{Woken: h.wokenThreads, Ready: h.wokenReady(), Alone: in != nil || marcel.Tracing()}, h)
	if err != nil {
		h.lose(err)
	}
	if gathered && h.g.monitors.kinds.Load() != 0 {
		h.note(SendDone, Envelope{h.g.ownRank, tag, uint64(len(buf))}, nil, nil)
	}
	return gathered
}

// sendNow sends a message if the lock is free, it can go eagerly, and no message waits before
// it. If all of it has left, r is done without ever having been under way: a request that is used again keeps
// the marks of the last time that say so.
func (g *Gate) sendNow(r *Request, in *Context, tag uint64, buf []byte) bool {
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
	sent, all := h.short(in, tag, buf, nil)
	if sent && !all {
		r.prepare(g, flow.OpSend, in, tag, buf, flow.NotifyState)
		h.awaitFlush(r)
	}
	h.unlock()
	if !all {
		return sent
	}
	r.endAtOnce(g, tag, len(buf))
	return true
}

// endAtOnce makes r a send of so many bytes that is done, and was never under way.
func (r *Request) endAtOnce(g *Gate, tag uint64, bytes int) {
	c := &r.core
	if c.UsesRare {
		r.clearRare()
	}
	c.Entry.Tag, r.gate, c.N, c.Size, c.Stage = tag, g, bytes, uint64(bytes), flow.Done
	c.SetErr(nil)
	if !r.ended() {
		asm.StoreRelease32(&c.State, flow.Ended)
	}
}

// refreshCredit looks for credit that has come back when an eager message of that
// size lacks it: a sender that only sends would not notice otherwise.
func (h *lockedGate) refreshCredit(size int) {
	if h.flow.LacksCredit(size) {
		h.receive(nil)
	}
}
