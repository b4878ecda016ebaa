package nmad

// Pack builds a message step by step, as a program comes across its parts; they are
// never put together. The zero value is an empty message. After the send is done the
// Pack can be used again, with Reset. Not for concurrent use.
type Pack struct {
	parts [][]byte
	own   []byte // memory of what was copied
}

// Add appends b to the message. b itself is sent: it must stay as it is until the send is
// done.
func (p *Pack) Add(b []byte) *Pack {
	p.parts = append(p.parts, b)
	return p
}

// Copy appends b as it is now to the message; b may be changed at once.
func (p *Pack) Copy(b []byte) *Pack {
	at := len(p.own)
	p.own = append(p.own, b...) // if it moves, earlier parts keep the memory that they have
	return p.Add(p.own[at:len(p.own):len(p.own)])
}

// Parts returns what was packed, for SendOp.Parts: it is not nil, and valid until Reset.
func (p *Pack) Parts() [][]byte { return partsOf(p.parts) }

// Isend starts to send what was packed as one message.
func (p *Pack) Isend(g *Gate, tag uint64) *Request { return g.IsendParts(tag, p.Parts()) }

// Issend is Isend, but done only when the receiver has posted its receive.
func (p *Pack) Issend(g *Gate, tag uint64) *Request {
	return isend(g, &SendOp{Tag: tag, Parts: p.Parts(), Sync: true})
}

// StartSend starts to send what was packed, in place of what op says the message is; see
// Gate.StartSend. All else is as op says.
func (p *Pack) StartSend(g *Gate, r *Request, op *SendOp) error {
	if op == nil {
		return errNoOp
	}
	o := *op
	o.Buf, o.Parts, o.Data = nil, p.Parts(), nil
	return g.StartSend(r, &o)
}

// Reset empties the message and keeps the memory.
func (p *Pack) Reset() {
	clear(p.parts)
	p.parts, p.own = p.parts[:0], p.own[:0]
}

// Unpack builds the places of a message step by step. The zero value has none. Not for
// concurrent use.
//
// Places that depend on what is in the message come afterwards: Gate.Peek, or Claim and Message.Peek,
// show its beginning, and Message.IrecvParts takes the places that were built meanwhile.
type Unpack struct{ parts [][]byte }

// Add appends b to where the message goes: it is filled after what was added before.
func (u *Unpack) Add(b []byte) *Unpack {
	u.parts = append(u.parts, b)
	return u
}

// Parts returns the places, for RecvOp.Parts: it is not nil, and valid until Reset.
func (u *Unpack) Parts() [][]byte { return partsOf(u.parts) }

// Irecv starts to receive the next message with that tag into the places.
func (u *Unpack) Irecv(g *Gate, tag uint64) *Request { return g.IrecvParts(tag, u.Parts()) }

// IrecvAny starts to receive a message that m is for from any rank into the places.
func (u *Unpack) IrecvAny(s *Session, m Match) *Request {
	return s.zero().irecv(&RecvOp{Match: m, Parts: u.Parts()})
}

// StartRecv starts to receive into the places, instead of where op says the message goes; see
// Gate.StartRecv. All else is as op says.
func (u *Unpack) StartRecv(g *Gate, r *Request, op *RecvOp) error {
	if op == nil {
		return errNoOp
	}
	o := *op
	o.Buf, o.Parts, o.Data, o.Choose = nil, u.Parts(), nil, nil
	return g.StartRecv(r, &o)
}

// Reset forgets all places.
func (u *Unpack) Reset() {
	clear(u.parts)
	u.parts = u.parts[:0]
}

// partsOf is parts, but not nil.
func partsOf(parts [][]byte) [][]byte {
	if parts == nil {
		return [][]byte{}
	}
	return parts
}
