package bootstrap

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strings"
	"sync"
	"time"

	"github.com/pm2-go/pm2/internal/kernel"
	"github.com/pm2-go/pm2/nmad/internal/limit"
)

// spoke is the side of every rank but 0. It has one connection to its parent, and one goroutine that reads it and finds the next parent
// when that one is gone. It has a hub if others are connected to this process, or may be.
type spoke struct {
	c     *Control
	hub   *hub // nil: none
	leads bool // it gathers the cards of its host

	tableIn chan struct{} // closed by the reader
	goIn    chan struct{} // closed by the reader
	cards   []Card        // written before tableIn is closed

	reader  chan struct{}   // closed when the reader has ended
	watch   context.Context // ends the watchers, and a search
	unwatch context.CancelFunc
	hurry   chan struct{}  // closed when this process leaves: then a search begins without its pause
	told    chan struct{}  // closed when the parent knows that this process leaves, or when there is none
	tellOne sync.Once      // closes told
	wg      sync.WaitGroup // watchers; only the reader adds

	mu      sync.Mutex
	w       *wire // to the parent; nil: there is none
	parent  int   // its rank
	started bool  // GO has arrived
	leaving bool
}

func newSpoke(ctx context.Context, c *Control) (*spoke, error) {
	var l net.Listener
	leads := c.tree.relays[c.cfg.Rank]
	if leads { // before the dial: the other ranks of the host may connect already
		name := leaderSocket(c.cfg.Secret, c.cfg.Rank)
		var err error
		if l, err = kernel.Listen("unix", name); err != nil {
			return nil, fmt.Errorf("listen for the other processes of this host at %s: %w", name, err)
		}
	}
	w, err := dial(ctx, c)
	if err != nil {
		if l != nil {
			l.Close()
		}
		return nil, err
	}
	s := &spoke{
		c: c, w: w, parent: c.tree.up, leads: leads,
		tableIn: make(chan struct{}),
		goIn:    make(chan struct{}),
		reader:  make(chan struct{}),
		hurry:   make(chan struct{}),
		told:    make(chan struct{}),
	}
	s.watch, s.unwatch = context.WithCancel(context.Background())
	standby := c.openStandby(w.conn.LocalAddr())
	if standby != nil {
		c.cfg.Card.Standby = standby.Addr().String()
	}
	if leads || standby != nil {
		s.hub = newHub(c, l, standby, s.send)
	}
	if !leads {
		if err := w.send(kindCard, appendTable(nil, []Card{c.cfg.Card})); err != nil {
			close(s.reader)
			s.leave()
			return nil, fmt.Errorf("hand in the card at %s: %w", c.above(), err)
		}
	}
	go s.read()
	return s, nil
}

// send sends a frame to the parent, if there is one.
func (s *spoke) send(k kind, payload []byte) {
	s.mu.Lock()
	w := s.w
	s.mu.Unlock()
	if w != nil && w.send(k, payload) != nil {
		w.conn.Close() // the reader tells why: perhaps a reason has arrived
	}
}

func (s *spoke) gathered() <-chan struct{} { return s.tableIn }
func (s *spoke) going() <-chan struct{}    { return s.goIn }
func (s *spoke) table() []Card             { return s.cards }
func (s *spoke) absent() string {
	if s.leads {
		s.hub.mu.Lock()
		waiting := s.hub.waiting
		s.hub.mu.Unlock()
		if waiting > 0 {
			return s.hub.absent()
		}
	}
	return fmt.Sprintf("the others, of whom rank %d keeps the list", s.c.tree.up)
}

func (s *spoke) ready() {
	if s.leads {
		s.hub.ready()
		return
	}
	s.send(kindReady, nil)
}

func (s *spoke) abort(reason string) {
	reason = fmt.Sprintf("rank %d: %s", s.c.cfg.Rank, reason)
	if s.leads {
		s.hub.abort(reason) // which tells rank 0, too
		return
	}
	if !s.running() {
		s.send(kindAbort, notice(s.c.cfg.Rank, reason))
	}
}

// read follows one parent after the other.
func (s *spoke) read() {
	defer close(s.reader)
	defer s.tellOne.Do(func() { close(s.told) })
	for w, parent := s.w, s.parent; w != nil; {
		doubt, goesOn := s.end(s.readParent(w, parent), parent)
		if !goesOn {
			return
		}
		w, parent = s.findParent(parent, doubt)
	}
}

// readParent reads the frames of the parent until the connection ends, and returns why it has ended.
func (s *spoke) readParent(w *wire, parent int) error {
	defer w.conn.Close()
	s.report(w, parent)
	if err := s.watch.Err(); err != nil { // if it is nil, leave sees w
		return err
	}
	for {
		k, payload, err := w.recv(s.c.cfg.Size)
		if err == nil {
			err = s.handle(k, payload)
		}
		w.heard.Store(s.c.ticks.Load())
		if err != nil {
			if _, silent := s.c.silenceText(err, ""); silent && s.running() {
				_ = w.send(kindQuit, nil) // the parent reads it when it runs again
			}
			return err
		}
	}
}

// report tells a new parent for which ranks this process speaks, and which of these are gone. It holds hub.mu, so news that comes
// meanwhile goes to the new parent after it.
func (s *spoke) report(w *wire, parent int) {
	h := s.hub
	if h != nil {
		h.mu.Lock()
		defer h.mu.Unlock()
		h.state = attached
	}
	s.mu.Lock()
	s.w, s.parent = w, parent
	leaving, started := s.leaving, s.started
	s.mu.Unlock()
	if h != nil && started {
		var ranks []int
		for rank, m := range h.path {
			if m != nil && !m.out {
				ranks = append(ranks, rank)
			}
		}
		if len(ranks) > 0 {
			s.send(kindSubtree, encodeRanks(ranks...))
		}
		for rank, leader := range s.c.tree.leader {
			if leader == s.c.cfg.Rank {
				h.sendFate(rank, s.send)
			}
		}
	}
	if leaving {
		s.send(kindLeave, encodeRanks(s.c.cfg.Rank))
		s.tellOne.Do(func() { close(s.told) })
	}
}

var (
	// errParentLeft ends the reading: the parent has closed its session.
	errParentLeft = errors.New("it closed its session")
	// errLost ends it: the others have taken this process for lost.
	errLost = errors.New("this process was taken for lost")
)

func (s *spoke) handle(k kind, payload []byte) error {
	size, own := s.c.cfg.Size, s.c.cfg.Rank
	if k >= kindLeave && k != kindAbort && !s.running() {
		return fmt.Errorf("%w: kind %d before the job runs", errFrame, k)
	}
	switch k {
	case kindTable:
		return s.takeTable(payload)
	case kindGo:
		s.mu.Lock()
		early := s.started || s.cards == nil
		s.started = s.started || !early
		s.mu.Unlock()
		if early {
			return fmt.Errorf("%w: go at the wrong time", errFrame)
		}
		s.pass((*hub).run)
		close(s.goIn)
		return nil
	case kindBeat:
		return nil
	case kindQuit:
		return errQuit
	case kindLeave:
		rank, err := parseLeave(payload, size)
		switch {
		case err != nil:
			return err
		case rank == own:
			return nil
		case rank == s.parent:
			return errParentLeft
		}
		s.hear(Event{Rank: rank, Kind: Left, Reason: fmt.Sprintf("rank %d closed its session", rank)})
		return nil
	case kindDead:
		rank, reason, err := parseNotice(payload, size)
		switch {
		case err != nil:
			return err
		case rank == own:
			return fmt.Errorf("%w: %s", errLost, reason)
		case rank == s.parent:
			return fmt.Errorf("%w: rank %d says that it is dead", errFrame, rank)
		}
		s.hear(Event{Rank: rank, Kind: Died, Reason: reason})
		return nil
	case kindAbort:
		_, reason, err := parseNotice(payload, size)
		if err != nil {
			return err
		}
		return fmt.Errorf("%w: %s", ErrAborted, reason)
	}
	return fmt.Errorf("%w: kind %d is for a parent", errFrame, k)
}

func (s *spoke) takeTable(payload []byte) error {
	size := s.c.cfg.Size
	if s.cards != nil {
		return fmt.Errorf("%w: a second table", errFrame)
	}
	table, err := unpack(payload, size)
	if err != nil {
		return err
	}
	cards, err := parseTable(table, size)
	if err != nil {
		return err
	}
	s.cards = cards
	s.pass(func(h *hub) {
		h.cards = cards
		h.linkAll(payload)
	})
	close(s.tableIn)
	return nil
}

// pass has the hub do something, if there is one.
func (s *spoke) pass(deed func(*hub)) {
	if s.hub != nil {
		s.hub.mu.Lock()
		defer s.hub.mu.Unlock()
		deed(s.hub)
	}
}

// hear passes an event on, to the members and to the program.
func (s *spoke) hear(e Event) {
	if s.hub != nil {
		s.hub.hear(e)
	}
	s.c.tell(e)
}

// running says whether GO has arrived.
func (s *spoke) running() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.started
}

// end deals with the end of the connection to the parent, and says whether this process needs another one. doubt, if not empty, says
// why the parent may be lost; it may still be there, so end tells no process of a death.
func (s *spoke) end(err error, parent int) (doubt string, goesOn bool) {
	s.mu.Lock()
	s.w = nil
	started := s.started
	s.mu.Unlock()
	name := fmt.Sprintf("rank %d", parent)
	reason, silent := s.c.silenceText(err, name)
	if !silent {
		reason = name + why(err)
	}
	switch {
	case errors.Is(err, ErrAborted):
		s.c.cancel(err)
		s.pass(func(h *hub) { h.fail(strings.TrimPrefix(err.Error(), ErrAborted.Error()+": "), nil) })
		return "", false
	case !started:
		s.c.cancel(fmt.Errorf("%w: %s", ErrAborted, reason))
		s.pass(func(h *hub) { h.fail(reason, nil) })
		return "", false
	case s.watch.Err() != nil: // this process leaves
		return "", false
	case errors.Is(err, errLost):
		s.excluded(strings.TrimPrefix(err.Error(), errLost.Error()+": "))
		return "", false
	case errors.Is(err, errParentLeft):
		s.hear(Event{Rank: parent, Kind: Left, Reason: name + " closed its session"})
	case (silent || errors.Is(err, errQuit)) && s.hasSuccessor():
		return reason, true
	default:
		s.hear(Event{Rank: parent, Kind: Died, Reason: reason})
	}
	if !s.hasSuccessor() {
		s.watchOthers()
		return "", false
	}
	return "", true
}

// watchOthers watches the other processes of this host by pidfd, so that their deaths show at once.
func (s *spoke) watchOthers() {
	own := s.cards[s.c.cfg.Rank]
	for i, card := range s.cards {
		if i == own.Rank || card.Host != own.Host || s.c.departed(i) {
			continue
		}
		s.wg.Go(func() {
			if ended(s.watch, card.PID, card.StartTime) {
				s.c.tell(Event{Rank: i, Kind: Died, Reason: fmt.Sprintf("rank %d (pid %d) ended", i, card.PID)})
			}
		})
	}
}

func (s *spoke) beat() {
	s.mu.Lock()
	w := s.w
	s.mu.Unlock()
	if w != nil && s.running() {
		w.send(kindBeat, nil) // an error shows at the reader
		s.c.expireSilent(w)
	}
	if s.hub != nil {
		s.hub.beat()
	}
}

func (s *spoke) announce() {
	s.mu.Lock()
	first := s.started && !s.leaving
	s.leaving = s.leaving || first
	there := s.w != nil
	s.mu.Unlock()
	if !first {
		return
	}
	close(s.hurry)
	if there {
		s.send(kindLeave, encodeRanks(s.c.cfg.Rank)) // an error shows at the reader
		s.tellOne.Do(func() { close(s.told) })
	}
	if s.hub != nil {
		s.hub.announce()
	}
}

func (s *spoke) leave() {
	if s.running() { // a process that has no parent just now finds one and tells it that it leaves
		select {
		case <-s.told:
		case <-time.After(leaveLimit):
		}
	}
	s.unwatch()
	if s.hub != nil {
		s.hub.leave()
	}
	s.mu.Lock()
	w := s.w
	s.mu.Unlock()
	if w != nil {
		// The other side closes once it has read that. hub.leave says why the other side must be the first.
		if half, ok := w.conn.(interface{ CloseWrite() error }); ok {
			_ = half.CloseWrite() // it may have ended
		}
		late := limit.After(leaveLimit, func() { w.conn.Close() })
		defer late.Stop()
	}
	<-s.reader
	s.wg.Wait()
}
