package nmad

import (
	"github.com/pm2-go/pm2/asm"
	"github.com/pm2-go/pm2/marcel"
	"github.com/pm2-go/pm2/nmad/internal/flow"
)

// submit starts r, or leaves it for the holder of the lock.
func (g *Gate) submit(r *Request) {
	if g.offloads(r) {
		g.offload.leave(r)
		return
	}
	if !g.mu.tryLock() {
		g.inbox.leave(r)
		return
	}
	if g.inbox.left() {
		g.handleInbox()
	}
	g.start(r)
	g.letGo()
}

// tend does what the inbox asks for, if the lock is free. Else the holder does: one that is busy with another gate of the domain finds
// by owed that it has to look.
func (g *Gate) tend() {
	got := g.mu.tryLock()
	if l := g.mu.domain; !got && l != nil {
		l.owed.Store(true)
		got = g.mu.tryLock()
		if !got && g.worker != nil {
			g.worker.ring()
		}
	}
	if got {
		g.handleInbox()
		g.letGo()
		if g.worker != nil && g.rank == g.own {
			g.worker.own.Store(true)
			g.worker.ring()
		}
	}
}

// enter takes the lock and handles what other threads have left before.
func (g *Gate) enter() {
	g.mu.lock()
	if g.inbox.left() {
		g.handleInbox()
	}
}

// handleInbox starts the requests that other threads have left, and takes in the rest of the inbox. Under mu, and
// not while a packet is being handled. It says whether bytes have moved.
func (g *Gate) handleInbox() bool {
	g.inbox.takeReceives()
	g.inbox.takeReleased()
	several := false // sends, which the strategy is to see together
	for r := g.inbox.collected.pop(); r != nil; r = g.inbox.collected.pop() {
		if r.core.Op == flow.OpSend && (several || !g.inbox.collected.Empty()) && g.flow.Dead == nil {
			g.flow.Send(&r.core)
			several = true
		} else {
			g.start(r)
		}
	}
	if several && !g.flow.Stuck() {
		g.refreshCredit(g.flow.Queued())
		if g.life.end == nil {
			g.track.drain()
		}
	}
	g.sendIfDue()
	return g.rails.complete()
}

// start begins what r is for. Under mu, and not while a packet is being dealt with.
func (g *Gate) start(r *Request) {
	switch r.core.Op {
	case flow.OpSend:
		if !r.core.Synchronous() {
			g.refreshCredit(r.core.Data.Size)
		}
		if g.flow.Send(&r.core) {
			g.track.drain()
		}
	case flow.OpRecv:
		g.startRecv(r)
		g.sendIfDue()
	case flow.OpResume:
		g.flow.Deliver(&r.core, nil)
		g.sendIfDue()
	}
}

// startRecv begins a receive or a probe. The request may be done afterwards. Under mu.
func (g *Gate) startRecv(r *Request) {
	c := &r.core
	if !g.linking.guarded && g.flow.PostPlainly(c) {
		return // the usual case
	}
	if !g.flow.Receive(c) && g.linking.admits(c) {
		g.flow.Post(c)
	}
}

// recvApart begins a receive under the lock of the lists alone, while another thread may be inside the driver, and says whether it did: it takes a
// message that has come whole. In a domain with a worker it also has the receive wait, so that the worker need not be woken for it: the unexpected messages are the
// worker's event queue. What was started before, and lies in the inbox yet, goes first.
func (g *Gate) recvApart(r *Request) (begun bool) {
	c := &r.core
	if c.Special || g.news.watch.kinds.Load() != 0 {
		return false
	}
	heard := c.Heard
	l := g.mu.lists
	l.lock()
	due := false
	if g.inbox.collected.Empty() && g.inbox.incoming.Load() == nil {
		c.Heard = flow.ByState // it is done at once, or not here
		begun = g.flow.ReceiveWhole(c)
		if due = begun && g.flow.CreditDue(); !begun {
			c.Heard = heard
			begun = g.worker != nil && !g.linking.guarded && g.flow.PostPlainly(c)
		}
	}
	l.unlock()
	if due {
		g.inbox.lookAgain()
		g.tend()
	}
	return begun
}

// awaitFlush ends a send, whose packet the link has taken, once the driver's buffer is empty. Under mu.
func (g *Gate) awaitFlush(r *Request) {
	if g.life.end != nil { // the flush has failed
		g.flow.Finish(&r.core, g.flow.Dead)
	} else {
		g.flow.AwaitFlush(&r.core)
	}
}

// short sends a message if it can go eagerly, in one packet, and no message waits before it. It
// needs no request, unless some of the message is still in the driver's buffer (all is false): then the caller has its request
// awaitFlush. All short sends try it first. Under mu.
func (g *Gate) short(tag uint64, buf []byte) (sent, all bool) {
	f, n := &g.flow, len(buf)
	if !f.Clear(n) {
		return false, false
	}
	if !f.Affords(n) {
		if g.refreshCredit(n); !f.Affords(n) || f.Dead != nil {
			return false, false
		}
	}
	if g.waits.awake > 0 || f.Gathered() {
		if gathered, ok := g.gather(tag, buf); gathered || !ok {
			return gathered, gathered
		}
	}
	began, h := stamp(), f.Short(tag, n)
	g.track.leaveLists(n)
	ok, err := g.track.link.Send(h, buf, nil, false)
	if g.track.retakeLists(n); !ok || err != nil {
		f.Refused()
		if err != nil {
			g.life.lose(err)
		}
		return false, false
	}
	if began != 0 {
		marcel.TraceMessage(marcel.TraceOut, g.own, g.rank, h.Seq, tag, uint64(n), began)
	}
	f.ShortSent(n)
	g.track.full = g.track.echoes
	f.Stats.Sends++
	all = g.track.flush()
	if all && g.news.watch.kinds.Load() != 0 {
		g.news.note(SendDone, Envelope{g.own, tag, uint64(n)}, nil, nil)
	}
	return true, all
}

// gather adds a short message to those that wait for others about to be sent. Else it sends what waits. ok: the message can
// leave in a packet of its own. Under mu.
func (g *Gate) gather(tag uint64, buf []byte) (gathered, ok bool) {
	f, ready := &g.flow, g.waits.gathers()
	if !marcel.Tracing() && f.Joins(tag, len(buf), g.waits.awake, ready) {
		f.Stats.Sends++
		if f.Gather(tag, buf, g.waits.awake, ready) {
			g.track.drain()
		}
		if g.news.watch.kinds.Load() != 0 {
			g.news.note(SendDone, Envelope{g.own, tag, uint64(len(buf))}, nil, nil)
		}
		return true, true
	}
	if f.Gathered() {
		g.track.drain()
	}
	return false, !f.Gathered() && f.Dead == nil
}

// sendNow sends a message if the lock is free, it can go eagerly, and no message waits before
// it. If all of it has left, r is done without ever having been under way: a request that is used again keeps
// the marks of the last time that say so.
func (g *Gate) sendNow(r *Request, tag uint64, buf []byte) bool {
	if g.offload != nil || marcel.Tracing() || g.news.watch.kinds.Load() != 0 || !g.mu.tryLock() {
		return false
	}
	if g.inbox.left() {
		g.handleInbox()
	}
	sent, all := g.short(tag, buf)
	if sent && !all {
		r.prepare(g, flow.OpSend, tag, buf, flow.ByState)
		g.awaitFlush(r)
	}
	g.letGo()
	if !all {
		return sent
	}
	r.endAtOnce(g, tag, len(buf))
	return true
}

// endAtOnce makes r a send of so many bytes that is done, and was never under way.
func (r *Request) endAtOnce(g *Gate, tag uint64, bytes int) {
	c := &r.core
	if c.Special {
		r.plain()
	}
	c.Entry.Tag, r.gate, c.N, c.Size, c.Stage = tag, g, bytes, uint64(bytes), flow.Done
	c.EndsWith(nil)
	if !r.ended() {
		asm.StoreRelease32(&c.State, flow.Over)
	}
}

// refreshCredit looks for credit that has come back when an eager message of that
// size lacks it: a sender that only sends would not notice otherwise.
func (g *Gate) refreshCredit(size int) {
	if g.flow.Lacks(size) {
		g.track.receive(nil)
	}
}
