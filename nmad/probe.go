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
	if err := g.barred(); err != nil {
		return Envelope{}, err
	}
	if err := m.Context.allows(g.domain, g.rank); err != nil {
		return Envelope{}, err
	}
	r := &Request{}
	r.prepare(g, flow.OpRecv, m.Context, m.Tag, nil, flow.ByState)
	r.core.Entry.Age = g.any.Now()
	r.special().wild(r, m.Mask, true)
	g.submit(r)
	return r.probed(ctx)
}

// Probe is Gate.Probe for a message from any rank.
func (d *Domain) Probe(ctx context.Context, m Match) (Envelope, error) {
	if err := d.barred(); err != nil {
		return Envelope{}, err
	}
	if err := m.Context.allows(d, d.s.cfg.Rank); err != nil {
		return Envelope{}, err
	}
	r := &Request{}
	r.prepare(d.own(), flow.OpRecv, m.Context, m.Tag, nil, flow.ByState)
	r.special().wild(r, m.Mask, true)
	d.startAny(r, m.Context)
	return r.probed(ctx)
}

func (r *Request) probed(ctx context.Context) (Envelope, error) {
	err := r.WaitContext(ctx)
	if err != nil && !r.done() && !r.Cancel() {
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
