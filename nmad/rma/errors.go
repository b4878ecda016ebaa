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
	// ErrKey: the Ref names no memory that its process has open: the memory was freed or closed, or the Ref was made
	// up, or damaged on its way.
	ErrKey = errors.New("no memory with that key")
	// ErrRange: the access goes beyond the end of the memory.
	ErrRange = errors.New("beyond the end of the memory")
	// ErrAlign: the address of an atomic, or of a signal, is not a multiple of its size.
	ErrAlign = errors.New("address not aligned")
	// ErrOp: there is no such operation for words of that type.
	ErrOp = errors.New("no such operation")
	// ErrSize: the system has no memory of that size, the processes of an Alloc ask for different sizes, or slices that
	// must have one length have not.
	ErrSize = errors.New("size of memory")
	// ErrRef: bytes that are no Ref, or a Ref to memory of a process that the call does not allow.
	ErrRef = errors.New("wrong reference")
	// ErrElsewhere: a collective call has failed at another process, whose rank the text says; the error there says
	// why.
	ErrElsewhere = errors.New("it failed at another process")
	// ErrClosed is that of nmad: this World, or its session, was closed.
	ErrClosed = nmad.ErrClosed
)

// The statuses of an answer, and of World.borrow.
const (
	statusDone uint8 = iota
	statusKey
	statusRange
	statusAlign
	statusOp
	statusClosed
	statuses
)

// attempt is an operation as the texts of errors describe it.
type attempt struct {
	what string // "put", "get" ...
	at   Ref
	n    uint64 // bytes
}

// refusal is the error for a status other than statusDone; size is that of the memory in bytes, for statusRange.
func (try attempt) refusal(status uint8, size uint64) error {
	switch status {
	case statusKey:
		return try.fails(fmt.Errorf("%w: it was freed or closed, or the reference is not one that rank %d has given: use those of Segment.At and Region.Ref, as they are", ErrKey, try.at.rank))
	case statusRange:
		return try.fails(fmt.Errorf("%w: it has %d B", ErrRange, size))
	case statusAlign:
		return try.fails(fmt.Errorf("%w: it must be a multiple of %d in the memory of rank %d", ErrAlign, try.n, try.at.rank))
	case statusOp:
		return try.fails(fmt.Errorf("%w: there are Add to Swap, of which And, Or and Xor are for integers", ErrOp))
	case statusClosed:
		return try.fails(fmt.Errorf("%w at rank %d", ErrClosed, try.at.rank))
	}
	return try.fails(fmt.Errorf("%w: rank %d answers with status %d", nmad.ErrProtocol, try.at.rank, status))
}

// fails names the operation in front of why it failed.
func (try attempt) fails(why error) error {
	return fmt.Errorf("rma: %s of %d B, rank %d, offset %d: %w", try.what, try.n, try.at.rank, try.at.offset, why)
}
