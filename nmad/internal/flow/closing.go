package flow

import "errors"

// closing is the state of the orderly end of a flow. The side that leaves sends BYE as its last packet, with the number
// of bytes that it has ever pushed over the large tracks. When the peer has received all packets before BYE, and all
// those bytes, it answers BYEACK. Only then the side that leaves closes its links: a socket that is closed while bytes
// are on their way may lose them.
//
//	open --- Leave ---> sent --- BYEACK ---> acked
//	open --- BYE received ---> seen --- all bytes pulled: ErrLeft ---> BYEACK is owed
//
// If both sides leave at once, each receives the other's BYE, and needs no BYEACK.
type closing struct {
	sent    bool   // Leave was called: BYE waits, or was sent
	owesBye bool   // BYE waits to be sent
	acked   bool   // BYEACK has come
	owesAck bool   // BYEACK waits to be sent
	byeSeen bool   // the peer's BYE has come
	pushed  uint64 // bytes that the peer has pushed in all, as its BYE says
}

// ErrLeft says that the peer has left, and that all it has sent is here. The gate then calls End. The requests that
// remain wait for data that the peer has never sent.
var ErrLeft = errors.New("the peer has left")

// Leave sends BYE, after all packets that wait.
func (f *Flow) Leave() { f.bye.sent, f.bye.owesBye = true, true }

// HasLeft reports whether Leave was called.
func (f *Flow) HasLeft() bool { return f.bye.sent }

// Acked reports whether the peer has received everything that was sent before BYE.
func (f *Flow) Acked() bool { return f.bye.acked }

// OwesAck reports whether BYEACK, or bytes in the driver's buffer, still have to leave.
func (f *Flow) OwesAck() bool { return f.bye.owesAck || f.unflushed() }

// streamsIdle reports whether no chunk is reserved.
func (f *Flow) streamsIdle() bool {
	for i := range f.Rails {
		if s := &f.Rails[i].Streams; s[Push].reserved != nil || s[Pull].reserved != nil {
			return false
		}
	}
	return true
}

// total returns how many bytes have moved over all rails in a direction.
func (f *Flow) total(dir Direction) (n uint64) {
	for i := range f.Rails {
		n += f.Rails[i].Streams[dir].Bytes
	}
	return n
}

// Moving returns how many chunks the streams of all rails have in a direction.
func (f *Flow) Moving(dir Direction) int { return f.moving[dir] }

// HasChunks reports whether any stream has a chunk to move.
func (f *Flow) HasChunks() bool { return f.moving[Pull]+f.moving[Push] != 0 }

// handleBye handles BYE: the peer leaves, and has pushed that many bytes in all.
func (f *Flow) handleBye(pushed uint64) error {
	if pulled := f.total(Pull); f.bye.byeSeen || pushed < pulled {
		return violation("it leaves having pushed %d bytes, of which we have %d", pushed, pulled)
	}
	f.bye.byeSeen, f.bye.pushed = true, pushed
	return f.takeLeave()
}

// takeLeave returns ErrLeft once the peer has left and all that it has sent has come. A flow that closes itself does
// not wait for the bytes: its receives have ended.
func (f *Flow) takeLeave() error {
	if !f.bye.byeSeen || f.ended {
		return nil
	}
	if f.moving[Pull] != 0 && !f.Closing && f.total(Pull) < f.bye.pushed {
		return nil
	}
	f.bye.owesAck = true
	return ErrLeft
}

// handleByeAck handles BYEACK: the peer has received everything that was sent before BYE.
func (f *Flow) handleByeAck() error {
	if !f.bye.sent || f.bye.owesBye || f.bye.acked {
		return violation("an acknowledgement of a leave that was not taken")
	}
	f.bye.acked = true
	return nil
}

// Close ends the receives with err, and makes new requests fail with err. Sends go on. Close returns ErrLeft if the
// peer has left, too.
func (f *Flow) Close(err error) error {
	f.Closing, f.Dead = true, err
	f.failReceives(err)
	if f.tx.caps.Echoes { // the gate to the own rank: no receive for these sends will come
		f.FailSends(err)
	}
	return f.takeLeave()
}

// End ends the flow and all its requests with err. Messages that have come completely stay for later receives, unless
// an earlier message with the same context and tag did not come.
func (f *Flow) End(err error) {
	f.ended = true
	if f.Dead == nil {
		f.Dead = err
	}
	f.notes.drop()
	f.setUnsent(unsentNotes, false)
	underway := f.unfinishedKeys()
	f.FailSends(f.Dead)
	f.failReceives(f.Dead)
	f.dropRendezvous(underway)
	for l := f.loans.returns.Pop(); l != nil; l = f.loans.returns.Pop() {
		f.forgetLoan(l)
	}
	f.setUnsent(unsentReturns, false)
}
