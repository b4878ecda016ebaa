package segment

import (
	"fmt"
	"math/bits"
	"sync/atomic"
	"unsafe"

	"github.com/pm2-go/pm2/nmad/driver"
	"github.com/pm2-go/pm2/nmad/internal/mapped"
)

// Segment is a member's view. One thread at a time uses it.
type Segment struct {
	memory  *mapped.Memory
	base    []byte // its bytes
	own     int
	members int
	piece   int // the longest, in bytes
	station int // bytes of each member
	lastUse [Slots]slotUse
	seen    []uint64 // what the others have taken, as far as it was looked up
}

// slotUse is what a slot of this member was used for last.
type slotUse struct {
	mark   uint64
	reader int
}

// Everyone stands for all members as readers of a piece.
const Everyone = -1

// Create makes the memory of a segment, maps it for member 0, and writes a card of CardBytes bytes, by which the other members Open it until it is hidden.
func Create(members int, card []byte) (*Segment, error) {
	memory, err := mapped.Make("pm2-collective", uint64(Size(members)))
	if err != nil {
		return nil, err
	}
	memory.Card().Put(card)
	return of(memory, members, 0), nil
}

// Open maps the segment of that card, which another process of this host has made, for the member of that number.
func Open(card []byte, members, own int) (*Segment, error) {
	c := mapped.CardOf(card)
	if c.Size != uint64(Size(members)) {
		return nil, fmt.Errorf("%w: a segment of %d bytes, %d members have %d", driver.ErrProtocol, c.Size, members, Size(members))
	}
	memory, err := c.Open("segment", true)
	if err != nil {
		return nil, err
	}
	return of(memory, members, own), nil
}

func of(memory *mapped.Memory, members, own int) *Segment {
	return &Segment{memory: memory, base: memory.Bytes(), own: own, members: members, piece: PieceOf(members), station: station(members), seen: make([]uint64, members)}
}

// Hide has no other member Open the segment any more.
func (s *Segment) Hide() { s.memory.Hide() }

// Vacate gives the memory back, for a member that has left: there is none of the others' in its place from then on, so nothing that this member waits for comes, and what it publishes no other sees. Another
// thread may be inside a call. Of nil it does nothing.
func (s *Segment) Vacate() {
	if s != nil {
		_ = s.memory.Vacate() // else it stays mapped
	}
}

// at is a byte of a member's station.
func (s *Segment) at(member, offset int) unsafe.Pointer {
	return unsafe.Pointer(&s.base[member*s.station+offset])
}

func (s *Segment) word(member, offset int) *atomic.Uint64 {
	return (*atomic.Uint64)(s.at(member, offset))
}

func slotOf(op uint64, k int) int { return int((op + uint64(k)) % Slots) }

func headOf(slot int) int { return headsAt + slot*line }

// room is where a piece of that size lies.
func (s *Segment) room(member, slot, size int) []byte {
	at := headOf(slot) + 16
	if size > short {
		at = bodiesAt + slot*s.piece
	}
	return unsafe.Slice((*byte)(s.at(member, at)), size)
}

// Blocks says which member keeps this one from publishing piece k of an operation, since it has not taken what the slot has; -1: none.
func (s *Segment) Blocks(op uint64, k int) int {
	h := &s.lastUse[slotOf(op, k)]
	if h.mark == 0 {
		return -1
	}
	from, to := h.reader, h.reader+1
	if h.reader == Everyone {
		from, to = 0, s.members
	}
	for m := from; m < to; m++ {
		if m != s.own && s.seen[m] < h.mark {
			if s.seen[m] = s.word(m, takenAt).Load(); s.seen[m] < h.mark {
				return m
			}
		}
	}
	h.mark = 0
	return -1
}

// Room is where to write piece k, of at most PieceOf bytes, once nothing Blocks it.
func (s *Segment) Room(op uint64, k, size int) []byte {
	return s.room(s.own, slotOf(op, k), size)
}

// Publish lets the others see the piece in Room; what describes it. It says whether there are Sleepers.
func (s *Segment) Publish(op uint64, k int, what uint64, reader int) (sleepers bool) {
	slot := slotOf(op, k)
	s.lastUse[slot] = slotUse{mark(op, k), reader}
	at := headOf(slot)
	*(*uint64)(s.at(s.own, at+8)) = what
	s.word(s.own, at).Store(mark(op, k))
	return s.disturbed()
}

// Ready says whether a member has published piece k of an operation.
func (s *Segment) Ready(member int, op uint64, k int) bool {
	return s.word(member, headOf(slotOf(op, k))).Load() == mark(op, k)
}

// What describes a piece that is Ready.
func (s *Segment) What(member int, op uint64, k int) uint64 {
	return *(*uint64)(s.at(member, headOf(slotOf(op, k))+8))
}

// Bytes is a piece that is Ready, of that size, at most PieceOf. Its publisher leaves it as it is until this member has taken it.
func (s *Segment) Bytes(member int, op uint64, k, size int) []byte {
	return s.room(member, slotOf(op, k), size)
}

// Took says that this member has read all pieces of an operation up to k that it is to read. It says whether there are Sleepers.
func (s *Segment) Took(op uint64, k int) (sleepers bool) {
	s.word(s.own, takenAt).Store(mark(op, k))
	return s.disturbed()
}

// TookAll says that this member is through with an operation. It says whether there are Sleepers.
func (s *Segment) TookAll(op uint64) (sleepers bool) {
	s.word(s.own, takenAt).Store(last(op))
	return s.disturbed()
}

// Last is the last operation of which a member has published a piece, or read those of others.
func (s *Segment) Last(member int) uint64 {
	last := s.word(member, takenAt).Load()
	for slot := range Slots {
		last = max(last, s.word(member, headOf(slot)).Load())
	}
	return last >> pieceBits
}

func (s *Segment) disturbed() bool {
	for i := 0; i < s.members; i += 64 {
		if s.word(s.own, bitsAt+i/8).Load() != 0 {
			return true
		}
	}
	return false
}

// Sleepers calls wake for each member that sleeps until this one writes, once.
func (s *Segment) Sleepers(wake func(member int)) {
	for i := 0; i < s.members; i += 64 {
		for all := s.word(s.own, bitsAt+i/8).Swap(0); all != 0; all &= all - 1 {
			if m := i + bits.TrailingZeros64(all); m < s.members {
				wake(m)
			}
		}
	}
}

// Sleep asks a member to wake this one when it writes next. The caller then looks once more.
func (s *Segment) Sleep(member int) {
	s.word(member, bitsAt+s.own/64*8).Or(1 << (s.own % 64))
}

// Wakeful takes Sleep back. false: it is too late, the member sends a message.
func (s *Segment) Wakeful(member int) bool {
	bit := uint64(1) << (s.own % 64)
	return s.word(member, bitsAt+s.own/64*8).And(^bit)&bit != 0
}
