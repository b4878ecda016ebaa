package nmad

import (
	"context"

	"github.com/pm2-go/pm2/nmad/internal/flow"
)

// Iprobe reports whether a message that m matches has come from this gate and has no receive yet, and returns its
// envelope. It polls the gate once, and leaves the message where it is: another thread may take it before the caller
// posts a receive. Claim rules that out. Iprobe does not block.
func (g *Gate) Iprobe(m Match) (Envelope, bool) {
	e, _, ok := g.Peek(m, nil)
	return e, ok
}

// Iprobe is Gate.Iprobe for a message from any rank.
func (d *Domain) Iprobe(m Match) (Envelope, bool) {
	e, _, ok := d.Peek(m, nil)
	return e, ok
}

// Probe waits until a message that m matches has come from this gate and has no receive, and returns its envelope; see
// Iprobe. It fails with the cause of ctx when ctx is done, and with the gate's error when the gate ends. It blocks the
// calling thread or goroutine only.
func (g *Gate) Probe(ctx context.Context, m Match) (Envelope, error) {
	if err := g.accessError(); err != nil {
		return Envelope{}, err
	}
	if err := m.Context.check(g.domain, g.rank); err != nil {
		return Envelope{}, err
	}
	r := &Request{}
	r.prepare(g, flow.RequestRecv, m.Context, m.Tag, nil, flow.NotifyState)
	r.core.Entry.Age = g.anyList.Now()
	r.useExtras().setWild(r, m.Mask, true)
	g.submit(r)
	return r.probed(ctx)
}

// Probe is Gate.Probe for a message from any rank.
func (d *Domain) Probe(ctx context.Context, m Match) (Envelope, error) {
	if err := d.accessError(); err != nil {
		return Envelope{}, err
	}
	if err := m.Context.check(d, d.session.cfg.Rank); err != nil {
		return Envelope{}, err
	}
	r := &Request{}
	r.prepare(d.ownGate(), flow.RequestRecv, m.Context, m.Tag, nil, flow.NotifyState)
	r.useExtras().setWild(r, m.Mask, true)
	d.startAny(r, m.Context)
	return r.probed(ctx)
}

// probed waits for a probe that was started, and returns its result.
func (r *Request) probed(ctx context.Context) (Envelope, error) {
	err := r.WaitContext(ctx)
	if err != nil && !r.doneOrNotStarted() && !r.Cancel() {
		err = r.Wait() // the message has just been found
	}
	if err != nil {
		return Envelope{}, during("probe", err)
	}
	return r.Envelope(), nil
}

// Peek copies the beginning of a message into buf without receiving it: of a message that m matches, that has come from
// this gate, and that has no receive yet. It returns the envelope, and how many bytes it has copied; ok is false if
// there is no such message. The message stays where it is, and the receive that gets it gets all of it. Peek is for
// messages whose first bytes say what to do with the rest.
//
// If the message is only announced, because it is long and not loaned, or synchronous, only its envelope is here, and n
// is 0. Like Iprobe, Peek polls the gate once, and another thread may take the message before the caller posts a
// receive; Claim and Message.Peek rule that out.
func (g *Gate) Peek(m Match, buf []byte) (e Envelope, n int, ok bool) {
	if g.accessError() != nil {
		return e, 0, false
	}
	g.advance()
	return g.peek(m, buf)
}

// peek is Peek without a poll of the gate.
func (g *Gate) peek(m Match, buf []byte) (e Envelope, n int, ok bool) {
	h := g.enter()
	defer h.unlock()
	if h.flow.Closing {
		return e, 0, false
	}
	x := h.flow.Peek(m.Context.numberOrDefault(), m.pattern(), h.Begin())
	h.sendIfDue() // Begin and Peek may have begun receives, which answer
	if x == nil {
		return e, 0, false
	}
	return envelopeOf(g.rank, x), copy(buf, x.Body()), true
}

// Peek is Gate.Peek for a message from any rank.
func (d *Domain) Peek(m Match, buf []byte) (e Envelope, n int, ok bool) {
	if d.accessError() != nil {
		return e, 0, false
	}
	d.advance()
	for rank := range m.Context.anyListOf(d).Flagged {
		if e, n, ok = d.gates.at(rank).peek(m, buf); ok {
			return e, n, true
		}
	}
	return Envelope{}, 0, false
}

// Message is a message that a Claim has taken: no other receive gets it. The program must receive it, once; until then
// it keeps its memory, and the sender of a long message waits.
type Message struct {
	gate    *Gate
	message *flow.Message
	Envelope
}

// Claim is like Iprobe, but takes the message: only a receive that the program starts by the Message gets it, so the
// program can choose a buffer for it (a matched probe). It returns nil if there is no message.
func (g *Gate) Claim(m Match) *Message {
	if g.accessError() != nil {
		return nil
	}
	g.advance()
	h := g.enter()
	defer h.unlock()
	return h.claim(m)
}

// claim is Claim under the lock, without a poll of the gate.
func (h *lockedGate) claim(m Match) *Message {
	if h.flow.Closing {
		return nil
	}
	x := h.flow.Claim(m.Context.numberOrDefault(), m.pattern(), h.Begin())
	h.sendIfDue() // Begin and Claim may have begun receives, which answer
	if x == nil {
		return nil
	}
	return &Message{gate: h.gate, message: x, Envelope: envelopeOf(h.gate.rank, x)}
}

// Claim is Gate.Claim for a message from any rank.
func (d *Domain) Claim(m Match) *Message {
	if d.accessError() != nil {
		return nil
	}
	d.advance()
	for rank := range m.Context.anyListOf(d).Flagged {
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

// Irecv starts to receive the message into buf. A message can be received once: later calls return a request that has
// ended with ErrNotStarted.
func (msg *Message) Irecv(buf []byte) *Request {
	return msg.Start(&Operation{Kind: KindRecv, Buf: buf})
}

// Start is Irecv with the options of a receive. The Match of op is ignored, except for its Context, which must be nil
// or allow the message's gate.
func (msg *Message) Start(op *Operation) *Request {
	if msg == nil || msg.gate == nil {
		return failed(ErrNotStarted)
	}
	if op == nil {
		return failed(errNoOperation)
	}
	if err := op.check(msg.gate.domain, msg.gate.rank); err != nil {
		return failed(err)
	}
	r, o := &Request{}, *op
	o.Match = Tag(msg.Tag)
	r.prepareRecv(msg.gate, &o)
	r.core.Kind = flow.RequestResume
	g := msg.gate
	h := g.enter()
	if m := msg.message; m == nil {
		h.flow.Finish(&r.core, ErrNotStarted)
	} else {
		msg.message = nil
		h.flow.Deliver(&r.core, m)
		h.sendIfDue()
	}
	h.unlock()
	return r
}

// Recv receives the message into buf, and returns how many bytes buf holds. It blocks the calling thread or goroutine
// only.
func (msg *Message) Recv(buf []byte) (int, error) {
	r := msg.Irecv(buf)
	err := r.Wait()
	return r.Len(), err
}

// Peek copies the beginning of the message into buf, and returns how many bytes it has copied; see Gate.Peek. After a
// receive of the message has begun, Peek copies nothing.
func (msg *Message) Peek(buf []byte) int {
	if msg == nil || msg.gate == nil {
		return 0
	}
	g := msg.gate
	h := g.enter()
	defer h.unlock()
	if msg.message == nil || msg.message.Loaned() && h.endErr != nil {
		return 0
	}
	return copy(buf, msg.message.Body())
}

// envelopeOf returns the envelope of a message that has come from a rank.
func envelopeOf(rank int, m *flow.Message) Envelope { return Envelope{rank, m.Tag, m.Bytes()} }
