package nmad

import (
	"errors"
	"fmt"
	"time"

	"github.com/pm2-go/pm2/nmad/driver"
	"github.com/pm2-go/pm2/nmad/internal/flow"
	"github.com/pm2-go/pm2/nmad/internal/presence"
	"github.com/pm2-go/pm2/nmad/internal/roster"
)

// How a gate ends. In an orderly end the side that closes says BYE (internal/flow/closing.go has the packets):
//
//	open --- Close ---> closing --- sends are done, or time is up ---> parting --- BYEACK, BYE, or the peer is lost ---> ended
//	open --- BYE received ---> all bytes pulled, BYEACK sent ---> ended (the peer has left)
//	open --- link broken, peer dead, protocol broken ---> ended
//
// A gate that has no links yet counts as open here; linkstage.go has its states. If it has nothing to send, it sends no
// BYE.

// exhaust calls look until look has found nothing twice in a row, because a link may tell once that it is empty without
// having looked. The number of calls is bounded, in case the peer goes on sending.
func exhaust(look func() bool) {
	const maxCalls = 4096
	for calls, empty := 0, 0; calls < maxCalls && empty < 2; calls++ {
		if empty++; look() {
			empty = 0
		}
	}
}

// die makes new requests fail with why.
func (h *lockedGate) die(why error) {
	h.flow.Dead = why
	h.gate.failure.Store(&why)
	h.setNoLinks()
}

// fail ends the gate and all its requests, unless it has ended. Messages that were received completely stay for later
// receives, unless an earlier message with the same tag did not come.
func (h *lockedGate) fail(why *PeerError) {
	if h.endErr != nil {
		return
	}
	if d := h.gate.domain; d != nil && why.Host == "" {
		why.Host = d.session.nameOf(why.Rank)
	}
	h.endErr, h.endTime = why, time.Now()
	if h.flow.Dead == nil {
		h.die(why)
	}
	h.endLoans(h.flow.Dead) // before the sends end: the peer may still read their buffers
	h.failChunks(flow.Push, func(err error) { h.failChunks(flow.Pull, h.flow.End, err) }, h.flow.Dead)
	h.takeFinished()
	h.closeView()
	h.note(GateEnded, Envelope{Source: h.gate.rank}, nil, why)
	if h.onEnd != nil {
		h.onEnd(h)
	}
}

// endOn ends the gate if err, which the flow has returned, is not nil: the peer has left, or has broken the protocol.
func (h *lockedGate) endOn(err error) {
	switch err {
	case nil:
	case flow.ErrLeft:
		reason := "it closed its session"
		if far := h.gate.peerDomain; far != 0 {
			reason = fmt.Sprintf("it closed its domain %d, or its session", far)
		}
		h.fail(&PeerError{Rank: h.gate.rank, Reason: reason, Err: ErrPeerLost})
	default:
		h.fail(violation(h.gate.rank, "%v", err))
	}
}

// lose ends the gate because a call of the first rail's link has failed. Before that it receives what has arrived.
func (h *lockedGate) lose(err error) { h.loseRail(&h.gate.rails[0], err) }

// loseRail is lose for any rail. The chunks that the rail was carrying are lost, and only the receiver could tell which
// ones. So the loss of one rail is the loss of the peer.
func (h *lockedGate) loseRail(at *rail, err error) {
	if !errors.Is(err, driver.ErrProtocol) {
		exhaust(func() bool { return h.receive(nil) })
	}
	h.loseTo(at.failure(err))
}

// loseTo is fail for a gate whose peer is lost because of why. It tells the launcher first: so the launcher knows
// before any call of the program fails because of it.
func (h *lockedGate) loseTo(why *PeerError) {
	if d := h.gate.domain; h.endErr == nil && d.valid() {
		d.session.peerLost.Store(true)
		d.session.cfg.presence.Tell(presence.Lost)
	}
	h.fail(why)
}

// peerEnded ends the gate because the peer has died or left, as the control connection has told. Before that it
// receives what the links still hold. Hooks must not call it.
func (g *Gate) peerEnded(reason string) {
	exhaust(func() bool {
		h := g.lock()
		return h.pollLocked()
	})
	h := g.lock()
	h.loseTo(&PeerError{Rank: g.rank, Reason: reason, Err: ErrPeerLost})
	h.unlock()
}

// lost ends the gate because of the news that the peer has left or has died. It blocks until the gate has ended.
func (g *Gate) lost(e roster.Event) {
	h := g.lock()
	h.peerNews = e.Reason
	h.unlock()
	if e.Kind == roster.Left {
		g.peerLeft(e.Reason)
		return
	}
	// Links that are being made may hold messages that the peer has sent before its death.
	retryUntil(retireLimit, func() bool { return !g.holds((*lockedGate).linksUnderway) })
	g.peerEnded(e.Reason)
}

// peerLeft polls the gate to a peer that leaves, as the control connection has told, until its BYE has come: the peer
// waits for BYEACK, and perhaps no thread here polls. Links that are being made may bring messages. A gate without
// links ends at once, because the peer has sent nothing.
func (g *Gate) peerLeft(reason string) {
	h := g.lock()
	if h.detached() {
		h.fail(&PeerError{Rank: g.rank, Reason: reason, Err: ErrPeerLost})
	}
	h.unlock()
	retryUntil(byeLimit, func() bool {
		h := g.lock()
		ended := h.endErr != nil
		h.pollLocked()
		return ended
	})
	g.peerEnded(reason)
}

// exclude ends the gate to a process that the others have agreed to be lost. Before that it tries to send that process
// the note that says so.
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
	h.loseTo(&PeerError{Rank: g.rank, Reason: "the processes that are left have agreed that it is lost", Err: ErrPeerLost})
	h.unlock()
}

// beginClose ends the gate's receives with why, and makes new requests fail with why. Sends go on.
func (g *Gate) beginClose(why error) {
	h := g.enter() // sends that were left in the inbox go on, too
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

// sendsDone reports whether no send is under way any more.
func (h *lockedGate) sendsDone() bool { return h.endErr != nil || h.flow.SendsDone() }

// sayBye ends the sends that are still under way, and says BYE to the peer.
func (g *Gate) sayBye() {
	h := g.lock()
	defer h.unlock()
	if h.endErr != nil || h.echoes || h.flow.HasLeft() {
		return
	}
	h.endLoans(h.flow.Dead) // before the sends end: the peer may still read their buffers
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

// peerKnows reports whether the peer knows that this side leaves, or need not know.
func (h *lockedGate) peerKnows() bool {
	return h.endErr != nil || h.echoes || h.flow.Acked() || h.detached()
}

// flushed tries to send the BYEACK that an ended gate may still owe, and reports whether nothing is left to send.
func (h *lockedGate) flushed() bool {
	if h.flow.Outgoing() {
		h.drain()
	}
	return !h.flow.OwesAck()
}

// shut ends the gate, unless it has ended, and reports whether no thread is inside a link any more, so that the links
// can be closed.
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
