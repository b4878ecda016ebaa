package match

import "math/bits"

// Group is a set of ranks: bit rank%64 of word rank/64.
type Group []uint64

// All returns the group of the ranks below n.
func All(n int) Group {
	g := NewGroup(n)
	for rank := range n {
		g.Add(rank)
	}
	return g
}

// NewGroup returns an empty group, which has room for the ranks below n.
func NewGroup(n int) Group { return make(Group, (n+63)/64) }

// Add adds a rank, for which the group must have room.
func (g Group) Add(rank int) { g[rank/64] |= 1 << (rank % 64) }

// Has reports whether a rank belongs to the group.
func (g Group) Has(rank int) bool {
	return rank >= 0 && rank/64 < len(g) && g[rank/64]&(1<<(rank%64)) != 0
}

// Len returns how many ranks the group has.
func (g Group) Len() (n int) {
	for _, word := range g {
		n += bits.OnesCount64(word)
	}
	return n
}

// span returns one more than the highest rank of the group; 0 if the group is empty.
func (g Group) span() int {
	for i := len(g) - 1; i >= 0; i-- {
		if g[i] != 0 {
			return 64*i + bits.Len64(g[i])
		}
	}
	return 0
}
