package roster

import (
	"encoding/hex"
	"fmt"

	"github.com/pm2-go/pm2/nmad/internal/meet"
)

// controlTree is the tree of control connections at the start of the job, as one of its processes sees it. The
// first rank of each host is its leader. The ranks of rank 0's host and the leaders of the others connect to rank
// 0, all other ranks to the leader of their host. So rank 0 has as many connections as there are hosts and
// neighbours.
//
//	rank 0 ──┬── rank 1                    host 0
//	         ├── rank 2 ──┬── rank 3       host 1, of which rank 2 is the leader
//	         │            └── rank 4
//	         └── rank 5 ───── rank 6       host 2
type controlTree struct {
	parent   int           // rank to which this process connects; -1: this is rank 0
	subtrees map[int][]int // by the ranks that connect to this process: those for which each speaks, itself first, in order
	relays   []bool        // by rank: other ranks get their news through it
	leader   []int         // by rank: the first rank of its host
}

// newTree makes the tree for process own of a job of that size. hosts has the host of each rank; nil: all are on
// one.
func newTree(hosts []int, own, size int) controlTree {
	t := controlTree{parent: -1, subtrees: map[int][]int{}, relays: make([]bool, size), leader: make([]int, size)}
	leaders := map[int]int{} // by host
	for rank := range size {
		host := 0
		if hosts != nil {
			host = hosts[rank]
		}
		leader, known := leaders[host]
		if !known {
			leaders[host], leader = rank, rank
		}
		t.leader[rank] = leader
		up := leader
		if leader == rank {
			up = 0
		}
		if rank > 0 {
			t.relays[up] = true
		}
		switch {
		case rank == own && rank > 0:
			t.parent = up
		case own == up:
			t.subtrees[rank] = append(t.subtrees[rank], rank)
		case own == 0:
			t.subtrees[leader] = append(t.subtrees[leader], rank)
		}
	}
	delete(t.subtrees, own)
	return t
}

// leaderSocket returns the name of the Unix socket at which a leader waits for the ranks of its host. Only a
// process that has the secret can compute it.
func leaderSocket(secret []byte, leader int) string {
	return fmt.Sprintf("@pm2-control-%s-%d", hex.EncodeToString(meet.Code(secret, "pm2 door")[:12]), leader)
}
