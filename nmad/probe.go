package nmad

import (
	"context"
	"fmt"
)

// Iprobe says whether a message that m is for has come from this gate and has no receive
// yet, and what it is. It moves the gate on, once, and leaves the message where it is:
// by the time somebody posts a receive another thread may have taken it. Claim
// rules that out.
func (g *Gate) Iprobe(m Match) (Envelope, bool) {
	g.poll()
	g.enter()
	defer g.release()
	if x := g.peekUnexpected(m); x != nil && !g.closing {
		return x.envelope(g), true
	}
	g.relieve() // it may be behind those that we keep
	return Envelope{}, false
}

// Iprobe is Gate.Iprobe for a message from any rank.
func (s *Session) Iprobe(m Match) (Envelope, bool) {
	s.poll()
	n := len(s.gates)
	for i, at := 0, s.any.begin(n); i < n; i++ {
		if rank := (at + i) % n; s.any.flagged(rank) {
			g := s.gates[rank]
			g.enter()
			x := g.peekUnexpected(m)
			var e Envelope
			if x != nil {
				e = x.envelope(g)
			} else {
				g.relieve()
			}
			found := x != nil && !g.closing
			g.release()
			if found {
				return e, true
			}
		}
	}
	return Envelope{}, false
}

// Probe waits until a message that m is for has come from this gate and has no receive,
// and says what it is; see Iprobe. It fails when ctx is done, with its cause, and when
// the gate ends.
func (g *Gate) Probe(ctx context.Context, m Match) (Envelope, error) {
	r := fresh()
	r.prepare(g, m.Tag, nil, false)
	r.op, r.special, r.peeks, r.match = opRecv, true, true, m
	g.begin(r)
	return r.probed(ctx)
}

// Probe is Gate.Probe for a message from any rank.
func (s *Session) Probe(ctx context.Context, m Match) (Envelope, error) {
	r := fresh()
	r.prepare(s.gates[s.cfg.Rank], m.Tag, nil, false)
	r.special, r.told, r.peeks, r.match, r.any = true, true, true, m, s
	s.startAny(r)
	return r.probed(ctx)
}

func (r *Request) probed(ctx context.Context) (Envelope, error) {
	err := r.WaitContext(ctx)
	if err != nil && !r.done() && !r.Cancel() {
		err = r.Wait() // it was found just now
	}
	if err != nil {
		return Envelope{}, fmt.Errorf("nmad: probe: %w", err)
	}
	return r.Envelope(), nil
}

// Message is one that was claimed: it was taken out of the matching and waits for its
// buffer. It must be received, or it keeps the memory that it takes, and a long one
// its sender.
type Message struct {
	gate *Gate
	m    *message
	Envelope
}

// Claim is Iprobe, but takes the message: no receive gets it but the one that is
// started with it, so its buffer can be chosen by what the message is (a matched probe).
// nil: there is none.
func (g *Gate) Claim(m Match) *Message {
	g.poll()
	g.enter()
	defer g.release()
	return g.claim(m)
}

func (g *Gate) claim(m Match) *Message {
	if g.closing {
		return nil
	}
	x := g.takeUnexpected(m)
	if x == nil {
		g.relieve()
		return nil
	}
	return &Message{gate: g, m: x, Envelope: x.envelope(g)}
}

// Claim is Gate.Claim for a message from any rank.
func (s *Session) Claim(m Match) *Message {
	s.poll()
	n := len(s.gates)
	for i, at := 0, s.any.begin(n); i < n; i++ {
		if rank := (at + i) % n; s.any.flagged(rank) {
			g := s.gates[rank]
			g.enter()
			x := g.claim(m)
			g.release()
			if x != nil {
				return x
			}
		}
	}
	return nil
}

// Irecv starts to receive the message into buf. It can be received once: later calls give
// a request that has ended with ErrIdle.
func (x *Message) Irecv(buf []byte) *Request {
	r := fresh()
	r.prepare(x.gate, x.Tag, buf, false)
	r.op, r.special, r.held = opResume, true, x.m
	g := x.gate
	g.enter()
	if r.held, x.m = x.m, nil; r.held == nil {
		r.stage = posted
		g.complete(r, ErrIdle)
	} else {
		r.stage = matched
		g.stats.Recvs++
		g.deliver(r, r.held)
	}
	g.release()
	return r
}

// Recv receives the message into buf and returns how many bytes buf holds.
func (x *Message) Recv(buf []byte) (int, error) {
	r := x.Irecv(buf)
	err := r.Wait()
	return r.Len(), err
}
