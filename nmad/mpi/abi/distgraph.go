//go:build cgo && linux

package main

import (
	"slices"

	"github.com/pm2-go/pm2/nmad/mpi"
)

// edgeWeights are the weights of edges; nil for MPI_UNWEIGHTED.
type edgeWeights = []int

// weights returns the weights of n edges at argument i.
func (a *cCall) weights(i, n int) (edgeWeights, error) {
	switch a.word[i] {
	case mpiUnweighted:
		return nil, nil
	case mpiWeightsEmpty:
		return []int{}, nil
	}
	all, err := a.ints(i, n)
	for _, w := range all {
		if w < 0 {
			return nil, errorf(errArg, "a weight of %d", w)
		}
	}
	return all, err
}

func (a *cCall) distGraphCreateAdjacent(c *intraComm, from []int, inWeights edgeWeights, to []int, outWeights edgeWeights) (*cComm, error) {
	for _, r := range slices.Concat(from, to) {
		if r != mpiProcNull && (r < 0 || r >= c.local.Size()) {
			return nil, errorf(errArg, "a neighbor %d of %d", r, c.local.Size())
		}
	}
	g, err := mpi.NewDistGraphAdjacent(c.local, from, to)
	if err != nil {
		return nil, err
	}
	return c.withTopology(g.Comm, topology{graph: g, inWeights: inWeights, outWeights: outWeights}), nil
}

func (a *cCall) distGraphCreate(c *intraComm, sources, degrees []int) (*cComm, error) {
	total := 0
	for _, d := range degrees {
		if d < 0 {
			return nil, errorf(errArg, "degrees %v", degrees)
		}
		total += d
	}
	targets, err := a.ints(4, total)
	if err != nil {
		return nil, err
	}
	weights, err := a.weights(5, total)
	if err != nil {
		return nil, err
	}
	if a.word[5] == mpiWeightsEmpty {
		weights = make([]int, total)
	}
	edges := make([][2]int, 0, total)
	for i, s := range sources {
		for range degrees[i] {
			to := targets[len(edges)]
			if s < 0 || s >= c.local.Size() || to < 0 || to >= c.local.Size() {
				return nil, errorf(errArg, "an edge from %d to %d, of %d processes", s, to, c.local.Size())
			}
			edges = append(edges, [2]int{s, to})
		}
	}
	g, own, err := calls.DistGraph(c.local, edges, weights)
	if err != nil {
		return nil, err
	}
	return c.withTopology(g.Comm, topology{graph: g, inWeights: own[0], outWeights: own[1]}), nil
}

func (a *cCall) distGraphNeighborsCount(t *distGraphComm) (in, out int, weighted bool) {
	from, to := t.graph.Neighbors()
	return len(from), len(to), t.inWeights != nil || t.outWeights != nil
}

func (a *cCall) distGraphNeighbors(t *distGraphComm) error {
	from, to := t.graph.Neighbors()
	for i, side := range []struct{ ranks, weights []int }{{from, t.inWeights}, {to, t.outWeights}} {
		n := min(a.int(1+3*i), len(side.ranks))
		if n < 0 {
			return errorf(errArg, "room for %d neighbors", n)
		}
		if err := a.setInts(2+3*i, side.ranks[:n]); err != nil {
			return err
		}
		if at := 3 + 3*i; side.weights != nil && a.word[at] != mpiUnweighted && a.word[at] != mpiWeightsEmpty && n > 0 {
			if err := a.setInts(at, side.weights[:min(n, len(side.weights))]); err != nil {
				return err
			}
		}
	}
	return nil
}

// neighborCollectives are the collective operations of a grid or graph.
type neighborCollectives interface {
	NeighborAlltoall(in, out mpi.Blocks) error
	requestViews
}

// neighborAlltoallWith exchanges blocks among the neighbors. in and out read the arguments for n blocks.
func (a *cCall) neighborAlltoallWith(f callForm, c *cComm, in, out func(n int) (mpi.Blocks, error)) error {
	var x neighborCollectives
	froms, tos := 0, 0
	switch t := &c.topology; {
	case t.cart != nil:
		x, froms = t.cart, 2*len(t.cart.Dims())
		tos = froms
	case t.graph != nil:
		from, to := t.graph.Neighbors()
		x, froms, tos = t.graph, len(from), len(to)
	default:
		return errorf(errTopology, "it has no neighbors")
	}
	from, err := in(tos)
	if err != nil {
		return err
	}
	to, err := out(froms)
	if err != nil {
		return err
	}
	if f.request == 0 {
		return x.NeighborAlltoall(from, to)
	}
	return a.setCollective(c, f, f.view(x).NeighborAlltoall(from, to))
}

// repeatedBlock reads the elements at arguments i to i+2 as the block for each of n neighbors.
func (a *cCall) repeatedBlock(i int) func(n int) (mpi.Blocks, error) {
	return func(n int) (mpi.Blocks, error) {
		b, err := a.elements(i)
		x := mpi.Blocks{Buffer: b, Counts: make([]int, n), Displacements: make([]int, n)}
		for j := range x.Counts {
			x.Counts[j] = b.Count
		}
		return x, err
	}
}

func (a *cCall) neighborAllgather(f callForm, c *cComm) error {
	return a.neighborAlltoallWith(f, c, a.repeatedBlock(0), a.equalBlocksAt(3))
}
func (a *cCall) neighborAllgatherv(f callForm, c *cComm) error {
	return a.neighborAlltoallWith(f, c, a.repeatedBlock(0), a.varyingBlocksAt(3))
}
func (a *cCall) neighborAlltoall(f callForm, c *cComm) error {
	return a.neighborAlltoallWith(f, c, a.equalBlocksAt(0), a.equalBlocksAt(3))
}
func (a *cCall) neighborAlltoallv(f callForm, c *cComm) error {
	return a.neighborAlltoallWith(f, c, a.varyingBlocksAt(0), a.varyingBlocksAt(4))
}
func (a *cCall) neighborAlltoallw(f callForm, c *cComm) error {
	return a.neighborAlltoallWith(f, c, a.typedBlocksAt(0, a.addresses), a.typedBlocksAt(4, a.addresses))
}
