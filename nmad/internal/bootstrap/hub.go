package bootstrap

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"slices"
	"sync"
	"time"

	"github.com/pm2-go/pm2/internal/kernel"
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
	closing                // this process leaves
)

// treeState is the place of a process in the tree of control connections, once the job runs. README.md draws it.
type treeState uint8

const (
	attached  treeState = iota // it has a parent
	searching                  // it looks for one
	isRoot                     // it is the root
	excluded                   // the others have taken it for lost
)

// member is a process that is connected, as its parent sees it. Fields under hub.mu.
type member struct {
	rank    int
	subtree []int // the ranks that it speaks for, itself first
	w       *wire
	late    *limit.Limit // of its handshake, until its card is in
	again   bool         // it has connected after GO: another parent has its card
	card    bool         // the cards of its subtree are in
	ready   bool
	left    bool // it has closed its session
	quit    bool // it looks for another parent
	out     bool // the connection is not in use any more: the hub sends nothing there, and its end means nothing
}

// hub is the side of a process that others are connected to: rank 0, the leader of a host, and each process with a standby listener,
// which may become root. One goroutine per listener accepts. One goroutine per member reads until its connection ends. Locks: hub.mu
// before spoke.mu and Control.notifyMu.
type hub struct {
	c          *Control
	gathers    bool               // it takes cards: rank 0, a leader
	l          net.Listener       // where the cards come; rank 0 uses it as its standby listener, too
	up         func(kind, []byte) // to the parent, if there is one; nil: rank 0. It takes spoke.mu
	standby    net.Listener       // where processes connect that have lost their parent; nil: this process never becomes root
	handshakes chan struct{}      // one per connection in its handshake

	tableOut chan struct{} // closed when phase becomes linking
	started  chan struct{} // closed when phase becomes running

	over context.Context // ends with the hub, or when it parts
	stop context.CancelFunc
	wg   sync.WaitGroup // all goroutines

	mu sync.Mutex

	phase   phase
	state   treeState
	members []*member      // by rank; nil: not here. The one of the own rank stays nil
	path    []*member      // by rank: the member that speaks for it; nil: none
	gone    []EventKind    // by rank; 0: it is there
	reasons map[int]string // of those that have died
	missing map[int]uint32 // root: ranks that no member speaks for, and the tick after which they are lost
	pending map[net.Conn]struct{}
	cards   []Card
	waiting int    // cards of parties, then ready messages, that are still to come
	refused string // the last dialler that was turned away
}

// newHub makes a hub that takes cards at l, and connections after GO at standby; either may be nil.
func newHub(c *Control, l, standby net.Listener, up func(kind, []byte)) *hub {
	h := &hub{
		c: c, gathers: l != nil, l: l, standby: standby, up: up,
		handshakes: make(chan struct{}, strangers+c.cfg.Size),
		tableOut:   make(chan struct{}),
		started:    make(chan struct{}),
		members:    make([]*member, c.cfg.Size),
		path:       make([]*member, c.cfg.Size),
		gone:       make([]EventKind, c.cfg.Size),
		reasons:    map[int]string{},
		missing:    map[int]uint32{},
		pending:    map[net.Conn]struct{}{},
		cards:      make([]Card, c.cfg.Size),
		waiting:    len(c.tree.subtrees),
	}
	h.over, h.stop = context.WithCancel(context.Background())
	h.cards[c.cfg.Rank] = c.cfg.Card
	if c.cfg.Rank == 0 {
		h.state = isRoot
	}
	if l != nil {
		h.wg.Go(func() { h.accept(l) })
	}
	if standby != nil && standby != l {
		h.wg.Go(func() { h.accept(standby) })
	}
	return h
}

// newRoot makes the hub of rank 0.
func newRoot(c *Control) (*hub, error) {
	l := c.cfg.Listener
	if l == nil {
		var err error
		if l, err = kernel.Listen("tcp", c.cfg.Addr); err != nil {
			return nil, fmt.Errorf("listen at the rendezvous address %s (choose another one, or port 0 through the launcher): %w", c.cfg.Addr, err)
		}
	}
	if c.wantsStandby(l.Addr()) {
		c.cfg.Card.Standby = l.Addr().String() // the others know it by the rendezvous address
		return newHub(c, l, l, nil), nil
	}
	return newHub(c, l, nil, nil), nil
}

// refusals is how many calls of accept in a row, 10 ms apart, are refused where the call is, and not some connections are.
const refusals = 100

func (h *hub) accept(l net.Listener) {
	for refused := 0; ; {
		conn, err := l.Accept()
		if err != nil {
			if errors.Is(err, net.ErrClosed) {
				return
			}
			if refused++; kernel.Refused(err) == "" {
				refused = 0
			}
			if refused == refusals {
				h.abort(kernel.Explain(err).Error())
			}
			// Out of descriptors, or an aborted connection: others may still come.
			select {
			case <-h.over.Done():
				return
			case <-time.After(10 * time.Millisecond):
			}
			continue
		}
		refused = 0
		select {
		case h.handshakes <- struct{}{}:
			h.wg.Go(func() { h.handshake(conn) })
		default:
			conn.Close()
		}
	}
}

// handshake runs the handshake with one dialler and, once it is a member, serves it.
func (h *hub) handshake(conn net.Conn) {
	if !h.track(conn) { // the dialler comes again
		conn.Close()
		<-h.handshakes
		return
	}
	h.c.keepAlive(conn)
	m := &member{late: limit.Bound(conn, h.c.cfg.Handshake)}
	defer m.late.Stop()
	w, rank, err := receive(conn, h.c.cfg.Secret, h.c.cfg.Size, func(rank int, again bool) verdict { return h.admit(m, rank, again) })
	h.untrack(conn)
	<-h.handshakes
	if err != nil {
		conn.Close()
		if m.subtree != nil { // admitted, but gone before it heard of it
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
	if m.again || len(m.subtree) > 1 { // the cards of a subtree come when all of them are there
		m.late.Stop()
		conn.SetDeadline(time.Time{})
	}
	ending := h.phase == failed || m.out || h.phase == closing && !m.again
	if m.again && !ending {
		h.sendGone(m)
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

// open says whether a dialler gets an answer. Under mu.
func (h *hub) open() bool {
	return h.phase == gathering || h.standby != nil && h.phase != linking && h.phase != failed && h.over.Err() == nil
}

func (h *hub) untrack(conn net.Conn) {
	h.mu.Lock()
	defer h.mu.Unlock()
	delete(h.pending, conn)
}

// admit gives the rank to a dialler that has proven itself, if it is free.
func (h *hub) admit(m *member, rank int, again bool) verdict {
	h.mu.Lock()
	defer h.mu.Unlock()
	if again {
		return h.readmit(m, rank)
	}
	subtree := h.c.tree.subtrees[rank]
	switch {
	case h.phase != gathering:
		return alreadyClosed
	case subtree == nil && rank != h.c.cfg.Rank:
		return wrongPlace
	case h.members[rank] != nil, rank == h.c.cfg.Rank:
		return rankTaken
	}
	m.rank, m.subtree = rank, subtree
	h.members[rank] = m
	for _, r := range subtree {
		h.path[r] = m
	}
	return welcome
}

// readmit answers a process of the job that has lost its parent. Under mu.
func (h *hub) readmit(m *member, rank int) verdict {
	switch {
	case h.phase == gathering, rank == h.c.cfg.Rank:
		return rankTaken
	case h.gone[rank] != 0, h.state == excluded:
		return takenForLost
	case h.state == searching:
		return notYet
	case h.state == attached:
		return elsewhere
	}
	if old := h.members[rank]; old != nil && !old.out {
		h.drop(old)
	}
	m.rank, m.subtree, m.again, m.card = rank, []int{rank}, true, true
	h.members[rank], h.path[rank] = m, m
	delete(h.missing, rank)
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

// errQuit ends the reading of a member that looks for another parent, and of a parent that gives up its members.
var errQuit = errors.New("it keeps the list no more")

func (h *hub) handle(m *member, k kind, payload []byte) error {
	size := h.c.cfg.Size
	if k >= kindDead && k != kindAbort && !h.runs() {
		return fmt.Errorf("%w: kind %d before the job runs", errFrame, k)
	}
	switch k {
	case kindCard:
		return h.takeCard(m, payload)
	case kindReady:
		return h.takeReady(m)
	case kindBeat:
		return nil
	case kindQuit:
		h.mu.Lock()
		m.quit = true
		h.mu.Unlock()
		return errQuit
	case kindSubtree:
		ranks, err := parseRanks(payload, size)
		if err != nil {
			return err
		}
		return h.takeSubtree(m, ranks)
	case kindLeave:
		rank, err := parseLeave(payload, size)
		if err != nil || !h.speaks(m, rank) {
			return fmt.Errorf("%w: rank %d says that rank %d leaves", errFrame, m.rank, rank)
		}
		return h.takeLeave(m, rank, payload)
	case kindDead:
		rank, reason, err := parseNotice(payload, size)
		if err != nil || rank == m.rank || !h.speaks(m, rank) {
			return fmt.Errorf("%w: rank %d says that rank %d is dead", errFrame, m.rank, rank)
		}
		h.mu.Lock()
		var news []Event
		if by := h.path[rank]; by == m || by == nil {
			news = h.dies(news, rank, reason, m)
		}
		h.mu.Unlock()
		h.tellAll(news)
		return nil
	case kindAbort:
		_, reason, err := parseNotice(payload, size)
		if err != nil {
			return err
		}
		return errors.New(reason)
	}
	return fmt.Errorf("%w: kind %d is not for a parent", errFrame, k)
}

// speaks says whether a member may bring news of a rank: of its own, and of those of its host if it is its leader.
func (h *hub) speaks(m *member, rank int) bool {
	if rank == m.rank {
		return true
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	return slices.Contains(m.subtree, rank) || h.c.tree.leader[rank] == m.rank
}

// toAll sends a frame to all members that are there, but one. Under mu, which
// also keeps the order of frames the same for all. Errors show at the readers.
func (h *hub) toAll(k kind, payload []byte, but *member) {
	for _, m := range h.members {
		if m != nil && m != but {
			h.send(m, k, payload)
		}
	}
}

// send sends a frame to a member, unless its connection is out of use. Under mu.
func (h *hub) send(m *member, k kind, payload []byte) {
	if !m.out && m.w != nil && m.w.send(k, payload) != nil {
		m.w.conn.Close()
	}
}

// spread passes news on to all but the member that has brought them. Under mu.
func (h *hub) spread(k kind, payload []byte, from *member) {
	h.toAll(k, payload, from)
	if h.up != nil {
		h.up(k, payload)
	}
}

func (h *hub) tellAll(news []Event) {
	for _, e := range news {
		h.c.tell(e)
	}
}

func (h *hub) leave() {
	h.mu.Lock()
	if h.gathers && h.phase < running {
		h.fail(fmt.Sprintf("rank %d gave up", h.c.cfg.Rank), nil)
	} else if h.phase != failed {
		h.phase = closing
	}
	h.shut()
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

// shut closes the listeners, and the connections that are still in their handshake. Under mu.
func (h *hub) shut() {
	h.stop()
	if h.l != nil {
		h.l.Close()
	}
	if h.standby != nil {
		h.standby.Close()
	}
	for conn := range h.pending {
		conn.Close()
	}
}

// why says what the end of a connection means, for people.
func why(err error) string {
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) || isReset(err) {
		return " died: its control connection ended"
	}
	if unreachable(err) {
		return ": its host cannot be reached: " + err.Error()
	}
	return ": " + err.Error()
}
