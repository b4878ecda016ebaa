package nmad

import (
	"github.com/pm2-go/pm2/marcel"
	"github.com/pm2-go/pm2/nmad/internal/flow"
)

// Transfer is the loop that carries packets between the flow of a gate and its first link: what the flow
// wants to leave goes to the link, what the link has goes to the flow. All of it is under the lock of the gate.

// drain has leave what waits. It stops at the first refusal.
func (g *Gate) drain() {
	more := g.flow.Begin()
	for p := g.flow.Next(); p != nil; p = g.flow.Next() {
		if p.Head.Kind == flow.KindLoan && !g.lend() {
			g.flow.Bar()
			continue
		}
		ok, err := g.emit(p, more)
		if !ok || err != nil {
			g.flow.Refused()
			if err != nil {
				g.life.lose(err)
				return
			}
			break
		}
		g.flow.Sent()
	}
	g.flush()
}

// emit hands a packet to the link; more: a flush follows. False: it has no room.
func (g *Gate) emit(p *flow.Packet, more bool) (bool, error) {
	began := stamp()
	ok, err := g.link.Send(&p.Head, p.Body, p.Parts, more)
	if began != 0 && ok {
		p.Takes(func(tag, size uint64, seq uint32) {
			marcel.TraceMessage(marcel.TraceOut, g.own, g.rank, seq, tag, size, began)
		})
	}
	return ok, err
}

// flush moves the driver's buffered bytes on, and says whether none are left.
func (g *Gate) flush() bool { return !g.flow.Buffered() || g.flushAll() }

func (g *Gate) flushAll() bool {
	all, err := g.link.Flush()
	if err != nil {
		g.life.lose(err)
		return false
	}
	g.flow.Flushed(all)
	return all
}

// burst is how many packets one poll takes in at most, so that the lock is held
// for a bounded time.
const burst = 32

// receive takes in the packets that are there, up to a burst. Once waiter (nil: none) is
// done and nothing else is waited for it looks for no more: the look would take the line of
// the next cell away from a peer that is about to write it. It says whether there were any.
func (g *Gate) receive(waiter *Request) bool {
	h := &g.head
	for n := range burst {
		body, ok, err := g.link.Recv(h)
		if err != nil {
			g.life.fail(g.rails[0].failure(err))
			return true
		}
		if !ok {
			return n > 0
		}
		if h.Kind != flow.KindEager || !g.flow.Exactly() {
			g.expect(h.Kind)
		}
		wrong := g.flow.Packet(h, body)
		if !g.flow.Calm() {
			g.heedFinished()
		}
		if marcel.Tracing() && wrong == nil {
			g.traceArrived(body)
		}
		if h.Kind == flow.KindNote && wrong == nil {
			wrong = g.consensus.hear(g)
		}
		if wrong != nil {
			g.life.heed(wrong)
			return true
		}
		if g.life.end != nil {
			return true
		}
		if waiter != nil && waiter.core.Stage == flow.Done && g.flow.Posted() == 0 {
			return true
		}
	}
	return true
}

// expect prepares the flow for a packet that is out of the ordinary, or is to be matched with receives that are.
func (g *Gate) expect(kind uint8) {
	if !g.flow.Exactly() {
		// A thread may have posted a receive here and then one for any source: the order of these is kept.
		young := g.any.Now()
		g.collect()
		g.flow.Within(young)
	}
	if kind == flow.KindLoan && g.flow.WantsView() {
		if wrong := g.mapPeer(); wrong != nil {
			g.life.heed(wrong)
		}
	}
}
