package nmad

import "github.com/pm2-go/pm2/nmad/internal/flow"

// Message is a message that a call of Claim has taken: no other receive gets it. The program must
// receive it; until then it keeps the memory that it takes, and the sender of a long one
// waits.
type Message struct {
	gate *Gate
	m    *flow.Message
	Envelope
}

// Claim is like Iprobe, but takes the message: only a receive that is started with the Message gets it,
// so the program can choose a buffer for it (a matched probe).
// nil: there is none.
func (g *Gate) Claim(m Match) *Message {
	if g.barred() != nil {
		return nil
	}
	g.advance()
	h := g.enter()
	defer h.letGo()
	return h.claim(m)
}

func (h *held) claim(m Match) *Message {
	if h.flow.Closing {
		return nil
	}
	x := h.flow.Claim(m.Context.id(), m.pattern(), h.Begin())
	h.sendIfDue() // for receives before this
	if x == nil {
		return nil
	}
	return &Message{gate: h.g, m: x, Envelope: envelopeOf(h.g.rank, x)}
}

// Claim is Gate.Claim for a message from any rank.
func (d *Domain) Claim(m Match) *Message {
	if d.barred() != nil {
		return nil
	}
	d.advance()
	for rank := range m.Context.of(d).Flagged {
		g := d.gates.at(rank)
		h := g.enter()
		x := h.claim(m)
		h.letGo()
		if x != nil {
			return x
		}
	}
	return nil
}

// Irecv starts to receive the message into buf. It can be received once: later calls give
// a request that has ended with ErrIdle.
func (msg *Message) Irecv(buf []byte) *Request { return msg.Start(&Op{Kind: OpRecv, Buf: buf}) }

// Start is Irecv with the options of a receive. op need not say which message it is for.
func (msg *Message) Start(op *Op) *Request {
	if msg == nil || msg.gate == nil {
		return failed(ErrIdle)
	}
	if op == nil {
		return failed(errNoOp)
	}
	if err := op.check(msg.gate.domain, msg.gate.rank); err != nil {
		return failed(err)
	}
	r, o := &Request{}, *op
	o.Match = Tag(msg.Tag)
	r.prepareRecv(msg.gate, &o)
	r.core.Op = flow.OpResume
	g := msg.gate
	h := g.enter()
	if m := msg.m; m == nil {
		h.flow.Finish(&r.core, ErrIdle)
	} else {
		msg.m = nil
		h.flow.Deliver(&r.core, m)
		h.sendIfDue()
	}
	h.letGo()
	return r
}

// Recv receives the message into buf and returns how many bytes buf holds.
func (msg *Message) Recv(buf []byte) (int, error) {
	r := msg.Irecv(buf)
	err := r.Wait()
	return r.Len(), err
}

// Peek copies the beginning of a message that was claimed into buf; see Gate.Peek. After a receive of the message has
// begun, Peek copies nothing.
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

// envelopeOf describes a message that has come from that rank.
func envelopeOf(rank int, m *flow.Message) Envelope { return Envelope{rank, m.Tag, m.Bytes()} }
