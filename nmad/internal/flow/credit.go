package flow

// Credit bounds the memory for unexpected eager messages, and never makes a
// correct program deadlock.
//
// Each process tells the others, before they link, how many eager bytes it keeps
// per peer: the window. A sender takes the cost of each eager message (its body
// and an overhead) off its credit, and the receiver gives it back once the message is
// in the buffer of its receive: with the next eager message the other way, or, once
// it owes half of the window, by a packet of its own.
//
//	sender:    credit + (on the way, unexpected, or given back) = window
//	receiver:  taken = cost of all that arrived and was not given back <= window
//	           owed  = the part of taken that is free to be given back
//
// Without credit a short message goes by rendezvous: its announcement takes no
// credit and is received whatever else lies unexpected, so the message that a
// receiver wants is always within reach, however many others are before it.
// The alternatives: to stop receiving at the bound loses exactly that, and so
// deadlocks programs that receive in another order than was sent; to grow
// without bound lets one slow receiver take all memory.
//
// Announcements are bounded, too: records.go.

// due says whether credit is to be given back by a packet of its own.
func (rx *receiver) due() bool { return rx.owed > 0 && rx.owed >= rx.window/2 }

// paid says that so much of the credit that is owed was given back.
func (rx *receiver) paid(credit int64) {
	rx.taken -= credit
	rx.owed -= credit
}

// charge counts an eager message that has arrived, and says whether there was credit for it.
func (rx *receiver) charge(size int) bool {
	rx.taken += cost(size)
	return rx.taken <= rx.window
}

func (f *Flow) overdrawn() error {
	return violation("an eager message beyond its credit of %d bytes", f.rx.window)
}

// handleCredit takes credit that the peer gives back.
func (f *Flow) handleCredit(size uint64) error {
	if size == 0 || size > uint64(f.tx.window-f.tx.credit) {
		return violation("%d bytes of credit are given back where %d are out", size, f.tx.window-f.tx.credit)
	}
	f.tx.credit += int64(size)
	return nil
}
