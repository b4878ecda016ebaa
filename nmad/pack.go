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

// Isend starts to send what was packed as one message.
func (p *Pack) Isend(g *Gate, tag uint64) *Request {
	if p.parts == nil {
		return g.Isend(tag, nil)
	}
	return g.IsendParts(tag, p.parts)
}

// Reset empties the message and keeps the memory.
func (p *Pack) Reset() {
	clear(p.parts)
	p.parts, p.own = p.parts[:0], p.own[:0]
}

// Unpack builds the places of a message step by step. The zero value has none. Not for
// concurrent use.
type Unpack struct{ parts [][]byte }

// Add appends b to where the message goes: it is filled after what was added before.
func (u *Unpack) Add(b []byte) *Unpack {
	u.parts = append(u.parts, b)
	return u
}

// Irecv starts to receive the next message with that tag into the places.
func (u *Unpack) Irecv(g *Gate, tag uint64) *Request {
	if u.parts == nil {
		return g.Irecv(tag, nil)
	}
	return g.IrecvParts(tag, u.parts)
}

// Reset forgets all places.
func (u *Unpack) Reset() {
	clear(u.parts)
	u.parts = u.parts[:0]
}
