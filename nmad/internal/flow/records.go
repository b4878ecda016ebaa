package flow

// Records bound the memory that a process needs for messages that were announced to it and have no receive, as credit
// bounds the memory for eager messages. A process has a number of records for each peer (Config.Announced), and tells
// its peers the number in its card. Each announced message uses one record until the receiver has asked for all of it.
// A sender that has used all records keeps further messages, long and short, in its own queue. Then the one message
// that the receiver waits for may stand in that queue, behind others that have no receive yet. So:
//
//	sender                                    receiver
//	  │ all records are used, and messages wait
//	  │ FULL(records) ────────────────────▶     (once for each number of records)
//	  │                                         no record is free, and a receive or a probe waits
//	  │                                         whose message is not among the announced ones:
//	  │ ◀──────────────────── ROOM(records)     doubles its records
//	  │ announces more
//
// A correct program does not get stuck for lack of records. Say that a receive waits at R, and the message for it
// stands in the queue of S. The head of that queue needs a record: anything else waits only for credit, without which
// it goes by rendezvous, or for the network. So all records are used, and S has sent FULL, or is about to.
//
//   - If R has answered some of the announcements, the answers are on the way, or wait for room or for a rail, and neither
//     waits for records. S goes on when they come.
//   - If R has answered none, R keeps all of them, and none of them is for the receive that waits. Then R grants more
//     records, whether the receive was posted before FULL came (handleFull), while announcements came (announcement), or
//     later (relieve, Search).
//
// In both cases the queue gets shorter. It is finite, so S reaches the message. Nothing overtakes, so the order of
// messages is kept.
//
// What R keeps is still bounded: while no receive waits, by Config.Announced; while one waits, by what is under way at
// S, where each message takes more memory than its record takes at R; and in any case by MaxCookies. Only a program
// could get stuck that has MaxCookies sends under way to one peer, which take 8 GB at least, while the peer waits for
// the youngest.
//
// Rejected: to announce more messages than there are records, so that the receiver drops announcements, and asks for
// them again when a receive is posted. The receiver would keep less. But both sides would have to track which receive
// was compared with which announcement, as a message must not be matched before an older one, and each dropped
// announcement would cost a round trip.

// handleFull handles FULL: the peer has used all records and has more to announce.
func (f *Flow) handleFull(records uint64) error {
	if records > uint64(f.rx.records) || records <= f.rx.fullReceived {
		return violation("it has used %d records; there are %d, and it has said so of %d", records, f.rx.records, f.rx.fullReceived)
	}
	f.rx.fullReceived = records
	if records < uint64(f.rx.records) {
		return nil // ROOM is on its way to the peer
	}
	f.rx.full = true
	for x := range f.rx.all {
		x.KeepFlag = true
		x.Flag() // so that the poster of a receive from any source asks this gate to Search, which grants records
	}
	f.relieveWaiting()
	return nil
}

// handleRoom handles ROOM: the peer has more records.
func (f *Flow) handleRoom(records uint64) error {
	if f.tx.fullSent != f.tx.records || records <= uint64(f.tx.records) || records > MaxCookies {
		return violation("it offers %d records, after %d", records, f.tx.records)
	}
	f.tx.records = int(records)
	return nil
}

// relieveWaiting grants records if a receive or a probe waits whose message may be behind the announced ones.
func (f *Flow) relieveWaiting() {
	for x := range f.rx.all {
		if f.rx.full && x.HasPostedOrAny() {
			f.relieve()
		}
	}
}

// relieve grants records if the peer has told that it needs more, and none is free.
func (f *Flow) relieve() {
	if !f.rx.full || f.rx.announced < f.rx.records || f.rx.records >= MaxCookies || f.Dead != nil {
		return
	}
	f.rx.records = min(2*f.rx.records, MaxCookies)
	f.rx.full, f.rx.owesRoom = false, true
	for x := range f.rx.all {
		x.KeepFlag = false
	}
}
