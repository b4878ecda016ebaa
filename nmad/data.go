package nmad

import (
	"fmt"

	"github.com/pm2-go/pm2/nmad/internal/flow"
)

// Data describes the memory of a message by methods, in place of a list of its pieces: a column of a matrix, the blocks
// of a list, anything that a program can walk over. The library asks for pieces when they are about to move, a few at a
// time, and keeps no list of them.
//
// The thread that polls the gate calls Pieces, perhaps in a hook of the scheduler, and perhaps with the lock of the
// gate held. If a message goes over several rails, several threads may call Pieces at the same time, for different
// places. So Pieces must only compute: it must not block, wait, or call anything of this package. If it panics, the
// program ends. Its results must not change until the request is done.
type Data interface {
	// Size returns how many bytes the message has, or has room for.
	Size() int
	// Pieces calls yield for the bytes from byte from on, piece by piece in the order of the message, until yield
	// returns false or there are no more. Pieces may have any lengths, also 0. from is at most Size.
	//
	// If the pieces have fewer bytes than Size, the request ends with ErrData; the sender sends zeros in place of the
	// missing bytes, the receiver drops the bytes for which there is no place. Bytes beyond Size are ignored.
	Pieces(from int, yield func(piece []byte) bool)
}

// ErrData says that the pieces of a Data have fewer bytes than its Size.
var ErrData = flow.ErrData

// Vector is a Data of blocks at equal distances, such as one or several columns of a matrix in row-major order; it is
// what MPI_Type_vector describes. NewVector makes it. A Vector does not change, and several requests may use it at
// once.
type Vector struct {
	base                 []byte
	count, block, stride int
}

// NewVector describes count blocks of block bytes each. The first one begins with base, and each further one stride
// bytes after the one before. In a receive the blocks must not overlap; in a send they may. NewVector fails with
// ErrConfig if the blocks do not all lie in base.
func NewVector(base []byte, count, block, stride int) (*Vector, error) {
	if count < 0 || block < 0 || stride < 0 {
		return nil, fmt.Errorf("nmad: vector: %w: %d blocks of %d bytes, %d apart: none may be below 0",
			ErrConfig, count, block, stride)
	}
	v := &Vector{base, count, block, stride}
	if count == 0 || block == 0 {
		v.count = 0
		return v, nil
	}
	if block > len(base) || stride != 0 && count-1 > (len(base)-block)/stride {
		return nil, fmt.Errorf("nmad: vector: %w: %d blocks of %d bytes, %d apart, do not lie in %d bytes",
			ErrConfig, count, block, stride, len(base))
	}
	if total := count * block; total/block != count {
		return nil, fmt.Errorf("nmad: vector: %w: %d blocks of %d bytes are more than this machine can count", ErrConfig, count, block)
	}
	return v, nil
}

// Size implements Data.
func (v *Vector) Size() int { return v.count * v.block }

// Pieces implements Data.
func (v *Vector) Pieces(from int, yield func([]byte) bool) {
	if v.count == 0 {
		return
	}
	i, skip := from/v.block, from%v.block
	if i < v.count && skip > 0 {
		at := i * v.stride
		if !yield(v.base[at+skip : at+v.block]) {
			return
		}
		i++
	}
	for ; i < v.count; i++ {
		at := i * v.stride
		if !yield(v.base[at : at+v.block]) {
			return
		}
	}
}

// Pack collects the parts of a message, or the places to which it goes, one by one. The parts are never put together.
// The zero Pack is an empty message. When the send or the receive is done, the program may use the Pack again, with
// Reset. Not safe for concurrent use.
//
// If the places depend on the contents of the message, the program first looks at its beginning, by Gate.Peek, or Claim
// and Message.Peek; then it adds the places, and receives by Message.Start.
type Pack struct {
	parts  [][]byte
	copies []byte // memory of the parts that Copy has added
}

// Add appends b to the message, or to its places. The library sends, or fills, b itself, so the program must not touch
// b until the request is done.
func (p *Pack) Add(b []byte) *Pack {
	p.parts = append(p.parts, b)
	return p
}

// Copy appends a copy of b to the message, so the program may change b at once.
func (p *Pack) Copy(b []byte) *Pack {
	at := len(p.copies)
	p.copies = append(p.copies, b...) // if append moves the memory, earlier parts keep the old one
	return p.Add(p.copies[at:len(p.copies):len(p.copies)])
}

// Parts returns the parts, for Operation.Parts. The slice is not nil, and valid until Reset.
func (p *Pack) Parts() [][]byte {
	if p.parts == nil {
		return [][]byte{}
	}
	return p.parts
}

// Reset empties the message and keeps the memory.
func (p *Pack) Reset() {
	clear(p.parts)
	p.parts, p.copies = p.parts[:0], p.copies[:0]
}
