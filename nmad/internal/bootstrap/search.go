package bootstrap

import (
	"errors"
	"fmt"
	"maps"
	"net"
	"slices"
	"syscall"
	"time"

	"github.com/pm2-go/pm2/nmad/internal/limit"
)

// How a process whose parent is gone finds the next one, or becomes the root. README.md has the protocol.

// patienceBeats is for how many beats a searching process tries a candidate that does not answer, and for how many the root waits for a
// missing rank: two silences.
const patienceBeats = 2 * beatsPerSilence

// openStandby makes the standby listener of this process. local is the address of its end of the connection to its parent. nil: it
// has none.
func (c *Control) openStandby(local net.Addr) net.Listener {
	if !c.wantsStandby(local) {
		return nil
	}
	at := &net.TCPAddr{}
	if tcp, ok := local.(*net.TCPAddr); ok {
		at.IP, at.Zone = tcp.IP, tcp.Zone
	} else if at.IP = net.ParseIP(c.cfg.Bind); at.IP == nil {
		return nil
	}
	l, err := net.ListenTCP("tcp", at)
	if err != nil {
		return nil // this process then never becomes root
	}
	return l
}

// wantsStandby says whether the processes of this job have standby listeners: there are three or more of them, and either silence is a
// death or there are several hosts.
func (c *Control) wantsStandby(local net.Addr) bool {
	tcp, ok := local.(*net.TCPAddr)
	several := slices.ContainsFunc(c.cfg.Hosts, func(host int) bool { return host != c.cfg.Hosts[0] }) || ok && !tcp.IP.IsLoopback() && !tcp.IP.IsUnspecified()
	return c.cfg.Size > 2 && (c.cfg.Silence > 0 || several)
}

// rootOrder lists the ranks with a standby listener in the order in which they become root: rank 0, then the first of each host, then
// the second of each. So a host that cannot be reached costs one attempt, and the next attempt goes to another host.
func rootOrder(cards []Card) (ranks []int) {
	nth, on := make([]int, len(cards)), map[string]int{}
	for rank, card := range cards {
		nth[rank] = on[card.Host]
		on[card.Host]++
		if card.Standby != "" {
			ranks = append(ranks, rank)
		}
	}
	slices.SortStableFunc(ranks, func(a, b int) int { return nth[a] - nth[b] })
	return ranks
}

// hasSuccessor says whether there is a rank that may be the root, or become it.
func (s *spoke) hasSuccessor() bool {
	return slices.ContainsFunc(rootOrder(s.cards), func(rank int) bool { return rank == s.c.cfg.Rank || !s.c.departed(rank) })
}

// attempt is the pause between two attempts, and the limit of one: a beat, but at most a fifth of hostLimit.
func (c *Control) attempt() time.Duration {
	if c.cfg.Silence > 0 {
		return min(c.cfg.Silence, hostLimit) / beatsPerSilence
	}
	return hostLimit / beatsPerSilence
}

// hostTime is how long a host may be unreachable before it is lost.
func (c *Control) hostTime() time.Duration {
	return max(c.cfg.Silence, hostLimit)
}

// candidate is a rank that may be the root, as a searching process sees it.
type candidate struct {
	doubted string        // why the search passes it over; empty: it does not
	mute    time.Duration // how long it has not answered
}

// search is one search for a parent.
type search struct {
	*spoke
	seen  map[int]*candidate
	round int
}

// findParent finds the next parent of this process and returns the connection. nil: the process needs none, because it is the root,
// excluded, leaving, or the last one. doubt, if not empty, says why the last parent may be lost.
func (s *spoke) findParent(last int, doubt string) (*wire, int) {
	s.pass(func(h *hub) {
		if h.state == attached {
			h.state = searching
		}
	})
	if doubt == "" { // most jobs end soon after the first process has left: then there is nothing to search
		select {
		case <-s.hurry:
		case <-s.watch.Done():
			return nil, 0
		case <-time.After(s.c.attempt()):
		}
	}
	x := search{spoke: s, seen: map[int]*candidate{last: {doubted: doubt}}}
	for {
		w, rank, over := x.tryAll()
		if over || w != nil {
			return w, rank
		}
		select {
		case <-s.watch.Done():
			return nil, 0
		case <-time.After(min(firstPause<<x.round, s.c.attempt()/2)):
		}
		x.round = min(x.round+1, 10)
	}
}

// tryAll is one round: it tries the candidates in the order in which they become root.
func (x *search) tryAll() (w *wire, rank int, over bool) {
	s := x.spoke
	for _, rank := range rootOrder(s.cards) {
		c := x.seen[rank]
		if c == nil {
			c = &candidate{}
			x.seen[rank] = c
		}
		switch {
		case rank == s.c.cfg.Rank:
			s.becomeRoot(x.passed())
			return nil, 0, true
		case s.c.departed(rank), c.doubted != "" && x.round == 0:
			continue
		}
		w, err := s.reach(rank)
		verdict := refusal{}
		switch {
		case err == nil:
			return w, rank, false
		case s.watch.Err() != nil:
			return nil, 0, true
		case errors.Is(err, syscall.ECONNREFUSED):
			reason := c.doubted
			if reason == "" {
				reason = fmt.Sprintf("rank %d (pid %d) has ended", rank, s.cards[rank].PID)
			}
			s.hear(Event{Rank: rank, Kind: Died, Reason: reason})
			continue
		case errors.As(err, &verdict) && verdict.verdict == takenForLost:
			s.excluded(fmt.Sprintf("rank %d says so", rank))
			return nil, 0, true
		case errors.As(err, &verdict):
			c.mute = 0
			return nil, 0, false
		}
		if c.mute += s.c.attempt(); c.doubted != "" {
			continue
		}
		if !x.givenUp(c, err) {
			return nil, 0, false
		}
		c.doubted = fmt.Sprintf("rank %d gives no answer: %v", rank, err)
	}
	for _, e := range x.passed() { // none is left
		s.hear(e)
	}
	s.watchOthers()
	return nil, 0, true
}

// givenUp says whether the search passes a candidate over that does not answer: when its silence is a death or, in a job without a
// silence, when its host cannot be reached.
func (x *search) givenUp(c *candidate, err error) bool {
	if x.c.cfg.Silence > 0 {
		return c.mute >= patienceBeats*x.c.cfg.Silence/beatsPerSilence
	}
	return c.mute >= x.c.hostTime() && errors.Is(err, errNoWay)
}

// passed are the candidates that the search has passed over.
func (x *search) passed() (lost []Event) {
	for _, rank := range slices.Sorted(maps.Keys(x.seen)) {
		if c := x.seen[rank]; c.doubted != "" && !x.c.departed(rank) {
			lost = append(lost, Event{Rank: rank, Kind: Died, Reason: c.doubted})
		}
	}
	return lost
}

// errNoWay is what an attempt ends with when there is no connection: not even the kernel of the other side answers.
var errNoWay = errors.New("its host cannot be reached")

// reach dials the standby address of a rank, once.
func (s *spoke) reach(rank int) (*wire, error) {
	addr := s.cards[rank].Standby
	if rank == 0 {
		addr = s.c.cfg.Addr
	}
	ctx, stop := limit.Context(s.watch, s.c.attempt())
	defer stop()
	w, err := dialOnce(ctx, s.c, addr, true)
	if dialled := (*net.OpError)(nil); errors.As(err, &dialled) && dialled.Op == "dial" && !errors.Is(err, syscall.ECONNREFUSED) {
		err = fmt.Errorf("%w: %w", errNoWay, err)
	}
	if err == nil {
		w.heard.Store(s.c.ticks.Load())
	}
	return w, err
}

// becomeRoot makes this process the root. The ranks that the search has passed over are lost. All others are missing until they connect.
func (s *spoke) becomeRoot(passed []Event) {
	var news []Event
	s.pass(func(h *hub) {
		if h.state != searching {
			return
		}
		h.state = isRoot
		for _, e := range passed {
			news = h.dies(news, e.Rank, e.Reason, nil)
		}
		for rank := range h.path {
			h.await(rank)
		}
	})
	s.hub.tellAll(news)
}

// excluded tells this process that the others have taken it for lost.
func (s *spoke) excluded(reason string) {
	if h := s.hub; h != nil {
		h.mu.Lock()
		news := h.exclude(reason)
		h.mu.Unlock()
		h.tellAll(news)
		return
	}
	for rank := range s.cards {
		if rank != s.c.cfg.Rank {
			s.c.tell(Event{Rank: rank, Kind: Died, Reason: fmt.Sprintf("rank %d has taken this process for lost: %s", rank, reason)})
		}
	}
}

// hostLimit is how long a host may be unreachable before it is lost, unless Config.Silence is longer. The kernels of both hosts measure
// that, so a process that does not run is not lost for it.
const hostLimit = 3 * time.Second

// keepAlive has the kernel report the loss of a whole host after hostTime.
func (c *Control) keepAlive(conn net.Conn) {
	if t, ok := conn.(*net.TCPConn); ok {
		const probes = 3
		_ = t.SetKeepAliveConfig(net.KeepAliveConfig{Enable: true, Idle: time.Second, Interval: max(c.hostTime()/(probes+1), time.Second), Count: probes})
		c.userTimeout(t)
	}
}
