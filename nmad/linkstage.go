package nmad

import (
	"context"
	"fmt"

	"github.com/pm2-go/pm2/nmad/driver"
	"github.com/pm2-go/pm2/nmad/internal/flow"
)

// linkStage is the state of the links of a gate.
//
// A gate gets its links when something is first to be sent through it (or, with Config.Link "all", while the session
// opens). A receive makes no links, because the sender will. If a peer dies or leaves before there are links, the
// control connection tells its gate. Until the gate has links it has an unlinkedLink, which never has room: so a send
// waits in the gate's queue as for a busy network, and sends need no further check.
//
//	                 something to send              YES; all rails dialed
//	   unlinked ------------------------> dialing -------------------------> linked
//	      |                                  |                                 ^
//	      | the peer's first rail: YES       | the peer's first rail,          |
//	      |                                  | and its rank is the lower: YES  |
//	      '---------------> accepting <------'                                 |
//	                            '--------------- all rails are here -----------'
//
//	unlinked, dialing, accepting --- dial failed, peer lost, time up ---> ended, as in gate_close.go
//	unlinked, dialing, accepting --- Close, nothing left to send -------> absent
//
// On each rail the dialer sends the first packet (LINK), which says from which domain to which domain the link leads.
// If the accepting side has not opened that domain yet, it waits. Either side may dial, and both may dial at once. So
// the accepting side decides what becomes of the first rail, and answers in its first packet:
//
//	YES     it takes the link, and the dialer may dial the other rails
//	LATER   it dials itself, and its rank is the lower one, so its own link will be taken; or it has links already
//	NEVER   the gate has ended, or its domain is closed or closing
//
// In the end there is one link per rail. Let A have the lower rank. Either A says YES while it is unlinked, and then
// never dials, so there is no link of A that B could take; or A dials, and says LATER until it ends. If both dial, B
// says YES to A's link although it dials itself, and gives its own link up. A side that gets LATER waits for the other
// side's link. Since that may fail to come, it dials again now and then; it gets NEVER when the other side has given
// up. If no answer comes, the gate ends, because the peer may have taken the link.
//
// No message is lost: a side sends only after YES, so the other side has decided for these links. That side receives
// what is in them when all of them are here, even if the sender has left meanwhile (Gate.peerLeft waits for that).
//
// Rank 0 and the leaders of the hosts relay the news of the control connection. When one of them has left or died, only
// a link tells of the death of a process on another host. From then on receives and probes that wait make links; those
// from any source make links to all other processes (Domain.linkWaiting).
type linkStage uint8

const (
	stageUnlinked  linkStage = iota // no links, and none were asked for
	stageDialing                    // Domain.reach makes links
	stageAccepting                  // welcome has taken the peer's first rail, and waits for the others
	stageLinked                     // the gate has its links
	stageAbsent                     // closed without links
)

// Header.Size of a packet LINK: what the two sides of a new link tell each other.
const (
	linkYes   = iota // answer YES
	linkLater        // answer LATER
	linkNever        // answer NEVER
	linkAsk          // the dialer's packet
)

// linked reports whether the gate has its links.
func (h *lockedGate) linked() bool { return h.stage == stageLinked }

// detached reports whether the gate has no links, and none are being made.
func (h *lockedGate) detached() bool { return h.stage == stageUnlinked || h.stage == stageAbsent }

// linksUnderway reports whether links are being made.
func (h *lockedGate) linksUnderway() bool {
	return (h.stage == stageDialing || h.stage == stageAccepting) && h.endErr == nil
}

// isDialing reports whether this side still dials the links. It takes the lock.
func (g *Gate) isDialing() bool {
	return g.holds(func(h *lockedGate) bool { return h.endErr == nil && h.stage == stageDialing })
}

// wantLinks starts to make links, unless that was done before.
func (h *lockedGate) wantLinks() {
	if h.stage != stageUnlinked || h.endErr != nil {
		return
	}
	h.stage = stageDialing
	h.gate.domain.work.Go(func() { h.gate.domain.reach(h.gate) })
}

// setNoLinks sets noLinks. The holder calls it after each change of flow.Dead and stage.
func (h *lockedGate) setNoLinks() { h.noLinks = h.flow.Dead != nil || h.stage != stageLinked }

// admitsReceive reports whether a receive may wait at a gate without links. If the gate is dead, it ends the receive
// and returns false.
func (h *lockedGate) admitsReceive(c *flow.Request) bool {
	if f := &h.flow; f.Dead != nil {
		f.Finish(c, f.Dead)
		return false
	}
	if h.gate.domain != nil && h.gate.domain.session.relayLost.Load() {
		h.wantLinks()
	}
	return true
}

// verdict decides what becomes of a first rail that the peer has dialed, and returns the answer. After linkYes the
// gate keeps the link.
func (h *lockedGate) verdict(link driver.Link) uint64 {
	switch {
	case h.endErr != nil || h.stage == stageAbsent:
		return linkNever
	case h.stage == stageUnlinked, h.stage == stageDialing && h.gate.rank < h.gate.ownRank:
		h.stage = stageAccepting
		h.accepted = make([]driver.Link, len(h.gate.rails))
		h.accepted[0] = link
		return linkYes
	}
	return linkLater
}

// acceptRail takes a further rail that the peer has dialed. It returns false if the gate does not accept links, or has
// that rail.
func (h *lockedGate) acceptRail(rail int, link driver.Link) bool {
	if h.endErr != nil || h.stage != stageAccepting || h.accepted[rail] != nil {
		return false
	}
	h.accepted[rail] = link
	return true
}

// attach gives the gate its links, which were made in the stage from, and sends what has waited for them. It returns
// false if the gate is not in that stage any more; then the caller closes the links.
func (h *lockedGate) attach(from linkStage, links []driver.Link) bool {
	if h.endErr != nil || h.stage != from {
		return false
	}
	h.stage, h.accepted = stageLinked, nil
	h.setNoLinks()
	for i, link := range links {
		h.gate.rails[i].bind(link)
	}
	h.bind(links[0], h.eager)
	h.linksMade = uint64(len(links))
	h.endWaiters(nil)
	if h.flow.Outgoing() {
		h.drain()
	}
	return true
}

// endWaiters ends the requests of Gate.Link with err.
func (h *lockedGate) endWaiters(err error) {
	for r := h.linkWaiters.pop(); r != nil; r = h.linkWaiters.pop() {
		h.flow.Finish(&r.core, err)
	}
}

// endUnlinked closes a gate that has no links. From here on it answers NEVER.
func (h *lockedGate) endUnlinked() {
	h.stage = stageAbsent
	h.endWaiters(h.flow.Dead)
}

// Link makes the links to the peer now, instead of when they are first needed, and waits for them. It fails with the
// cause of ctx when ctx is done, with a PeerError if the links cannot be made, and with ErrClosed if the session is
// closed. It blocks the calling thread or goroutine only. Hooks must not call it.
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

// unlinkedLink is the link, for each rail, of a gate that has no links yet: nothing comes over it, and it has no room.
// The first send over it starts to make the real links. The holder of the gate's lock calls its methods; any thread may
// call Close and Descriptor.
type unlinkedLink struct {
	driver.BasicLink
	held *lockedGate
}

func (unlinkedLink) Caps() driver.Caps {
	return driver.Caps{Short: -1, Buffered: true, Locality: driver.Locality{Node: -1}}
}

func (no unlinkedLink) Send(*driver.Header, []byte, [][]byte, bool) (bool, error) {
	no.held.wantLinks()
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
