package nmad

import (
	"errors"
	"fmt"
	"time"

	"github.com/pm2-go/pm2/marcel/view"
	"github.com/pm2-go/pm2/nmad/internal/bootstrap"
	"github.com/pm2-go/pm2/nmad/internal/presence"
)

// How long things may take that depend on a peer which may not run.
const (
	// byeLimit is how long a peer's last bytes may lag behind the news that it has
	// left: they are on the way, so only a machine with no time at all gets there.
	byeLimit = 5 * time.Second
	// retireLimit is how long an ended gate tries to send its acknowledgement.
	retireLimit = 500 * time.Millisecond
)

// notice hears from the control connection that another process has left or has
// died. It comes from a goroutine of its own, so it works although no thread polls.
func (s *Session) notice(e bootstrap.Event) {
	if e.LinksOnly {
		s.orphaned()
	}
	if !s.met.Load() || e.Rank == s.cfg.Rank {
		return
	}
	if s.others.Add(-1) == 0 {
		s.cfg.presence.Tell(presence.Alone)
	}
	g := s.gates.at(e.Rank)
	if g == nil {
		if s.closing.Load() != nil {
			return // this side leaves, too, and has nothing to do with it
		}
		g = s.to(e.Rank) // which ends, and tells the requests for any source, and agreements
	}
	if e.Kind == bootstrap.Left {
		s.work.Go(func() { g.life.peerLeft(e.Reason) })
	} else {
		s.work.Go(func() {
			// What lies in links that are being made came before its death.
			retryUntil(retireLimit, func() bool {
				g.mu.lock()
				defer g.letGo()
				return !g.linking.underway()
			})
			g.life.peerEnded(e.Reason)
		})
	}
}

// orphaned notes that rank 0, or the first rank of a host, has gone. If a receive from any source waits then, or, by startAny,
// when one is posted later, links are made to all other processes: count and orphan are
// written before the other one is read.
func (s *Session) orphaned() {
	s.orphan.Store(true)
	s.consensus.post(happened{what: orphaned})
	if !s.any.Empty() {
		s.linkOrphan()
	}
	for _, g := range s.gates.all {
		g.mu.lock()
		if g.flow.Waits() {
			g.linking.want()
		}
		g.letGo()
	}
}

// linkOrphan has links made, once, to all other processes that may send to a receive from any source. It waits for no gate's lock.
func (s *Session) linkOrphan() {
	if !s.meshes.Swap(true) {
		s.consensus.post(happened{what: meshes})
	}
}

// mesh makes these links. It takes the locks of gates.
func (s *Session) mesh() {
	for rank := range s.gates {
		if !s.any.Group().Has(rank) {
			continue
		}
		g := s.to(rank)
		g.mu.lock()
		if !g.flow.Closing {
			g.linking.want()
		}
		g.letGo()
	}
}

// ended takes note that a gate has ended; under its lock. With the last one all
// receives from any source end that find no message.
func (s *Session) ended(g *Gate) {
	s.work.Go(func() { s.retire(g) })
	g.linking.endWaiters(g.flow.Dead)
	s.linker.noteLost(g.life.end)
	s.consensus.post(happened{what: lost, rank: g.rank})
	if s.any.End(g.rank, g.flow.Dead) {
		s.work.Go(s.lookLast)
	}
}

// retire frees what an ended gate holds.
func (s *Session) retire(g *Gate) {
	retryUntil(retireLimit, func() bool {
		g.mu.lock()
		defer g.letGo()
		return g.life.flushed()
	})
	s.mu.Lock()
	was := s.registered[g.rank]
	s.registered[g.rank] = retired
	s.mu.Unlock()
	if was == registered {
		for i := range g.rails.all {
			s.cfg.Engine.RemoveSource(source{&g.rails.all[i]})
		}
		g.task.Cancel() // not from its handler, so it cannot fail
	}
	retryUntil(0, func() bool { return g.life.shut(g.life.end) })
	for i := range g.rails.all {
		g.rails.all[i].link.Close()
	}
}

// retryUntil calls done again and again, ever more rarely, until it says true or, unless
// limit is 0, limit is over. It says whether done did. Of each pause what was asked for counts,
// twice at most: on a machine so busy that a pause of a millisecond takes fifty, the
// peers lack CPU time as well, and need more time to answer.
func retryUntil(limit time.Duration, done func() bool) bool {
	pause := 10 * time.Microsecond
	for spent := time.Duration(0); ; {
		if done() {
			return true
		}
		if limit > 0 && spent > limit {
			return false
		}
		began := time.Now()
		time.Sleep(pause)
		spent += min(time.Since(began), 2*pause)
		pause = min(2*pause, time.Millisecond)
	}
}

// Close leaves the job: it waits for the sends that are under way, for at most
// Config.Linger; fails all other requests with ErrClosed; tells the peers, waits,
// again for at most Config.Linger, until they have taken in what is under way; and
// frees everything. Messages that were sent reach their receivers even if those
// post their receives later. It returns an error if sends had to be given up.
// Calling it again does nothing and returns the same.
func (s *Session) Close() error {
	if !s.made() {
		return nil
	}
	s.close.Do(func() {
		offThread(s.shutdown)
		view.Save() // nothing may follow
	})
	return s.failed
}

func (s *Session) shutdown() {
	why := s.closes()
	s.consensus.stop(why)
	for _, g := range s.gates.all {
		g.life.beginClose(why)
	}
	s.any.Close(why)
	own := s.gates.at(s.cfg.Rank)
	own.enter()
	own.failLost(0)
	own.letGo()
	if !retryUntil(s.cfg.Linger, func() bool { return s.all((*life).quiet) }) {
		s.failed = fmt.Errorf("nmad: rank %d closes: sends to %s had not been taken after %v: they failed with ErrClosed",
			s.cfg.Rank, s.pendingSends(), s.cfg.Linger)
	}
	for _, g := range s.gates.all {
		g.life.sayBye()
	}
	s.control.Announce()
	s.cfg.presence.Tell(presence.Left)
	retryUntil(s.cfg.Linger, func() bool { return s.all((*life).peerKnows) })
	s.end(errors.New("this side closed its session"))
	s.queues.close()
	if m := s.cfg.manager; m != nil {
		s.failed = errors.Join(s.failed, m.leave())
	}
	s.cfg.leavePlace(true)
}

// closes has the gates that are made from here on stay without links, and says what their requests fail with. Before the look at
// the gates that there are; see to.
func (s *Session) closes() error {
	why := fmt.Errorf("nmad: rank %d: %w", s.cfg.Rank, ErrClosed)
	s.closing.Store(&why)
	return why
}

// poll moves all gates on, once.
func (s *Session) poll() {
	for _, g := range s.gates.all {
		g.poll()
	}
}

// all polls every gate and says whether the predicate holds for all of them.
func (s *Session) all(is func(*life) bool) bool {
	yes := true
	for _, g := range s.gates.all {
		g.mu.lock()
		if !is(&g.life) {
			yes = false
		}
		g.pollLocked()
	}
	return yes
}

// pendingSends lists the ranks to which sends are under way.
func (s *Session) pendingSends() string {
	text := "rank"
	for _, g := range s.gates.all {
		g.mu.lock()
		if !g.life.quiet() {
			text += fmt.Sprintf(" %d", g.rank)
		}
		g.letGo()
	}
	return text
}

// end ends all gates, leaves the job and waits until everything is freed.
func (s *Session) end(why error) {
	for _, g := range s.gates.all {
		if g != nil && g.rank != g.own {
			g.life.shut(&PeerError{Rank: g.rank, Reason: why.Error(), Err: ErrPeerLost})
		}
	}
	if s.control != nil {
		s.control.Leave() // no notices from here on, so nothing is added to work
	}
	s.linker.stop()
	s.work.Wait()
	leaveSpare()
}

// abandon undoes what connect has done before it failed.
func (s *Session) abandon(why error) {
	s.closes()
	s.cfg.presence.Tell(presence.Left)
	if s.control != nil {
		s.control.Abort(why)
	}
	s.end(why)
}
