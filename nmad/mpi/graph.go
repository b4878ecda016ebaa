package mpi

import (
	"fmt"
	"slices"
)

// Graph is a communicator whose processes have neighbors: each receives from some ranks, and sends to some.
type Graph struct {
	*Comm
	from, to []int // ranks from which this process receives, and to which it sends
}

// NewDistGraphAdjacent returns a communicator like c in which this process receives from the ranks in from, and sends
// to the ranks in to. All processes of c call it. A process is in another one's to as often as that one is in its from.
func NewDistGraphAdjacent(c *Comm, from, to []int) (*Graph, error) {
	var wrong error
	for _, r := range slices.Concat(from, to) {
		wrong = c.neighbor(r, wrong)
	}
	made, err := c.dup(wrong)
	if err != nil {
		return nil, err
	}
	return &Graph{made, slices.Clone(from), slices.Clone(to)}, nil
}

// neighbor says why a rank cannot be a neighbor, or returns wrong if that is not nil.
func (c *Comm) neighbor(rank int, wrong error) error {
	if wrong == nil && (rank < 0 || rank >= c.Size()) {
		wrong = fmt.Errorf("%w: neighbor %d of %d", ErrRank, rank, c.Size())
	}
	return wrong
}

// NewDistGraph is NewDistGraphAdjacent of edges, each from a rank to a rank. The graph has the edges that all processes
// give together.
func NewDistGraph(c *Comm, edges [][2]int) (*Graph, error) {
	g, _, err := c.distGraph(edges, nil)
	return g, err
}

// distGraph is NewDistGraph of edges with weights. The second result has the weights of the edges to this process, and
// of those from it; nil: no process gives weights, not even an empty list.
func (c *Comm) distGraph(edges [][2]int, weights []int) (g *Graph, ofOwn [2][]int, err error) {
	own := [2]int64{int64(len(edges)), 0}
	if weights != nil {
		own[1] = 1
	}
	sent, each := make([][3]int64, len(edges)), make([][2]int64, c.Size())
	for i, e := range edges {
		sent[i] = [3]int64{int64(e[0]), int64(e[1])}
		if weights != nil {
			sent[i][2] = int64(weights[i])
		}
	}
	if err := Allgather(c, [][2]int64{own}, each); err != nil {
		return nil, ofOwn, err
	}
	lengths, sum := make([]int, c.Size()), 0
	for r, x := range each {
		lengths[r] = int(x[0])
		sum += lengths[r]
		if x[1] != 0 {
			ofOwn = [2][]int{{}, {}}
		}
	}
	all := make([][3]int64, sum)
	if err := Allgatherv(c, sent, all, lengths, nil); err != nil {
		return nil, ofOwn, err
	}
	var ranks [2][]int // from which this process receives, and to which it sends
	var wrong error    // at all ranks alike
	for _, e := range all {
		for side, end := range e[:2] {
			wrong = c.neighbor(int(end), wrong)
			if int(e[1-side]) != c.rank {
				continue
			}
			ranks[side] = append(ranks[side], int(end))
			if ofOwn[side] != nil {
				ofOwn[side] = append(ofOwn[side], int(e[2]))
			}
		}
	}
	if wrong != nil {
		return nil, ofOwn, fmt.Errorf("mpi: graph of %v: %w", c, wrong)
	}
	g, err = NewDistGraphAdjacent(c, ranks[0], ranks[1])
	return g, ofOwn, err
}

// NewGraph returns a communicator of the first len(neighbors) processes of c, in which rank i sends to the ranks in
// neighbors[i], and receives from them. It returns nil at the other processes. All processes of c call it with the
// same lists.
func NewGraph(c *Comm, neighbors [][]int) (*Graph, error) {
	if err := c.usable(); err != nil {
		return nil, err
	}
	var wrong error
	places := len(neighbors)
	if places > c.Size() {
		places, wrong = 0, fmt.Errorf("%w: %d processes of %d", ErrCount, places, c.Size())
	}
	for r, all := range neighbors {
		for _, n := range all {
			if n < 0 || n >= len(neighbors) {
				wrong = fmt.Errorf("%w: a neighbor %d of rank %d, of %d", ErrRank, n, r, len(neighbors))
			}
		}
	}
	made, err := c.create(Group{c.group.job[:places]}, wrong)
	if made == nil {
		return nil, err
	}
	own := slices.Clone(neighbors[c.rank])
	return &Graph{made, own, own}, nil
}

// With returns the same graph on another communicator of the same processes in the same order, such as a Dup.
func (gr *Graph) With(other *Comm) *Graph { return &Graph{other, gr.from, gr.to} }

// Neighbors returns the ranks from which this process receives, and those to which it sends.
func (gr *Graph) Neighbors() (from, to []int) { return slices.Clone(gr.from), slices.Clone(gr.to) }

// NeighborAlltoall sends block i of in to the i-th rank to which this process sends, and receives block i of out from
// the i-th rank from which it receives.
func (gr *Graph) NeighborAlltoall(in, out Blocks) error {
	return finish(gr.neighborAlltoall(blocking, in, out))
}

// Immediate is Comm.Immediate; its NeighborAlltoall and NeighborAllgather work here.
func (gr *Graph) Immediate() Immediate { return Immediate{view{gr.Comm, gr, immediate}} }

// Persistent is Comm.Persistent; its NeighborAlltoall and NeighborAllgather work here.
func (gr *Graph) Persistent() Persistent { return Persistent{view{gr.Comm, gr, persistent}} }

func (gr *Graph) targets() int { return len(gr.to) }

// NeighborAllgather sends in to each rank to which this process sends, and receives as NeighborAlltoall does.
func (gr *Graph) NeighborAllgather(in Buffer, out Blocks) error {
	return gr.NeighborAlltoall(toEach(in, gr.targets()), out)
}

func (gr *Graph) neighborAlltoall(callForm form, in, out Blocks) (*follower, error) {
	f, _, err := gr.begin(neighbors, noRoot, callForm, signature{}, checkBlocks(&out, len(gr.from), checkBlocks(&in, len(gr.to), nil)))
	if err == nil {
		f.plan.Exchange(gr.from, gr.to, &in, &out)
	}
	return f, err
}
