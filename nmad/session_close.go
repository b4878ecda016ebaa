package nmad

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/pm2-go/pm2/marcel/view"
	"github.com/pm2-go/pm2/nmad/internal/consensus"
	"github.com/pm2-go/pm2/nmad/internal/presence"
	"github.com/pm2-go/pm2/nmad/internal/roster"
)

// Limits of waits for a peer that may not be running.
const (
	// byeLimit is how long a gate waits for the BYE of a peer that has left, as the control connection tells. The bytes
	// are on their way, so only a machine that has no CPU time left reaches the limit.
	byeLimit = 5 * time.Second
	// retireLimit is how long an ended gate tries to send its BYEACK.
	retireLimit = 500 * time.Millisecond
	// newsLimit is how long a gate whose links could not be made waits for the news that the peer has ended.
	newsLimit = time.Second
)

// notice handles the news, from the control connection, that another process has left or has died. A goroutine of the
// roster calls it, so it works although no thread polls.
func (s *Session) notice(e roster.Event) {
	if e.LinksOnly {
		s.relayLost.Store(true)
		s.agreements.each((*consensus.Participant).RelayLost)
		for _, d := range s.domains.open.All() {
			d.linkWaiting()
		}
	}
	if !s.cardsKnown.Load() || e.Rank == s.cfg.Rank {
		return
	}
	if s.livePeers.Add(-1) == 0 {
		s.cfg.presence.Tell(presence.Alone)
	}
	for _, d := range s.domains.lost(e) {
		d.lost(e)
	}
}

// retryUntil calls done, with pauses that grow from 10 us to 1 ms, until it returns true, or until limit is over; 0
// means no limit. It returns the last result of done. Of a pause that has taken longer than it should, at most twice
// its length counts for the limit: on a machine so busy that a pause of 1 ms takes 50 ms, the peers lack CPU time as
// well, and need more time.
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

// Close leaves the job. It makes all requests but sends fail with ErrClosed; waits for the sends that are under way,
// for at most Config.Linger; tells the peers that this process leaves; waits, again for at most Config.Linger, until
// they have received everything; and frees everything. Messages that were sent reach their receivers, even if those
// post their receives later. Close returns an error if it had to give sends up. A second call does nothing, and returns
// the same. Close blocks the calling thread or goroutine only.
func (s *Session) Close() error {
	if !s.valid() {
		return nil
	}
	s.closeOnce.Do(func() {
		offThread(s.shutdown)
		view.Save() // nothing may follow
	})
	return s.closeErr
}

// shutdown is Close, once, for a caller that may block in calls of Go.
func (s *Session) shutdown() {
	s.background.stop()
	why := fmt.Errorf("nmad: rank %d: %w", s.cfg.Rank, ErrClosed)
	all := s.domains.close(why)
	s.agreements.stop(why)
	for _, d := range all {
		d.beginClose(why)
	}
	s.closeErr = s.leave(all, nil, func() {
		s.control.Announce()
		s.cfg.presence.Tell(presence.Left)
	})
	s.end("this side closed its session")
	sessions.remove(s)
	s.queueWaiters.close()
	if m := s.cfg.manager; m != nil {
		s.closeErr = errors.Join(s.closeErr, m.finalize())
	}
	s.cfg.leavePlace(true)
}

// leave brings domains for which beginClose was called to their orderly end. It waits until their sends are done, for
// at most Config.Linger; says BYE at all their gates, and calls announce; and waits, again for at most Config.Linger,
// until the peers have received everything. The error names the ranks of the sends that it had to give up. own is the
// caller's owner, if its other private domains are to be moved meanwhile; else nil.
func (s *Session) leave(all []*Domain, own *owner, announce func()) error {
	wait := func(holds func(*lockedGate) bool) bool {
		return retryUntil(s.cfg.Linger, func() bool {
			if own != nil {
				own.engine.Poll()
			}
			return polled(all, holds)
		})
	}
	var pending []string
	if !wait((*lockedGate).sendsDone) {
		for _, d := range all {
			if ranks := d.pendingSends(); ranks != "" { // else the last of them were done just now
				pending = append(pending, " to rank"+ranks+d.name())
			}
		}
	}
	for _, d := range all {
		for g := range d.all {
			g.sayBye()
		}
	}
	announce()
	wait((*lockedGate).peerKnows)
	if pending == nil {
		return nil
	}
	return fmt.Errorf("nmad: rank %d closes: sends%s had not been taken after %v: they failed with ErrClosed",
		s.cfg.Rank, strings.Join(pending, ","), s.cfg.Linger)
}

// polled polls all gates of these domains, and reports whether the predicate held for all of them before.
func polled(all []*Domain, holds func(*lockedGate) bool) bool {
	held := true
	for _, d := range all {
		for g := range d.all {
			h := g.lock()
			held = holds(h) && held
			h.pollLocked()
		}
	}
	return held
}

// end ends all gates, leaves the job, and waits until everything is freed.
func (s *Session) end(why string) {
	for _, d := range s.domains.open.All() {
		d.end(why)
	}
	if s.control != nil {
		s.control.Leave() // notice is not called any more, so no goroutine is added to Domain.work
	}
	s.linker.stop()
	for _, d := range s.domains.open.All() {
		d.free()
	}
	leaveSpareProc()
}

// abandon undoes what connect has done before it failed because of why.
func (s *Session) abandon(why error) {
	closed := fmt.Errorf("nmad: rank %d: %w", s.cfg.Rank, ErrClosed)
	for _, d := range s.domains.close(closed) {
		d.closing.Store(&closed)
	}
	s.cfg.presence.Tell(presence.Left)
	if s.control != nil {
		s.control.Abort(why)
	}
	s.end(why.Error())
}
