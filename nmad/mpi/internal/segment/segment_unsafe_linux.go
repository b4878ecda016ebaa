package segment

import (
	"fmt"
	"math/bits"
	"os"
	"runtime"
	"sync/atomic"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/pm2-go/pm2/nmad/driver"
	"github.com/pm2-go/pm2/nmad/internal/sealed"
)

// Segment is a member's view. One thread at a time uses it.
type Segment struct {
	memory  []byte
	own     int
	members int
	piece   int // the longest, in bytes
	station int // bytes of each member
	held    [Slots]held
	seen    []uint64 // what the others have taken, as far as it was looked up
}

// held is what a slot of this member was used for last.
type held struct {
	mark   uint64
	reader int
}

// Everyone stands for all members as readers of a piece.
const Everyone = -1

// Create makes the memory of a segment, whose first bytes are the cookie. The other members Open it by this process's id and the descriptor, until the caller closes that.
func Create(members int, cookie []byte) (fd int, err error) {
	fd, err = sealed.Create("pm2-collective", uint64(Size(members)), 0)
	if err != nil {
		return -1, err
	}
	p, err := mapped(fd, page)
	if err != nil {
		_ = unix.Close(fd)
		return -1, err
	}
	copy(unsafe.Slice((*byte)(p), page), cookie)
	_ = unix.MunmapPtr(p, page)
	return fd, nil
}

// Vacate gives the memory back, for a member that has left: there is none of the others' in its place from then on, so nothing that this member waits for comes, and what it publishes no other sees. Another
// thread may be inside a call.
func (s *Segment) Vacate() {
	_, _ = unix.MmapPtr(-1, 0, unsafe.Pointer(unsafe.SliceData(s.memory)), uintptr(len(s.memory)), unix.PROT_READ|unix.PROT_WRITE, unix.MAP_PRIVATE|unix.MAP_ANONYMOUS|unix.MAP_FIXED|unix.MAP_NORESERVE)
}

func mapped(fd, size int) (unsafe.Pointer, error) {
	p, err := unix.MmapPtr(fd, 0, nil, uintptr(size), unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED|unix.MAP_NORESERVE)
	return p, os.NewSyscallError("mmap", err)
}

// Close closes the descriptor of Create.
func Close(fd int) { _ = unix.Close(fd) }

// Open maps the segment that the process pid of this host has made, for the member of that number.
func Open(pid, fd, members, own int, cookie []byte) (*Segment, error) {
	here, err := unix.Open(fmt.Sprintf("/proc/%d/fd/%d", pid, fd), unix.O_RDWR|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil, fmt.Errorf("segment of process %d: %w", pid, os.NewSyscallError("open", err))
	}
	defer unix.Close(here)
	size, err := sealed.Check(here, "segment")
	if err != nil {
		return nil, err
	}
	if size != uint64(Size(members)) {
		return nil, fmt.Errorf("%w: a segment of %d bytes, %d members have %d", driver.ErrProtocol, size, members, Size(members))
	}
	p, err := mapped(here, int(size))
	if err != nil {
		return nil, err
	}
	s := &Segment{memory: unsafe.Slice((*byte)(p), size), own: own, members: members, piece: PieceOf(members), station: station(members), seen: make([]uint64, members)}
	type span struct{ at, size uintptr }
	runtime.AddCleanup(s, func(x span) { _, _, _ = unix.Syscall(unix.SYS_MUNMAP, x.at, x.size, 0) }, span{uintptr(p), uintptr(size)})
	if string(s.memory[:len(cookie)]) != string(cookie) {
		return nil, fmt.Errorf("%w: process %d has another file under that number", driver.ErrProtocol, pid)
	}
	return s, nil
}

// at is a byte of a member's station.
func (s *Segment) at(member, offset int) unsafe.Pointer {
	return unsafe.Pointer(&s.memory[cookieSize+member*s.station+offset])
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
	h := &s.held[slotOf(op, k)]
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
	s.held[slot] = held{mark(op, k), reader}
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
