package nmad

import (
	"github.com/pm2-go/pm2/nmad/internal/flow"
)

// Peek copies the beginning of a message into buf, without receiving it. It looks for a message that m is for, that has
// come from this gate, and that has no receive yet. It returns the envelope, and how many bytes it has copied. The
// message stays where it is, and the receive that gets it gets all of it. Peek is for messages that say in
// their first bytes what to do with the rest.
//
// Of a message that is only announced, a long one that is not loaned or a synchronous send, nothing but its envelope is
// here: then n is 0. Like Iprobe, which is Peek into no buffer, it moves the gate on, once, and
// another thread may have taken the message by the time a receive is posted; Claim and
// Message.Peek rule that out. False: there is none.
func (g *Gate) Peek(m Match, buf []byte) (e Envelope, n int, ok bool) {
	if g.barred() != nil {
		return e, 0, false
	}
	g.advance()
	return g.peek(m, buf)
}

// peek is Peek without moving the gate on.
func (g *Gate) peek(m Match, buf []byte) (e Envelope, n int, ok bool) {
	h := g.enter()
	defer h.letGo()
	if h.flow.Closing {
		return e, 0, false
	}
	x := h.flow.Peek(m.Context.id(), m.pattern(), h.Begin())
	h.sendIfDue() // for receives before this
	if x == nil {
		return e, 0, false
	}
	return envelopeOf(g.rank, x), copy(buf, x.Body()), true
}

// envelopeOf describes a message that has come from that rank.
func envelopeOf(rank int, m *flow.Message) Envelope { return Envelope{rank, m.Tag, m.Bytes()} }

// Peek is like Gate.Peek, for a message from any rank.
func (d *Domain) Peek(m Match, buf []byte) (e Envelope, n int, ok bool) {
	if d.barred() != nil {
		return e, 0, false
	}
	d.advance()
	for rank := range m.Context.of(d).Flagged {
		if e, n, ok = d.gates.at(rank).peek(m, buf); ok {
			return e, n, true
		}
	}
	return Envelope{}, 0, false
}

// Peek copies the beginning of a message that was claimed into buf; see Gate.Peek. Once the message
// is being received there is nothing to see.
func (msg *Message) Peek(buf []byte) int {
	if msg == nil || msg.gate == nil {
		return 0
	}
	g := msg.gate
	h := g.enter()
	defer h.letGo()
	if msg.m == nil || msg.m.Loaned() && h.end != nil {
		return 0
	}
	return copy(buf, msg.m.Body())
}
