package nmad

import (
	"context"

	"github.com/pm2-go/pm2/nmad/internal/flow"
)

// Iprobe says whether a message that m is for has come from this gate and has no receive yet, and what it is. It moves the
// gate on, once, and leaves the message where it is: another thread may take it before a receive is posted. Claim rules
// that out.
func (g *Gate) Iprobe(m Match) (Envelope, bool) {
	e, _, ok := g.Peek(m, nil)
	return e, ok
}

// Iprobe is Gate.Iprobe for a message from any rank.
func (d *Domain) Iprobe(m Match) (Envelope, bool) {
	e, _, ok := d.Peek(m, nil)
	return e, ok
}

// Probe waits until a message that m is for has come from this gate and has no receive,
// and says what it is; see Iprobe. It fails when ctx is done, with its cause, and when
// the gate ends.
func (g *Gate) Probe(ctx context.Context, m Match) (Envelope, error) {
	if err := g.accessError(); err != nil {
		return Envelope{}, err
	}
	if err := m.Context.check(g.domain, g.rank); err != nil {
		return Envelope{}, err
	}
	r := &Request{}
	r.prepare(g, flow.OpRecv, m.Context, m.Tag, nil, flow.NotifyState)
	r.core.Entry.Age = g.any.Now()
	r.useRare().setWild(r, m.Mask, true)
	g.submit(r)
	return r.probed(ctx)
}

// Probe is Gate.Probe for a message from any rank.
func (d *Domain) Probe(ctx context.Context, m Match) (Envelope, error) {
	if err := d.accessError(); err != nil {
		return Envelope{}, err
	}
	if err := m.Context.check(d, d.s.cfg.Rank); err != nil {
		return Envelope{}, err
	}
	r := &Request{}
	r.prepare(d.ownGate(), flow.OpRecv, m.Context, m.Tag, nil, flow.NotifyState)
	r.useRare().setWild(r, m.Mask, true)
	d.startAny(r, m.Context)
	return r.probed(ctx)
}

func (r *Request) probed(ctx context.Context) (Envelope, error) {
	err := r.WaitContext(ctx)
	if err != nil && !r.doneOrIdle() && !r.Cancel() {
		err = r.Wait() // it was found just now
	}
	if err != nil {
		return Envelope{}, during("probe", err)
	}
	return r.Envelope(), nil
}

// Peek copies the beginning of a message into buf, without receiving it. It looks for a message that m is for, that has
// come from this gate, and that has no receive yet. It returns the envelope, and how many bytes it has copied. The
// message stays where it is, and the receive that gets it gets all of it. Peek is for messages that say in
// their first bytes what to do with the rest.
//
// If the message is only announced, as a long one that is not loaned, or a synchronous send, only its envelope is here,
// and n is 0. Like Iprobe, which is Peek into no buffer, it moves the gate on, once, and another thread may have taken the
// message by the time a receive is posted; Claim and Message.Peek rule that out. False: there is none.
func (g *Gate) Peek(m Match, buf []byte) (e Envelope, n int, ok bool) {
	if g.accessError() != nil {
		return e, 0, false
	}
	g.advance()
	return g.peek(m, buf)
}

// peek is Peek without moving the gate on.
func (g *Gate) peek(m Match, buf []byte) (e Envelope, n int, ok bool) {
	h := g.enter()
	defer h.unlock()
	if h.flow.Closing {
		return e, 0, false
	}
	x := h.flow.Peek(m.Context.numberOrPlain(), m.pattern(), h.Begin())
	h.sendIfDue() // for receives before this
	if x == nil {
		return e, 0, false
	}
	return envelopeOf(g.rank, x), copy(buf, x.Body()), true
}

// Peek is like Gate.Peek, for a message from any rank.
func (d *Domain) Peek(m Match, buf []byte) (e Envelope, n int, ok bool) {
	if d.accessError() != nil {
		return e, 0, false
	}
	d.advance()
	for rank := range m.Context.anyIn(d).Flagged {
		if e, n, ok = d.gates.at(rank).peek(m, buf); ok {
			return e, n, true
		}
	}
	return Envelope{}, 0, false
}

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
	if g.accessError() != nil {
		return nil
	}
	g.advance()
	h := g.enter()
	defer h.unlock()
	return h.claim(m)
}

func (h *lockedGate) claim(m Match) *Message {
	if h.flow.Closing {
		return nil
	}
	x := h.flow.Claim(m.Context.numberOrPlain(), m.pattern(), h.Begin())
	h.sendIfDue() // for receives before this
	if x == nil {
		return nil
	}
	return &Message{gate: h.g, m: x, Envelope: envelopeOf(h.g.rank, x)}
}

// Claim is Gate.Claim for a message from any rank.
func (d *Domain) Claim(m Match) *Message {
	if d.accessError() != nil {
		return nil
	}
	d.advance()
	for rank := range m.Context.anyIn(d).Flagged {
		g := d.gates.at(rank)
		h := g.enter()
		x := h.claim(m)
		h.unlock()
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
	h.unlock()
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
	defer h.unlock()
	if msg.m == nil || msg.m.Loaned() && h.endErr != nil {
		return 0
	}
	return copy(buf, msg.m.Body())
}

// envelopeOf describes a message that has come from that rank.
func envelopeOf(rank int, m *flow.Message) Envelope { return Envelope{rank, m.Tag, m.Bytes()} }
