package roster

import (
	"encoding/hex"
	"fmt"

	"github.com/pm2-go/pm2/nmad/internal/meet"
)

// controlTree is the tree of control connections at the start of the job, as one of its processes sees it; README.md
// draws it. The first rank of each host is its leader. The ranks of rank 0's host and the leaders of the others connect
// to rank 0, all other ranks to the leader of their host.
type controlTree struct {
	parent   int           // rank to which this process connects; -1: this is rank 0
	subtrees map[int][]int // by the ranks that connect to this process: those for which each speaks, itself first, in order
	relays   []bool        // by rank: other ranks get their news through it
	leader   []int         // by rank: the first rank of its host
}

// newTree makes the tree for process own of a job of that size. hosts has the host of each rank; nil: one host.
func newTree(hosts []int, own, size int) controlTree {
	t := controlTree{parent: -1, subtrees: map[int][]int{}, relays: make([]bool, size), leader: make([]int, size)}
	leaders := map[int]int{} // by host
	for rank := 1; rank < size; rank++ {
		leader := 0
		if hosts != nil && hosts[rank] != hosts[0] {
			if _, known := leaders[hosts[rank]]; !known {
				leaders[hosts[rank]] = rank
			}
			leader = leaders[hosts[rank]]
		}
		up := leader
		if leader == rank {
			up = 0
		}
		t.leader[rank], t.relays[up] = leader, true
		switch own {
		case rank:
			t.parent = up
		case up:
			t.subtrees[rank] = append(t.subtrees[rank], rank)
		case 0:
			t.subtrees[leader] = append(t.subtrees[leader], rank)
		}
	}
	return t
}

// leaderSocket returns the name of the Unix socket at which a leader waits for the ranks of its host. Only a
// process that has the secret can compute it.
func leaderSocket(secret []byte, leader int) string {
	return fmt.Sprintf("@pm2-control-%s-%d", hex.EncodeToString(meet.Code(secret, "pm2 door")[:12]), leader)
}
