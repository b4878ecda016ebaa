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

// How a process whose keeper is gone finds the next one, or becomes it. README.md has the protocol.

// patience is how many beats, two silences, a process that gives no answer at its door is waited for, and one that is missing.
const patience = 2 * beatsPerSilence

// openDoor makes the door of this process, whose connection to its keeper has that address on this side; nil: it has none.
func (c *Control) openDoor(local net.Addr) net.Listener {
	if !c.hasDoor(local) {
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

// hasDoor says whether the processes of this job have doors: there is something to keep for others, and either silence is a death or there are several hosts.
func (c *Control) hasDoor(local net.Addr) bool {
	tcp, ok := local.(*net.TCPAddr)
	several := slices.ContainsFunc(c.cfg.Hosts, func(host int) bool { return host != c.cfg.Hosts[0] }) || ok && !tcp.IP.IsLoopback() && !tcp.IP.IsUnspecified()
	return c.cfg.Size > 2 && (c.cfg.Silence > 0 || several)
}

// line lists the ranks with a door in the order in which they become root: rank 0, then the first of each host, then the second of each, so that a host
// that cannot be reached costs one attempt before the next host's turn.
func line(cards []Card) (ranks []int) {
	nth, on := make([]int, len(cards)), map[string]int{}
	for rank, card := range cards {
		nth[rank] = on[card.Host]
		on[card.Host]++
		if card.Heir != "" {
			ranks = append(ranks, rank)
		}
	}
	slices.SortStableFunc(ranks, func(a, b int) int { return nth[a] - nth[b] })
	return ranks
}

// successors says whether there is a rank that may be the root, or become it.
func (s *spoke) successors() bool {
	return slices.ContainsFunc(line(s.cards), func(rank int) bool { return rank == s.c.cfg.Rank || !s.c.departed(rank) })
}

// attempt is the pause between two attempts, and how long one may take: a beat, if that is not long.
func (c *Control) attempt() time.Duration {
	if c.cfg.Silence > 0 {
		return min(c.cfg.Silence, hostLimit) / beatsPerSilence
	}
	return hostLimit / beatsPerSilence
}

// hostTime is for how long a host may not be reached before it is lost.
func (c *Control) hostTime() time.Duration {
	return max(c.cfg.Silence, hostLimit)
}

// candidate is a rank of the line as one that seeks sees it.
type candidate struct {
	doubted string        // why it is passed over, unless another one says that it reigns
	mute    time.Duration // for how long it has given no answer
}

// search is one search for a keeper.
type search struct {
	*spoke
	seen  map[int]*candidate
	round int
}

// seek finds the keeper of this process and returns the connection; nil: it needs none, since it reigns, has parted, leaves, or is alone. doubt, if not empty, says why the
// last keeper is doubted.
func (s *spoke) seek(last int, doubt string) (*wire, int) {
	s.pass(func(h *hub) {
		if h.station == follows {
			h.station = seeks
		}
	})
	if doubt == "" { // most jobs end soon after the first one has left
		select {
		case <-s.hurry:
		case <-s.watch.Done():
			return nil, 0
		case <-time.After(s.c.attempt()):
		}
	}
	x := search{spoke: s, seen: map[int]*candidate{last: {doubted: doubt}}}
	for {
		w, rank, over := x.walk()
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

// walk is one round along the line.
func (x *search) walk() (w *wire, rank int, over bool) {
	s := x.spoke
	for _, rank := range line(s.cards) {
		c := x.seen[rank]
		if c == nil {
			c = &candidate{}
			x.seen[rank] = c
		}
		switch {
		case rank == s.c.cfg.Rank:
			s.reign(x.passed())
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
			s.part(fmt.Sprintf("rank %d says so", rank))
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

// givenUp says whether a candidate that gives no answer is passed over: when it is lost for its silence or, where silence is no death, when its host cannot be reached.
func (x *search) givenUp(c *candidate, err error) bool {
	if x.c.cfg.Silence > 0 {
		return c.mute >= patience*x.c.cfg.Silence/beatsPerSilence
	}
	return c.mute >= x.c.hostTime() && errors.Is(err, errNoWay)
}

// passed are those that were passed over.
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

// reach dials the door of a rank, once.
func (s *spoke) reach(rank int) (*wire, error) {
	addr := s.cards[rank].Heir
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

// reign makes this process the root. Those that were passed over are lost; the others are waited for.
func (s *spoke) reign(passed []Event) {
	var news []Event
	s.pass(func(h *hub) {
		if h.station != seeks {
			return
		}
		h.station = reigns
		for _, e := range passed {
			news = h.dies(news, e.Rank, e.Reason, nil)
		}
		for rank := range h.path {
			h.await(rank)
		}
	})
	s.hub.tellAll(news)
}

// part tells this process that the others have taken it for lost.
func (s *spoke) part(reason string) {
	if h := s.hub; h != nil {
		h.mu.Lock()
		news := h.part(reason)
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

// hostLimit is for how long a host may not be reached before it is lost, unless the silence that is allowed is longer. The kernels of both hosts measure that: a process
// that does not run is not lost for it.
const hostLimit = 3 * time.Second

// keepAlive lets the loss of a whole host show after hostTime.
func (c *Control) keepAlive(conn net.Conn) {
	if t, ok := conn.(*net.TCPConn); ok {
		const probes = 3
		_ = t.SetKeepAliveConfig(net.KeepAliveConfig{Enable: true, Idle: time.Second, Interval: max(c.hostTime()/(probes+1), time.Second), Count: probes})
		c.userTimeout(t)
	}
}
