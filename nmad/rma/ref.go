package rma

import (
	"encoding/binary"
	"fmt"
)

// Ref names a byte in memory of a process of the job, for operations of any process of it. It is a value of 24 bytes,
// comparable, and can be sent in messages (AppendBinary, ParseRef). Its key has 64 random bits: operations on a Ref to
// memory that was freed, and on one that was made up, fail with ErrKey. The zero Ref names no memory.
type Ref struct {
	key    uint64
	offset uint64 // bytes from the beginning of the memory
	rank   uint32
	index  uint32 // in the table of that rank
}

// RefBytes is the length of a Ref in a message, in bytes.
const RefBytes = 24

// Rank returns the rank of the process that has the memory.
func (r Ref) Rank() int { return int(r.rank) }

// Offset returns how far the byte is from the beginning of the memory, in bytes.
func (r Ref) Offset() uint64 { return r.offset }

// Add returns the Ref n bytes further on, or, below 0, back. Whether the memory has that byte is checked when the Ref
// is used.
func (r Ref) Add(n int64) Ref {
	r.offset += uint64(n)
	return r
}

// AppendBinary appends the RefBytes bytes of the Ref to b. Its error is always nil.
func (r Ref) AppendBinary(b []byte) ([]byte, error) {
	b = binary.LittleEndian.AppendUint32(b, r.rank)
	b = binary.LittleEndian.AppendUint32(b, r.index)
	b = binary.LittleEndian.AppendUint64(b, r.key)
	return binary.LittleEndian.AppendUint64(b, r.offset), nil
}

// ParseRef reads the Ref in the first RefBytes bytes of b; if b is shorter the error is ErrRef. Whether it names memory
// is checked when the Ref is used.
func ParseRef(b []byte) (Ref, error) {
	if len(b) < RefBytes {
		return Ref{}, fmt.Errorf("rma: %w: %d B, a reference has %d", ErrRef, len(b), RefBytes)
	}
	return Ref{
		rank:   binary.LittleEndian.Uint32(b),
		index:  binary.LittleEndian.Uint32(b[4:]),
		key:    binary.LittleEndian.Uint64(b[8:]),
		offset: binary.LittleEndian.Uint64(b[16:]),
	}, nil
}

// String describes the Ref for people, without its key.
func (r Ref) String() string {
	return fmt.Sprintf("rank %d, memory %d, offset %d", r.rank, r.index, r.offset)
}
