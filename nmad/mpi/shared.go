package mpi

import (
	"errors"
	"fmt"
	"slices"
	"sync/atomic"

	"github.com/pm2-go/pm2/nmad"
	"github.com/pm2-go/pm2/nmad/mpi/datatype"
	"github.com/pm2-go/pm2/nmad/mpi/internal/plan"
	"github.com/pm2-go/pm2/nmad/mpi/internal/segment"
)

// shared is the memory that the ranks of a communicator on one host, its members there, share for blocking operations.
// Only the thread that is in such an operation uses it. enter refuses a second thread.
//
// A waiter polls the flag of the member that it waits for. After some microseconds it asks that member for a message,
// and sleeps until the message has come, as any receiver does; so the waiter also learns when the member dies. A rank
// at which an operation has failed sends all others a refusal in place of that message.
type shared struct {
	comm        *Comm
	segment     *segment.Segment // nil: this rank is alone on its host
	hosts       plan.Hosts
	ranks       []int           // of the communicator, by member
	stale       []*nmad.Request // receives by drain
	wakePending []bool          // by member: the member sends a wake-up message that this rank has asked for and no longer needs
	used        atomic.Bool     // a thread is in an operation; enter sets it, leave clears it
	wakes       []wakeMessage   // by member
	received    [max(len(refusal), segment.LocatorBytes)]byte

	op    uint64           // turn of the operation that the thread is in
	step  *plan.Step       // the step that the thread takes
	ready func() bool      // isReady, as a value that is made once
	ring  func(member int) // wake, as a value that is made once
}

// wakeMessage is this rank's message that wakes a member.
type wakeMessage struct {
	request nmad.Request
	used    bool // request was started before
}

// placement returns on which hosts the ranks of c are. If no ranks share memory, why is the reason, for people; all
// ranks get the same one. The ranks of a host share memory if messages between them also go through shared memory.
func (c *Comm) placement() (h plan.Hosts, why string) {
	if c.Size() < 2 {
		return h, "there is one rank"
	}
	hosts := make([]int, c.Size())
	hostOf := c.job.session.HostOf
	if c.job.hostOf != nil {
		hostOf = c.job.hostOf
	}
	for r, p := range c.group.job {
		if hosts[r] = hostOf(p); hosts[r] < 0 {
			return h, fmt.Sprintf("the host of rank %d is not known", r)
		}
	}
	h = plan.HostsOf(c.rank, hosts, 0, segment.Slots)
	h.Piece, h.InOrder = segment.PieceOf(h.Members.Size), c.job.inOrder
	if len(h.Leaders) == c.Size() {
		return h, "each rank is on a host of its own"
	}
	for _, seat := range h.Of {
		if seat.Member >= segment.MaxMembers {
			return h, fmt.Sprintf("a host has more than %d ranks", segment.MaxMembers)
		}
	}
	for _, r := range c.gates[(c.rank+1)%c.Size()].Info().Rails {
		if !r.SharesMemory() {
			return h, fmt.Sprintf("messages go by %s, which is no shared memory", r.Name)
		}
	}
	return h, ""
}

// makeShared makes the memory that the ranks share, and returns it; nil: they share none. All ranks call it in their
// first blocking operation. If placement gives a reason, they exchange nothing; else they wait for each other.
func (c *Comm) makeShared() (h *shared, err error) {
	placed, why := c.placement()
	if why == "" {
		h = &shared{comm: c, hosts: placed}
		for r, seat := range placed.Of {
			if seat.Host == placed.Host {
				h.ranks = append(h.ranks, r)
			}
		}
		h.wakePending, h.wakes = make([]bool, len(h.ranks)), make([]wakeMessage, len(h.ranks))
		h.ready, h.ring = h.isReady, h.wake
		var all bool
		if placed.Me == 0 {
			all, err = h.invite()
		} else {
			all, err = h.join()
		}
		if !all || err != nil {
			h.segment.Vacate()
			h, why = nil, "a rank could not map the memory"
		}
	}
	if err != nil {
		return nil, fmt.Errorf("shared memory: %w", err)
	}
	if h != nil && h.segment != nil {
		c.job.mu.Lock()
		if c.job.segments == nil {
			c.job.segments = map[*segment.Segment]bool{}
		}
		c.job.segments[h.segment] = true
		c.job.mu.Unlock()
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.shared, c.sharedKnown, c.notShared = h, true, why
	return h, nil
}

// Explain describes, in a few lines for people, which routes collective operations of the communicator take, and why.
func Explain(c *Comm) string {
	c.mu.Lock()
	h, known, why := c.shared, c.sharedKnown, c.notShared
	c.mu.Unlock()
	text := "operations that block: "
	switch {
	case !known:
		text += "the first one decides whether the ranks share memory"
	case h == nil:
		text += "by messages, since " + why
	case h.route() == inMemory:
		text += fmt.Sprintf("in memory that the %d ranks share, since they are on one host; %d pieces of %d KiB a rank are under way at most", c.Size(), segment.Slots, h.hosts.Piece>>10)
	default:
		text += fmt.Sprintf("in memory within each of %d hosts, and by messages of one rank of each; but scans, gathers, scatters and all-to-alls by messages of all", len(h.hosts.Leaders))
	}
	text += "\nimmediate and persistent operations: by messages, which move while the program computes"
	if c.job.inOrder {
		text += "\nreductions: operands are combined from the last rank to the first (" + EnvOrder + ")"
	}
	if c.job.checks {
		text += "\ncalls are compared among the ranks before they begin (" + EnvCheck + ")"
	}
	return text
}

// join maps the segment that the leader of the host has made, and reports whether all ranks of all hosts have mapped
// theirs.
func (h *shared) join() (all bool, err error) {
	leader := h.ranks[0]
	var locator [segment.LocatorBytes]byte
	if err := h.receive(leader, locator[:]); err != nil {
		return false, err
	}
	answer := []byte{0}
	if s, err := h.comm.job.openSegment(locator[:], len(h.ranks), h.hosts.Me); err == nil {
		h.segment, answer[0] = s, 1
	}
	if err := h.send(leader, answer); err != nil {
		return false, err
	}
	err = h.receive(leader, answer)
	return answer[0] != 0, err
}

// invite is join for the leader of a host. If the host has several members the leader makes the segment, sends them its
// locator, and hears from each whether it has mapped the segment. Then the leader tells the first leader whether all of
// its members have, hears from the first leader whether all ranks have, and tells its members.
func (h *shared) invite() (all bool, err error) {
	mapped := []byte{1}
	if others := h.ranks[1:]; len(others) > 0 {
		var locator [segment.LocatorBytes]byte
		if s, err := segment.Create(len(h.ranks), locator[:]); err == nil {
			defer s.Hide()
			h.segment = s
		} else {
			mapped[0] = 0
		}
		if err := h.collect(others, locator[:], mapped); err != nil {
			return false, err
		}
	}
	switch first := h.hosts.Leaders[0]; {
	case h.hosts.Host > 0:
		if err := errors.Join(h.send(first, mapped), h.receive(first, mapped)); err != nil {
			return false, err
		}
	default:
		if err := errors.Join(h.collect(h.hosts.Leaders[1:], nil, mapped), h.sendAll(h.hosts.Leaders[1:], mapped)); err != nil {
			return false, err
		}
	}
	return mapped[0] != 0, h.sendAll(h.ranks[1:], mapped)
}

// collect sends b, unless it is nil, to the ranks. Then it receives a byte from each, 0 or 1, and clears mapped[0] if
// one of these is 0.
func (h *shared) collect(ranks []int, b, mapped []byte) error {
	if b != nil {
		if err := h.sendAll(ranks, b); err != nil {
			return err
		}
	}
	answer := []byte{0}
	for _, r := range ranks {
		if err := h.receive(r, answer); err != nil {
			return err
		}
		mapped[0] &= answer[0]
	}
	return nil
}

// sendAll sends b to the ranks.
func (h *shared) sendAll(ranks []int, b []byte) error {
	for _, r := range ranks {
		if err := h.send(r, b); err != nil {
			return err
		}
	}
	return nil
}

// send sends b to a rank, which calls receive.
func (h *shared) send(rank int, b []byte) error {
	if err := h.comm.collective.Send(h.comm.group.job[rank], h.comm.collectiveTags, b); err != nil {
		return fmt.Errorf("rank %d: %w", rank, err)
	}
	return nil
}

// receive receives b from a rank. A refusal in its place is ErrElsewhere; another length is ErrCount.
func (h *shared) receive(rank int, b []byte) error {
	e, err := h.comm.collective.Recv(h.comm.group.job[rank], h.comm.collectiveTags, h.received[:])
	switch {
	case err == nil && int(e.Size) == len(refusal) && string(h.received[:len(refusal)]) == refusal:
		err = ErrElsewhere
	case err == nil && int(e.Size) != len(b):
		err = fmt.Errorf("%w: %d bytes, %d expected", ErrCount, e.Size, len(b))
	}
	if err != nil {
		return fmt.Errorf("rank %d: %w", rank, err)
	}
	copy(b, h.received[:])
	return nil
}

// route is how the ranks of an operation reach each other.
type route uint8

const (
	byMessages route = iota
	inMemory         // all ranks are on one host
	inLevels         // in memory within hosts, by messages between them
	inOrder          // by messages, which combine the operands from the last rank to the first
)

// route returns the route of an operation whose arguments do not restrict it. For other operations reducing, gathering
// and exchanging choose the route.
func (h *shared) route() route {
	switch {
	case h == nil:
		return byMessages
	case len(h.hosts.Leaders) == 1:
		return inMemory
	}
	return inLevels
}

// reducing chooses the route of a reduction.
func (c *Comm) reducing(h *shared, op *Op, in, out Buffer) route {
	t := operand(in, out).Type
	switch w := h.route(); {
	case w == inMemory && h.hosts.Folds(t):
		return w
	case c.job.inOrder:
		return inOrder
	case w == inLevels && h.hosts.Folds(t) && (op.Commutes() || h.hosts.Contiguous):
		return w
	}
	return byMessages
}

// gathering chooses the route of an operation in which each rank gives all others a block.
func (h *shared) gathering(out *Blocks) route {
	if w := h.route(); w != inLevels || h.hosts.Contiguous && out.Counts == nil && out.Types == nil {
		return w
	}
	return byMessages
}

// exchanging chooses the route of an operation in which each rank gives each other one a block.
func (h *shared) exchanging(in *Blocks) route {
	if in.Type == nil && in.Types == nil {
		return byMessages // in place
	}
	return h.route()
}

// enter is called before the first step of an operation that uses the memory. It fails if another thread is in such an
// operation, and after segment.MaxOperations operations.
func (h *shared) enter(op uint64) error {
	switch {
	case op > segment.MaxOperations:
		return fmt.Errorf("%w: it has had as many collective operations as there can be", ErrComm)
	case h.used.Swap(true):
		return fmt.Errorf("%w: another thread is in a collective operation of this communicator", ErrComm)
	}
	h.op = op
	return nil
}

// leave is called after the last step of an operation that has entered, also if the operation has failed.
func (h *shared) leave() {
	if h.segment != nil && h.segment.ReleaseAll(h.op) {
		h.segment.Sleepers(h.ring)
	}
	h.used.Store(false)
}

// do takes a step of f's plan that uses the memory. It waits until the step can be taken.
func (h *shared) do(f *follower, s *plan.Step) error {
	if s.Number > segment.MaxPieces {
		return fmt.Errorf("%w: more than %d pieces of %d bytes, for %d ranks", ErrCount, segment.MaxPieces, h.hosts.Piece, len(h.ranks))
	}
	if s.Kind == plan.Release {
		if h.segment.Release(h.op, s.Number) {
			h.segment.Sleepers(h.ring)
		}
		return nil
	}
	h.step = s
	if !h.isReady() {
		if err := h.wait(); err != nil {
			return err
		}
	}
	want := newLabel(f.kind, f.root, s.Size)
	if s.Kind == plan.Publish {
		if room := h.segment.Room(h.op, s.Number, s.Size); s.Size > 0 {
			if all, ok := s.From.Dense(); ok {
				copy(room, all[s.At:])
			} else {
				s.From.Pack(s.At, room)
			}
		}
		if h.segment.Publish(h.op, s.Number, uint64(want), s.Peer) {
			h.segment.Sleepers(h.ring)
		}
		return nil
	}
	if got := label(h.segment.Label(s.Peer, h.op, s.Number)); got != want {
		return h.differs(s.Peer, got, want)
	}
	switch s.Kind {
	case plan.Fold:
		s.Op.Apply(h.operand(s.Peer), s.Into)
		return nil
	case plan.Merge:
		if got := label(h.segment.Label(s.Other, h.op, s.Number)); got != want {
			return h.differs(s.Other, got, want)
		}
		s.Op.Combine(h.operand(s.Peer), h.operand(s.Other), s.Into)
		return nil
	}
	piece := h.segment.Bytes(s.Peer, h.op, s.Number, s.Size)[s.Skip:][:s.Bytes]
	if all, ok := s.Into.Dense(); ok {
		copy(all[s.At:], piece)
	} else {
		s.Into.Unpack(s.At, piece)
	}
	return nil
}

// operand returns the part of a member's piece that the current step combines.
func (h *shared) operand(member int) Buffer {
	s := h.step
	piece := h.segment.Bytes(member, h.op, s.Number, s.Size)
	low, _ := s.Into.Type.True()
	return Buffer{Base: datatype.AddressOf(piece[s.Skip:]), At: -low, Count: s.Into.Count, Type: s.Into.Type}
}

// differs returns the error of two ranks whose calls differ: a member has published a piece with the label got, where
// this rank expects want.
func (h *shared) differs(member int, got, want label) error {
	return fmt.Errorf("rank %d: %w: it calls %v; here it is %v", h.ranks[member], ErrCount, got, want)
}

// isReady reports whether the current step can be taken without waiting.
func (h *shared) isReady() bool {
	if h.step.Kind == plan.Publish {
		return h.segment.Blocks(h.op, h.step.Number) < 0
	}
	return h.segment.Ready(h.step.Peer, h.op, h.step.Number) && (h.step.Kind != plan.Merge || h.segment.Ready(h.step.Other, h.op, h.step.Number))
}

// awaited returns the member for which the current step waits.
func (h *shared) awaited() int {
	switch s := h.step; {
	case s.Kind == plan.Publish:
		return h.segment.Blocks(h.op, s.Number)
	case s.Kind == plan.Merge && h.segment.Ready(s.Peer, h.op, s.Number):
		return s.Other
	}
	return h.step.Peer
}

// wait waits until the current step can be taken.
func (h *shared) wait() error {
	for !h.comm.domain.Engine().PollUntil(h.ready) {
		member := h.awaited()
		if h.isReady() {
			break
		}
		if !h.maySleep(member) {
			continue
		}
		h.wakePending[member] = false
		if err := h.receive(h.ranks[member], nil); err != nil {
			return err
		}
	}
	return nil
}

// drain receives the wake-up messages that this rank no longer needs, and reports whether some are still under way.
// It is called for a communicator that was freed, and does not block.
func (h *shared) drain() bool {
	if h == nil {
		return false
	}
	for m, pending := range h.wakePending {
		if pending {
			h.wakePending[m] = false
			r := &nmad.Request{}
			if h.comm.collective.IrecvInto(r, h.comm.group.job[h.ranks[m]], h.comm.collectiveTags, nil) == nil {
				h.stale = append(h.stale, r)
			}
		}
	}
	h.stale = slices.DeleteFunc(h.stale, func(r *nmad.Request) bool { over, _ := r.Test(); return over })
	return len(h.stale) > 0
}

// reached returns the turn of the last operation for which a rank has written in shared memory; 0: there is none. It
// also asks that rank for a wake-up message, which the rank sends when it next writes.
func (h *shared) reached(rank int) uint64 {
	if h == nil || h.segment == nil || rank == h.comm.rank || !slices.Contains(h.ranks, rank) {
		return 0
	}
	member := slices.Index(h.ranks, rank)
	h.segment.Sleep(member)
	return h.segment.Last(member)
}

// maySleep asks a member for a wake-up message, unless one is under way, and looks at the step once more. It says
// whether the caller may sleep until that message comes. The caller must not sleep if the step can be taken now, nor if
// the step now waits for another member: the member that was asked may write nothing more before it waits for this
// rank.
func (h *shared) maySleep(member int) bool {
	if h.wakePending[member] {
		return true
	}
	h.segment.Sleep(member)
	if !h.isReady() && h.awaited() == member {
		return true
	}
	h.wakePending[member] = !h.segment.Wakeful(member)
	return false
}

// wake sends a message without bytes to a member that sleeps. The send is done at once, unless the member's process has
// received nothing for long; then the next send uses a new request.
func (h *shared) wake(member int) {
	w := &h.wakes[member]
	r := &w.request
	if w.used {
		if done, _ := r.Test(); !done {
			r = &nmad.Request{}
		}
	}
	w.used = true
	_ = h.comm.collective.IsendInto(r, h.comm.group.job[h.ranks[member]], h.comm.collectiveTags, nil) // fails if the gate has ended; then the receive of the member fails as well
}
