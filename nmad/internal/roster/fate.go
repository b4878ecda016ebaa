package roster

import "fmt"

// EventKind is what has happened to another process.
type EventKind uint8

const (
	Left EventKind = 1 + iota // it closed its session
	Died                      // it ended, or broke the control protocol, without having left
)

// Event is news about another process. Notify gets at most one for each rank.
type Event struct {
	Rank      int
	Kind      EventKind
	Reason    string // for people
	LinksOnly bool   // it passed the news of others on, and no process takes its place: from here on the deaths of some show on links only
}

// depart notes that a rank is gone. It is the only way by which that happens, however this process has come to know: by
// a frame of a member or the parent (from is that connection; nil: in another way), by the end or the silence of a
// connection, by a probe, by a search. It tells the members, a member that is lost itself included, and the parent of
// the ranks that this process leads; release then tells the program. If the rank was gone before, nothing happens. The
// caller holds mu.
func (r *Roster) depart(e Event, from *wire) {
	if e.Rank == r.cfg.Rank || r.gone[e.Rank].Kind != 0 {
		return
	}
	e.LinksOnly = r.tree.relays[e.Rank] && r.cards[r.cfg.Rank].Standby == ""
	r.gone[e.Rank] = e
	delete(r.missing, e.Rank)
	r.sendFate(e.Rank, func(k frameKind, payload []byte) {
		r.toAll(k, payload, from)
		if r.parentWire != nil && r.parentWire != from && r.state == attached && r.tree.leader[e.Rank] == r.cfg.Rank {
			r.parentWire.send(k, payload)
		}
	})
	r.events = append(r.events, e)
}

// sendFate sends, by send, the frame that tells how a rank has gone; nothing if the rank is there. The caller holds mu.
func (r *Roster) sendFate(rank int, send func(frameKind, []byte)) {
	switch e := r.gone[rank]; e.Kind {
	case Left:
		send(kindLeave, encodeRanks(rank))
	case Died:
		send(kindDead, notice(rank, e.Reason))
	}
}

// lockAndDepart is depart for callers that do not hold mu.
func (r *Roster) lockAndDepart(e Event) {
	r.mu.Lock()
	defer r.release()
	r.depart(e, nil)
}

// exclude notes that the others have taken this process for lost. To it all others are lost, and its members look
// for another parent. The caller holds mu.
func (r *Roster) exclude(reason string) {
	r.state = excluded
	r.toAll(kindQuit, nil, nil)
	for _, m := range r.members {
		m.dropped = true
	}
	for rank := range r.gone {
		r.depart(Event{Rank: rank, Kind: Died, Reason: fmt.Sprintf("rank %d has taken this process for lost: %s", rank, reason)}, nil)
	}
	r.closeListeners()
}

// release unlocks mu and passes on the events that were noted under it.
func (r *Roster) release() {
	news := r.events
	r.events = nil
	r.mu.Unlock()
	if len(news) == 0 {
		return
	}
	r.notifyMu.Lock()
	defer r.notifyMu.Unlock()
	for _, e := range news {
		if r.cfg.Notify != nil && !r.muted {
			r.cfg.Notify(e)
		}
	}
}
