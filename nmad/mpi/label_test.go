package mpi

import (
	"testing"

	"github.com/pm2-go/pm2/nmad/mpi/internal/segment"
)

// TestLabel: a label gives back the call that it was made of, and calls that differ have labels that differ.
func TestLabel(t *testing.T) {
	seen := map[label]bool{}
	for _, kind := range []operationKind{barrier, operationKinds - 1} {
		for _, root := range []int{noRoot, 0, 1, segment.MaxMembers, 1<<31 - 1} {
			for _, size := range []int{0, 1, segment.MaxPiece} {
				l := newLabel(kind, root, size)
				if l.kind() != kind || l.root() != root || l.size() != size {
					t.Errorf("%v, root %d, %d bytes: the label has %v, root %d, %d bytes", kind, root, size, l.kind(), l.root(), l.size())
				}
				if seen[l] {
					t.Errorf("another call has the label of %v, root %d, %d bytes", kind, root, size)
				}
				seen[l] = true
			}
		}
	}
	if text, want := newLabel(bcast, 3, 8).String(), "bcast, 8 bytes, root 3"; text != want {
		t.Errorf("%q, want %q", text, want)
	}
	if text, want := newLabel(barrier, noRoot, 0).String(), "barrier, 0 bytes"; text != want {
		t.Errorf("%q, want %q", text, want)
	}
}
