package bootstrap

import (
	"fmt"
	"strings"
	"time"
)

// The start of a job, at the processes that take cards: rank 0 and the leaders.

func (h *hub) gathered() <-chan struct{} { return h.tableOut }
func (h *hub) going() <-chan struct{}    { return h.started }
func (h *hub) table() []Card             { return h.cards }

func (h *hub) takeCard(m *member, payload []byte) error {
	cards, err := parseCards(payload, m.subtree)
	if err != nil {
		return err
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.phase != gathering || m.card {
		return fmt.Errorf("%w: a card that was not asked for", errFrame)
	}
	m.late.Stop()
	m.w.conn.SetReadDeadline(time.Time{})
	m.card = true
	for _, card := range cards {
		h.cards[card.Rank] = card
	}
	if h.waiting--; h.waiting > 0 {
		return nil
	}
	if h.l != h.standby {
		h.l.Close()
	}
	for conn := range h.pending {
		conn.Close()
	}
	if h.up != nil {
		h.up(kindCard, h.ownCards())
		return nil
	}
	h.linkAll(pack(appendTable(nil, h.cards)))
	return nil
}

// ownCards are those of a leader's host.
func (h *hub) ownCards() []byte {
	var cards []Card
	for _, rank := range h.c.tree.ranks(h.c.cfg.Rank) {
		cards = append(cards, h.cards[rank])
	}
	return appendTable(nil, cards)
}

// linkAll hands out the table. Under mu, so that no GO can overtake it.
func (h *hub) linkAll(table []byte) {
	h.phase = linking
	h.waiting = len(h.c.tree.subtrees) + 1 // this time the own process counts too
	h.toAll(kindTable, table, nil)
	close(h.tableOut)
}

func (h *hub) takeReady(m *member) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.phase != linking || m.ready {
		return fmt.Errorf("%w: ready at the wrong time", errFrame)
	}
	m.ready = true
	h.oneReady()
	return nil
}

func (h *hub) ready() {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.phase == linking {
		h.oneReady()
	}
}

func (h *hub) oneReady() {
	if h.waiting--; h.waiting > 0 {
		return
	}
	if h.up != nil {
		h.up(kindReady, nil)
		return
	}
	h.run()
}

// run has all begin. Under mu.
func (h *hub) run() {
	h.phase = running
	h.toAll(kindGo, nil, nil)
	close(h.started)
}

// runs says whether all have been ready.
func (h *hub) runs() bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.phase == running || h.phase == closing
}

// fail ends a job that has not started. Under mu.
func (h *hub) fail(reason string, but *member) {
	if h.phase >= failed {
		return
	}
	h.phase = failed
	h.spread(kindAbort, notice(h.c.cfg.Rank, reason), but)
	h.c.cancel(fmt.Errorf("%w: %s", ErrAborted, reason))
}

func (h *hub) abort(reason string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.phase < running {
		h.fail(reason, nil)
	}
}

func (h *hub) absent() string {
	h.mu.Lock()
	defer h.mu.Unlock()
	var ranks []string
	for rank, m := range h.members {
		if h.c.tree.subtrees[rank] != nil && (m == nil || (h.phase == gathering && !m.card) || (h.phase == linking && !m.ready)) {
			ranks = append(ranks, fmt.Sprint(rank))
		}
	}
	s := "rank "
	if len(ranks) != 1 { // 0: they have come just now
		s = "ranks "
	}
	s += strings.Join(ranks, ", ") + ", to be started with the same rendezvous address and secret"
	if h.refused != "" {
		s += " (turned away: " + h.refused + ")"
	}
	return s
}
