package nmad

import (
	"context"
	"fmt"

	"github.com/pm2-go/pm2/nmad/driver"
	"github.com/pm2-go/pm2/nmad/internal/flow"
)

// A gate gets its links when they are first needed (or, with Config.Link "all", while the session opens): when something
// is to be sent through it. A receive makes no links, because the sender will. If a peer without links dies or leaves, the
// control connection tells its gate. Until the links are there the gate has links without room (nowhere): a send waits in
// the gate's queue as for a busy network, and later sends need no further check.
//
//	                 something to send              YES; all rails dialled
//	   unlinked ------------------------> dialling ------------------------> linked
//	      |                                  |                                 ^
//	      | the peer's first rail: YES       | the peer's first rail,          |
//	      |                                  | and its rank is the lower: YES  |
//	      '---------------> accepting <------'                                 |
//	                            '--------------- all rails are here -----------'
//
//	unlinked, dialling, accepting --- dial failed, peer lost, time up ---> ended, as in gate_close.go
//	unlinked, dialling, accepting --- Close, nothing left to send -------> absent
//
// On each rail the dialler sends the first packet (LINK): from which domain to which other one the link leads. If that
// domain is not open yet, the side that accepts waits. Either side may dial, and both may at once. So the side that
// accepts answers, in its first packet on the first rail, what becomes of the link:
//
//	YES     it is the link, and the other rails may follow; from accepting on
//	LATER   dialling, and our rank is the lower one: our own link is on the way to you.
//	        Also for what comes when there are links already
//	NEVER   the gate has ended, or its domain is closed or closing
//
// There is one link per rail in the end. Say that A has the lower rank. A says YES only when it is unlinked, and then
// never dials; or it dials, and then says LATER until it ends. So only one of two dialled links is taken: if A has said
// YES, it has none of its own that B could take. If both dial, A's link is taken: B says YES while it dials, too, and
// gives its own up. The side that hears LATER waits, and asks again now and then, since the other's link may fail to come;
// then it hears NEVER. If no answer comes the gate ends, because the peer may have taken the link.
//
// No message is lost. A side sends only after it has heard YES, and then the other side has decided on these links. It
// takes in what lies in them once all of them are here, even if the sender has left meanwhile (Gate.peerLeft waits for
// that).
//
// Rank 0 and the leaders of the hosts relay the news. When one of them has left or died, only a link tells of the death of
// a process on another host. From then on receives and probes that wait make links; those from any source make links to
// all other processes (Domain.linkWaiting).
//
// linkStage is how far the links of a gate are.
type linkStage uint8

const (
	unlinked linkStage = iota
	dialling
	accepting
	linked
	absent
)

// What the two sides of a new link say to each other.
const (
	linkYes = iota
	linkLater
	linkNever
	linkAsk // no answer: what the dialler asks for
)

// linked says that the gate has its links.
func (h *lockedGate) linked() bool { return h.stage == linked }

// detached says that the gate has no links, and none are being made.
func (h *lockedGate) detached() bool { return h.stage == unlinked || h.stage == absent }

// linksUnderway says that links are being made.
func (h *lockedGate) linksUnderway() bool {
	return (h.stage == dialling || h.stage == accepting) && h.endErr == nil
}

// isDialling says whether this side makes the links, still. It takes the lock.
func (g *Gate) isDialling() bool {
	h := g.lock()
	defer h.unlock()
	return h.endErr == nil && h.stage == dialling
}

// wantLinks has links made.
func (h *lockedGate) wantLinks() {
	if h.stage != unlinked || h.endErr != nil {
		return
	}
	h.stage = dialling
	h.g.domain.work.Go(func() { h.g.domain.reach(h.g) })
}

// setGuarded notes whether a receive may simply wait on the gate: it may not if the gate is dead, or has no links yet. The
// holder calls it after each change of either.
func (h *lockedGate) setGuarded() { h.guarded = h.flow.Dead != nil || h.stage != linked }

// admitsReceive says whether a receive may wait on a gate that is not simply open; if not it has
// ended.
func (h *lockedGate) admitsReceive(c *flow.Request) bool {
	if f := &h.flow; f.Dead != nil {
		f.Finish(c, f.Dead)
		return false
	}
	if h.g.domain != nil && h.g.domain.s.relayLost.Load() {
		h.wantLinks()
	}
	return true
}

// verdict decides what becomes of a first rail that the peer has dialled.
func (h *lockedGate) verdict(link driver.Link) uint64 {
	switch {
	case h.endErr != nil || h.stage == absent:
		return linkNever
	case h.stage == unlinked, h.stage == dialling && h.g.rank < h.g.ownRank:
		h.stage = accepting
		h.accepted = make([]driver.Link, len(h.g.rails))
		h.accepted[0] = link
		return linkYes
	}
	return linkLater
}

// acceptRail takes a rail of links that are being accepted. False: there is no place for it.
func (h *lockedGate) acceptRail(rail int, link driver.Link) bool {
	if h.endErr != nil || h.stage != accepting || h.accepted[rail] != nil {
		return false
	}
	h.accepted[rail] = link
	return true
}

// allAccepted says that all rails are there.
func (h *lockedGate) allAccepted() bool {
	for _, link := range h.accepted {
		if link == nil {
			return false
		}
	}
	return true
}

// attach installs the links of a gate in the stage from, in which they were being made, and starts what has waited for
// them. False: the gate does not want them any more.
func (h *lockedGate) attach(from linkStage, links []driver.Link) bool {
	if h.endErr != nil || h.stage != from {
		return false
	}
	h.stage, h.accepted = linked, nil
	h.setGuarded()
	for i, link := range links {
		h.g.rails[i].bind(link)
	}
	h.bind(links[0], h.eager)
	h.linksMade = uint64(len(links))
	h.endWaiters(nil)
	if h.flow.Outgoing() {
		h.drain()
	}
	return true
}

// endWaiters ends the calls of Link.
func (h *lockedGate) endWaiters(err error) {
	for r := h.linkWaiters.pop(); r != nil; r = h.linkWaiters.pop() {
		h.flow.Finish(&r.core, err)
	}
}

// endUnlinked is the leave of a gate that has no links: it says NEVER from here on.
func (h *lockedGate) endUnlinked() {
	h.stage = absent
	h.endWaiters(h.flow.Dead)
}

// Link makes the links to the peer now, instead of when they are first needed, and waits until they are there. It fails
// with the cause of ctx when that is done, with a PeerError when the links cannot be made, and with ErrClosed when the
// session is closed. It blocks the calling thread or goroutine only. Hooks must not call it.
func (g *Gate) Link(ctx context.Context) error {
	if err := g.accessError(); err != nil {
		return err
	}
	r := &Request{}
	h := r.startLink(g)
	switch {
	case h.flow.Dead != nil:
		h.flow.Finish(&r.core, h.flow.Dead)
	case h.linked():
		h.flow.Finish(&r.core, nil)
	default:
		h.linkWaiters.push(r)
		h.wantLinks()
	}
	h.unlock()
	if err := r.WaitContext(ctx); err != nil {
		return during(fmt.Sprintf("link to rank %d", g.rank), err)
	}
	return nil
}

// unlinkedLink is the link of a gate that has none yet: nothing has come, and there is no room. The first send through it
// starts to make the real links. The holder of the gate's lock calls its methods; any thread may call Close and
// Descriptor.
type unlinkedLink struct {
	driver.Plain
	h *lockedGate
}

func (unlinkedLink) Caps() driver.Caps {
	return driver.Caps{Short: -1, Buffered: true, Place: driver.Place{Node: -1}}
}

func (no unlinkedLink) Send(*driver.Header, []byte, [][]byte, bool) (bool, error) {
	no.h.wantLinks()
	return false, nil
}

func (unlinkedLink) Flush() (bool, error)                            { return true, nil }
func (unlinkedLink) Recv(*driver.Header) (_ []byte, _ bool, _ error) { return }
func (unlinkedLink) Push([]byte) (int, error)                        { return 0, nil }
func (unlinkedLink) Pull([]byte) (int, error)                        { return 0, nil }
func (unlinkedLink) Descriptor() int                                 { return -1 }
func (unlinkedLink) Arm(bool) bool                                   { return true }
func (unlinkedLink) Disarm()                                         {}
func (unlinkedLink) Close() error                                    { return nil }
