package faults

import (
	"encoding/binary"
	"fmt"
	"math/rand/v2"
)

// Tags. Those of streams are phase<<16 | number of the stream.
const (
	neverTag   = 1 << 32 // nothing is ever sent with it
	orphanTag  = 1 << 33 // nothing is ever received with it
	barrierTag = 1 << 34
	anyTag     = 1 << 40 // for receives from any source
)

// stream names messages of one tag from one rank to another.
type stream struct {
	p        *plan
	from, to int
	tag      uint64
}

func (s stream) String() string { return fmt.Sprintf("%d to %d, tag %#x", s.from, s.to, s.tag) }

// key names a message of the stream.
func (s stream) key(i int) uint64 {
	return s.p.Seed ^ uint64(s.from)<<58 ^ uint64(s.to)<<52 ^ s.tag<<10 ^ uint64(i)
}

// dice are those of one end of the stream.
func (s stream) dice(end uint64) *rand.Rand { return rand.New(rand.NewPCG(s.key(1<<9), end)) }

// size is how long the i-th message is, in bytes.
func (s stream) size(i int) int {
	rng := rand.New(rand.NewPCG(s.key(i), 2))
	switch rng.IntN(16) {
	case 0, 1:
		return rng.IntN(3)
	case 2, 3, 4:
		return rng.IntN(64)
	case 5, 6, 7:
		return rng.IntN(4 << 10)
	case 8, 9:
		return min(s.p.Biggest, 1<<(8+2*rng.IntN(6))-16+rng.IntN(32)) // where protocols change
	case 10, 11, 12:
		return rng.IntN(min(s.p.Biggest, 64<<10))
	case 13, 14:
		return rng.IntN(min(s.p.Biggest, 512<<10))
	default:
		return rng.IntN(s.p.Biggest)
	}
}

// message is the i-th message.
func (s stream) message(i int) []byte {
	b := make([]byte, s.size(i))
	s.fill(b, i)
	return b
}

// fill writes the first bytes of the i-th message.
func (s stream) fill(b []byte, i int) {
	x := s.key(i)*0x9e3779b97f4a7c15 | 1
	for len(b) >= 8 {
		x ^= x << 13
		x ^= x >> 7
		x ^= x << 17
		binary.LittleEndian.PutUint64(b, x)
		b = b[8:]
	}
	for k := range b {
		x = x*6364136223846793005 + 1442695040888963407
		b[k] = byte(x >> 56)
	}
}

// wrong says where what has come differs from the i-th message; empty: nowhere.
func (s stream) wrong(got []byte, i int) string {
	want := s.message(i)
	if len(got) != len(want) {
		return fmt.Sprintf("message %d has %d bytes, want %d", i, len(got), len(want))
	}
	for k := range got {
		if got[k] != want[k] {
			for other := range s.p.Messages {
				if m := s.message(other); len(m) == len(got) && string(m) == string(got) {
					return fmt.Sprintf("message %d has come in the place of message %d", other, i)
				}
			}
			return fmt.Sprintf("byte %d of %d of message %d is %#x, want %#x", k, len(got), i, got[k], want[k])
		}
	}
	return ""
}

// pieces is a message that is described.
type pieces [][]byte

func (d pieces) Size() (n int) {
	for _, p := range d {
		n += len(p)
	}
	return n
}

func (d pieces) Pieces(from int, yield func([]byte) bool) {
	for _, p := range d {
		if from >= len(p) && len(p) > 0 {
			from -= len(p)
			continue
		}
		if !yield(p[min(from, len(p)):]) {
			return
		}
		from = 0
	}
}

// cutUp is b in parts.
func cutUp(b []byte, rng *rand.Rand) (parts [][]byte) {
	parts = [][]byte{}
	most := 1 + rng.IntN(len(b)/2+64)
	for len(b) > 0 {
		n := min(len(b), 1+rng.IntN(most))
		parts = append(parts, b[:n:n])
		b = b[n:]
		if len(parts) > 40 {
			return append(parts, b)
		}
	}
	return parts
}
