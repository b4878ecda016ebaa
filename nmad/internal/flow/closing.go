package flow

import "errors"

// leave is how far the end of a flow in good order is. The side that leaves sends BYE as its last
// packet, which says how many bytes it has ever put on the large track; the other one,
// once it has taken in everything before that, and all those bytes, answers
// BYEACK, and only then the first lets go of the link: a socket closed with bytes
// on the way could take them down with it.
//
//	open --- Leave ---> sent --- BYEACK ---> acked
//	open --- BYE received ---> seen --- all bytes pulled: ErrLeft ---> BYEACK is owed
//
// When both leave at once each gets the other's BYE and needs no more.
type leave struct {
	sent    bool   // BYE is queued or out
	owes    bool   // BYE is to be sent
	acked   bool   // the peer has taken in everything before it
	owesAck bool   // BYE was received and is to be acknowledged
	seen    bool   // the peer's BYE has come
	total   uint64 // it says that the peer has pushed so many bytes altogether
}

// ErrLeft says that the peer has left, and all has come that it has sent: the flow is to End. The requests that
// remain are those whose data the peer has not sent.
var ErrLeft = errors.New("the peer has left")

// Leave has BYE sent to the peer, after all packets before it.
func (f *Flow) Leave() { f.bye.sent, f.bye.owes = true, true }

// Left says that Leave was called.
func (f *Flow) Left() bool { return f.bye.sent }

// Acked says that the peer has taken in everything that was sent before Leave.
func (f *Flow) Acked() bool { return f.bye.acked }

// OwesAck says that the peer's BYE is still to be acknowledged.
func (f *Flow) OwesAck() bool { return f.bye.owesAck || f.unflushed() }

// inactive says that no bytes are being carried.
func (f *Flow) inactive() bool {
	for i := range f.Rails {
		if s := &f.Rails[i].Streams; s[Push].reserved != nil || s[Pull].reserved != nil {
			return false
		}
	}
	return true
}

// total is how many bytes of rendezvous have moved in a direction.
func (f *Flow) total(dir Direction) (n uint64) {
	for i := range f.Rails {
		n += f.Rails[i].Streams[dir].Bytes
	}
	return n
}

// Moving is how many chunks go out, or come in, or wait for those before them, over all rails.
func (f *Flow) Moving(dir Direction) int { return f.moving[dir] }

// Streams says that bytes of long messages are to move.
func (f *Flow) Streams() bool { return f.moving[Pull]+f.moving[Push] != 0 }

// handleBye hears that the peer has left, and that this was the last of its
// packets but an acknowledgement.
func (f *Flow) handleBye(pushed uint64) error {
	if pulled := f.total(Pull); f.bye.seen || pushed < pulled {
		return violation("it leaves having pushed %d bytes, of which we have %d", pushed, pulled)
	}
	f.bye.seen, f.bye.total = true, pushed
	return f.takeLeave()
}

// takeLeave is ErrLeft once all has come that a peer that has left has sent. On a
// flow that closes itself no caller waits for it any more.
func (f *Flow) takeLeave() error {
	if !f.bye.seen || f.ended {
		return nil
	}
	if f.moving[Pull] != 0 && !f.Closing && f.total(Pull) < f.bye.total {
		return nil
	}
	f.bye.owesAck = true
	return ErrLeft
}

func (f *Flow) handleByeAck() error {
	if !f.bye.sent || f.bye.owes || f.bye.acked {
		return violation("an acknowledgement of a leave that was not taken")
	}
	f.bye.acked = true
	return nil
}

// Close stops the flow for new requests, which fail with err as its receives do. Sends go on. ErrLeft: the peer has left,
// too.
func (f *Flow) Close(err error) error {
	f.Closing, f.Dead = true, err
	f.failReceives(err)
	if f.tx.caps.Echoes { // nothing will receive what waits
		f.FailSends(err)
	}
	return f.takeLeave()
}

// End ends the flow and all its requests. What was received completely stays
// there for the receives to come, unless a message before it with the same tag did not come.
func (f *Flow) End(err error) {
	f.ended = true
	if f.Dead == nil {
		f.Dead = err
	}
	f.notes.drop()
	f.setUnsent(unsentNotes, false)
	underway := f.underway()
	f.FailSends(f.Dead)
	f.failReceives(f.Dead)
	f.dropRendezvous(underway)
	for l := f.loans.returns.pop(); l != nil; l = f.loans.returns.pop() {
		f.putAway(l)
	}
	f.setUnsent(unsentReturns, false)
}
