package mpi

import (
	"fmt"
	"slices"
)

// Graph is a communicator whose processes are neighbours of some others: each receives from some, and sends to some.
type Graph struct {
	*Comm
	from, to []int
}

// NewDistGraphAdjacent returns a communicator like c in which this process receives from some ranks, and sends to some.
// All processes of c call it; if one sends to another one as often as it says, that one says that it receives from
// it.
func NewDistGraphAdjacent(c *Comm, from, to []int) (*Graph, error) {
	var wrong error
	for _, r := range slices.Concat(from, to) {
		wrong = c.neighbour(r, wrong)
	}
	made, err := c.dup(wrong)
	if err != nil {
		return nil, err
	}
	return &Graph{made, slices.Clone(from), slices.Clone(to)}, nil
}

// neighbour says why a rank cannot be one, unless something else is wrong.
func (c *Comm) neighbour(rank int, wrong error) error {
	if wrong == nil && (rank < 0 || rank >= c.Size()) {
		wrong = fmt.Errorf("%w: neighbour %d of %d", ErrRank, rank, c.Size())
	}
	return wrong
}

// NewDistGraph is NewDistGraphAdjacent of edges that any processes give, each some, from a rank to a rank.
func NewDistGraph(c *Comm, edges [][2]int) (*Graph, error) {
	g, _, err := c.distGraph(edges, nil)
	return g, err
}

// distGraph is NewDistGraph of edges with weights. The second results are those of the edges to and from this process;
// nil: no process gives any, not even an empty list.
func (c *Comm) distGraph(edges [][2]int, weights []int) (g *Graph, ofOwn [2][]int, err error) {
	own := [2]int64{int64(len(edges)), 0}
	if weights != nil {
		own[1] = 1
	}
	mine, each := make([][3]int64, len(edges)), make([][2]int64, c.Size())
	for i, e := range edges {
		mine[i] = [3]int64{int64(e[0]), int64(e[1])}
		if weights != nil {
			mine[i][2] = int64(weights[i])
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
	if err := Allgatherv(c, mine, all, lengths, nil); err != nil {
		return nil, ofOwn, err
	}
	var ranks [2][]int // from which this process receives, and to which it sends
	var wrong error    // at all ranks alike
	for _, e := range all {
		for side, end := range e[:2] {
			wrong = c.neighbour(int(end), wrong)
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

// NewGraph is NewDistGraphAdjacent where all processes know the neighbours of each rank; a process receives from those that
// it sends to. nil: this process is not one of the first that have neighbours listed.
func NewGraph(c *Comm, neighbours [][]int) (*Graph, error) {
	if err := c.usable(); err != nil {
		return nil, err
	}
	var wrong error
	places := len(neighbours)
	if places > c.Size() {
		places, wrong = 0, fmt.Errorf("%w: %d processes of %d", ErrCount, places, c.Size())
	}
	for r, all := range neighbours {
		for _, n := range all {
			if n < 0 || n >= len(neighbours) {
				wrong = fmt.Errorf("%w: a neighbour %d of rank %d, of %d", ErrRank, n, r, len(neighbours))
			}
		}
	}
	made, err := c.create(Group{c.group.job[:places]}, wrong)
	if made == nil {
		return nil, err
	}
	own := slices.Clone(neighbours[c.rank])
	return &Graph{made, own, own}, nil
}

// With is the same graph for another communicator, of the same processes in the same order, as Dup makes one.
func (gr *Graph) With(other *Comm) *Graph { return &Graph{other, gr.from, gr.to} }

// Neighbours returns the ranks from which this process receives, and those to which it sends.
func (gr *Graph) Neighbours() (from, to []int) { return slices.Clone(gr.from), slices.Clone(gr.to) }

// NeighborAlltoall sends a block of in to each rank that this process sends to, and receives one of out from each
// that it receives from, in their order.
func (gr *Graph) NeighborAlltoall(in, out Blocks) error {
	return finish(gr.neighborAlltoall(blocking, in, out))
}

// Immediate is Comm.Immediate; its NeighborAlltoall and NeighborAllgather work here.
func (gr *Graph) Immediate() Immediate { return Immediate{view{gr.Comm, gr, immediate}} }

// Persistent is Comm.Persistent; its NeighborAlltoall and NeighborAllgather work here.
func (gr *Graph) Persistent() Persistent { return Persistent{view{gr.Comm, gr, persistent}} }

func (gr *Graph) targets() int { return len(gr.to) }

// NeighborAllgather sends in to each rank that this process sends to, and receives as NeighborAlltoall does.
func (gr *Graph) NeighborAllgather(in Buffer, out Blocks) error {
	return gr.NeighborAlltoall(toEach(in, gr.targets()), out)
}

func (gr *Graph) neighborAlltoall(how form, in, out Blocks) (*follower, error) {
	f, _, err := gr.begin(neighbors, noRoot, how, signature{}, laidOut(&out, len(gr.from), laidOut(&in, len(gr.to), nil)))
	if err == nil {
		f.plan.Exchange(gr.from, gr.to, &in, &out)
	}
	return f, err
}
