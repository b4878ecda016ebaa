package roster

import (
	"fmt"
	"strings"

	"github.com/pm2-go/pm2/nmad/internal/meet"
)

// The start of a job has two rounds. In each, a process passes on to its parent what its subtree has, once all of its
// members have handed that in and it is so far itself; rank 0 then answers, and the answer goes to all:
//
//	gathering   CARD: the cards of the subtree    TABLE: all cards
//	linking     READY: the subtree is ready       GO

// rounds has the kind of frame that goes up in a round, by its phase, and that of the answer.
var rounds = [...]struct{ up, down frameKind }{gathering: {kindCard, kindTable}, linking: {kindReady, kindGo}}

// takeUp handles what a member has handed in. The caller holds mu.
func (r *Roster) takeUp(m *member, k frameKind, payload []byte) error {
	if r.phase > linking || k != rounds[r.phase].up || m.reached != r.phase {
		return fmt.Errorf("%w: kind %d from rank %d is not due", meet.ErrFrame, k, m.rank)
	}
	if k == kindCard {
		cards, err := parseCards(payload, m.subtree)
		if err != nil {
			return err
		}
		for _, card := range cards {
			r.cards[card.Rank] = card
		}
	}
	m.reached++
	r.countUp()
	return nil
}

// countUp counts that a member, or this process itself, is so far; with the last of them the subtree is. The caller
// holds mu.
func (r *Roster) countUp() {
	if r.pending--; r.pending > 0 {
		return
	}
	switch {
	case r.phase == linking && r.cfg.Rank == 0:
		r.answer(nil)
	case r.phase == linking:
		r.parentWire.send(kindReady, nil)
	case r.cfg.Rank == 0:
		var table []byte
		if r.cfg.Size > 1 {
			table = pack(encodeCards(r.cards))
		}
		r.answer(table)
	default:
		var cards []Card
		for rank, leader := range r.tree.leader {
			if rank == r.cfg.Rank || leader == r.cfg.Rank {
				cards = append(cards, r.cards[rank])
			}
		}
		r.parentWire.send(kindCard, encodeCards(cards))
	}
}

// takeDown handles the answer from the parent. The caller holds mu.
func (r *Roster) takeDown(k frameKind, payload []byte) error {
	if r.phase > linking || k != rounds[r.phase].down || r.pending > 0 {
		return fmt.Errorf("%w: kind %d is not due", meet.ErrFrame, k)
	}
	if k == kindTable {
		table, err := unpack(payload, r.cfg.Size)
		if err != nil {
			return err
		}
		all := make([]int, r.cfg.Size)
		for rank := range all {
			all[rank] = rank
		}
		cards, err := parseCards(table, all)
		if err != nil {
			return err
		}
		r.cards = cards
	}
	r.answer(payload)
	return nil
}

// answer ends a round: it sends the answer to the members, and lets this process go on. The caller holds mu, so no GO
// overtakes the table.
func (r *Roster) answer(payload []byte) {
	r.toAll(rounds[r.phase].down, payload, nil)
	if r.phase == gathering {
		if r.tree.relays[r.cfg.Rank] && (r.cfg.Rank > 0 || r.cards[0].Standby == "") {
			_ = r.acceptors[0].Stop()
		}
		r.order = rootOrder(r.cards)
		r.pending = len(r.tree.subtrees) + 1
	}
	r.phase++
	close(r.over[r.phase-1])
}

// fail ends the start of the job, and tells all but the process at the other end of from. Once the job runs it does
// nothing. The caller holds mu.
func (r *Roster) fail(reason string, from *wire) {
	if r.phase > linking {
		return
	}
	r.phase, r.failure = failed, reason
	b := notice(r.cfg.Rank, reason)
	r.toAll(kindAbort, b, from)
	if r.parentWire != nil && r.parentWire != from {
		r.parentWire.send(kindAbort, b)
	}
	r.cancel(fmt.Errorf("%w: %s", ErrAborted, reason))
}

// describeAbsent returns a description, for people, of the ranks for which this process waits.
func (r *Roster) describeAbsent() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	var ranks []string
	for rank := range r.cfg.Size {
		if m := r.members[rank]; r.tree.subtrees[rank] != nil && (m == nil || m.reached == r.phase) {
			ranks = append(ranks, fmt.Sprint(rank))
		}
	}
	if len(ranks) == 0 && r.cfg.Rank > 0 {
		return fmt.Sprintf("the others, of whom rank %d keeps the list", r.tree.parent)
	}
	s := "rank "
	if len(ranks) != 1 { // 0: they have come just now
		s = "ranks "
	}
	s += strings.Join(ranks, ", ") + ", to be started with the same rendezvous address and secret"
	for _, a := range r.acceptors {
		if n, last := a.Refused(); n > 0 {
			s += fmt.Sprintf(" (turned away: %d, the last: %v)", n, last)
		}
	}
	return s
}
