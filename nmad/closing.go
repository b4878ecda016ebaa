package nmad

import (
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/pm2-go/pm2/nmad/driver"
	"github.com/pm2-go/pm2/nmad/internal/bootstrap"
	"github.com/pm2-go/pm2/nmad/internal/flow"
)

// How a gate ends. In good order a side says BYE to the other one (internal/flow/closing.go has the packets):
//
//	open --- Close ---> closing --- sends done or time up ---> parting --- BYEACK, BYE, or lost ---> ended
//	open --- BYE received ---> all bytes pulled, BYEACK sent ---> ended (peer left)
//	open --- link broken, peer dead, protocol broken ---> ended
//
// A gate that has no links yet is open in this sense; linking.go has what it does. If it has
// nothing to send, it sends no BYE.

// exhaust calls look until it has found nothing twice in a row, since a link may say once without having looked that it is empty. A
// peer that goes on sending is looked at so many times at most.
func exhaust(look func() bool) {
	const most = 4096
	for n, vain := 0, 0; n < most && vain < 2; n++ {
		if vain++; look() {
			vain = 0
		}
	}
}

// life is whether a gate lives, how it ends, and why. Under the lock of the gate, but failure.
type life struct {
	g       *Gate
	end     *PeerError            // why the gate has ended; nil: it has not
	ended   time.Time             // when
	failure atomic.Pointer[error] // flow.Dead, for readers without the lock
	onEnd   func(*Gate)           // called once, when the gate has ended; must only take note
}

// die notes what new requests fail with. Under mu.
func (l *life) die(why error) {
	g := l.g
	g.flow.Dead = why
	l.failure.Store(&why)
	g.linking.setGuarded()
}

// fail ends the gate and all its requests. What was received completely stays
// there for the receives to come, unless a message before it with the same tag did not come.
func (l *life) fail(why *PeerError) {
	g := l.g
	if l.end != nil {
		return
	}
	l.end, l.ended = why, time.Now()
	if g.flow.Dead == nil {
		l.die(why)
	}
	g.memory.end(g.flow.Dead) // first: the peer may still read the blocks that come back with the sends
	g.rails.fail(flow.Push, func(err error) { g.rails.fail(flow.Pull, g.flow.End, err) }, g.flow.Dead)
	g.news.takeFinished()
	g.memory.closeView()
	g.news.note(GateEnded, Envelope{Source: g.rank}, nil, why)
	if l.onEnd != nil {
		l.onEnd(g)
	}
}

// endOn ends the gate if err, which the flow has returned, says that the peer has left or has broken the protocol. Under mu.
func (l *life) endOn(err error) {
	g := l.g
	switch err {
	case nil:
	case flow.ErrLeft:
		reason := "it closed its session"
		if far := g.linking.far; far != 0 {
			reason = fmt.Sprintf("it closed its domain %d, or its session", far)
		}
		l.fail(&PeerError{Rank: g.rank, Reason: reason, Err: ErrPeerLost})
	default:
		l.fail(violation(g.rank, "%v", err))
	}
}

// lose ends the gate because a call of the link has failed; what arrived before
// is taken in first. Under mu.
func (l *life) lose(err error) { l.loseRail(&l.g.rails.all[0], err) }

// loseRail is lose for any rail: what it carries of a message is gone, and only the
// receiver could tell what that is, so with one rail the peer is lost.
func (l *life) loseRail(at *rail, err error) {
	g := l.g
	if !errors.Is(err, driver.ErrProtocol) {
		exhaust(func() bool { return g.track.receive(nil) })
	}
	l.fail(at.failure(err))
}

// peerEnded ends the gate because the peer has died or left, as another channel
// than the link says. What the link still holds is taken in first. It must not
// be called from hooks.
func (l *life) peerEnded(reason string) {
	g := l.g
	exhaust(func() bool {
		g.mu.lock()
		return g.pollLocked()
	})
	g.mu.lock()
	l.fail(&PeerError{Rank: g.rank, Reason: reason, Err: ErrPeerLost})
	g.letGo()
}

// lost ends the gate because of the news that the peer has left or has died. It blocks.
func (l *life) lost(e bootstrap.Event) {
	g := l.g
	if e.Kind == bootstrap.Left {
		l.peerLeft(e.Reason)
		return
	}
	// What lies in links that are being made came before its death.
	retryUntil(retireLimit, func() bool {
		g.mu.lock()
		defer g.letGo()
		return !g.linking.underway()
	})
	l.peerEnded(e.Reason)
}

// peerLeft polls for a peer that has said elsewhere that it leaves, until its BYE has
// come: it waits for our acknowledgement, and perhaps no thread here polls. If links were being
// made they may have brought something. Without links nothing was sent.
func (l *life) peerLeft(reason string) {
	g := l.g
	g.mu.lock()
	if g.linking.apart() {
		l.fail(&PeerError{Rank: g.rank, Reason: reason, Err: ErrPeerLost})
	}
	g.letGo()
	retryUntil(byeLimit, func() bool {
		g.mu.lock()
		over := l.end != nil
		g.pollLocked()
		return over
	})
	l.peerEnded(reason)
}

// exclude ends the gate to a process that the others have agreed to be lost, once it has been told,
// if it can be told.
func (l *life) exclude() {
	g := l.g
	retryUntil(retireLimit, func() bool {
		g.mu.lock()
		defer g.letGo()
		if l.end == nil && g.flow.Outgoing() {
			g.track.drain()
		}
		return l.end != nil || g.flow.Notes() == 0 && !g.flow.Unflushed()
	})
	g.mu.lock()
	l.fail(&PeerError{Rank: g.rank, Reason: "the processes that are left have agreed that it is lost", Err: ErrPeerLost})
	g.letGo()
}

// beginClose stops the gate for new requests and ends its receives. Sends go on.
func (l *life) beginClose(why error) {
	g := l.g
	g.enter() // what was started before goes on
	defer g.letGo()
	if g.flow.Closing {
		return
	}
	l.die(why)
	if g.track.echoes {
		g.memory.end(why)
	}
	var left error
	g.rails.fail(flow.Pull, func(err error) { left = g.flow.Close(err) }, why)
	l.endOn(left)
}

// quiet says that no send is under way any more. Under mu.
func (l *life) quiet() bool { return l.end != nil || l.g.flow.Quiet() }

// sayBye ends the sends that are left, and says BYE to the peer.
func (l *life) sayBye() {
	g := l.g
	g.mu.lock()
	defer g.letGo()
	if l.end != nil || g.track.echoes || g.flow.Left() {
		return
	}
	g.memory.end(g.flow.Dead) // first: the peer may still read the blocks that come back with the sends
	linked := g.linking.linked()
	if linked {
		g.flow.Leave()
	}
	g.rails.fail(flow.Push, g.flow.FailSends, g.flow.Dead)
	if linked {
		g.track.drain()
	} else {
		g.linking.endUnlinked()
	}
}

// peerKnows says that the peer knows that this side leaves, or need not know. Under mu.
func (l *life) peerKnows() bool {
	g := l.g
	return l.end != nil || g.track.echoes || g.flow.Acked() || g.linking.apart()
}

// flushed tries to send the acknowledgement that an ended gate may still owe, and
// says whether nothing is left to send. Under mu.
func (l *life) flushed() bool {
	g := l.g
	if g.flow.Outgoing() {
		g.track.drain()
	}
	return !g.flow.OwesAck()
}

// shut ends the gate whatever its state, and says whether no thread is inside the link
// any more, so that it can be closed.
func (l *life) shut(why *PeerError) bool {
	g := l.g
	g.mu.lock()
	defer g.letGo()
	l.fail(why)
	g.rails.complete()
	for i := range g.rails.all {
		if !g.rails.all[i].inactive() {
			return false
		}
	}
	return true
}
