package roster

import "fmt"

// What can happen to another process.
const (
	Left EventKind = 1 + iota // it closed its session
	Died                      // it ended, or broke the control protocol, without having left
)

// EventKind says what an Event is about.
type EventKind uint8

// Event is news about another process. There is at most one per rank.
type Event struct {
	Rank      int
	Kind      EventKind
	Reason    string // for people
	LinksOnly bool   // it passed the news of others on, and no process takes its place: from here on the deaths of some show on links only
}

// depart notes that a rank is gone. It is the only way by which that happens, however this process has come to know: by
// what a member or the parent has sent (from is that connection; nil: it has found out itself), by the end or the silence
// of a connection, by a probe, by a search. The members hear it, and a member that is the one that is gone hears so that
// it is lost; the parent hears it of the ranks that this process leads; the program hears it when mu is released. What is
// known already is no news, and nothing takes it back. Under mu.
func (r *Roster) depart(e Event, from *wire) {
	if e.Rank == r.cfg.Rank || r.gone[e.Rank] != 0 {
		return
	}
	r.gone[e.Rank] = e.Kind
	if e.Kind == Died {
		r.reasons[e.Rank] = e.Reason
	}
	delete(r.missing, e.Rank)
	r.fate(e.Rank, func(k frameKind, payload []byte) {
		r.toAll(k, payload, from)
		if r.up != nil && r.up != from && r.state == attached && r.tree.leader[e.Rank] == r.cfg.Rank {
			r.up.send(k, payload)
		}
	})
	e.LinksOnly = r.tree.relays[e.Rank] && r.cards[r.cfg.Rank].Standby == ""
	r.news = append(r.news, e)
}

// fate says by what end a rank is gone, if it is. Under mu.
func (r *Roster) fate(rank int, say func(frameKind, []byte)) {
	switch r.gone[rank] {
	case Left:
		say(kindLeave, encodeRanks(rank))
	case Died:
		say(kindDead, notice(rank, r.reasons[rank]))
	}
}

// departs is depart for what takes mu itself.
func (r *Roster) departs(e Event) {
	r.mu.Lock()
	defer r.release()
	r.depart(e, nil)
}

// exclude notes that the others have taken this process for lost. All others are lost to it, and its members look for
// another parent. Under mu.
func (r *Roster) exclude(reason string) {
	if r.state == excluded {
		return
	}
	r.state = excluded
	r.toAll(kindQuit, nil, nil)
	for _, m := range r.members {
		m.out = true
	}
	for rank := range r.gone {
		r.depart(Event{Rank: rank, Kind: Died, Reason: fmt.Sprintf("rank %d has taken this process for lost: %s", rank, reason)}, nil)
	}
	r.shut()
}

// release gives up mu, and passes on what has become known under it.
func (r *Roster) release() {
	news := r.news
	r.news = nil
	r.mu.Unlock()
	if len(news) == 0 {
		return
	}
	r.notifyMu.Lock()
	defer r.notifyMu.Unlock()
	for _, e := range news {
		if r.cfg.Notify != nil && !r.silent {
			r.cfg.Notify(e)
		}
	}
}

// departed says whether a rank is gone.
func (r *Roster) departed(rank int) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.gone[rank] != 0
}
