package nmad

// How a gate ends in good order. The one that leaves sends BYE as its last
// packet, which says how many bytes it has ever put on the large track; the other one,
// once it has taken in everything before that, and all those bytes, answers
// BYEACK, and only then the first lets go of the link: a socket closed with bytes
// on the way could take them down with it.
//
//	open --- Close ---> closing --- sends done or time up ---> parting --- BYEACK, BYE, or lost ---> ended
//	open --- BYE received ---> all bytes pulled, BYEACK sent ---> ended (peer left)
//	open --- link broken, peer dead, protocol broken ---> ended
//
// A gate that has no links yet is open in this sense; linking.go has what it does. If it has
// nothing to send it has nobody to take leave of.
//
// When both leave at once each gets the other's BYE and needs no more.

// beginClose stops the gate for new requests and ends its receives. Sends go on.
func (g *Gate) beginClose(why error) {
	g.mu.lock()
	defer g.release()
	if g.closing {
		return
	}
	g.closing = true
	g.die(why)
	g.failRecvs(why)
	g.takeLeave()
	if g.link == nil {
		g.failSelf(why)
		g.endLoans()
	}
}

// quiet says that no send is under way any more. Under mu.
func (g *Gate) quiet() bool {
	return g.end != nil || g.link == nil ||
		g.tx.queue.empty() && g.tx.sends.used == 0 && g.pushing == 0 && !g.tx.unflushed && g.tx.gathered.empty() && !g.tx.owesNotes
}

// sayBye ends the sends that are left and takes leave of the peer.
func (g *Gate) sayBye() {
	g.mu.lock()
	defer g.release()
	if g.end != nil || g.link == nil || g.byeSent {
		return
	}
	if g.linking != nil && g.linking.stage != linked {
		g.failSends(g.dead)
		g.stayAway()
		return
	}
	g.byeSent = true
	g.tx.owesBye = true
	g.failSends(g.dead)
	g.drain()
}

// parted says that the peer knows that we leave, or need not know. Under mu.
func (g *Gate) parted() bool {
	return g.end != nil || g.link == nil || g.byeAcked || g.apart()
}

// handleBye hears that the peer has left, and that this was the last of its
// packets but an acknowledgement.
func (g *Gate) handleBye(pushed uint64) *PeerError {
	if g.byeSeen || pushed < g.pulled() {
		return violation(g.rank, "it leaves having pushed %d bytes, of which we have %d", pushed, g.pulled())
	}
	g.byeSeen, g.byeTotal = true, pushed
	g.takeLeave()
	return nil
}

// takeLeave ends the gate once all has come that a peer that has left has sent. On a
// gate that closes itself nobody waits for it any more. The requests that
// remain then are those whose data the peer has not sent.
func (g *Gate) takeLeave() {
	if !g.byeSeen || g.end != nil {
		return
	}
	if g.pulling != 0 && !g.closing && g.pulled() < g.byeTotal {
		return
	}
	g.tx.owesByeAck = true
	g.fail(&PeerError{Rank: g.rank, Reason: "it closed its session", Err: ErrPeerLost})
}

func (g *Gate) handleByeAck() *PeerError {
	if !g.byeSent || g.tx.owesBye || g.byeAcked {
		return violation(g.rank, "an acknowledgement of a leave that was not taken")
	}
	g.byeAcked = true
	return nil
}

// flushed tries to send the acknowledgement that an ended gate may still owe, and
// says whether nothing is left to send. Under mu.
func (g *Gate) flushed() bool {
	if g.outgoing() {
		g.drain()
	}
	return !g.tx.owesByeAck && !g.tx.unflushed
}

// shut ends the gate whatever its state, and says whether nobody is inside the link
// any more, so that it can be closed.
func (g *Gate) shut(why *PeerError) bool {
	g.mu.lock()
	defer g.release()
	g.fail(why)
	g.homeAll()
	return g.resting()
}
