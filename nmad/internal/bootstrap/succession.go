package bootstrap

import (
	"context"
	"errors"
	"fmt"
	"net"
	"slices"
	"syscall"
	"time"

	"github.com/pm2-go/pm2/nmad/internal/limit"
)

// Once rank 0 is gone, another process keeps the list in a job in which silence is a death (Config.Silence): without one, only the links
// could tell that a process on another host is stopped, and they cannot.
//
//	rank 0 keeps it ── its connection ends ──► seeking: the next heir, in the order of the table, is dialled
//	seeking ── an heir says welcome ─────────► it keeps the list ── its connection ends ──► seeking, after it
//	seeking ── no heir in patience beats ────► that one is lost; seeking, after it
//	seeking ── the next heir is this process ► it reigns: a process that has not come in patience beats is lost
//
// All processes have the same table, so they seek in the same order, and nearly at the same time: a process whose rank 0 is dead
// knows it at once, one whose rank 0 is silent within a silence and a beat. Each heir has listened since it joined, and closes what comes
// before it reigns: a dialler comes again until its patience ends.

// patience is how many beats, two silences, a process has to find the next heir, and an heir waits for those that are to come: the
// others may have missed rank 0 a silence and a beat later.
const patience = 2 * beatsPerSilence

// newHeir makes what this process needs to take rank 0's place; nil if nothing is to be told then, if leaders stand between the processes and
// rank 0 (leader.go), or if it cannot listen. Its control
// connection, by which rank 0 is reached, says on which network the others reach this process.
func newHeir(c *Control, control net.Conn) *hub {
	local, ok := control.LocalAddr().(*net.TCPAddr)
	if c.cfg.Silence <= 0 || c.cfg.Size < 3 || !ok || !c.tree.flat() {
		return nil
	}
	l, err := net.ListenTCP("tcp", &net.TCPAddr{IP: local.IP, Zone: local.Zone})
	if err != nil {
		return nil
	}
	h := &hub{
		c: c, heir: true, l: l, phase: linking,
		seats:   make(chan struct{}, strangers+c.cfg.Size),
		members: make([]*member, c.cfg.Size),
		pending: map[net.Conn]struct{}{},
	}
	h.wg.Go(h.accept)
	return h
}

// heirs lists the ranks that may take rank 0's place, in order: the first of each host, then the second of each, so that a host
// that cannot be reached costs one attempt before the next host's turn.
func heirs(cards []Card) (ranks []int) {
	nth, on := make([]int, len(cards)), map[string]int{}
	for rank, card := range cards {
		nth[rank] = on[card.Host]
		on[card.Host]++
		if rank != 0 && card.Heir != "" {
			ranks = append(ranks, rank)
		}
	}
	slices.SortStableFunc(ranks, func(a, b int) int { return nth[a] - nth[b] })
	return ranks
}

// succeed finds the process that keeps the list, follows it until its end, and the next one, until this process reigns or leaves.
func (s *spoke) succeed() {
	select { // most jobs end soon after rank 0 has left
	case <-s.watch.Done():
		return
	case <-time.After(s.c.cfg.Silence / beatsPerSilence):
	}
	for _, rank := range heirs(s.cards) {
		if rank == s.c.cfg.Rank {
			s.heir.reign()
			return
		}
		if s.c.departed(rank) {
			continue
		}
		w, err := s.reach(rank)
		if err != nil && s.watch.Err() != nil {
			return
		}
		if err != nil {
			s.c.tell(Event{Rank: rank, Kind: Died, Reason: fmt.Sprintf("rank %d: rank 0 is gone, and rank %d cannot be reached: %v", rank, rank, err)})
			continue
		}
		if !s.end(s.follow(w, rank)) {
			return
		}
	}
}

// reach dials an heir until that lets us in, for as long as the patience lasts. One that does not listen has ended.
func (s *spoke) reach(rank int) (*wire, error) {
	ctx, stop := limit.Context(s.watch, s.c.cfg.Silence/beatsPerSilence*patience)
	defer stop()
	for pause := firstPause; ; pause = min(2*pause, lastPause) {
		w, err := dialOnce(ctx, &s.c.cfg, s.cards[rank].Heir)
		if err == nil {
			w.heard.Store(s.c.ticks.Load())
			return w, nil
		}
		if errors.Is(err, syscall.ECONNREFUSED) || !passing(err) {
			return nil, err
		}
		select {
		case <-ctx.Done():
			return nil, fmt.Errorf("%w: last attempt: %v", context.Cause(ctx), err)
		case <-time.After(pause):
		}
	}
}

// inherit takes the table.
func (h *hub) inherit(cards []Card) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.cards = cards
}

// reign takes rank 0's place, unless this process leaves.
func (h *hub) reign() {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.phase == linking {
		h.phase, h.until = running, h.c.ticks.Load()+patience+1
	}
}

// brief prepares a member that has come to an heir. It hears of all that are gone: rank 0 may not have told all the same. Under mu.
func (h *hub) brief(m *member) {
	m.card = true
	m.w.heard.Store(h.c.ticks.Load())
	for rank := 1; rank < len(h.members); rank++ {
		if rank != m.rank && h.c.departed(rank) && m.w.send(kindDead, appendNotice(nil, rank, fmt.Sprintf("rank %d is gone", rank))) != nil {
			m.w.conn.Close()
			return
		}
	}
	if h.phase == closing {
		_ = m.w.send(kindLeave, appendU32(nil, uint32(h.c.cfg.Rank)))
	}
}

// missed lists those that have not come to an heir in its patience, once; they are lost, and the members hear so. Under mu.
func (h *hub) missed() (lost []Event) {
	if h.until == 0 || h.c.ticks.Load() <= h.until {
		return nil
	}
	h.until = 0
	for rank := 1; rank < len(h.members); rank++ {
		if h.members[rank] != nil || rank == h.c.cfg.Rank || h.c.departed(rank) {
			continue
		}
		reason := fmt.Sprintf("rank %d (pid %d) has not come to rank %d, which has taken rank 0's place: it is stopped, or its host cannot be reached",
			rank, h.cards[rank].PID, h.c.cfg.Rank)
		h.toAll(kindDead, appendNotice(nil, rank, reason), nil)
		lost = append(lost, Event{Rank: rank, Kind: Died, Reason: reason})
	}
	return lost
}
