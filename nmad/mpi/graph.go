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

// DistGraphAdjacent returns a communicator like c in which this process receives from some ranks, and sends to some.
// All processes of c call it; if one sends to another one as often as it says, that one says that it receives from
// it.
func (c *Comm) DistGraphAdjacent(from, to []int) (*Graph, error) {
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

// DistGraph is DistGraphAdjacent of edges that any processes give, each some, from a rank to a rank.
func (c *Comm) DistGraph(edges [][2]int) (*Graph, error) {
	counts, mine := make([]int64, c.Size()), make([][2]int64, len(edges))
	for i, e := range edges {
		mine[i] = [2]int64{int64(e[0]), int64(e[1])}
	}
	if err := Allgather(c, []int64{int64(len(edges))}, counts); err != nil {
		return nil, err
	}
	lengths, sum := make([]int, c.Size()), 0
	for r, n := range counts {
		lengths[r] = int(n)
		sum += int(n)
	}
	all := make([][2]int64, sum)
	if err := Allgatherv(c, mine, all, lengths, nil); err != nil {
		return nil, err
	}
	var from, to []int
	var wrong error // at all ranks alike
	for _, e := range all {
		wrong = c.neighbour(int(e[1]), c.neighbour(int(e[0]), wrong))
		if int(e[1]) == c.rank {
			from = append(from, int(e[0]))
		}
		if int(e[0]) == c.rank {
			to = append(to, int(e[1]))
		}
	}
	if wrong != nil {
		return nil, fmt.Errorf("mpi: graph of %v: %w", c, wrong)
	}
	return c.DistGraphAdjacent(from, to)
}

// Graph is DistGraphAdjacent where all processes know the neighbours of each rank; a process receives from those that
// it sends to. nil: this process is not one of the first that have neighbours listed.
func (c *Comm) Graph(neighbours [][]int) (*Graph, error) {
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
	return finish(gr.exchange(now, in, out))
}

// IneighborAlltoall begins what NeighborAlltoall does, and goes on while the program computes. The buffers belong to
// it until it is done.
func (gr *Graph) IneighborAlltoall(in, out Blocks) *Request {
	return inBackground(gr.exchange(later, in, out))
}

// NeighborAlltoallInit makes NeighborAlltoall a request that Request.Start starts, again and again.
func (gr *Graph) NeighborAlltoallInit(in, out Blocks) *Request {
	return persistent(gr.exchange(lasting, in, out))
}

// NeighborAllgather sends in to each rank that this process sends to, and receives as NeighborAlltoall does.
func (gr *Graph) NeighborAllgather(in Buffer, out Blocks) error {
	return gr.NeighborAlltoall(gr.same(in), out)
}

// IneighborAllgather begins what NeighborAllgather does.
func (gr *Graph) IneighborAllgather(in Buffer, out Blocks) *Request {
	return gr.IneighborAlltoall(gr.same(in), out)
}

func (gr *Graph) same(in Buffer) Blocks {
	return Blocks{Buffer: in, Counts: slices.Repeat([]int{in.Count}, len(gr.to)), Places: make([]int, len(gr.to))}
}

func (gr *Graph) exchange(m manner, in, out Blocks) (*follower, error) {
	f, _, err := gr.begin(neighbors, noRoot, m, likewise{}, laidOut(&out, len(gr.from), laidOut(&in, len(gr.to), nil)))
	if err == nil {
		f.plan.Exchange(gr.from, gr.to, &in, &out)
	}
	return f, err
}
