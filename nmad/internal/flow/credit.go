package flow

// Credit bounds the memory for unexpected eager messages, and never makes a correct program deadlock.
//
// Before two processes link, each tells the other how many bytes of eager messages it keeps per peer: the window. The
// sender subtracts the cost of each eager message, its body and Overhead, from its credit. The receiver gives the cost
// back when the message is in the buffer of its receive: with its own next eager message, or, once it owes half of the
// window, by a packet CREDIT.
//
//	sender:    credit + cost of messages on the way, unexpected, or owed back, + credit on its way back = window
//	receiver:  taken = cost of all messages that have come, and whose credit was not given back <= window
//	           owed  = the part of taken that may be given back
//
// Without credit a short message goes by rendezvous: its announcement takes no credit, and is received however many
// messages are unexpected. So the message that the receiver wants is always within reach. Rejected: to stop receiving
// at the bound, which would deadlock programs that receive in another order than they send; and no bound, with which
// one slow receiver could take all memory.
//
// records.go bounds the announcements.

// creditDue reports whether credit is to be given back by a packet CREDIT.
func (rx *receiver) creditDue() bool { return rx.owed > 0 && rx.owed >= rx.window/2 }

// creditGiven accounts for credit that was given back.
func (rx *receiver) creditGiven(credit int64) {
	rx.taken -= credit
	rx.owed -= credit
}

// charge accounts for an eager message that has come, and reports whether the sender had credit for it.
func (rx *receiver) charge(size int) bool {
	rx.taken += cost(size)
	return rx.taken <= rx.window
}

// overdrawn is the violation of a sender that had no credit for an eager message.
func (f *Flow) overdrawn() error {
	return violation("an eager message beyond its credit of %d bytes", f.rx.window)
}

// handleCredit adds credit that the peer gives back.
func (f *Flow) handleCredit(size uint64) error {
	if size == 0 || size > uint64(f.tx.window-f.tx.credit) {
		return violation("%d bytes of credit are given back where %d are out", size, f.tx.window-f.tx.credit)
	}
	f.tx.credit += int64(size)
	return nil
}
