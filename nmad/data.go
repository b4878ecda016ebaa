package nmad

import (
	"fmt"

	"github.com/pm2-go/pm2/nmad/internal/flow"
)

// Data is a message that lies, or goes, somewhere that is described instead of listed: a
// column of a matrix, the blocks of a list, whatever a program can walk over. It is asked for
// its pieces when they are about to move, a few at a time, and they are not kept in a
// list.
//
// Pieces is called by the thread that moves the gate on, perhaps by a hook of the scheduler, and
// perhaps under the lock of the gate; for different places of a message, which go over
// different rails, by several at once. So it must only compute: not block, nor wait, nor
// call anything of this package. If it panics the program ends. Until the request is done
// the answers must not change.
type Data interface {
	// Size is how many bytes the message has, or has room for.
	Size() int
	// Pieces calls yield with the bytes from byte from on, piece by piece in the order of the
	// message, until yield returns false or there are no more. Pieces may have any lengths,
	// also 0. from is at most Size.
	//
	// If they have fewer bytes than Size says the request ends with ErrData: what is
	// missing is sent as zeros, or dropped by the receiver. More than that are not looked at.
	Pieces(from int, yield func(piece []byte) bool)
}

// ErrData says that the pieces of a Data were fewer bytes than its Size.
var ErrData = flow.ErrData

// Vector is a Data of blocks that lie at equal distances: a column, or several, of a
// matrix in row-major order; what MPI_Type_vector describes. NewVector makes one. It does not
// change, and may be used by several requests at once.
type Vector struct {
	base                 []byte
	count, block, stride int
}

// NewVector describes count blocks of block bytes, which begin stride bytes after one another,
// the first one with base. Of a receive they must not overlap, of a send they may. The error, if
// they do not all lie in base, is ErrConfig.
func NewVector(base []byte, count, block, stride int) (*Vector, error) {
	if count < 0 || block < 0 || stride < 0 {
		return nil, fmt.Errorf("nmad: vector: %w: %d blocks of %d bytes, %d apart: none may be below 0", ErrConfig, count, block, stride)
	}
	v := &Vector{base, count, block, stride}
	if count == 0 || block == 0 {
		v.count = 0
		return v, nil
	}
	if block > len(base) || stride != 0 && count-1 > (len(base)-block)/stride {
		return nil, fmt.Errorf("nmad: vector: %w: %d blocks of %d bytes, %d apart, do not lie in %d bytes", ErrConfig, count, block, stride, len(base))
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

// Pack builds a message, or the places that it goes to, step by step, as a program comes across the parts; they are
// never put together. The zero value is an empty message. After the send or the receive is done the
// Pack can be used again, with Reset. Not for concurrent use.
//
// Places that depend on what is in the message come afterwards: Gate.Peek, or Claim and Message.Peek,
// show its beginning, and Message.Start takes the places that were added meanwhile.
type Pack struct {
	parts [][]byte
	own   []byte // memory of what was copied
}

// Add appends b to the message, or to its places. b itself is sent, or filled: it must not be touched until that is
// done.
func (p *Pack) Add(b []byte) *Pack {
	p.parts = append(p.parts, b)
	return p
}

// Copy appends b as it is now to the message; b may be changed at once.
func (p *Pack) Copy(b []byte) *Pack {
	at := len(p.own)
	p.own = append(p.own, b...) // if it moves, earlier parts keep the memory that they have
	return p.Add(p.own[at:len(p.own):len(p.own)])
}

// Parts returns what was added, for Op.Parts: it is not nil, and valid until Reset.
func (p *Pack) Parts() [][]byte {
	if p.parts == nil {
		return [][]byte{}
	}
	return p.parts
}

// Reset empties the message and keeps the memory.
func (p *Pack) Reset() {
	clear(p.parts)
	p.parts, p.own = p.parts[:0], p.own[:0]
}
