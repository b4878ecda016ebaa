package roster

import (
	"cmp"
	"errors"
	"fmt"
	"net"
	"slices"
	"syscall"
	"time"

	"github.com/pm2-go/pm2/nmad/driver"
	"github.com/pm2-go/pm2/nmad/internal/limit"
)

// How a process whose parent is gone finds the next one, or becomes the root. README.md has the protocol.

// patienceBeats is for how many beats a searching process tries a candidate that does not answer, and for how many
// the root waits for a missing rank: two silences.
const patienceBeats = 2 * beatsPerSilence

// openStandby opens the standby listener of this process, if the job has such and the address of this host is known.
// local is the address of its end of the connection to its parent. The caller holds mu.
func (r *Roster) openStandby(local net.Addr) {
	at := &net.TCPAddr{IP: net.ParseIP(r.cfg.Bind)}
	if tcp, ok := local.(*net.TCPAddr); ok {
		at.IP, at.Zone = tcp.IP, tcp.Zone
	}
	if at.IP == nil || !r.wantsStandby(local) {
		return
	}
	if l, err := net.ListenTCP("tcp", at); err == nil {
		r.cards[r.cfg.Rank].Standby = l.Addr().String()
		r.accept(l)
	}
}

// wantsStandby reports whether the processes of this job have standby listeners: there are three or more of them, and
// either silence is a death or there are several hosts.
func (r *Roster) wantsStandby(local net.Addr) bool {
	tcp, ok := local.(*net.TCPAddr)
	several := slices.ContainsFunc(r.cfg.Hosts, func(host int) bool { return host != r.cfg.Hosts[0] }) || ok && !tcp.IP.IsLoopback() && !tcp.IP.IsUnspecified()
	return r.cfg.Size > 2 && (r.cfg.Silence > 0 || several)
}

// rootOrder lists the ranks with a standby listener in the order in which they become root: rank 0, then the first of
// each host, then the second of each. So a search tries a host that cannot be reached once, and then another one.
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

// hasSuccessor reports whether there is a rank that may be the root, or become it. The caller holds mu.
func (r *Roster) hasSuccessor() bool {
	return slices.ContainsFunc(r.order, func(rank int) bool { return rank == r.cfg.Rank || r.gone[rank].Kind == 0 })
}

// attempt returns the limit of one attempt to connect, and of the pause before the next one: a beat, but at most a
// fifth of hostLimit.
func (r *Roster) attempt() time.Duration {
	return min(cmp.Or(r.cfg.Silence, hostLimit), hostLimit) / beatsPerSilence
}

// candidate is a rank that may be the root, as a searching process sees it.
type candidate struct {
	doubted   string        // why the search passes it over; empty: the search does not
	silentFor time.Duration // how long it has not answered
}

// search is one search for a parent.
type search struct {
	*Roster
	candidates []candidate // by rank
	round      int         // how many rounds are over, at most 10
}

// findParent finds the next parent of this process and returns the connection; nil if the process needs none, because
// it is the root, excluded, leaving, or the last one. doubt, if not empty, says why the last parent may be lost.
func (r *Roster) findParent(last int, doubt string) *wire {
	if doubt == "" { // most jobs end soon after the first process has left: then there is nothing to search
		select {
		case <-r.announced:
		case <-r.leaveCtx.Done():
			return nil
		case <-time.After(r.attempt()):
		}
	}
	x := search{Roster: r, candidates: make([]candidate, r.cfg.Size)}
	x.candidates[last].doubted = doubt
	for {
		if w, over := x.tryAll(); over || !sleep(r.leaveCtx, x.pause()) {
			return w
		}
		x.round = min(x.round+1, 10)
	}
}

// pause is how long the search waits after a round.
func (x *search) pause() time.Duration { return min(firstPause<<x.round, x.attempt()/2) }

// tryAll is one round: it tries the candidates in the order in which they become root. over reports whether the search
// has found a parent, w, or this process needs none.
func (x *search) tryAll() (w *wire, over bool) {
	for _, rank := range x.order {
		c := &x.candidates[rank]
		switch {
		case rank == x.cfg.Rank:
			x.finish(isRoot)
			return nil, true
		case x.departed(rank), c.doubted != "" && x.round == 0:
			continue
		}
		began := time.Now()
		w, err := x.dialStandby(rank)
		answer, answered := errors.AsType[admission](err)
		switch {
		case err == nil:
			return w, true
		case x.leaveCtx.Err() != nil:
			return nil, true
		case answer == takenForLost:
			x.mu.Lock()
			x.exclude(fmt.Sprintf("rank %d says so", rank))
			x.release()
			return nil, true
		case answered:
			c.silentFor = 0
			return nil, false
		case errors.Is(err, syscall.ECONNREFUSED), errors.Is(err, driver.ErrRefused): // no process listens there, or one of another job
			reason := cmp.Or(c.doubted, fmt.Sprintf("rank %d (pid %d) has ended", rank, x.cards[rank].PID))
			x.lockAndDepart(Event{Rank: rank, Kind: Died, Reason: reason})
			continue
		}
		// Not attempts are counted but time, because some fail at once, such as those of a process that is short of
		// descriptors. Time in which this process itself was stopped counts as two attempts at most.
		if c.silentFor += min(time.Since(began), 2*x.attempt()) + x.pause(); c.doubted != "" {
			continue
		}
		if !x.passesOver(c, err) {
			return nil, false
		}
		c.doubted = fmt.Sprintf("rank %d gives no answer: %v", rank, err)
	}
	x.finish(rootless)
	return nil, true
}

// departed reports whether a rank is gone.
func (x *search) departed(rank int) bool {
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.gone[rank].Kind != 0
}

// passesOver reports whether the search goes on to the next candidate although c may be there: c was silent for
// longer than the job allows or, in a job without such a limit, not even the kernel of its host answers.
func (x *search) passesOver(c *candidate, err error) bool {
	if x.cfg.Silence > 0 {
		return c.silentFor >= patienceBeats*x.cfg.Silence/beatsPerSilence
	}
	op, ok := errors.AsType[*net.OpError](err)
	return c.silentFor >= x.hostTime() && ok && op.Op == "dial"
}

// finish ends a search that has found no parent, and declares the ranks lost that it has passed over. As root, this
// process misses all others until they connect; rootless, it watches the others of its host.
func (x *search) finish(as state) {
	x.mu.Lock()
	defer x.release()
	x.state = as
	for rank, c := range x.candidates {
		if c.doubted != "" {
			x.depart(Event{Rank: rank, Kind: Died, Reason: c.doubted}, nil)
		}
	}
	if as == rootless {
		x.becomeRootless()
		return
	}
	for rank := range x.cfg.Size {
		x.markMissing([]int{rank})
	}
}

// dialStandby dials the standby address of a rank, once.
func (r *Roster) dialStandby(rank int) (*wire, error) {
	addr := r.cards[rank].Standby
	if rank == 0 {
		addr = r.cfg.Addr
	}
	ctx, stop := limit.Context(r.leaveCtx, r.attempt())
	defer stop()
	return r.reach(ctx, addr, rank, true)
}
