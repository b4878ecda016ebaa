package nmad

import "fmt"

// The gate to the own rank has no link: sending is matching. A send whose
// receive is posted copies straight into its buffer; one that comes early is
// copied aside if it is short and the window allows, and waits for its receive
// if not, which is what a rendezvous is when both are in one memory.
//
// A driver "self", with a link whose two ends are in one gate, would have to pack messages
// into packets, count credit and announce, for a copy that takes less; and the receiver's half
// of the gate would wait for the sender's half of the same lock. Rejected for that. So
// there is nothing to poll, nothing to arm and nothing that can be lost; starting never
// waits for room, hence a thread that sends to itself before it receives gets on with any
// size. What the conformance suite asks of links (order, sizes, no allocation) the tests of
// sessions ask of this gate as of any other: they run to the own rank as well.

// selfEager is the longest message to ourselves that is copied aside, in bytes.
const selfEager = 16 << 10

func (g *Gate) sendToSelf(r *Request) {
	to := g.match(r.entry.Tag)
	if to != nil && to.chooser == nil {
		g.copyToSelf(r, to)
		return
	}
	size := r.data.size
	var m *message
	if size <= selfEager && g.rx.taken+cost(size) <= g.rx.window && !r.sync {
		m = g.rx.pool.get(size)
		r.short = r.data.read(m.body) || r.short
		m.Tag, m.size, m.eager = r.entry.Tag, uint64(size), true
		g.rx.taken += cost(size)
		g.stats.BytesSent += uint64(size)
		g.stats.UnexpectedBytes += uint64(size)
		g.stats.UnexpectedPeak = max(g.stats.UnexpectedPeak, g.stats.UnexpectedBytes)
		g.sent(r)
	} else {
		if g.tx.sends.used >= maxCookies {
			g.complete(r, fmt.Errorf("nmad: send to the own rank: %w: %d wait already", ErrConfig, maxCookies))
			return
		}
		g.stats.Rendezvous++
		m = g.rx.pool.get(0)
		m.Tag, m.size, m.eager, m.own = r.entry.Tag, uint64(size), false, true
		m.cookie = g.tx.sends.put(r)
		r.stage = announced
		g.pend(r)
	}
	if to != nil {
		g.ask(to, m)
	} else {
		g.keep(m)
	}
}

// copyToSelf moves a message from its send to its receive and ends both.
func (g *Gate) copyToSelf(s, r *Request) {
	r.size = uint64(s.data.size)
	var lacks bool
	r.n, lacks, r.short = r.data.from(&s.data)
	s.short = s.short || lacks
	g.stats.BytesReceived += uint64(r.n)
	if r.err = r.shortage(); r.err == nil && s.data.size > r.data.size {
		r.err = g.truncated(r, r.size)
	}
	s.n = s.data.size
	g.stats.BytesSent += uint64(s.n)
	g.complete(s, s.shortage())
	g.complete(r, r.err)
}

// failSelf ends the sends to ourselves that wait for a receive.
func (g *Gate) failSelf(err error) {
	g.endBuffers(err)
	g.rx.Sift(func(m *message) bool {
		g.rx.pool.put(m)
		return false
	})
	from := 0
	for s := g.tx.sends.takeAny(&from); s != nil; s = g.tx.sends.takeAny(&from) {
		g.complete(s, err)
	}
}
