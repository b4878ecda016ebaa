package bootstrap

import (
	"context"
	"errors"
	"fmt"
	"net"
	"slices"
	"syscall"
	"time"
)

// What a parent does once the job runs. README.md has the protocol.

// lost deals with a member whose connection has ended, or makes no sense.
func (h *hub) lost(m *member, err error) {
	h.mu.Lock()
	text, silent := h.describe(m, err)
	var news []Event
	switch {
	case m.out, h.phase >= failed, h.state == excluded:
	case h.phase < running:
		h.fail(text, m)
	case m.left:
		h.miss(m)
	case m.quit:
		m.out = true
		if h.state == isRoot && m.rank == h.successor() {
			news = h.exclude(fmt.Sprintf("rank %d has taken the place of this process, which had given no sign of life for a while", m.rank))
		} else {
			h.miss(m)
		}
	case unreachable(err) && len(m.subtree) > 1:
		text = fmt.Sprintf("the host of rank %d (ranks %v) cannot be reached: %v", m.rank, m.subtree, err)
		for _, rank := range m.subtree {
			news = h.dies(news, rank, text, nil)
		}
	default:
		if !silent {
			m.out = true
		} // else dies sends it the notice that it is lost
		news = h.dies(news, m.rank, text, nil)
		h.miss(m)
	}
	m.out = true
	h.mu.Unlock()
	h.tellAll(news)
}

// describe puts the end of a member's connection into words. Under mu.
func (h *hub) describe(m *member, err error) (text string, silent bool) {
	name := fmt.Sprintf("rank %d", m.rank)
	if m.card {
		name += fmt.Sprintf(" (pid %d)", h.cards[m.rank].PID)
	}
	if text, ok := h.c.silenceText(err, name); ok && h.phase >= running {
		return text, true
	}
	return name + why(err), false
}

// unreachable says whether the kernel has given up the host of the other side.
func unreachable(err error) bool {
	return errors.Is(err, syscall.ETIMEDOUT) || errors.Is(err, syscall.EHOSTUNREACH) || errors.Is(err, syscall.ENETUNREACH)
}

// dies notes that a rank is lost, and sends the news to all but from, the member that has brought it. Under mu. The caller passes the
// events on without mu.
func (h *hub) dies(news []Event, rank int, reason string, from *member) []Event {
	if h.gone[rank] != 0 || rank == h.c.cfg.Rank {
		return news
	}
	h.note(rank, Died, reason)
	h.spread(kindDead, notice(rank, reason), from)
	return append(news, Event{Rank: rank, Kind: Died, Reason: reason})
}

// note records that a rank is gone. Under mu.
func (h *hub) note(rank int, kind EventKind, reason string) {
	if h.gone[rank] == 0 {
		h.gone[rank] = kind
		if kind == Died {
			h.reasons[rank] = reason
		}
	}
	h.path[rank] = nil
	delete(h.missing, rank)
}

// hear takes news from the parent, and passes it on.
func (h *hub) hear(e Event) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.note(e.Rank, e.Kind, e.Reason)
	if e.Kind == Died {
		h.toAll(kindDead, notice(e.Rank, e.Reason), nil)
	} else {
		h.toAll(kindLeave, encodeRanks(e.Rank), nil)
	}
}

func (h *hub) takeLeave(m *member, rank int, payload []byte) error {
	h.mu.Lock()
	if h.phase < running {
		h.mu.Unlock()
		return errors.New("left before the job had started")
	}
	known := h.gone[rank] != 0
	if rank == m.rank {
		m.left = true
		h.miss(m) // the others of its host may still be there, and connect here
	}
	if !known {
		h.note(rank, Left, "")
		h.spread(kindLeave, payload, m)
	}
	h.mu.Unlock()
	h.c.tell(Event{Rank: rank, Kind: Left, Reason: fmt.Sprintf("rank %d closed its session", rank)})
	return nil // the connection stays: the member waits for its peers, and closes it when it has done so
}

// takeSubtree notes for which ranks a member speaks that has connected after GO.
func (h *hub) takeSubtree(m *member, ranks []int) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, rank := range ranks {
		if h.c.tree.leader[rank] != m.rank {
			return fmt.Errorf("%w: rank %d says that it speaks for rank %d", errFrame, m.rank, rank)
		}
		if rank == m.rank || h.gone[rank] != 0 || h.path[rank] != nil {
			continue
		}
		h.path[rank] = m
		m.subtree = append(m.subtree, rank)
		delete(h.missing, rank)
	}
	return nil
}

// drop forgets the connection m of a process that has connected a second time. Under mu.
func (h *hub) drop(m *member) {
	m.out = true
	if m.w != nil {
		m.w.conn.Close()
	}
	h.miss(m)
}

// miss marks the ranks that a member has spoken for as missing, if this process is the root. Under mu.
func (h *hub) miss(m *member) {
	for _, rank := range m.subtree {
		if h.path[rank] == m {
			h.path[rank] = nil
		}
		h.await(rank)
	}
}

// await marks a rank as missing that no member speaks for, and probes it in a goroutine. Under mu.
func (h *hub) await(rank int) {
	if h.state != isRoot || h.phase != running || h.gone[rank] != 0 || h.path[rank] != nil || rank == h.c.cfg.Rank {
		return
	}
	if _, already := h.missing[rank]; already {
		return
	}
	h.missing[rank] = h.c.ticks.Load() + patienceBeats + 1
	h.wg.Go(func() { h.probeMissing(rank) })
}

// probeMissing probes the process of a missing rank again and again, until that has connected or is gone.
func (h *hub) probeMissing(rank int) {
	pause, mute := h.c.attempt(), time.Duration(0)
	for {
		h.mu.Lock()
		_, missing := h.missing[rank]
		addr := h.cards[rank].Standby
		h.mu.Unlock()
		if !missing || addr == "" {
			return
		}
		began, text := time.Now(), ""
		switch err := probe(h.over, addr, pause); {
		case errors.Is(err, syscall.ECONNREFUSED):
			text = "it has ended, as the one through which its news came has"
		case err == nil:
			mute = 0
		default:
			if mute += min(time.Since(began), 2*pause) + pause; mute > h.c.hostTime() {
				text = fmt.Sprintf("its host cannot be reached: %v", err)
			}
		}
		if text != "" {
			h.decide(rank, text)
			return
		}
		select {
		case <-h.over.Done():
			return
		case <-time.After(pause):
		}
	}
}

// probe dials a standby address, and sends nothing. It returns nil if a process listens there, or the kernel of one that is stopped.
func probe(ctx context.Context, addr string, most time.Duration) error {
	d := net.Dialer{Timeout: most}
	conn, err := d.DialContext(ctx, "tcp", addr)
	if err != nil {
		return err
	}
	defer conn.Close()
	defer bindContext(ctx, conn)()
	_ = conn.SetReadDeadline(time.Now().Add(most))
	_, err = conn.Read(make([]byte, 1)) // the kernel resets what it has accepted for a process that is just ending
	if isReset(err) {
		return err
	}
	return nil
}

// decide declares a missing rank lost.
func (h *hub) decide(rank int, why string) {
	h.mu.Lock()
	var news []Event
	if _, missing := h.missing[rank]; missing && h.phase == running && h.state == isRoot {
		news = h.dies(news, rank, fmt.Sprintf("rank %d (pid %d): %s", rank, h.cards[rank].PID, why), nil)
	}
	h.mu.Unlock()
	h.tellAll(news)
}

// successor is the rank that becomes root when this one is gone; -1: none. Under mu.
func (h *hub) successor() int {
	for _, rank := range rootOrder(h.cards) {
		if rank != h.c.cfg.Rank && h.gone[rank] == 0 {
			return rank
		}
	}
	return -1
}

// exclude notes that the others have taken this process for lost. All others are lost to it, and its members look for another parent.
// Under mu.
func (h *hub) exclude(reason string) (news []Event) {
	h.state = excluded
	h.toAll(kindQuit, nil, nil)
	for _, m := range h.members {
		if m != nil {
			m.out = true
		}
	}
	for rank := range h.gone {
		if rank != h.c.cfg.Rank && h.gone[rank] == 0 {
			text := fmt.Sprintf("rank %d has taken this process for lost: %s", rank, reason)
			h.note(rank, Died, text)
			news = append(news, Event{Rank: rank, Kind: Died, Reason: text})
		}
	}
	h.shut()
	return news
}

// sendGone tells a member that has connected after GO which ranks are gone: its last parent may not have sent all of that. Under mu.
func (h *hub) sendGone(m *member) {
	m.w.heard.Store(h.c.ticks.Load())
	for rank := range h.gone {
		if rank != m.rank {
			h.sendFate(rank, func(k kind, payload []byte) { h.send(m, k, payload) })
		}
	}
	if h.phase == closing {
		h.send(m, kindLeave, encodeRanks(h.c.cfg.Rank))
	}
}

// sendFate sends by what end a rank is gone. Under mu.
func (h *hub) sendFate(rank int, send func(kind, []byte)) {
	switch h.gone[rank] {
	case Left:
		send(kindLeave, encodeRanks(rank))
	case Died:
		send(kindDead, notice(rank, h.reasons[rank]))
	}
}

func (h *hub) beat() {
	h.mu.Lock()
	var news []Event
	if h.phase == running && h.state != excluded {
		h.toAll(kindBeat, nil, nil)
		for _, m := range h.members {
			if m != nil && !m.out && !m.left && m.w != nil {
				h.c.expireSilent(m.w)
			}
		}
		news = h.overdue()
	}
	h.mu.Unlock()
	h.tellAll(news)
}

// overdue declares the ranks lost that have been missing for too long. Under mu.
func (h *hub) overdue() (news []Event) {
	now := h.c.ticks.Load()
	var late []int
	for rank, until := range h.missing {
		if now > until {
			late = append(late, rank)
		}
	}
	slices.Sort(late)
	for _, rank := range late {
		news = h.dies(news, rank, fmt.Sprintf("rank %d (pid %d) has not come to rank %d, which keeps the list: it is stopped, or its host cannot be reached",
			rank, h.cards[rank].PID, h.c.cfg.Rank), nil)
	}
	return news
}

func (h *hub) announce() {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.phase == running {
		h.phase = closing // from here on the end of a connection is no death
		h.toAll(kindLeave, encodeRanks(h.c.cfg.Rank), nil)
	}
}
