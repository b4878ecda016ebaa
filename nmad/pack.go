package nmad

// Pack builds a message, or the places that it goes to, step by step, as a program comes across the parts; they are
// never put together. The zero value is an empty message. After the send or the receive is done the
// Pack can be used again, with Reset. Not for concurrent use.
//
// Places that depend on what is in the message come afterwards: Gate.Peek, or Claim and Message.Peek,
// show its beginning, and Message.Start takes the places that were added meanwhile.
type Pack struct {
	parts [][]byte
	own   []byte // memory of what was copied
}

// Add appends b to the message, or to its places. b itself is sent, or filled: it must not be touched until that is
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

// Parts returns what was added, for Op.Parts: it is not nil, and valid until Reset.
func (p *Pack) Parts() [][]byte {
	if p.parts == nil {
		return [][]byte{}
	}
	return p.parts
}

// Reset empties the message and keeps the memory.
func (p *Pack) Reset() {
	clear(p.parts)
	p.parts, p.own = p.parts[:0], p.own[:0]
}
