package bootstrap

import (
	"errors"
	"fmt"
	"io"
	"net"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/pm2-go/pm2/nmad/internal/limit"
)

// strangers is how many connections may be in their handshake at once, beyond
// one per process of the job; further ones are closed and may try again.
const strangers = 64

// phase is how far the job has come. It only grows.
type phase uint8

const (
	gathering phase = iota // cards are coming in
	linking                // the table is out, the processes make their links
	running                // all are ready
	failed                 // the job could not start
	closing                // rank 0 leaves
)

// member is a process that is connected, as the one that keeps the list sees it. Fields under hub.mu.
type member struct {
	rank  int
	party []int // the ranks that it speaks for, itself first
	w     *wire
	late  *limit.Limit // of its handshake, until its card is in
	card  bool         // the cards of its party are in
	ready bool
	gone  bool // has left, or has died
}

// hub is the side of the process that keeps the list of those that are there: it gathers, broadcasts and relays. That
// is rank 0, for its host the leader of that (leader.go), or an heir of rank 0 (succession.go), which has the table already. One goroutine
// accepts, until the table is out or until an heir leaves; one per member reads until its connection ends.
type hub struct {
	c     *Control
	up    func(kind, []byte) // of a leader: sends to rank 0; nil: this is none. Under mu
	heir  bool
	l     net.Listener
	seats chan struct{} // one per connection in its handshake

	tableOut chan struct{} // closed when phase becomes linking
	started  chan struct{} // closed when phase becomes running

	wg sync.WaitGroup // all goroutines

	mu      sync.Mutex
	phase   phase
	members []*member // by rank; nil: not here yet. [0] stays nil
	pending map[net.Conn]struct{}
	cards   []Card
	waiting int    // cards of parties, then ready messages, that are still to come
	until   uint32 // heir: the beat after which those that have not come are lost; 0: that is over
	refused string // the last dialler that was turned away
}

func newHub(c *Control, up func(kind, []byte)) (*hub, error) {
	h := &hub{
		c: c, up: up,
		l:        c.cfg.Listener,
		seats:    make(chan struct{}, strangers+c.cfg.Size),
		tableOut: make(chan struct{}),
		started:  make(chan struct{}),
		members:  make([]*member, c.cfg.Size),
		pending:  map[net.Conn]struct{}{},
		cards:    make([]Card, c.cfg.Size),
		waiting:  len(c.tree.parties),
	}
	h.cards[c.cfg.Rank] = c.cfg.Card
	if h.l == nil {
		l, err := net.Listen("tcp", c.cfg.Addr)
		if err != nil {
			return nil, fmt.Errorf("listen at the rendezvous address %s (choose another one, or port 0 through the launcher): %w", c.cfg.Addr, err)
		}
		h.l = l
	}
	h.wg.Go(h.accept)
	return h, nil
}

func (h *hub) gathered() <-chan struct{} { return h.tableOut }
func (h *hub) going() <-chan struct{}    { return h.started }
func (h *hub) table() []Card             { return h.cards }

func (h *hub) accept() {
	for {
		conn, err := h.l.Accept()
		if err != nil {
			if errors.Is(err, net.ErrClosed) {
				return
			}
			// Out of descriptors, or an aborted connection: others may still come.
			select {
			case <-h.c.ctx.Done():
				return
			case <-time.After(10 * time.Millisecond):
			}
			continue
		}
		select {
		case h.seats <- struct{}{}:
			h.wg.Go(func() { h.greet(conn) })
		default:
			conn.Close()
		}
	}
}

// greet runs the handshake with one dialler and, once it is a member, serves it.
func (h *hub) greet(conn net.Conn) {
	if !h.track(conn) { // an heir that does not reign yet: the dialler comes again
		conn.Close()
		<-h.seats
		return
	}
	keepAlive(conn)
	m := &member{late: limit.Bound(conn, h.c.cfg.Handshake)}
	defer m.late.Stop()
	w, rank, err := receive(conn, h.c.cfg.Secret, h.c.cfg.Size, func(rank int) verdict { return h.admit(m, rank) })
	h.untrack(conn)
	<-h.seats
	if err != nil {
		conn.Close()
		if m.rank > 0 { // admitted, but gone before it heard of it
			h.lost(m, err)
			return
		}
		h.mu.Lock()
		h.refused = fmt.Sprintf("%v: %v", conn.RemoteAddr(), err)
		h.mu.Unlock()
		return
	}
	h.mu.Lock()
	m.rank, m.w = rank, w
	if len(m.party) > 1 { // their cards come when all of them are there
		m.late.Stop()
		conn.SetDeadline(time.Time{})
	}
	ending := h.phase >= failed && !h.heir
	if h.heir {
		h.brief(m)
	}
	h.mu.Unlock()
	if ending {
		conn.Close()
		return
	}
	h.serve(m) // a card of its own comes at once: it is in the same limit
}

func (h *hub) track(conn net.Conn) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	if !h.open() {
		return false
	}
	h.pending[conn] = struct{}{}
	return true
}

// open says whether processes may come. Under mu.
func (h *hub) open() bool {
	if h.heir {
		return h.phase >= running
	}
	return h.phase == gathering
}

func (h *hub) untrack(conn net.Conn) {
	h.mu.Lock()
	defer h.mu.Unlock()
	delete(h.pending, conn)
}

// admit gives the rank to a dialler that has proven itself, if it is free.
func (h *hub) admit(m *member, rank int) verdict {
	h.mu.Lock()
	defer h.mu.Unlock()
	party := h.c.tree.parties[rank]
	if h.heir {
		party = []int{rank}
	}
	switch {
	case party == nil && rank != h.c.cfg.Rank:
		return wrongPlace
	case h.members[rank] != nil, rank == h.c.cfg.Rank:
		return rankTaken
	case !h.open(), h.c.departed(rank):
		return alreadyClosed
	}
	m.rank, m.party = rank, party
	h.members[rank] = m
	return welcome
}

// serve reads what a member says until its connection ends.
func (h *hub) serve(m *member) {
	for {
		k, payload, err := m.w.recv(h.c.cfg.Size)
		if err == nil {
			err = h.handle(m, k, payload)
		}
		m.w.heard.Store(h.c.ticks.Load())
		if err != nil {
			h.lost(m, err)
			m.w.conn.Close()
			return
		}
	}
}

func (h *hub) handle(m *member, k kind, payload []byte) error {
	switch k {
	case kindCard:
		return h.takeCard(m, payload)
	case kindReady:
		return h.takeReady(m)
	case kindBeat:
		if !h.runs() {
			return fmt.Errorf("%w: a beat before the job runs", errFrame)
		}
		return nil
	case kindLeave:
		rank, err := parseLeave(payload, h.c.cfg.Size)
		if err != nil || !slices.Contains(m.party, rank) {
			return fmt.Errorf("%w: rank %d says that rank %d leaves", errFrame, m.rank, rank)
		}
		return h.takeLeave(m, rank, payload)
	case kindDead:
		rank, reason, err := parseNotice(payload, h.c.cfg.Size)
		if err != nil || rank == m.rank || !slices.Contains(m.party, rank) || !h.runs() {
			return fmt.Errorf("%w: rank %d says that rank %d is dead", errFrame, m.rank, rank)
		}
		h.mu.Lock()
		h.spread(kindDead, payload, m)
		h.mu.Unlock()
		h.c.tell(Event{Rank: rank, Kind: Died, Reason: reason})
		return nil
	case kindAbort:
		_, reason, err := parseNotice(payload, h.c.cfg.Size)
		if err != nil {
			return err
		}
		return errors.New(reason)
	}
	return fmt.Errorf("%w: kind %d is not for rank 0", errFrame, k)
}

func (h *hub) takeCard(m *member, payload []byte) error {
	cards, err := parseCards(payload, m.party)
	if err != nil {
		return err
	}
	m.late.Stop()
	m.w.conn.SetReadDeadline(time.Time{})
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.phase != gathering || m.card {
		return fmt.Errorf("%w: a card that nobody asked for", errFrame)
	}
	m.card = true
	for _, card := range cards {
		h.cards[card.Rank] = card
	}
	if h.waiting--; h.waiting > 0 {
		return nil
	}
	h.l.Close()
	for conn := range h.pending {
		conn.Close()
	}
	if h.up != nil {
		h.up(kindCard, h.ownCards())
		return nil
	}
	h.linkAll(pack(appendTable(nil, h.cards)))
	return nil
}

// ownCards are those of a leader's host.
func (h *hub) ownCards() []byte {
	var cards []Card
	for _, rank := range h.c.tree.ranks(h.c.cfg.Rank) {
		cards = append(cards, h.cards[rank])
	}
	return appendTable(nil, cards)
}

// linkAll hands out the table. Under mu, so that no GO can overtake it.
func (h *hub) linkAll(table []byte) {
	h.phase = linking
	h.waiting = len(h.c.tree.parties) + 1 // this time the own process counts too
	h.toAll(kindTable, table, nil)
	close(h.tableOut)
}

func (h *hub) takeReady(m *member) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.phase != linking || m.ready {
		return fmt.Errorf("%w: ready at the wrong time", errFrame)
	}
	m.ready = true
	h.oneReady()
	return nil
}

func (h *hub) ready() {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.phase == linking {
		h.oneReady()
	}
}

func (h *hub) oneReady() {
	if h.waiting--; h.waiting > 0 {
		return
	}
	if h.up != nil {
		h.up(kindReady, nil)
		return
	}
	h.run()
}

// run has all begin. Under mu.
func (h *hub) run() {
	h.phase = running
	h.toAll(kindGo, nil, nil)
	close(h.started)
}

// runs says whether all have been ready.
func (h *hub) runs() bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.phase == running || h.phase == closing
}

func (h *hub) beat() {
	for _, e := range h.beatAll() {
		h.c.tell(e)
	}
}

// beatAll is beat but for the news, which it returns.
func (h *hub) beatAll() []Event {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.phase != running {
		return nil
	}
	h.toAll(kindBeat, nil, nil)
	for _, m := range h.members {
		if m != nil && !m.gone && m.w != nil {
			h.c.hush(m.w)
		}
	}
	return h.missed()
}

func (h *hub) takeLeave(m *member, rank int, payload []byte) error {
	h.mu.Lock()
	if h.phase < running {
		h.mu.Unlock()
		return errors.New("left before the job had started")
	}
	m.gone = m.gone || rank == m.rank
	h.spread(kindLeave, payload, m)
	h.mu.Unlock()
	h.c.tell(Event{Rank: rank, Kind: Left, Reason: fmt.Sprintf("rank %d closed its session", rank)})
	if len(m.party) > 1 {
		return nil // the others of its host may still have something to say
	}
	return io.EOF // nothing more to read
}

// spread passes news on to all but the member that has brought them. Under mu.
func (h *hub) spread(k kind, payload []byte, from *member) {
	h.toAll(k, payload, from)
	if h.up != nil {
		h.up(k, payload)
	}
}

// lost deals with a member whose connection has ended or makes no sense.
func (h *hub) lost(m *member, why error) {
	reason := h.describe(m, why)
	h.mu.Lock()
	if m.gone || h.phase >= failed {
		m.gone = true
		h.mu.Unlock()
		return
	}
	m.gone = true
	if h.phase < running {
		h.fail(reason, m)
		h.mu.Unlock()
		return
	}
	h.spread(kindDead, appendNotice(nil, m.rank, reason), m)
	h.mu.Unlock()
	h.c.tell(Event{Rank: m.rank, Kind: Died, Reason: reason})
}

func (h *hub) describe(m *member, why error) string {
	h.mu.Lock()
	defer h.mu.Unlock()
	who := fmt.Sprintf("rank %d", m.rank)
	if m.card {
		who += fmt.Sprintf(" (pid %d)", h.cards[m.rank].PID)
	}
	if text, ok := h.c.hushed(why, who); ok && h.phase >= running {
		return text
	}
	if errors.Is(why, io.EOF) || errors.Is(why, io.ErrUnexpectedEOF) || isReset(why) {
		return who + " died: its control connection ended"
	}
	return who + ": " + why.Error()
}

// fail ends a job that has not started. Under mu.
func (h *hub) fail(reason string, but *member) {
	if h.phase >= failed {
		return
	}
	h.phase = failed
	h.spread(kindAbort, appendNotice(nil, h.c.cfg.Rank, reason), but)
	h.c.cancel(fmt.Errorf("%w: %s", ErrAborted, reason))
}

func (h *hub) abort(reason string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.phase < running {
		h.fail(reason, nil)
	}
}

// toAll sends a frame to all members that are there, but one. Under mu, which
// also keeps the order of frames the same for all. Errors show at the readers.
func (h *hub) toAll(k kind, payload []byte, but *member) {
	for _, m := range h.members {
		if m != nil && m != but && !m.gone && m.w != nil {
			if m.w.send(k, payload) != nil {
				m.w.conn.Close()
			}
		}
	}
}

func (h *hub) missing() string {
	h.mu.Lock()
	defer h.mu.Unlock()
	var who []string
	for rank, m := range h.members {
		if h.c.tree.parties[rank] != nil && (m == nil || (h.phase == gathering && !m.card) || (h.phase == linking && !m.ready)) {
			who = append(who, fmt.Sprint(rank))
		}
	}
	s := "rank "
	if len(who) != 1 { // 0: they have come just now
		s = "ranks "
	}
	s += strings.Join(who, ", ") + ", to be started with the same rendezvous address and secret"
	if h.refused != "" {
		s += " (turned away: " + h.refused + ")"
	}
	return s
}

func (h *hub) announce() {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.phase == running || h.heir && h.phase == linking { // an heir tells those that will come
		h.phase = closing // from here on the end of a connection is no death
		h.toAll(kindLeave, appendU32(nil, uint32(h.c.cfg.Rank)), nil)
	}
}

func (h *hub) leave() {
	h.mu.Lock()
	switch {
	case h.heir:
		h.phase = closing
	case h.phase < failed:
		h.fail(fmt.Sprintf("rank %d gave up", h.c.cfg.Rank), nil)
	}
	h.l.Close()
	for conn := range h.pending {
		conn.Close()
	}
	members := slices.Clone(h.members)
	h.mu.Unlock()

	// The members close their side once they have read the notice. Closing first
	// could destroy it on its way, because data that we have not read turns a
	// close into a reset.
	done := make(chan struct{})
	go func() { h.wg.Wait(); close(done) }()
	select {
	case <-done:
	case <-time.After(leaveLimit):
	}
	h.mu.Lock()
	for _, m := range members {
		if m != nil && m.w != nil {
			m.w.conn.Close()
		}
	}
	h.mu.Unlock()
	<-done
}
