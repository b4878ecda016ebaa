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

// shared is the memory that the members of a communicator on each host share. Blocking operations use it; one thread
// at a time is in one.
//
// A waiter looks at the flag of the member that it waits for. After some microseconds it asks that member for a
// message, and sleeps until the message has come, as any receiver does. So it also learns when the member dies. A
// rank at which an operation has failed sends all others a refusal in place of that message.
type shared struct {
	comm    *Comm
	segment *segment.Segment // nil: this rank is alone on its host
	hosts   plan.Hosts
	ranks   []int           // of the communicator, by member
	late    []*nmad.Request // of owed
	owes    []bool          // members whose message is under way, though it is not needed any more
	used    atomic.Bool
	bells   []wakeMessage
	came    [max(len(refusal), segment.CardBytes)]byte

	// The wait at hand.
	op    uint64
	step  *plan.Step
	ready func() bool // met, made once
	ring  func(member int)
}

// wakeMessage is the message that wakes a member.
type wakeMessage struct {
	request nmad.Request
	used    bool
}

// seats returns where the ranks of c are. If none of them share memory, apart says why. The ranks of a host share
// memory if messages between them go through shared memory, too.
func (c *Comm) seats() (h plan.Hosts, apart string) {
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
			return h, "it was told so"
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

// together makes the memory that the ranks share. All ranks call it at their first operation. It returns nil if they
// share none.
func (c *Comm) together() (h *shared, err error) {
	seats, apart := c.seats()
	if apart == "" {
		h = &shared{comm: c, hosts: seats}
		for r, seat := range seats.Of {
			if seat.Host == seats.Host {
				h.ranks = append(h.ranks, r)
			}
		}
		h.owes, h.bells = make([]bool, len(h.ranks)), make([]wakeMessage, len(h.ranks))
		h.ready, h.ring = h.met, h.wake
		var all bool
		if seats.Me == 0 {
			all, err = h.invite()
		} else {
			all, err = h.join()
		}
		if !all || err != nil {
			h.segment.Vacate()
			h, apart = nil, "a rank could not map the memory"
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
	c.shared, c.looked, c.apart = h, true, apart
	return h, nil
}

// Explain says, in a few lines for people, which way collective operations of the communicator go, and why.
func Explain(c *Comm) string {
	c.mu.Lock()
	h, looked, apart := c.shared, c.looked, c.apart
	c.mu.Unlock()
	text := "operations that block: "
	switch {
	case !looked:
		text += "the first one finds out"
	case h == nil:
		text += "by messages, since " + apart
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

// join maps the segment that the leader of the host has made, and says whether all ranks have theirs.
func (h *shared) join() (all bool, err error) {
	leader := h.ranks[0]
	var card [segment.CardBytes]byte
	if err := h.hear(leader, card[:]); err != nil {
		return false, err
	}
	answer := []byte{0}
	if s, err := h.comm.job.openSegment(card[:], len(h.ranks), h.hosts.Me); err == nil {
		h.segment, answer[0] = s, 1
	}
	if err := h.tell(leader, answer); err != nil {
		return false, err
	}
	err = h.hear(leader, answer)
	return answer[0] != 0, err
}

// invite makes the segment of a host that has several members, and tells them. Then the leaders tell the first leader
// whether all is well on their hosts, and learn from it whether it is so everywhere.
func (h *shared) invite() (all bool, err error) {
	well := []byte{1}
	if others := h.ranks[1:]; len(others) > 0 {
		var card [segment.CardBytes]byte
		if s, err := segment.Create(len(h.ranks), card[:]); err == nil {
			defer s.Hide()
			h.segment = s
		} else {
			well[0] = 0
		}
		if err := h.collect(others, card[:], well); err != nil {
			return false, err
		}
	}
	switch first := h.hosts.Leaders[0]; {
	case h.hosts.Host > 0:
		if err := errors.Join(h.tell(first, well), h.hear(first, well)); err != nil {
			return false, err
		}
	default:
		if err := errors.Join(h.collect(h.hosts.Leaders[1:], nil, well), h.tellAll(h.hosts.Leaders[1:], well)); err != nil {
			return false, err
		}
	}
	return well[0] != 0, h.tellAll(h.ranks[1:], well)
}

// collect sends b to the ranks, unless it is nil, and receives from each whether all is well.
func (h *shared) collect(ranks []int, b, well []byte) error {
	if b != nil {
		if err := h.tellAll(ranks, b); err != nil {
			return err
		}
	}
	answer := []byte{0}
	for _, r := range ranks {
		if err := h.hear(r, answer); err != nil {
			return err
		}
		well[0] &= answer[0]
	}
	return nil
}

func (h *shared) tellAll(ranks []int, b []byte) error {
	for _, r := range ranks {
		if err := h.tell(r, b); err != nil {
			return err
		}
	}
	return nil
}

func (h *shared) tell(rank int, b []byte) error {
	if err := h.comm.collective.Send(h.comm.group.job[rank], h.comm.collectiveTags, b); err != nil {
		return fmt.Errorf("rank %d: %w", rank, err)
	}
	return nil
}

// hear receives b from a rank. A refusal in its place is ErrElsewhere; another length is ErrCount.
func (h *shared) hear(rank int, b []byte) error {
	e, err := h.comm.collective.Recv(h.comm.group.job[rank], h.comm.collectiveTags, h.came[:])
	switch {
	case err == nil && int(e.Size) == len(refusal) && string(h.came[:len(refusal)]) == refusal:
		err = ErrElsewhere
	case err == nil && int(e.Size) != len(b):
		err = fmt.Errorf("%w: %d bytes, %d expected", ErrCount, e.Size, len(b))
	}
	if err != nil {
		return fmt.Errorf("rank %d: %w", rank, err)
	}
	copy(b, h.came[:])
	return nil
}

// route is how the ranks of an operation reach each other.
type route uint8

const (
	byMessages route = iota
	inMemory         // all are on one host
	inLevels         // in memory within hosts, by messages between them
	inOrder          // by messages, the operands from the last rank to the first
)

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

// enter is called before the first step of an operation, leave after its last one.
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

func (h *shared) leave() {
	if h.segment != nil && h.segment.TookAll(h.op) {
		h.segment.Sleepers(h.ring)
	}
	h.used.Store(false)
}

// do does a step of members that share memory.
func (h *shared) do(f *follower, s *plan.Step) error {
	if s.Number > segment.MaxPieces {
		return fmt.Errorf("%w: more than %d pieces of %d bytes, for %d ranks", ErrCount, segment.MaxPieces, h.hosts.Piece, len(h.ranks))
	}
	if s.Kind == plan.Took {
		if h.segment.Took(h.op, s.Number) {
			h.segment.Sleepers(h.ring)
		}
		return nil
	}
	h.step = s
	if !h.met() {
		if err := h.wait(); err != nil {
			return err
		}
	}
	what := uint64(f.root+1)<<32 | uint64(f.what)<<24 | uint64(s.Size)
	if s.Kind == plan.Put {
		if room := h.segment.Room(h.op, s.Number, s.Size); s.Size > 0 {
			if all, ok := s.From.Dense(); ok {
				copy(room, all[s.At:])
			} else {
				s.From.Pack(s.At, room)
			}
		}
		if h.segment.Publish(h.op, s.Number, what, s.Peer) {
			h.segment.Sleepers(h.ring)
		}
		return nil
	}
	if got := h.segment.What(s.Peer, h.op, s.Number); got != what {
		return h.differs(s.Peer, got, what)
	}
	switch s.Kind {
	case plan.Fold:
		s.Op.Apply(h.operand(s.Peer), s.Into)
		return nil
	case plan.Merge:
		if got := h.segment.What(s.Other, h.op, s.Number); got != what {
			return h.differs(s.Other, got, what)
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

// operand is the part of a member's piece that the step at hand combines.
func (h *shared) operand(member int) Buffer {
	s := h.step
	piece := h.segment.Bytes(member, h.op, s.Number, s.Size)
	low, _ := s.Into.Type.True()
	return Buffer{Base: datatype.AddressOf(piece[s.Skip:]), At: -low, Count: s.Into.Count, Type: s.Into.Type}
}

// differs is the error of two ranks whose calls differ.
func (h *shared) differs(member int, got, own uint64) error {
	tell := func(what uint64) string {
		text := fmt.Sprintf("%v, %d bytes", operationKind(what>>24&0xff), what&0xffffff)
		if root := what >> 32; root > 0 {
			text += fmt.Sprintf(", root %d", root-1)
		}
		return text
	}
	return fmt.Errorf("rank %d: %w: it calls %s; here it is %s", h.ranks[member], ErrCount, tell(got), tell(own))
}

// met says whether the step at hand can go on without waiting.
func (h *shared) met() bool {
	if h.step.Kind == plan.Put {
		return h.segment.Blocks(h.op, h.step.Number) < 0
	}
	return h.segment.Ready(h.step.Peer, h.op, h.step.Number) && (h.step.Kind != plan.Merge || h.segment.Ready(h.step.Other, h.op, h.step.Number))
}

// awaited returns the member that the step at hand waits for.
func (h *shared) awaited() int {
	switch s := h.step; {
	case s.Kind == plan.Put:
		return h.segment.Blocks(h.op, s.Number)
	case s.Kind == plan.Merge && h.segment.Ready(s.Peer, h.op, s.Number):
		return s.Other
	}
	return h.step.Peer
}

// wait waits until the step at hand can be done.
func (h *shared) wait() error {
	for !h.comm.domain.Engine().PollUntil(h.ready) {
		member := h.awaited()
		if h.met() {
			break
		}
		if !h.maySleep(member) {
			continue
		}
		h.owes[member] = false
		if err := h.hear(h.ranks[member], nil); err != nil {
			return err
		}
	}
	return nil
}

// owed says whether messages are still under way to this rank that it does not need any more. It receives them. For a
// communicator that was freed.
func (h *shared) owed() bool {
	if h == nil {
		return false
	}
	for m, owes := range h.owes {
		if owes {
			h.owes[m] = false
			r := &nmad.Request{}
			if h.comm.collective.IrecvInto(r, h.comm.group.job[h.ranks[m]], h.comm.collectiveTags, nil) == nil {
				h.late = append(h.late, r)
			}
		}
	}
	h.late = slices.DeleteFunc(h.late, func(r *nmad.Request) bool { over, _ := r.Test(); return over })
	return len(h.late) > 0
}

// reached returns the last operation of which a rank has written something in shared memory. It also asks that rank
// for a message when it writes next.
func (h *shared) reached(rank int) uint64 {
	if h == nil || h.segment == nil || rank == h.comm.rank || !slices.Contains(h.ranks, rank) {
		return 0
	}
	member := slices.Index(h.ranks, rank)
	h.segment.Sleep(member)
	return h.segment.Last(member)
}

// maySleep asks a member for a message, unless one is under way, and looks once more. It says whether the caller may
// sleep until that message comes. It may not if the step can go on by now, nor if the step waits for another member
// by now: this one may then write nothing more before it waits for us.
func (h *shared) maySleep(member int) bool {
	if h.owes[member] {
		return true
	}
	h.segment.Sleep(member)
	if !h.met() && h.awaited() == member {
		return true
	}
	h.owes[member] = !h.segment.Wakeful(member)
	return false
}

// wake sends a message to a member that sleeps. The send, which has no bytes, is over at once, unless the member's
// process receives nothing for long.
func (h *shared) wake(member int) {
	b := &h.bells[member]
	r := &b.request
	if b.used {
		if done, _ := r.Test(); !done {
			r = &nmad.Request{}
		}
	}
	b.used = true
	_ = h.comm.collective.IsendInto(r, h.comm.group.job[h.ranks[member]], h.comm.collectiveTags, nil) // the gate has ended: the member learns of that itself
}
