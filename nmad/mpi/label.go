package mpi

import (
	"fmt"

	"github.com/pm2-go/pm2/nmad/mpi/internal/plan"
	"github.com/pm2-go/pm2/nmad/mpi/internal/segment"
)

// label goes with each piece in shared memory. It tells which call the piece is of, so that ranks whose calls differ
// find that out.
//
//	bits 0 to 23    length of the piece, in bytes
//	bits 24 to 31   operationKind
//	bits 32 to 63   1 + the rank of the root; 0: the operation has none
type label uint64

const labelBytes = 24 // bits for the length

// Checks at compile time: the longest piece has a length of labelBytes bits; a plan and a segment name all members by
// the same number, which do passes on.
const _ = uint(1<<labelBytes - 1 - segment.MaxPiece)

var _ = [1]struct{}{}[plan.Everyone-segment.Everyone]

// newLabel returns the label of a piece of size bytes. root is a rank, or noRoot.
func newLabel(kind operationKind, root, size int) label {
	return label(root-noRoot)<<32 | label(kind)<<labelBytes | label(size)
}

func (l label) kind() operationKind { return operationKind(l >> labelBytes) }
func (l label) root() int           { return int(l>>32) + noRoot }
func (l label) size() int           { return int(l & (1<<labelBytes - 1)) }

// String describes the call for people.
func (l label) String() string {
	text := fmt.Sprintf("%v, %d bytes", l.kind(), l.size())
	if l.root() != noRoot {
		text += fmt.Sprintf(", root %d", l.root())
	}
	return text
}
