//go:build cgo && linux

package main

import (
	"github.com/pm2-go/pm2/nmad/mpi"
)

// weights are those of n edges at an argument; nil: they have none.
func (a *cCall) weights(i, n int) ([]int, error) {
	switch a.word[i] {
	case unweighted:
		return nil, nil
	case emptyWeights:
		return []int{}, nil
	}
	all, err := a.ints(i, n)
	for _, w := range all {
		if w < 0 {
			return nil, wrong(errArg, "a weight of %d", w)
		}
	}
	return all, err
}

func (a *cCall) distGraphCreateAdjacent(c *intraComm) (_ *cComm, err error) {
	var lists, weights [2][]int
	for i := range lists {
		n := a.int(1 + 3*i)
		if lists[i], err = a.ints(2+3*i, n); err != nil {
			return nil, err
		}
		if weights[i], err = a.weights(3+3*i, n); err != nil {
			return nil, err
		}
	}
	for _, l := range lists {
		for _, r := range l {
			if r != procNull && (r < 0 || r >= c.c.Size()) {
				return nil, wrong(errArg, "a neighbour %d of %d", r, c.c.Size())
			}
		}
	}
	g, err := mpi.NewDistGraphAdjacent(c.c, lists[0], lists[1])
	if err != nil {
		return nil, err
	}
	return c.on(g.Comm, topology{graph: g, in: weights[0], out: weights[1]}), nil
}

func (a *cCall) distGraphCreate(c *intraComm, n int) (*cComm, error) {
	sources, err := a.ints(2, n)
	if err != nil {
		return nil, err
	}
	degrees, err := a.ints(3, n)
	if err != nil {
		return nil, err
	}
	total := 0
	for _, d := range degrees {
		if d < 0 {
			return nil, wrong(errArg, "degrees %v", degrees)
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
	if a.word[5] == emptyWeights {
		weights = make([]int, total)
	}
	edges := make([][2]int, 0, total)
	for i, s := range sources {
		for range degrees[i] {
			to := targets[len(edges)]
			if s < 0 || s >= c.c.Size() || to < 0 || to >= c.c.Size() {
				return nil, wrong(errArg, "an edge from %d to %d, of %d processes", s, to, c.c.Size())
			}
			edges = append(edges, [2]int{s, to})
		}
	}
	g, own, err := calls.DistGraph(c.c, edges, weights)
	if err != nil {
		return nil, err
	}
	return c.on(g.Comm, topology{graph: g, in: own[0], out: own[1]}), nil
}

// distGraph is an argument that is a communicator of MPI_Dist_graph_create.
func (a *cCall) distGraph(i int) (*distGraphComm, error) {
	c, err := a.comm(i)
	if err == nil && (c.topology.graph == nil || c.topology.all != nil) {
		err = wrong(errTopology, "it has no distributed graph")
	}
	if err != nil {
		return nil, err
	}
	return &c.topology, nil
}

func (a *cCall) distGraphNeighborsCount(t *distGraphComm) (in, out int, weighted bool) {
	from, to := t.graph.Neighbors()
	return len(from), len(to), t.in != nil || t.out != nil
}

func (a *cCall) distGraphNeighbors(t *distGraphComm) error {
	from, to := t.graph.Neighbors()
	for i, side := range []struct{ ranks, weights []int }{{from, t.in}, {to, t.out}} {
		n := min(a.int(1+3*i), len(side.ranks))
		if n < 0 {
			return wrong(errArg, "room for %d neighbours", n)
		}
		if err := a.setInts(2+3*i, side.ranks[:n]); err != nil {
			return err
		}
		if at := 3 + 3*i; side.weights != nil && a.word[at] != unweighted && a.word[at] != emptyWeights && n > 0 {
			if err := a.setInts(at, side.weights[:min(n, len(side.weights))]); err != nil {
				return err
			}
		}
	}
	return nil
}

// neighbourly is what exchanges among neighbours.
type neighbourly interface {
	NeighborAlltoall(in, out mpi.Blocks) error
	viewed
}

// neighboursAs exchanges blocks among the neighbours.
func (a *cCall) neighboursAs(f callForm, c *cComm, in, out func(n int) (mpi.Blocks, error)) error {
	var x neighbourly
	froms, tos := 0, 0
	switch t := &c.topology; {
	case t.cart != nil:
		x, froms = t.cart, 2*len(t.cart.Dims())
		tos = froms
	case t.graph != nil:
		from, to := t.graph.Neighbors()
		x, froms, tos = t.graph, len(from), len(to)
	default:
		return wrong(errTopology, "it has no neighbours")
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
	return a.begun(c, f, f.of(x).NeighborAlltoall(from, to))
}

// same is the elements at arguments from one on, as a block for each of n neighbours.
func (a *cCall) same(i int) func(n int) (mpi.Blocks, error) {
	return func(n int) (mpi.Blocks, error) {
		b, err := a.elements(i)
		x := mpi.Blocks{Buffer: b, Counts: make([]int, n), Places: make([]int, n)}
		for j := range x.Counts {
			x.Counts[j] = b.Count
		}
		return x, err
	}
}

func (a *cCall) neighborAllgather(f callForm, c *cComm) error {
	return a.neighboursAs(f, c, a.same(0), a.equals(3))
}
func (a *cCall) neighborAllgatherv(f callForm, c *cComm) error {
	return a.neighboursAs(f, c, a.same(0), a.varies(3))
}
func (a *cCall) neighborAlltoall(f callForm, c *cComm) error {
	return a.neighboursAs(f, c, a.equals(0), a.equals(3))
}
func (a *cCall) neighborAlltoallv(f callForm, c *cComm) error {
	return a.neighboursAs(f, c, a.varies(0), a.varies(4))
}
func (a *cCall) neighborAlltoallw(f callForm, c *cComm) error {
	return a.neighboursAs(f, c, a.typed(0, a.addresses), a.typed(4, a.addresses))
}
