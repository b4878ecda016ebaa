package nmad

import (
	"errors"
	"fmt"
	"time"

	"github.com/pm2-go/pm2/nmad/driver"
	"github.com/pm2-go/pm2/nmad/internal/flow"
	"github.com/pm2-go/pm2/nmad/internal/roster"
)

// How a gate ends. In good order a side says BYE to the other one (internal/flow/closing.go has the packets):
//
//	open --- Close ---> closing --- sends done or time up ---> parting --- BYEACK, BYE, or lost ---> ended
//	open --- BYE received ---> all bytes pulled, BYEACK sent ---> ended (peer left)
//	open --- link broken, peer dead, protocol broken ---> ended
//
// A gate that has no links yet is open in this sense; linkstage.go has what it does. If it has
// nothing to send, it sends no BYE.

// exhaust calls look until look has found nothing twice in a row, because a link may say once that it is empty without a
// look. The number of calls is bounded, in case the peer goes on sending.
func exhaust(look func() bool) {
	const most = 4096
	for n, vain := 0, 0; n < most && vain < 2; n++ {
		if vain++; look() {
			vain = 0
		}
	}
}

// die notes what new requests fail with.
func (h *lockedGate) die(why error) {
	h.flow.Dead = why
	h.g.failure.Store(&why)
	h.setGuarded()
}

// fail ends the gate and all its requests. Messages that were received completely stay for later receives, unless an
// earlier message with the same tag did not come.
func (h *lockedGate) fail(why *PeerError) {
	if h.endErr != nil {
		return
	}
	if d := h.g.domain; d != nil && why.Host == "" {
		why.Host = d.s.nameOf(why.Rank)
	}
	h.endErr, h.endTime = why, time.Now()
	if h.flow.Dead == nil {
		h.die(why)
	}
	h.endLoans(h.flow.Dead) // first: the peer may still read the blocks that come back with the sends
	h.failChunks(flow.Push, func(err error) { h.failChunks(flow.Pull, h.flow.End, err) }, h.flow.Dead)
	h.takeFinished()
	h.closeView()
	h.note(GateEnded, Envelope{Source: h.g.rank}, nil, why)
	if h.onEnd != nil {
		h.onEnd(h)
	}
}

// endOn ends the gate if err, which the flow has returned, says that the peer has left or has broken the protocol.
func (h *lockedGate) endOn(err error) {
	switch err {
	case nil:
	case flow.ErrLeft:
		reason := "it closed its session"
		if far := h.g.peerDomain; far != 0 {
			reason = fmt.Sprintf("it closed its domain %d, or its session", far)
		}
		h.fail(&PeerError{Rank: h.g.rank, Reason: reason, Err: ErrPeerLost})
	default:
		h.fail(violation(h.g.rank, "%v", err))
	}
}

// lose ends the gate because a call of the link has failed; what arrived before
// is taken in first.
func (h *lockedGate) lose(err error) { h.loseRail(&h.g.rails[0], err) }

// loseRail is lose for any rail. The parts of messages that the rail carries are gone, and only the receiver could tell
// which these are. So with one rail the peer is lost.
func (h *lockedGate) loseRail(at *rail, err error) {
	if !errors.Is(err, driver.ErrProtocol) {
		exhaust(func() bool { return h.receive(nil) })
	}
	h.g.tellLost(h)
	h.fail(at.failure(err))
}

// peerEnded ends the gate because the peer has died or left, as another channel than the link says. It first takes in what
// the link still holds. Hooks must not call it.
func (g *Gate) peerEnded(reason string) {
	exhaust(func() bool {
		h := g.lock()
		return h.pollLocked()
	})
	h := g.lock()
	g.tellLost(h)
	h.fail(&PeerError{Rank: g.rank, Reason: reason, Err: ErrPeerLost})
	h.unlock()
}

// lost ends the gate because of the news that the peer has left or has died. It blocks.
func (g *Gate) lost(e roster.Event) {
	h := g.lock()
	h.peerNews = e.Reason
	h.unlock()
	if e.Kind == roster.Left {
		g.peerLeft(e.Reason)
		return
	}
	// What lies in links that are being made came before its death.
	retryUntil(retireLimit, func() bool {
		h := g.lock()
		defer h.unlock()
		return !h.linksUnderway()
	})
	g.peerEnded(e.Reason)
}

// peerLeft polls for a peer that has said elsewhere that it leaves, until its BYE has
// come: it waits for our acknowledgement, and perhaps no thread here polls. If links were being
// made they may have brought something. Without links nothing was sent.
func (g *Gate) peerLeft(reason string) {
	h := g.lock()
	if h.detached() {
		h.fail(&PeerError{Rank: g.rank, Reason: reason, Err: ErrPeerLost})
	}
	h.unlock()
	retryUntil(byeLimit, func() bool {
		h := g.lock()
		over := h.endErr != nil
		h.pollLocked()
		return over
	})
	g.peerEnded(reason)
}

// exclude ends the gate to a process that the others have agreed to be lost. It tells that process first, if it can.
func (g *Gate) exclude() {
	retryUntil(retireLimit, func() bool {
		h := g.lock()
		defer h.unlock()
		if h.endErr == nil && h.flow.Outgoing() {
			h.drain()
		}
		return h.endErr != nil || h.flow.NotesSent()
	})
	h := g.lock()
	g.tellLost(h)
	h.fail(&PeerError{Rank: g.rank, Reason: "the processes that are left have agreed that it is lost", Err: ErrPeerLost})
	h.unlock()
}

// beginClose stops the gate for new requests and ends its receives. Sends go on.
func (g *Gate) beginClose(why error) {
	h := g.enter() // what was started before goes on
	defer h.unlock()
	if h.flow.Closing {
		return
	}
	h.die(why)
	if h.echoes {
		h.endLoans(why)
	}
	var left error
	h.failChunks(flow.Pull, func(err error) { left = h.flow.Close(err) }, why)
	h.endOn(left)
}

// sendsDone says that no send is under way any more.
func (h *lockedGate) sendsDone() bool { return h.endErr != nil || h.flow.SendsDone() }

// sayBye ends the sends that are left, and says BYE to the peer.
func (g *Gate) sayBye() {
	h := g.lock()
	defer h.unlock()
	if h.endErr != nil || h.echoes || h.flow.HasLeft() {
		return
	}
	h.endLoans(h.flow.Dead) // first: the peer may still read the blocks that come back with the sends
	linked := h.linked()
	if linked {
		h.flow.Leave()
	}
	h.failChunks(flow.Push, h.flow.FailSends, h.flow.Dead)
	if linked {
		h.drain()
	} else {
		h.endUnlinked()
	}
}

// peerKnows says that the peer knows that this side leaves, or need not know.
func (h *lockedGate) peerKnows() bool {
	return h.endErr != nil || h.echoes || h.flow.Acked() || h.detached()
}

// flushed tries to send the acknowledgement that an ended gate may still owe, and
// says whether nothing is left to send.
func (h *lockedGate) flushed() bool {
	if h.flow.Outgoing() {
		h.drain()
	}
	return !h.flow.OwesAck()
}

// shut ends the gate whatever its state, and says whether no thread is inside the link
// any more, so that it can be closed.
func (g *Gate) shut(why *PeerError) bool {
	h := g.lock()
	defer h.unlock()
	h.fail(why)
	h.complete()
	for i := range g.rails {
		if !g.rails[i].inactive() {
			return false
		}
	}
	return true
}
