package mpi

import (
	"crypto/rand"
	"encoding/binary"
	"fmt"
	"os"
	"sync/atomic"

	"github.com/pm2-go/pm2/nmad"
	"github.com/pm2-go/pm2/nmad/mpi/datatype"
	"github.com/pm2-go/pm2/nmad/mpi/internal/plan"
	"github.com/pm2-go/pm2/nmad/mpi/internal/segment"
)

// shared is the memory that the members of a communicator on this host share, for operations that their callers wait for. One thread at a time uses it.
//
// A waiter looks at the flag of the member that it waits for. After some microseconds it asks that member for a message, and sleeps until that has come, as any receiver does. So it learns of
// the member's death, too; and a rank at which an operation has failed sends all others a refusal in place of that message.
type shared struct {
	comm    *Comm
	segment *segment.Segment
	members plan.Members
	ranks   []int  // of the communicator, by member
	owes    []bool // members whose message is under way, though it is not needed any more
	used    atomic.Bool
	bells   []bell
	came    [max(len(refusal), invitation)]byte

	// The wait at hand.
	op    uint64
	step  *plan.Step
	ready func() bool // met, made once
	ring  func(member int)
}

// bell is the message that wakes a member.
type bell struct {
	request nmad.Request
	used    bool
}

// wakeTag is the tag of messages that wake: operations have others.
const wakeTag = 0

// invitation is what the first member tells the others of the segment that it has made.
const invitation = 32

// hostMembers are the ranks of c that are on the host of one of them.
func (c *Comm) hostMembers(rank int) (ranks []int) {
	host := c.job.session.HostOf(c.group.job[rank])
	for r, p := range c.group.job {
		if c.job.session.HostOf(p) == host {
			ranks = append(ranks, r)
		}
	}
	return ranks
}

// sharing says whether the ranks of c are to share memory: they are on one host, and messages between them go that way, too.
func (c *Comm) sharing() bool {
	if c.Size() < 2 || c.Size() > segment.MaxMembers || len(c.hostMembers(c.rank)) < c.Size() {
		return false
	}
	for _, r := range c.gates[(c.rank+1)%c.Size()].Info().Rails {
		if r.Name != "auto" && r.Name != "shm" {
			return false
		}
	}
	return true
}

// together makes the memory that the ranks share, at the first operation, at all of them; nil: they share none.
func (c *Comm) together() (h *shared, err error) {
	if c.sharing() {
		h, err = c.share(c.hostMembers(c.rank))
	}
	if err != nil {
		return nil, fmt.Errorf("shared memory: %w", err)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.shared, c.looked = h, true
	return h, nil
}

// share has the ranks map one segment; no error and nil: one of them cannot.
func (c *Comm) share(ranks []int) (*shared, error) {
	h := &shared{comm: c, ranks: ranks, owes: make([]bool, len(ranks)), bells: make([]bell, len(ranks))}
	h.ready, h.ring = h.met, h.wake
	h.members = plan.Members{Size: len(ranks), Piece: segment.PieceOf(len(ranks)), Slots: segment.Slots}
	for i, r := range ranks {
		if r == c.rank {
			h.members.Me = i
		}
	}
	var card [invitation]byte
	if h.members.Me == 0 {
		return h.invite(card[:])
	}
	if err := h.hear(0, card[:]); err != nil {
		return nil, err
	}
	pid, fd := binary.LittleEndian.Uint64(card[:]), binary.LittleEndian.Uint64(card[8:])
	answer := []byte{0}
	s, err := segment.Open(int(pid), int(fd), len(ranks), h.members.Me, card[16:])
	if h.segment = s; err == nil {
		answer[0] = 1
	}
	if err := h.tell(0, answer); err != nil {
		return nil, err
	}
	if err := h.hear(0, answer); err != nil || answer[0] == 0 {
		return nil, err
	}
	return h, nil
}

// invite is share at the first member: it makes the segment, tells the others, and all when all have it.
func (h *shared) invite(card []byte) (*shared, error) {
	_, _ = rand.Read(card[16:])
	fd, err := segment.Create(len(h.ranks), card[16:])
	if err == nil {
		defer segment.Close(fd)
		h.segment, err = segment.Open(os.Getpid(), fd, len(h.ranks), 0, card[16:])
	}
	binary.LittleEndian.PutUint64(card, uint64(os.Getpid()))
	binary.LittleEndian.PutUint64(card[8:], uint64(fd))
	answer, all := []byte{0}, []byte{1}
	if err != nil {
		all[0] = 0
	}
	for m := 1; m < len(h.ranks); m++ {
		if err := h.tell(m, card); err != nil {
			return nil, err
		}
	}
	for m := 1; m < len(h.ranks); m++ {
		if err := h.hear(m, answer); err != nil {
			return nil, err
		}
		all[0] &= answer[0]
	}
	for m := 1; m < len(h.ranks); m++ {
		if err := h.tell(m, all); err != nil {
			return nil, err
		}
	}
	if all[0] == 0 {
		return nil, nil
	}
	return h, nil
}

func (h *shared) tell(member int, b []byte) error {
	rank := h.ranks[member]
	if err := h.comm.collective.Send(h.comm.group.job[rank], wakeTag, b); err != nil {
		return fmt.Errorf("rank %d: %w", rank, err)
	}
	return nil
}

// hear receives what a member tells, of that length; a refusal in its place is ErrElsewhere.
func (h *shared) hear(member int, b []byte) error {
	rank := h.ranks[member]
	came := &h.came
	e, err := h.comm.collective.Recv(h.comm.group.job[rank], wakeTag, came[:])
	switch {
	case err == nil && int(e.Size) == len(refusal) && string(came[:len(refusal)]) == refusal:
		err = ErrElsewhere
	case err == nil && int(e.Size) != len(b):
		err = fmt.Errorf("%w: %d bytes, %d expected", ErrCount, e.Size, len(b))
	}
	if err != nil {
		return fmt.Errorf("rank %d: %w", rank, err)
	}
	copy(b, came[:])
	return nil
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
	if h.segment.TookAll(h.op) {
		h.segment.Sleepers(h.ring)
	}
	h.used.Store(false)
}

// do does a step of members that share memory.
func (h *shared) do(f *follower, s *plan.Step) error {
	if s.Number > segment.MaxPieces {
		return fmt.Errorf("%w: more than %d pieces of %d bytes, for %d ranks", ErrCount, segment.MaxPieces, h.members.Piece, len(h.ranks))
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

// folds says whether elements of a reduction can be combined in shared memory.
func (h *shared) folds(in, out Buffer) bool {
	if in.Type == nil {
		in = out
	}
	return h.members.Folds(in.Type)
}

// operand is the part of a member's piece that the step at hand combines.
func (h *shared) operand(member int) Buffer {
	s := h.step
	piece := h.segment.Bytes(member, h.op, s.Number, s.Size)
	low, _ := s.Into.Type.True()
	return Buffer{Base: datatype.AddressOf(piece[s.Skip:]), At: -low, Count: s.Into.Count, Type: s.Into.Type}
}

// differs says that two ranks do not call the same.
func (h *shared) differs(member int, got, own uint64) error {
	tell := func(what uint64) string {
		text := fmt.Sprintf("%v, %d bytes", call(what>>24&0xff), what&0xffffff)
		if root := what >> 32; root > 0 {
			text += fmt.Sprintf(", root %d", root-1)
		}
		return text
	}
	return fmt.Errorf("rank %d: %w: it calls %s; here it is %s", h.ranks[member], ErrCount, tell(got), tell(own))
}

// met says that the step at hand need not wait.
func (h *shared) met() bool {
	if h.step.Kind == plan.Put {
		return h.segment.Blocks(h.op, h.step.Number) < 0
	}
	return h.segment.Ready(h.step.Peer, h.op, h.step.Number) && (h.step.Kind != plan.Merge || h.segment.Ready(h.step.Other, h.op, h.step.Number))
}

// awaited is the member that the step at hand waits for.
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
	engine := h.comm.job.session.Engine()
	for !engine.PollUntil(h.ready) {
		member := h.awaited()
		if h.met() {
			break
		}
		if !h.owes[member] {
			h.segment.Sleep(member)
			if h.met() {
				h.owes[member] = !h.segment.Wakeful(member)
				break
			}
		}
		h.owes[member] = false
		if err := h.hear(member, nil); err != nil {
			return err
		}
	}
	return nil
}

// wake sends a member that sleeps a message. A send of nothing is done at once, unless the member's process takes none for long.
func (h *shared) wake(member int) {
	b := &h.bells[member]
	r := &b.request
	if b.used {
		if done, _ := r.Test(); !done {
			r = &nmad.Request{}
		}
	}
	b.used = true
	_ = h.comm.collective.IsendInto(r, h.comm.group.job[h.ranks[member]], wakeTag, nil) // the gate has ended: the member learns of that itself
}
