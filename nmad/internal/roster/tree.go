package roster

import (
	"encoding/hex"
	"fmt"
	"slices"

	"github.com/pm2-go/pm2/nmad/internal/meet"
)

// controlTree is how the control connections of a job run, as one of its processes sees it. The first rank of each host is its
// leader: the ranks of rank 0's host and the leaders of the others connect to rank 0, all other ranks to the leader of
// their host. So rank 0 has as many connections as there are hosts and neighbours.
//
//	rank 0 ──┬── rank 1                    host 0
//	         ├── rank 2 ──┬── rank 3       host 1, of which rank 2 is the leader
//	         │            └── rank 4
//	         └── rank 5 ───── rank 6       host 2
type controlTree struct {
	up       int           // the rank that this process connects to; -1: it is rank 0
	subtrees map[int][]int // by the rank of those that connect to this process: the ranks that they speak for, in order, themselves first
	relays   []bool        // by rank: other ranks get their news through it
	leader   []int         // by rank: the first rank of its host
}

// newTree makes the tree of a job whose ranks are on those hosts; nil: on one.
func newTree(hosts []int, own, size int) controlTree {
	t := controlTree{up: -1, subtrees: map[int][]int{}, relays: make([]bool, size), leader: make([]int, size)}
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
			t.up = up
		case own == up:
			t.subtrees[rank] = append(t.subtrees[rank], rank)
		case own == 0:
			t.subtrees[leader] = append(t.subtrees[leader], rank)
		}
	}
	delete(t.subtrees, own)
	return t
}

// ranks lists those of which this process gathers the cards, its own included, in order.
func (t *controlTree) ranks(own int) []int {
	all := []int{own}
	for _, subtree := range t.subtrees {
		all = append(all, subtree...)
	}
	slices.Sort(all)
	return all
}

// leaderSocket names the Unix socket at which a leader waits for the ranks of its host. Only a process that has the secret
// can compute the name.
func leaderSocket(secret []byte, leader int) string {
	return fmt.Sprintf("@pm2-control-%s-%d", hex.EncodeToString(meet.Code(secret, "pm2 door")[:12]), leader)
}
