package bootstrap

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"sync"
	"syscall"
	"time"

	"github.com/pm2-go/pm2/nmad/internal/limit"
)

// Pauses between two attempts to reach rank 0, which may start after us.
const (
	firstPause = 5 * time.Millisecond
	lastPause  = 250 * time.Millisecond
)

// spoke is the side of every rank but 0: one connection, one goroutine that
// reads it, and, when rank 0 is gone, one per process that is watched instead.
type spoke struct {
	c *Control
	w *wire

	tableIn chan struct{} // closed by the reader
	goIn    chan struct{} // closed by the reader
	cards   []Card        // written before tableIn is closed

	reader  chan struct{}   // closed when the reader has ended
	watch   context.Context // ends the watchers
	unwatch context.CancelFunc
	wg      sync.WaitGroup // watchers; only the reader adds

	mu      sync.Mutex
	started bool // GO has arrived
	leaving bool
	orphan  bool         // rank 0 is gone
	still   map[int]uint // by rank: for how many beats in a row a process that is watched was found stopped; lookAround's
}

func newSpoke(ctx context.Context, c *Control) (*spoke, error) {
	w, err := dial(ctx, &c.cfg)
	if err != nil {
		return nil, err
	}
	s := &spoke{
		c: c, w: w,
		tableIn: make(chan struct{}),
		goIn:    make(chan struct{}),
		reader:  make(chan struct{}),
	}
	s.watch, s.unwatch = context.WithCancel(context.Background())
	if err := w.send(kindCard, c.cfg.Card.append(nil)); err != nil {
		w.conn.Close()
		s.unwatch()
		return nil, fmt.Errorf("hand in the card at %s: %w", c.cfg.Addr, err)
	}
	go s.read()
	return s, nil
}

// dial reaches rank 0 and runs the handshake, again and again while nobody
// listens there, until ctx ends.
func dial(ctx context.Context, cfg *Config) (*wire, error) {
	pause := firstPause
	for {
		w, err := dialOnce(ctx, cfg)
		if err == nil {
			return w, nil
		}
		what := fmt.Sprintf("meet rank 0 at %s", cfg.Addr)
		if !passing(err) {
			return nil, fmt.Errorf("%s: %w", what, err)
		}
		select {
		case <-ctx.Done():
			return nil, fmt.Errorf("%s: %w: last attempt: %v", what, context.Cause(ctx), err)
		case <-time.After(pause):
		}
		pause = min(2*pause, lastPause)
	}
}

func dialOnce(ctx context.Context, cfg *Config) (*wire, error) {
	var d net.Dialer
	conn, err := d.DialContext(ctx, "tcp", cfg.Addr)
	if err != nil {
		return nil, err
	}
	keepAlive(conn)
	release := bindContext(ctx, conn)
	defer release()
	late := limit.Bound(conn, cfg.Handshake)
	w, err := offer(conn, cfg.Secret, cfg.Rank, cfg.Size)
	late.Stop()
	if err != nil {
		conn.Close()
		return nil, err
	}
	conn.SetDeadline(time.Time{})
	return w, nil
}

// bindContext closes conn when ctx ends, until the returned function is called.
func bindContext(ctx context.Context, conn net.Conn) (release func() bool) {
	return context.AfterFunc(ctx, func() { conn.Close() })
}

// passing says whether a failed attempt may succeed later: nobody listens yet,
// or rank 0 had too many strangers at its door.
func passing(err error) bool {
	if errors.Is(err, ErrRefused) || errors.Is(err, ErrSecret) || errors.Is(err, errNotOurs) {
		return false
	}
	var dns *net.DNSError
	if errors.As(err, &dns) {
		return dns.Temporary() || dns.Timeout()
	}
	var addr *net.AddrError
	return !errors.As(err, &addr)
}

func (s *spoke) gathered() <-chan struct{} { return s.tableIn }
func (s *spoke) going() <-chan struct{}    { return s.goIn }
func (s *spoke) table() []Card             { return s.cards }
func (s *spoke) missing() string           { return "the others, of whom rank 0 keeps the list" }

func (s *spoke) ready() {
	if s.w.send(kindReady, nil) != nil {
		s.w.conn.Close() // the reader knows more: perhaps a reason has arrived
	}
}

func (s *spoke) abort(reason string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.started {
		s.w.send(kindAbort, appendNotice(nil, s.c.cfg.Rank, fmt.Sprintf("rank %d: %s", s.c.cfg.Rank, reason)))
	}
}

func (s *spoke) read() {
	defer close(s.reader)
	defer s.w.conn.Close()
	for {
		k, payload, err := s.w.recv(s.c.cfg.Size)
		if err == nil {
			err = s.handle(k, payload)
		}
		s.w.heard.Store(s.c.ticks.Load())
		if err != nil {
			s.end(err)
			return
		}
	}
}

// errHubLeft ends the reader: rank 0 has closed its session.
var errHubLeft = errors.New("rank 0 closed its session")

func (s *spoke) handle(k kind, payload []byte) error {
	size := s.c.cfg.Size
	switch k {
	case kindTable:
		if s.cards != nil {
			return fmt.Errorf("%w: a second table", errFrame)
		}
		cards, err := parseTable(payload, size)
		if err != nil {
			return err
		}
		s.cards = cards
		close(s.tableIn)
		return nil
	case kindGo:
		s.mu.Lock()
		defer s.mu.Unlock()
		if s.started || s.cards == nil {
			return fmt.Errorf("%w: go at the wrong time", errFrame)
		}
		s.started = true
		close(s.goIn)
		return nil
	case kindBeat:
		if !s.running() {
			return fmt.Errorf("%w: a beat before the job runs", errFrame)
		}
		return nil
	case kindLeave:
		rank, err := parseLeave(payload, size)
		if err != nil || rank == s.c.cfg.Rank || !s.running() {
			return fmt.Errorf("%w: rank %d leaves", errFrame, rank)
		}
		if rank == 0 {
			return errHubLeft
		}
		s.c.tell(Event{Rank: rank, Kind: Left, Reason: fmt.Sprintf("rank %d closed its session", rank)})
		return nil
	case kindDead:
		rank, reason, err := parseNotice(payload, size)
		if err != nil || rank == s.c.cfg.Rank || rank == 0 || !s.running() {
			return fmt.Errorf("%w: rank %d dead", errFrame, rank)
		}
		s.c.tell(Event{Rank: rank, Kind: Died, Reason: reason})
		return nil
	case kindAbort:
		_, reason, err := parseNotice(payload, size)
		if err != nil {
			return err
		}
		return fmt.Errorf("%w: %s", ErrAborted, reason)
	}
	return fmt.Errorf("%w: kind %d is for rank 0", errFrame, k)
}

// running says whether GO has arrived.
func (s *spoke) running() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.started
}

// end deals with the end of the connection to rank 0.
func (s *spoke) end(err error) {
	s.mu.Lock()
	started, leaving := s.started, s.leaving
	s.mu.Unlock()
	reason := "rank 0 died: its control connection ended"
	if text, ok := s.c.hushed(err, "rank 0"); ok {
		reason = text
	} else if !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) && !isReset(err) {
		reason = "rank 0: " + err.Error()
	}
	switch {
	case errors.Is(err, ErrAborted):
		s.c.cancel(err)
	case !started:
		s.c.cancel(fmt.Errorf("%w: %s", ErrAborted, reason))
	case leaving:
	case errors.Is(err, errHubLeft):
		s.c.tell(Event{Rank: 0, Kind: Left, Reason: err.Error()})
		s.watchOthers()
	default:
		s.c.tell(Event{Rank: 0, Kind: Died, Reason: reason})
		s.watchOthers()
	}
}

// watchOthers takes over rank 0's task for the processes on this host.
func (s *spoke) watchOthers() {
	s.mu.Lock()
	s.orphan, s.still = true, map[int]uint{}
	s.mu.Unlock()
	for i, card := range s.cards {
		if !s.watches(i) {
			continue
		}
		s.wg.Go(func() {
			if ended(s.watch, card.PID, card.Born) {
				s.c.tell(Event{Rank: i, Kind: Died, Reason: fmt.Sprintf("rank %d (pid %d) ended", i, card.PID)})
			}
		})
	}
}

// watches says whether a process is on this host and nothing is known yet of its end.
func (s *spoke) watches(rank int) bool {
	own := s.cards[s.c.cfg.Rank]
	return rank != 0 && rank != own.Rank && s.cards[rank].Host == own.Host && !s.c.departed(rank)
}

func (s *spoke) beat() {
	s.mu.Lock()
	orphan := s.orphan
	s.mu.Unlock()
	if orphan {
		s.lookAround()
		return
	}
	if s.running() {
		s.w.send(kindBeat, nil) // an error shows at the reader
		s.c.hush(s.w)
	}
}

// lookAround is the beat without rank 0, from which nobody says anything any more: a process on this host that is found stopped for as
// long as it may say nothing is lost.
func (s *spoke) lookAround() {
	for i, card := range s.cards {
		switch {
		case !s.watches(i):
		case !stopped(card.PID, card.Born):
			s.still[i] = 0
		default:
			if s.still[i]++; s.still[i] > beatsPerSilence {
				s.c.tell(Event{Rank: i, Kind: Died, Reason: fmt.Sprintf("rank %d (pid %d) is stopped for %v", i, card.PID, s.c.cfg.Silence)})
			}
		}
	}
}

func (s *spoke) announce() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.started && !s.leaving {
		s.leaving = true
		s.w.send(kindLeave, appendU32(nil, uint32(s.c.cfg.Rank))) // an error shows at the reader
	}
}

func (s *spoke) leave() {
	// Rank 0 closes once it has read that; see hub.leave for why it must be first.
	if t, ok := s.w.conn.(*net.TCPConn); ok {
		t.CloseWrite()
	}
	select {
	case <-s.reader:
	case <-time.After(leaveLimit):
		s.w.conn.Close()
		<-s.reader
	}
	s.unwatch()
	s.wg.Wait()
}

// isReset says whether the other side's kernel ended the connection.
func isReset(err error) bool {
	return errors.Is(err, syscall.ECONNRESET) || errors.Is(err, syscall.EPIPE) || errors.Is(err, net.ErrClosed)
}

// keepAlive lets the death of a whole host show after about ten seconds.
func keepAlive(conn net.Conn) {
	if t, ok := conn.(*net.TCPConn); ok {
		t.SetKeepAliveConfig(net.KeepAliveConfig{Enable: true, Idle: 5 * time.Second, Interval: time.Second, Count: 5})
	}
}
