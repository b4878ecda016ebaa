package nmad

import "github.com/pm2-go/pm2/nmad/internal/flow"

// How a gate ends. In good order a side takes leave of the other one (internal/flow/closing.go has the packets):
//
//	open --- Close ---> closing --- sends done or time up ---> parting --- BYEACK, BYE, or lost ---> ended
//	open --- BYE received ---> all bytes pulled, BYEACK sent ---> ended (peer left)
//	open --- link broken, peer dead, protocol broken ---> ended
//
// A gate that has no links yet is open in this sense; linking.go has what it does. If it has
// nothing to send it has nobody to take leave of.

// beginClose stops the gate for new requests and ends its receives. Sends go on.
func (g *Gate) beginClose(why error) {
	g.mu.lock()
	defer g.release()
	if g.flow.Closing {
		return
	}
	g.die(why)
	if g.link == nil {
		g.endBuffers(why)
	}
	var left error
	g.failMovers(flow.Pull, func(err error) { left = g.flow.Close(err) }, why)
	g.heed(left)
}

// quiet says that no send is under way any more. Under mu.
func (g *Gate) quiet() bool { return g.end != nil || g.link == nil || g.flow.Quiet() }

// sayBye ends the sends that are left and takes leave of the peer.
func (g *Gate) sayBye() {
	g.mu.lock()
	defer g.release()
	if g.end != nil || g.link == nil || g.flow.Left() {
		return
	}
	g.endBuffers(g.flow.Dead) // first: the peer may still read the blocks that come back with the sends
	linked := g.linking.linked()
	if linked {
		g.flow.Leave()
	}
	g.failMovers(flow.Push, g.flow.FailSends, g.flow.Dead)
	if linked {
		g.drain()
	} else {
		g.linking.stayAway()
	}
}

// parted says that the peer knows that we leave, or need not know. Under mu.
func (g *Gate) parted() bool {
	return g.end != nil || g.link == nil || g.flow.Acked() || g.linking.apart()
}

// flushed tries to send the acknowledgement that an ended gate may still owe, and
// says whether nothing is left to send. Under mu.
func (g *Gate) flushed() bool {
	if g.flow.Outgoing() {
		g.drain()
	}
	return !g.flow.OwesAck()
}

// shut ends the gate whatever its state, and says whether nobody is inside the link
// any more, so that it can be closed.
func (g *Gate) shut(why *PeerError) bool {
	g.mu.lock()
	defer g.release()
	g.fail(why)
	g.homeAll()
	for i := range g.rails {
		if !g.rails[i].resting() {
			return false
		}
	}
	return true
}
