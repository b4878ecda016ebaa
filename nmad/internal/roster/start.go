package roster

import (
	"fmt"
	"strings"
)

// The start of a job. Each process hands in the cards of its subtree when it has them; with the table it goes on to link,
// and each is ready when its subtree is.

// handIn hands the cards of this process and of its members on, once they are there. Under mu.
func (r *Roster) handIn() {
	if r.waiting > 0 {
		return
	}
	if r.door != nil && r.door != r.standby {
		_ = r.door.Stop()
	}
	if r.cfg.Rank == 0 {
		r.begin(r.cards, pack(appendTable(nil, r.cards)))
	} else if r.up != nil { // else it is yet to dial
		var cards []Card
		for _, rank := range r.tree.ranks(r.cfg.Rank) {
			cards = append(cards, r.cards[rank])
		}
		r.up.send(kindCard, appendTable(nil, cards))
	}
}

func (r *Roster) takeCard(m *member, payload []byte) error {
	cards, err := parseCards(payload, m.subtree)
	if err != nil {
		return err
	}
	r.mu.Lock()
	defer r.release()
	if r.phase != gathering || m.card {
		return fmt.Errorf("%w: a card that was not asked for", errFrame)
	}
	m.endLimit()
	m.card = true
	for _, card := range cards {
		r.cards[card.Rank] = card
	}
	r.waiting--
	r.handIn()
	return nil
}

func (r *Roster) takeTable(payload []byte) error {
	table, err := unpack(payload, r.cfg.Size)
	if err != nil {
		return err
	}
	cards, err := parseTable(table, r.cfg.Size)
	if err != nil {
		return err
	}
	r.mu.Lock()
	defer r.release()
	if r.phase != gathering || r.waiting > 0 {
		return fmt.Errorf("%w: a table that was not due", errFrame)
	}
	r.begin(cards, payload)
	return nil
}

// begin hands out the table. Under mu, so that no GO can overtake it.
func (r *Roster) begin(cards []Card, packed []byte) {
	r.cards, r.order = cards, rootOrder(cards)
	r.phase = linking
	r.waiting = len(r.tree.subtrees) + 1 // this time the own process counts too
	r.toAll(kindTable, packed, nil)
	close(r.gathered)
}

func (r *Roster) takeReady(m *member) error {
	r.mu.Lock()
	defer r.release()
	if r.phase != linking || m.ready {
		return fmt.Errorf("%w: ready at the wrong time", errFrame)
	}
	m.ready = true
	r.oneReady()
	return nil
}

func (r *Roster) ready() {
	r.mu.Lock()
	defer r.release()
	if r.phase == linking && !r.isReady {
		r.isReady = true
		r.oneReady()
	}
}

// oneReady counts a member, or this process itself. Under mu.
func (r *Roster) oneReady() {
	if r.waiting--; r.waiting > 0 {
		return
	}
	if r.cfg.Rank == 0 {
		r.run()
	} else if r.up != nil {
		r.up.send(kindReady, nil)
	}
}

func (r *Roster) takeGo() error {
	r.mu.Lock()
	defer r.release()
	if r.phase != linking || r.waiting > 0 {
		return fmt.Errorf("%w: go at the wrong time", errFrame)
	}
	r.run()
	return nil
}

// run has all members begin. The caller holds mu.
func (r *Roster) run() {
	r.phase = running
	r.toAll(kindGo, nil, nil)
	close(r.going)
}

// fail ends a job that has not started, and tells all but the process at the other end of from. Under mu.
func (r *Roster) fail(reason string, from *wire) {
	if r.phase > linking {
		return
	}
	r.phase, r.why = failed, reason
	b := notice(r.cfg.Rank, reason)
	r.toAll(kindAbort, b, from)
	if r.up != nil && r.up != from {
		r.up.send(kindAbort, b)
	}
	r.cancel(fmt.Errorf("%w: %s", ErrAborted, reason))
}

// absent says which ranks have not come yet, for people.
func (r *Roster) absent() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	var ranks []string
	for rank := range r.cfg.Size {
		m := r.members[rank]
		if r.tree.subtrees[rank] != nil && (m == nil || (r.phase == gathering && !m.card) || (r.phase == linking && !m.ready)) {
			ranks = append(ranks, fmt.Sprint(rank))
		}
	}
	if len(ranks) == 0 && r.cfg.Rank > 0 {
		return fmt.Sprintf("the others, of whom rank %d keeps the list", r.tree.up)
	}
	s := "rank "
	if len(ranks) != 1 { // 0: they have come just now
		s = "ranks "
	}
	s += strings.Join(ranks, ", ") + ", to be started with the same rendezvous address and secret"
	if r.door != nil {
		if n, last := r.door.Refused(); n > 0 {
			s += fmt.Sprintf(" (turned away: %d, the last: %v)", n, last)
		}
	}
	return s
}
