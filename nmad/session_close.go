package nmad

import (
	"errors"
	"fmt"
	"time"

	"github.com/pm2-go/pm2/marcel/view"
	"github.com/pm2-go/pm2/nmad/internal/consensus"
	"github.com/pm2-go/pm2/nmad/internal/presence"
	"github.com/pm2-go/pm2/nmad/internal/roster"
)

// How long things may take that depend on a peer which may not run.
const (
	// byeLimit is how long a peer's last bytes may lag behind the news that it has left. They are on the way, so only a
	// machine without any CPU time left reaches the limit.
	byeLimit = 5 * time.Second
	// retireLimit is how long an ended gate tries to send its acknowledgement.
	retireLimit = 500 * time.Millisecond
	// newsLimit is how long the news that a peer has ended may lag behind what shows on links that are being made.
	newsLimit = time.Second
)

// notice handles the news of the control connection that another process has left or has died. A goroutine of its own
// calls it, so it works although no thread polls.
func (s *Session) notice(e roster.Event) {
	if e.LinksOnly {
		s.relayLost.Store(true)
		s.agreements.each((*consensus.Participant).RelayLost)
		for _, d := range s.domains.all() {
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

// retryUntil calls done again and again, ever more rarely, until it says true or, unless limit is 0, limit is over. It
// says whether done did. A pause counts with its real length, but at most twice the length that was asked for: on a
// machine so busy that a pause of a millisecond takes fifty, the peers lack CPU time as well, and need more time to
// answer.
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
	if !s.valid() {
		return nil
	}
	s.closeOnce.Do(func() {
		offThread(s.shutdown)
		view.Save() // nothing may follow
	})
	return s.closeErr
}

func (s *Session) shutdown() {
	s.background.stop()
	why := fmt.Errorf("nmad: rank %d: %w", s.cfg.Rank, ErrClosed)
	all := s.domains.close(why)
	s.agreements.stop(why)
	for _, d := range all {
		d.beginClose(why)
	}
	if !retryUntil(s.cfg.Linger, func() bool { return polled(all, (*lockedGate).sendsDone) }) {
		text := ""
		for _, d := range all {
			if ranks := d.pendingSends(); ranks != "" {
				text += fmt.Sprintf(", sends to rank%s%s", ranks, d.name())
			}
		}
		if text != "" { // else the last of them was taken just now
			s.closeErr = fmt.Errorf("nmad: rank %d closes%s had not been taken after %v: they failed with ErrClosed", s.cfg.Rank, text, s.cfg.Linger)
		}
	}
	for _, d := range all {
		d.sayBye()
	}
	s.control.Announce()
	s.cfg.presence.Tell(presence.Left)
	retryUntil(s.cfg.Linger, func() bool { return polled(all, (*lockedGate).peerKnows) })
	s.end("this side closed its session")
	sessions.remove(s)
	s.queueWaiters.close()
	if m := s.cfg.manager; m != nil {
		s.closeErr = errors.Join(s.closeErr, m.finalize())
	}
	s.cfg.leavePlace(true)
}

// polled polls all gates and says whether the predicate holds for all of them.
func polled(all []*Domain, is func(*lockedGate) bool) bool {
	yes := true
	for _, d := range all {
		yes = d.polled(is) && yes
	}
	return yes
}

// end ends all gates, leaves the job and waits until everything is freed.
func (s *Session) end(why string) {
	for _, d := range s.domains.all() {
		d.end(why)
	}
	if s.control != nil {
		s.control.Leave() // no notices from here on, so nothing is added to work
	}
	s.linker.stop()
	for _, d := range s.domains.all() {
		d.free()
	}
	leaveSpareProc()
}

// abandon undoes what connect has done before it failed.
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
