package flow

// Records bound what a process keeps of messages that were announced to it and have no
// receive, as credit bounds the eager ones. Each tells the others in its card how many there
// are per peer (Config.Announced). A sender with so many unanswered announcements keeps
// further messages, long and short, in its own queue. Now the one message that the receiver
// waits for could stand in that queue, behind others that no receive is for yet. So:
//
//	sender                                    receiver
//	  │ all records used, and messages wait
//	  │ FULL(records) ────────────────────▶     is told once for each number of records
//	  │                                         all records taken, and a receive or a probe
//	  │                                         waits for none of them: twice as many
//	  │ ◀──────────────────── ROOM(records)     from here on
//	  │ announces on
//
// A correct program does not get stuck for want of records. Say that a receive waits at R, and
// the message for it stands in the queue of S. The head of that queue needs a
// record, since all else has only credit or the network to wait for, and goes by rendezvous
// without credit; so all records of S are used, and S has told R, or is about to. Of the
// announcements that use them R has answered some: then their answers are on the way, or wait
// for room or for a rail, neither of which waits for records, and S goes on when they come.
// Or R has answered none: then it keeps all of them, none is for the receive that waits,
// and R grants more, whether the receive was posted before FULL came (handleFull), while
// announcements came (announcement), or later (relieve, Search). Each way the queue gets shorter,
// and it is finite, so the message is reached. The order of messages is what it
// always is: nothing overtakes.
//
// What R keeps is still bounded: without a receive that waits by Config.Announced; with one, by
// what is under way at S, where each message takes more memory than its record does here,
// and in any case by MaxCookies. Only a program with that many sends under way to one peer, which
// take 8 GB at least, whose peer waits for the youngest, could get stuck.
//
// Rejected: offers beyond the records that the receiver declines and asks for again when a receive
// is posted. It keeps less, and has to tell on both sides which receive was
// compared with which offer, as a message must not be matched before an older one; it
// costs a round trip for each message behind, and for each receive.

// handleFull hears that the peer has more to announce than we keep.
func (f *Flow) handleFull(records uint64) error {
	if records > uint64(f.rx.records) || records <= f.rx.heard {
		return violation("it has used %d records; there are %d, and it has said so of %d", records, f.rx.records, f.rx.heard)
	}
	f.rx.heard = records
	if records < uint64(f.rx.records) {
		return nil // ROOM is on the way to it
	}
	f.rx.full = true
	for x := range f.rx.all {
		x.Stay = true
		x.Flag() // a poster of a receive for any source comes here, though nothing is unexpected
	}
	f.relieveWaiting()
	return nil
}

// handleRoom hears that the peer keeps more.
func (f *Flow) handleRoom(records uint64) error {
	if f.tx.told != f.tx.records || records <= uint64(f.tx.records) || records > MaxCookies {
		return violation("it offers %d records, after %d", records, f.tx.records)
	}
	f.tx.records = int(records)
	return nil
}

// relieveWaiting grants records if something waits here that may be behind them.
func (f *Flow) relieveWaiting() {
	for x := range f.rx.all {
		if f.rx.full && x.Wanted() {
			f.relieve()
		}
	}
}

// relieve grants records if all are taken and the peer needs more.
func (f *Flow) relieve() {
	if !f.rx.full || f.rx.announced < f.rx.records || f.rx.records >= MaxCookies || f.Dead != nil {
		return
	}
	f.rx.records = min(2*f.rx.records, MaxCookies)
	f.rx.full, f.rx.owesRoom = false, true
	for x := range f.rx.all {
		x.Stay = false
	}
}
