package segment

import (
	"fmt"
	"math/bits"
	"sync/atomic"
	"unsafe"

	"github.com/pm2-go/pm2/nmad/driver"
	"github.com/pm2-go/pm2/nmad/internal/mapped"
)

// Segment is a segment as one of its members sees it. One thread at a time uses it, except for Vacate.
type Segment struct {
	memory  *mapped.Memory
	base    []byte // the bytes of memory
	me      int    // the number of this member
	members int
	piece   int            // the length of the longest piece, in bytes
	station int            // the length of a station, in bytes
	lastUse [Slots]slotUse // of each slot of this member
	seen    []uint64       // by member: the mark up to which it had released pieces when this one looked last
}

// slotUse is the last piece in a slot.
type slotUse struct {
	mark   uint64 // 0: all its readers have released it
	reader int    // the member that reads it, or Everyone
}

// Everyone stands for all members as readers of a piece.
const Everyone = -1

// Create makes the memory of a segment, maps it for member 0, and writes a locator of LocatorBytes bytes, by which the
// other members Open it until Hide.
func Create(members int, locator []byte) (*Segment, error) {
	memory, err := mapped.Make("pm2-collective", uint64(Size(members)))
	if err != nil {
		return nil, err
	}
	memory.Locator().Put(locator)
	return of(memory, members, 0), nil
}

// Open maps the segment of a locator, which another process of this host has made, for the member with the number me.
func Open(locator []byte, members, me int) (*Segment, error) {
	l := mapped.LocatorOf(locator)
	if l.Size != uint64(Size(members)) {
		return nil, fmt.Errorf("%w: a segment of %d bytes, %d members have %d", driver.ErrProtocol, l.Size, members, Size(members))
	}
	memory, err := l.Open("segment", true)
	if err != nil {
		return nil, err
	}
	return of(memory, members, me), nil
}

func of(memory *mapped.Memory, members, me int) *Segment {
	return &Segment{memory: memory, base: memory.Bytes(), me: me, members: members, piece: PieceOf(members), station: station(members), seen: make([]uint64, members)}
}

// Hide ends the time in which other members can Open the segment.
func (s *Segment) Hide() { s.memory.Hide() }

// Vacate gives the memory back when this member leaves. Memory of this process alone takes its place: from then on this
// member sees nothing of the others, and they see nothing of it. Another thread may be inside a call. Of nil it does
// nothing.
func (s *Segment) Vacate() {
	if s != nil {
		_ = s.memory.Vacate() // else it stays mapped
	}
}

// at returns the address of a byte of a member's station.
func (s *Segment) at(member, offset int) unsafe.Pointer {
	return unsafe.Pointer(&s.base[member*s.station+offset])
}

// word returns a word of a member's station.
func (s *Segment) word(member, offset int) *atomic.Uint64 {
	return (*atomic.Uint64)(s.at(member, offset))
}

// slotOf returns the slot of a piece, and headOf where the head of a slot lies in a station.
func slotOf(op uint64, k int) int { return int((op + uint64(k)) % Slots) }

func headOf(slot int) int { return headsAt + slot*line }

// room returns the memory of a piece of that size.
func (s *Segment) room(member, slot, size int) []byte {
	at := headOf(slot) + 16
	if size > short {
		at = bodiesAt + slot*s.piece
	}
	return unsafe.Slice((*byte)(s.at(member, at)), size)
}

// Blocks returns a member that has not released the piece in the slot for piece k of an operation, so that this member
// cannot publish piece k yet; -1: there is none.
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
		if m != s.me && s.seen[m] < h.mark {
			if s.seen[m] = s.word(m, releasedAt).Load(); s.seen[m] < h.mark {
				return m
			}
		}
	}
	h.mark = 0
	return -1
}

// Room returns the memory to which this member writes piece k, of at most PieceOf bytes, when no member Blocks it.
func (s *Segment) Room(op uint64, k, size int) []byte {
	return s.room(s.me, slotOf(op, k), size)
}

// Publish lets reader, a member or Everyone, see the piece in Room, with a label. It reports whether there are
// Sleepers.
func (s *Segment) Publish(op uint64, k int, label uint64, reader int) (sleepers bool) {
	slot := slotOf(op, k)
	s.lastUse[slot] = slotUse{mark(op, k), reader}
	at := headOf(slot)
	*(*uint64)(s.at(s.me, at+8)) = label
	s.word(s.me, at).Store(mark(op, k))
	return s.hasSleepers()
}

// Ready reports whether a member has published piece k of an operation.
func (s *Segment) Ready(member int, op uint64, k int) bool {
	return s.word(member, headOf(slotOf(op, k))).Load() == mark(op, k)
}

// Label returns the label of a piece that is Ready.
func (s *Segment) Label(member int, op uint64, k int) uint64 {
	return *(*uint64)(s.at(member, headOf(slotOf(op, k))+8))
}

// Bytes returns a piece that is Ready, of that size, at most PieceOf. Its publisher leaves it as it is until this
// member has released it.
func (s *Segment) Bytes(member int, op uint64, k, size int) []byte {
	return s.room(member, slotOf(op, k), size)
}

// Release lets the writers of all pieces of an operation up to k use their slots again, as far as this member is a
// reader: it has read them. It reports whether there are Sleepers.
func (s *Segment) Release(op uint64, k int) (sleepers bool) {
	s.word(s.me, releasedAt).Store(mark(op, k))
	return s.hasSleepers()
}

// ReleaseAll is Release of all pieces of an operation.
func (s *Segment) ReleaseAll(op uint64) (sleepers bool) {
	s.word(s.me, releasedAt).Store(last(op))
	return s.hasSleepers()
}

// Last returns the last operation of which a member has published a piece, or released pieces of others.
func (s *Segment) Last(member int) uint64 {
	last := s.word(member, releasedAt).Load()
	for slot := range Slots {
		last = max(last, s.word(member, headOf(slot)).Load())
	}
	return last >> pieceBits
}

// hasSleepers reports whether a member has set its bit at this one.
func (s *Segment) hasSleepers() bool {
	for i := 0; i < s.members; i += 64 {
		if s.word(s.me, bitsAt+i/8).Load() != 0 {
			return true
		}
	}
	return false
}

// Sleepers calls wake once for each member that has set its bit at this one (Sleep), and clears the bit.
func (s *Segment) Sleepers(wake func(member int)) {
	for i := 0; i < s.members; i += 64 {
		for all := s.word(s.me, bitsAt+i/8).Swap(0); all != 0; all &= all - 1 {
			if m := i + bits.TrailingZeros64(all); m < s.members {
				wake(m)
			}
		}
	}
}

// Sleep sets this member's bit at another one: that one wakes this member when it writes next. The caller then looks
// once more for what it waits for.
func (s *Segment) Sleep(member int) {
	s.word(member, bitsAt+s.me/64*8).Or(1 << (s.me % 64))
}

// Wakeful clears the bit that Sleep has set. It reports false if the other member has cleared the bit, and sends a
// message.
func (s *Segment) Wakeful(member int) bool {
	bit := uint64(1) << (s.me % 64)
	return s.word(member, bitsAt+s.me/64*8).And(^bit)&bit != 0
}
