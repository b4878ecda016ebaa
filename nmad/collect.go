package nmad

import (
	"github.com/pm2-go/pm2/asm"
	"github.com/pm2-go/pm2/marcel"
)

// Collecting: a request that is started goes to its gate. Whoever finds the gate's lock
// free starts it there and then. Who does not, because somebody else is sending,
// receiving or polling, leaves the request for him: starting never waits, so it may be
// done from hooks; and what several threads have left meanwhile stands in the queue
// together, where the strategy can put it into one packet.
//
//	starter: push r onto incoming; try mu: got it: start all; not: go away
//	holder:  unlock mu; look at incoming; not empty: try mu, start all
//
// As for movers, both look after they wrote, so nothing is left behind.

// begin starts r, or leaves it for the holder of the lock.
func (g *Gate) begin(r *Request) {
	if !g.mu.tryLock() {
		g.leave(r)
		return
	}
	if g.left() {
		g.attend()
	}
	g.start(r)
	g.release()
}

// leave leaves r for the holder of the lock.
func (g *Gate) leave(r *Request) {
	for {
		head := g.incoming.Load()
		r.link = head
		if g.incoming.CompareAndSwap(head, r) {
			break
		}
	}
	if g.mu.tryLock() {
		g.attend()
		g.release()
	}
}

// enter takes the lock and sees to what others have left: that was before.
func (g *Gate) enter() {
	g.mu.lock()
	if g.left() {
		g.attend()
	}
}

// left says whether other threads have left something for the holder of the lock. landed is below zero while the
// holder has taken in what a thread has left and that thread has not counted it yet: there is nothing to do for it.
// If its debt hides what another thread has left, it counts last, and then tries the lock, which sees to both.
func (g *Gate) left() bool { return g.landed.Load() > 0 || g.incoming.Load() != nil }

// wanted says whether the holder of the lock should not stay longer than he must.
func (g *Gate) wanted() bool { return g.mu.wanted() || g.incoming.Load() != nil }

// attend sees to what others have left. Under mu, and not while a packet is being dealt
// with. It says whether bytes have moved.
func (g *Gate) attend() bool {
	g.collect()
	g.searchIfAsked()
	g.takeReleased()
	several := false // sends, which the strategy is to see together
	for r := g.collected.pop(); r != nil; r = g.collected.pop() {
		switch {
		case r.stage == matched:
			g.deliver(r, r.held)
		case r.op == opSend && (several || !g.collected.empty()) && g.link != nil && g.dead == nil:
			g.stats.Sends++
			g.queueUp(r)
			several = true
		default:
			g.start(r)
		}
	}
	if several && !g.tx.refused {
		if head := g.tx.queue.head; head != nil {
			g.refreshCredit(head.data.size)
		}
		if g.end == nil {
			g.drain()
		}
	}
	return g.homeAll()
}

// collect takes in what has been left in incoming, in its order: receives are posted,
// so that what arrives is matched with them; all else that there is to do for them, and
// for the others, is left for attend. Under mu.
func (g *Gate) collect() {
	if g.incoming.Load() == nil {
		return
	}
	var first *Request // oldest first
	for r := g.incoming.Swap(nil); r != nil; {
		next := r.link
		r.link = first
		r, first = next, r
	}
	for r := first; r != nil; {
		next := r.link
		if r.op != opRecv || g.post(r) {
			g.collected.push(r)
		}
		r = next
	}
}

// start begins what r is for. Under mu, and not while a packet is being dealt with.
func (g *Gate) start(r *Request) {
	switch r.op {
	case opSend:
		g.startSend(r)
	case opRecv:
		g.startRecv(r)
	case opResume:
		g.deliver(r, r.held)
	}
}

// startSend begins a send. The request may be done on return.
func (g *Gate) startSend(r *Request) {
	g.stats.Sends++
	r.stage = queued
	if g.dead != nil {
		g.complete(r, g.dead)
		return
	}
	if g.link == nil {
		g.sendToSelf(r)
		return
	}
	if !r.sync {
		g.refreshCredit(r.data.size)
	}
	late := g.putsOff(r)
	if !late && g.dead == nil && g.tx.queue.empty() && g.rx.answers.empty() {
		if sent, err := g.transmit(r); err != nil {
			g.lose(err)
			g.complete(r, g.dead)
			return
		} else if sent {
			switch all := g.flush(); {
			case r.stage != queued:
				g.pend(r)
			case all:
				g.sent(r)
			default:
				g.stay(r)
			}
			return
		}
	}
	if g.dead != nil {
		g.complete(r, g.dead)
		return
	}
	g.queueUp(r)
	if !g.tx.refused && !late {
		g.drain()
	}
}

// queueUp has a send wait for its turn.
func (g *Gate) queueUp(r *Request) {
	r.stage = queued
	g.pend(r)
	g.enqueue(r)
}

// sendAtOnce sends a message if it can go eagerly and nothing is before it. It
// needs no request, unless some of the message has still to leave: then its owner stays.
func (g *Gate) sendAtOnce(tag uint64, buf []byte) (sent, all bool) {
	n := len(buf)
	if n > g.tx.eager || !g.tx.queue.empty() || !g.rx.answers.empty() || g.dead != nil || g.link == nil {
		return false, false
	}
	if g.tx.credit < cost(n) {
		if g.refreshCredit(n); g.tx.credit < cost(n) || g.dead != nil {
			return false, false
		}
	}
	all = true
	if (g.awake > 0 || !g.tx.gathered.empty()) && g.joins(tag, n) {
		g.gather(tag, buf)
	} else {
		if !g.tx.gathered.empty() {
			g.drain()
		}
		if !g.tx.gathered.empty() || g.dead != nil {
			return false, false
		}
		if ok, err := g.transmitEager(tag, buf, nil, n); err != nil {
			g.lose(err)
			return false, false
		} else if !ok {
			return false, false
		}
		all = g.flush()
	}
	g.stats.Sends++
	if all && g.watch.kinds.Load() != 0 {
		g.note(SendDone, Envelope{g.own, tag, uint64(n)}, nil, nil)
	}
	return true, all
}

// sendNow sends a message if nobody has the lock, it can go eagerly, and nothing is before
// it. Then, if all of it has left, r is done without ever having been under way: of one that
// is used again what says so stays as it was.
func (g *Gate) sendNow(r *Request, tag uint64, buf []byte) bool {
	if marcel.Tracing() || g.watch.kinds.Load() != 0 || !g.mu.tryLock() {
		return false
	}
	if g.left() {
		g.attend()
	}
	sent, all := g.sendAtOnce(tag, buf)
	if sent && !all {
		r.prepare(g, tag, buf, false)
		g.stay(r)
	}
	g.release()
	if !all {
		return sent
	}
	if r.special {
		r.plain()
	}
	r.entry.Tag, r.gate, r.from, r.n, r.err, r.stage = tag, g, g.rank, len(buf), nil, done
	if !r.ended() {
		asm.StoreRelease32(&r.over, 1)
	}
	return true
}

// refreshCredit looks for credit that has come back when an eager message of that
// size lacks it: a sender that only sends would not notice otherwise.
func (g *Gate) refreshCredit(size int) {
	if size <= g.tx.eager && g.tx.credit < cost(size) {
		g.receive(nil)
	}
}
