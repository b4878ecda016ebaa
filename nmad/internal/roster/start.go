package roster

import (
	"fmt"
	"strings"
)

// The start of a job. Each process hands in the cards of its subtree when it has them; with the table it goes on to
// link, and each is ready when its subtree is. The callers of all functions here hold mu, except that of ready and
// describeAbsent.

// sendCards sends the cards of this process and of its members to the parent once they are all there; at rank 0 it
// makes the table of them.
func (r *Roster) sendCards() {
	if r.pending > 0 {
		return
	}
	if r.cardAcceptor != nil && r.cardAcceptor != r.standby {
		_ = r.cardAcceptor.Stop()
	}
	if r.cfg.Rank == 0 {
		r.distributeTable(r.cards, pack(encodeCards(r.cards)))
	} else if r.parentWire != nil { // else it is yet to dial
		var cards []Card
		for rank, leader := range r.tree.leader {
			if rank == r.cfg.Rank || leader == r.cfg.Rank {
				cards = append(cards, r.cards[rank])
			}
		}
		r.parentWire.send(kindCard, encodeCards(cards))
	}
}

// takeCards handles the cards of a member's subtree.
func (r *Roster) takeCards(m *member, payload []byte) error {
	if r.phase != gathering || m.reached != gathering {
		return fmt.Errorf("%w: a card that was not asked for", errFrame)
	}
	cards, err := parseCards(payload, m.subtree)
	if err != nil {
		return err
	}
	m.reached = linking
	for _, card := range cards {
		r.cards[card.Rank] = card
	}
	r.pending--
	r.sendCards()
	return nil
}

// takeTable handles the table of all cards from the parent.
func (r *Roster) takeTable(payload []byte) error {
	if r.phase != gathering || r.pending > 0 {
		return fmt.Errorf("%w: a table that was not due", errFrame)
	}
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
	r.distributeTable(cards, payload)
	return nil
}

// distributeTable sends the table to the members, and lets this process go on.
func (r *Roster) distributeTable(cards []Card, packed []byte) {
	r.cards, r.order = cards, rootOrder(cards)
	r.phase = linking
	r.pending = len(r.tree.subtrees) + 1 // this time the own process counts too
	r.toAll(kindTable, packed, nil)
	close(r.gathered)
}

// takeReady handles a member whose subtree is ready.
func (r *Roster) takeReady(m *member) error {
	if r.phase != linking || m.reached != linking {
		return fmt.Errorf("%w: ready at the wrong time", errFrame)
	}
	m.reached = running
	r.countReady()
	return nil
}

// ready notes that this process is ready.
func (r *Roster) ready() {
	r.mu.Lock()
	defer r.release()
	if r.phase == linking && !r.readyCalled {
		r.readyCalled = true
		r.countReady()
	}
}

// countReady counts a ready member, or this process itself; the last one makes the subtree ready.
func (r *Roster) countReady() {
	if r.pending--; r.pending > 0 {
		return
	}
	if r.cfg.Rank == 0 {
		r.startAll()
	} else if r.parentWire != nil {
		r.parentWire.send(kindReady, nil)
	}
}

// takeGo handles the parent's word that all processes are ready.
func (r *Roster) takeGo() error {
	if r.phase != linking || r.pending > 0 {
		return fmt.Errorf("%w: go at the wrong time", errFrame)
	}
	r.startAll()
	return nil
}

// startAll has this process and all members run.
func (r *Roster) startAll() {
	r.phase = running
	r.toAll(kindGo, nil, nil)
	close(r.allReady)
}

// fail ends the start of the job, and tells all but the process at the other end of from. Once the job runs it does
// nothing.
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
	if r.cardAcceptor != nil {
		if n, last := r.cardAcceptor.Refused(); n > 0 {
			s += fmt.Sprintf(" (turned away: %d, the last: %v)", n, last)
		}
	}
	return s
}
