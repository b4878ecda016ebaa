package nmad

import (
	"math"

	"github.com/pm2-go/pm2/nmad/driver"
)

// sender is what a gate knows about its outgoing small track. Under the lock of
// the gate.
type sender struct {
	head    driver.Header // of the packet that is being sent
	eager   int           // longest body that goes eagerly, in bytes
	seq     uint32        // of the next message
	credit  int64         // eager bytes that the peer still takes
	window  int64         // what credit can be at most
	records int           // rendezvous that the peer keeps at once
	queue   requestQueue  // messages that wait for their turn
	sends   cookieTable   // announced

	owesBye    bool // BYE is to be sent
	owesByeAck bool // BYE was received and is to be acknowledged
	refused    bool // the link had no room for the last packet
	unflushed  bool // the driver has bytes in a buffer
}

func (s *sender) init(link driver.Link, b bounds) {
	if link != nil {
		s.eager = min(link.MaxBody(), math.MaxInt32)
		if b.eager > 0 {
			s.eager = min(s.eager, b.eager)
		}
	}
	s.credit, s.window = b.peerWindow, b.peerWindow
	s.records = min(b.peerRecords, maxCookies)
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
	g.refreshCredit(len(r.buf))
	if g.dead == nil && g.tx.queue.empty() && g.rx.answers.empty() {
		if sent, err := g.transmit(r); err != nil {
			g.lose(err)
			g.complete(r, g.dead)
			return
		} else if sent {
			g.flush()
			if r.stage == queued {
				g.sent(r)
			} else {
				g.pend(r)
			}
			return
		}
	}
	if g.dead != nil {
		g.complete(r, g.dead)
		return
	}
	g.pend(r)
	g.tx.queue.push(r)
	if !g.tx.refused {
		g.drain()
	}
}

// sendAtOnce sends a message if it can go eagerly and nothing is before it. It
// needs no request.
func (g *Gate) sendAtOnce(tag uint64, buf []byte) bool {
	if len(buf) > g.tx.eager || !g.tx.queue.empty() || !g.rx.answers.empty() || g.dead != nil || g.link == nil {
		return false
	}
	g.refreshCredit(len(buf))
	if g.tx.credit < cost(len(buf)) || g.dead != nil {
		return false
	}
	ok, err := g.transmitEager(tag, buf)
	if err != nil {
		g.lose(err)
		return false
	}
	if !ok {
		return false
	}
	g.stats.Sends++
	g.flush()
	return true
}

// refreshCredit looks for credit that has come back when an eager message of that
// size lacks it: a sender that only sends would not notice otherwise.
func (g *Gate) refreshCredit(size int) {
	if size <= g.tx.eager && g.tx.credit < cost(size) {
		g.receive()
	}
}

// transmit hands the packet of a message to the link: the message itself, or, if it is
// long or the peer has no memory left for it, its announcement. False: it must wait
// its turn.
func (g *Gate) transmit(r *Request) (bool, error) {
	size := len(r.buf)
	if size <= g.tx.eager && g.tx.credit >= cost(size) {
		return g.transmitEager(r.tag, r.buf)
	}
	if g.tx.sends.used >= g.tx.records {
		return false, nil
	}
	h := &g.tx.head
	cookie := g.tx.sends.put(r)
	*h = driver.Header{Kind: kindRdv, Tag: r.tag, Size: uint64(size), Cookie: cookie, Seq: g.tx.seq}
	began := stamp()
	ok, err := g.link.Send(h, nil)
	if !ok || err != nil {
		g.tx.sends.take(cookie)
		g.tx.refused = true
		return false, err
	}
	g.tx.seq++
	if began != 0 {
		g.traceOut(size, began)
	}
	r.stage = announced
	g.stats.Rendezvous++
	if size <= g.tx.eager {
		g.stats.Starved++
	}
	return true, nil
}

func (g *Gate) transmitEager(tag uint64, buf []byte) (bool, error) {
	h := &g.tx.head
	h.Kind, h.Flags = kindEager, 0
	h.Body, h.Size = uint32(len(buf)), uint64(len(buf))
	h.Tag, h.Seq = tag, g.tx.seq
	h.Cookie = uint32(g.rx.owed) // at most the window, which fits
	began := stamp()
	ok, err := g.link.Send(h, buf)
	if !ok || err != nil {
		g.tx.refused = true
		return false, err
	}
	g.tx.seq++
	if began != 0 {
		g.traceOut(len(buf), began)
	}
	g.tx.credit -= cost(len(buf))
	g.rx.paid()
	g.stats.BytesSent += uint64(len(buf))
	return true, nil
}

// sent ends an eager send.
func (g *Gate) sent(r *Request) {
	r.n = len(r.buf)
	g.complete(r, nil)
}

// drain sends what waits, in this order: answers to announcements, because
// whole messages wait for them; credit; messages. It stops at the first refusal.
func (g *Gate) drain() {
	g.tx.refused = false
	if err := g.drainAll(); err != nil {
		g.lose(err)
		return
	}
	g.flush()
}

func (g *Gate) drainAll() error {
	for r := g.rx.answers.head; r != nil; r = g.rx.answers.head {
		if ok, err := g.transmitAnswer(r); !ok || err != nil {
			return err
		}
		g.rx.answers.pop()
		g.answered(r)
	}
	if g.rx.due() && g.end == nil {
		if ok, err := g.transmitPlain(kindCredit, uint64(g.rx.owed)); !ok || err != nil {
			return err
		}
		g.rx.paid()
		g.stats.Credits++
	}
	for r := g.tx.queue.head; r != nil; r = g.tx.queue.head {
		if ok, err := g.transmit(r); !ok || err != nil {
			return err
		}
		g.tx.queue.pop()
		if r.stage == queued {
			g.sent(r)
		}
	}
	if g.tx.owesByeAck {
		if ok, err := g.transmitPlain(kindByeAck, 0); !ok || err != nil {
			return err
		}
		g.tx.owesByeAck = false
	}
	if g.tx.owesBye && g.push.resting() {
		if ok, err := g.transmitPlain(kindBye, g.push.total); !ok || err != nil {
			return err
		}
		g.tx.owesBye = false
	}
	return nil
}

// transmitPlain sends a packet that belongs to no message.
func (g *Gate) transmitPlain(kind uint8, size uint64) (bool, error) {
	g.tx.head = driver.Header{Kind: kind, Size: size}
	ok, err := g.link.Send(&g.tx.head, nil)
	if !ok {
		g.tx.refused = true
	}
	return ok, err
}

// flush moves the driver's buffered bytes on. As long as there are any, the
// engine must poll, although the requests they belong to may be done.
func (g *Gate) flush() {
	all, err := g.link.Flush()
	if err != nil {
		g.lose(err)
		return
	}
	g.tx.unflushed = !all
	if g.holding != g.tx.unflushed && g.end == nil {
		g.hold(g.tx.unflushed)
	}
}

func (g *Gate) hold(on bool) {
	if g.holding == on {
		return
	}
	g.holding = on
	if on {
		g.engine.Need()
	} else {
		g.engine.Done()
	}
}

// waiting says whether packets wait to be handed to the link.
func (g *Gate) waiting() bool {
	return !g.tx.queue.empty() || !g.rx.answers.empty() ||
		g.tx.owesBye || g.tx.owesByeAck || g.rx.due()
}

// outgoing says whether packets wait, or bytes in the driver's buffer.
func (g *Gate) outgoing() bool { return g.waiting() || g.tx.unflushed }

// stalled says whether all packets that wait do so for the peer's answers, since as
// many messages are announced as it keeps.
func (g *Gate) stalled() bool {
	return g.tx.sends.used >= g.tx.records && !g.tx.queue.empty() && g.rx.answers.empty() &&
		!g.rx.due() && !g.tx.owesByeAck
}

// failSends ends all sends but the one whose bytes a mover is copying right now:
// that one is ended when the mover comes home.
func (g *Gate) failSends(err error) {
	for r := g.tx.queue.pop(); r != nil; r = g.tx.queue.pop() {
		g.complete(r, err)
	}
	from := 0
	for r := g.tx.sends.takeAny(&from); r != nil; r = g.tx.sends.takeAny(&from) {
		g.complete(r, err)
	}
	g.push.fail(g, err)
}
