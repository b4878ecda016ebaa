package bootstrap

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"
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

// spoke is the side of every rank but 0: one connection to the process that keeps the list, rank 0 or the leader of its host, one goroutine that
// reads it, and, when that is gone, one per process of this host that is watched.
type spoke struct {
	c    *Control
	down *hub // of a leader, to the other processes of its host; nil: it is none
	heir *hub // takes rank 0's place when it is this process's turn; nil: it never does

	tableIn chan struct{} // closed by the reader
	goIn    chan struct{} // closed by the reader
	cards   []Card        // written before tableIn is closed

	reader  chan struct{}   // closed when the reader has ended
	watch   context.Context // ends the watchers, and the search for an heir
	unwatch context.CancelFunc
	wg      sync.WaitGroup // watchers; only the reader adds

	mu      sync.Mutex
	w       *wire // to the process that keeps the list; nil: there is none
	keeper  int   // the rank of that
	started bool  // GO has arrived
	leaving bool
}

func newSpoke(ctx context.Context, c *Control) (*spoke, error) {
	s, err := connect(ctx, c)
	if err != nil {
		return nil, err
	}
	if s.heir = newHeir(c, s.w.conn); s.heir != nil {
		c.cfg.Card.Heir = s.heir.l.Addr().String()
	}
	if err := s.w.send(kindCard, appendTable(nil, []Card{c.cfg.Card})); err != nil {
		close(s.reader)
		s.leave()
		return nil, fmt.Errorf("hand in the card at %s: %w", c.above(), err)
	}
	go s.read()
	return s, nil
}

// connect makes the connection. The reader is to be started.
func connect(ctx context.Context, c *Control) (*spoke, error) {
	w, err := dial(ctx, c)
	if err != nil {
		return nil, err
	}
	s := &spoke{
		c: c, w: w, keeper: c.tree.up,
		tableIn: make(chan struct{}),
		goIn:    make(chan struct{}),
		reader:  make(chan struct{}),
	}
	s.watch, s.unwatch = context.WithCancel(context.Background())
	return s, nil
}

// above is the address of the process that this one connects to.
func (c *Control) above() string {
	if c.tree.up == 0 {
		return c.cfg.Addr
	}
	return door(c.cfg.Secret, c.tree.up)
}

// dial reaches the process above and runs the handshake, again and again while nobody
// listens there, until ctx ends.
func dial(ctx context.Context, c *Control) (*wire, error) {
	pause := firstPause
	for {
		w, err := dialOnce(ctx, &c.cfg, c.above())
		if err == nil {
			return w, nil
		}
		what := fmt.Sprintf("meet rank %d at %s", c.tree.up, c.above())
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

// dialOnce reaches the process that keeps the list at addr, and runs the handshake.
func dialOnce(ctx context.Context, cfg *Config, addr string) (*wire, error) {
	var d net.Dialer
	network := "tcp"
	if strings.HasPrefix(addr, "@") {
		network = "unix"
	}
	conn, err := d.DialContext(ctx, network, addr)
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
func (s *spoke) missing() string {
	return fmt.Sprintf("the others, of whom rank %d keeps the list", s.c.tree.up)
}

func (s *spoke) ready() {
	s.mu.Lock()
	w := s.w
	s.mu.Unlock()
	if w != nil && w.send(kindReady, nil) != nil {
		w.conn.Close() // the reader knows more: perhaps a reason has arrived
	}
}

func (s *spoke) abort(reason string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.started && s.w != nil {
		s.w.send(kindAbort, appendNotice(nil, s.c.cfg.Rank, fmt.Sprintf("rank %d: %s", s.c.cfg.Rank, reason)))
	}
}

func (s *spoke) read() {
	defer close(s.reader)
	if s.end(s.follow(s.w, s.c.tree.up)) && s.c.cfg.Silence > 0 {
		s.succeed()
	}
}

// follow reads what the process that keeps the list says, until the connection ends, and why it has.
func (s *spoke) follow(w *wire, keeper int) error {
	defer w.conn.Close()
	s.mu.Lock()
	if s.w, s.keeper = w, keeper; s.leaving {
		w.send(kindLeave, appendU32(nil, uint32(s.c.cfg.Rank))) // an error shows below
	}
	over := s.watch.Err() // if it is nil, leave sees w
	s.mu.Unlock()
	if over != nil {
		return over
	}
	for {
		k, payload, err := w.recv(s.c.cfg.Size)
		if err == nil {
			err = s.handle(k, payload)
		}
		w.heard.Store(s.c.ticks.Load())
		if err != nil {
			return err
		}
	}
}

// errKeeperLeft ends the reading: the process that kept the list has closed its session.
var errKeeperLeft = errors.New("it closed its session")

func (s *spoke) handle(k kind, payload []byte) error {
	size := s.c.cfg.Size
	switch k {
	case kindTable:
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
		s.pass(func(h *hub) { h.linkAll(payload) })
		if s.heir != nil {
			s.heir.inherit(cards)
		}
		close(s.tableIn)
		return nil
	case kindGo:
		s.mu.Lock()
		defer s.mu.Unlock()
		if s.started || s.cards == nil {
			return fmt.Errorf("%w: go at the wrong time", errFrame)
		}
		s.started = true
		s.pass((*hub).run)
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
		if rank == s.keeper {
			return errKeeperLeft
		}
		s.pass(func(h *hub) { h.toAll(k, payload, nil) })
		s.c.tell(Event{Rank: rank, Kind: Left, Reason: fmt.Sprintf("rank %d closed its session", rank)})
		return nil
	case kindDead:
		rank, reason, err := parseNotice(payload, size)
		if err != nil || rank == s.c.cfg.Rank || rank == s.keeper || !s.running() {
			return fmt.Errorf("%w: rank %d dead", errFrame, rank)
		}
		s.pass(func(h *hub) { h.toAll(k, payload, nil) })
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

// pass has a leader pass something on to its host.
func (s *spoke) pass(deed func(*hub)) {
	if s.down != nil {
		s.down.mu.Lock()
		defer s.down.mu.Unlock()
		deed(s.down)
	}
}

// running says whether GO has arrived.
func (s *spoke) running() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.started
}

// end deals with the end of the connection to the process that keeps the list, and says whether the job goes on without it.
func (s *spoke) end(err error) bool {
	s.mu.Lock()
	started, keeper := s.started, s.keeper
	s.w = nil
	s.mu.Unlock()
	who := fmt.Sprintf("rank %d", keeper)
	reason := who + " died: its control connection ended"
	if text, ok := s.c.hushed(err, who); ok {
		reason = text
	} else if !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) && !isReset(err) {
		reason = who + ": " + err.Error()
	}
	switch {
	case errors.Is(err, ErrAborted):
		s.c.cancel(err)
		s.pass(func(h *hub) { h.fail(strings.TrimPrefix(err.Error(), ErrAborted.Error()+": "), nil) })
		return false
	case !started:
		s.c.cancel(fmt.Errorf("%w: %s", ErrAborted, reason))
		s.pass(func(h *hub) { h.fail(reason, nil) })
		return false
	case s.watch.Err() != nil: // this process leaves
		return false
	case errors.Is(err, errKeeperLeft):
		s.pass(func(h *hub) { h.toAll(kindLeave, appendU32(nil, uint32(keeper)), nil) })
		s.c.tell(Event{Rank: keeper, Kind: Left, Reason: who + " closed its session"})
	default:
		s.pass(func(h *hub) { h.toAll(kindDead, appendNotice(nil, keeper, reason), nil) })
		s.c.tell(Event{Rank: keeper, Kind: Died, Reason: reason})
	}
	if keeper == s.c.tree.up && s.down == nil { // a leader has connections to its host
		s.watchOthers()
	}
	return true
}

// watchOthers has the deaths of processes on this host noticed at once, from their kernel.
func (s *spoke) watchOthers() {
	own := s.cards[s.c.cfg.Rank]
	for i, card := range s.cards {
		if i == own.Rank || card.Host != own.Host || s.c.departed(i) {
			continue
		}
		s.wg.Go(func() {
			if ended(s.watch, card.PID, card.Born) {
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
		s.c.hush(w)
	}
	if s.heir != nil {
		s.heir.beat()
	}
}

func (s *spoke) announce() {
	s.mu.Lock()
	if s.started && !s.leaving {
		s.leaving = true
		if s.w != nil {
			s.w.send(kindLeave, appendU32(nil, uint32(s.c.cfg.Rank))) // an error shows at the reader
		}
	}
	s.mu.Unlock()
	if s.heir != nil {
		s.heir.announce()
	}
}

func (s *spoke) leave() {
	s.unwatch()
	s.mu.Lock()
	w := s.w
	s.mu.Unlock()
	if w != nil {
		// The other side closes once it has read that; see hub.leave for why it must be first.
		if half, ok := w.conn.(interface{ CloseWrite() error }); ok {
			_ = half.CloseWrite() // it may have ended
		}
		late := limit.After(leaveLimit, func() { w.conn.Close() })
		defer late.Stop()
	}
	<-s.reader
	s.wg.Wait()
	if s.heir != nil {
		s.heir.leave()
	}
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
