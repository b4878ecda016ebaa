package rma

import (
	"errors"
	"fmt"

	"github.com/pm2-go/pm2/nmad"
)

// What can go wrong, for errors.Is. Beside these an operation fails with the errors of nmad: ErrClosed after
// World.Close, ErrOwner in a Private domain of another thread, ErrRank, ErrActive for an Event that is in use, and a
// *PeerError, which names the rank, once the other process is lost.
var (
	// ErrKey: the Ref is not, or no longer, one of memory that its process has open: it was freed or closed, or the
	// Ref was made up, or damaged on its way.
	ErrKey = errors.New("no memory with that key")
	// ErrRange: the access goes beyond the end of the memory.
	ErrRange = errors.New("beyond the end of the memory")
	// ErrAlign: the address of an atomic, or of a signal, is not a multiple of its size.
	ErrAlign = errors.New("address not aligned")
	// ErrOp: there is no such operation for words of that type.
	ErrOp = errors.New("no such operation")
	// ErrSize: memory of a size that cannot be had, or that differs among the processes of an Alloc.
	ErrSize = errors.New("size of memory")
	// ErrRef: bytes that are no Ref, or a Ref of a process that this call is not for.
	ErrRef = errors.New("wrong reference")
	// ErrElsewhere: a collective call did not work at another process, whose rank the text says; that one's own error
	// says why.
	ErrElsewhere = errors.New("it failed at another process")
	// ErrClosed is that of nmad: this World, or its session, was closed.
	ErrClosed = nmad.ErrClosed
)

// How a target answers; also what a look at memory of one's own finds.
const (
	statusDone uint8 = iota
	statusKey
	statusRange
	statusAlign
	statusOp
	statusClosed
	statuses
)

// attempt is what an operation does, in the text of errors.
type attempt struct {
	what string
	at   Ref
	n    uint64 // bytes
}

// refusal is the error for a status other than statusDone; size is that of the memory, where it has one.
func (x attempt) refusal(status uint8, size uint64) error {
	switch status {
	case statusKey:
		return x.fails(fmt.Errorf("%w: it was freed or closed, or the reference is not one that rank %d has given: use those of Segment.At and Region.Ref, as they are", ErrKey, x.at.rank))
	case statusRange:
		return x.fails(fmt.Errorf("%w: it has %d B", ErrRange, size))
	case statusAlign:
		return x.fails(fmt.Errorf("%w: it must be a multiple of %d in the memory of rank %d", ErrAlign, x.n, x.at.rank))
	case statusOp:
		return x.fails(fmt.Errorf("%w: there are Add to Swap, of which And, Or and Xor are for integers", ErrOp))
	case statusClosed:
		return x.fails(fmt.Errorf("%w at rank %d", ErrClosed, x.at.rank))
	}
	return x.fails(fmt.Errorf("%w: rank %d answers with status %d", nmad.ErrProtocol, x.at.rank, status))
}

// fails names the operation in front of why it failed.
func (x attempt) fails(why error) error {
	return fmt.Errorf("rma: %s of %d B, rank %d, offset %d: %w", x.what, x.n, x.at.rank, x.at.offset, why)
}
