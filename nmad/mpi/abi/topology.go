//go:build cgo && linux

package main

import (
	"slices"

	"github.com/pm2-go/pm2/nmad/mpi"
)

// topology says which processes of a communicator are neighbors. The zero value: there is no topology.
type topology struct {
	cart       *mpi.Cart  // of MPI_Cart_create; nil: none
	graph      *mpi.Graph // of both kinds of graphs; nil: none
	neighbors  [][]int    // of each rank, of MPI_Graph_create; nil: it is another topology
	inWeights  []int      // of the edges of MPI_Dist_graph_create; nil: they have none
	outWeights []int      // likewise
}

// onComm returns the topology for c, a communicator of the same processes.
func (tp *topology) onComm(c *mpi.Comm) topology {
	x := *tp
	if c == nil {
		return topology{}
	}
	if tp.cart != nil {
		x.cart = tp.cart.With(c)
	}
	if tp.graph != nil {
		x.graph = tp.graph.With(c)
	}
	return x
}

// kind returns MPI_CART, MPI_GRAPH, MPI_DIST_GRAPH, or MPI_UNDEFINED.
func (tp *topology) kind() int {
	switch {
	case tp.cart != nil:
		return mpiCart
	case tp.neighbors != nil:
		return mpiGraph
	case tp.graph != nil:
		return mpiDistGraph
	}
	return mpiUndefined
}

func (a *cCall) topoTest(c *cComm) int { return c.topology.kind() }

var topologyNames = map[int]string{mpiCart: "grid", mpiGraph: "graph", mpiDistGraph: "distributed graph"}

// topology returns the topology of the communicator at argument i. It refuses one of another kind.
func (a *cCall) topology(i, kind int) (*topology, error) {
	c, err := a.comm(i)
	if err != nil {
		return nil, err
	}
	if c.topology.kind() != kind {
		return nil, errorf(errTopology, "it has no %s", topologyNames[kind])
	}
	return &c.topology, nil
}

// bools returns the n C ints at argument i as booleans.
func (a *cCall) bools(i, n int) ([]bool, error) {
	in, err := a.ints(i, n)
	all := make([]bool, len(in))
	for j, x := range in {
		all[j] = x != 0
	}
	return all, err
}

func (a *cCall) cartCreate(c *intraComm, n int) (*cComm, error) {
	dims, _, err := a.gridDims(c)
	if err != nil {
		return nil, err
	}
	periodic, err := a.bools(3, n)
	if err != nil {
		return nil, err
	}
	g, err := mpi.NewCart(c.local, dims, periodic)
	if err != nil || g == nil {
		return nil, err
	}
	return c.withTopology(g.Comm, topology{cart: g}), nil
}

// withTopology returns the cComm of a communicator that was made of c and has the topology t.
func (c *cComm) withTopology(made *mpi.Comm, t topology) *cComm {
	d, _ := c.derive(made, nil)
	d.topology = t
	return d
}

// gridDims returns the dimensions of a grid, at argument 2, as many as argument 1 says, and the number of its
// places. It refuses more places than c has processes.
func (a *cCall) gridDims(c *cComm) (dims []int, all int, err error) {
	if n := a.int(1); n < 0 {
		return nil, 0, errorf(errDims, "%d dimensions", n)
	}
	if dims, err = a.ints(2, a.int(1)); err != nil {
		return nil, 0, err
	}
	all = 1
	for _, d := range dims {
		if d < 1 {
			return nil, 0, errorf(errDims, "dimensions %v", dims)
		}
		all *= d
	}
	if all > c.local.Size() {
		err = errorf(errArg, "a grid of %v has %d places, more than %d processes", dims, all, c.local.Size())
	}
	return dims, all, err
}

// gridComm is a communicator with a grid.
type gridComm = mpi.Cart

// grid returns the grid of the communicator at argument i. It refuses one without.
func (a *cCall) grid(i int) (*gridComm, error) {
	t, err := a.topology(i, mpiCart)
	if err != nil {
		return nil, err
	}
	return t.cart, nil
}

func (a *cCall) cartdimGet(g *gridComm) int { return len(g.Dims()) }

func (a *cCall) cartGet(g *gridComm, room int) (dims, around, at []int, err error) {
	dims, at = g.Dims(), g.Coords(g.Rank())
	if room < len(dims) {
		return nil, nil, nil, errorf(errArg, "there is room for %d dimensions of %d", room, len(dims))
	}
	around = make([]int, len(dims))
	for i, periodic := range g.Periodic() {
		if periodic {
			around[i] = 1
		}
	}
	return dims, around, at, nil
}

func (a *cCall) cartCoords(g *gridComm, rank, room int) ([]int, error) {
	at := g.Coords(rank)
	if at == nil {
		return nil, errorf(errRank, "rank %d of %d", rank, g.Size())
	}
	if room < len(at) {
		return nil, errorf(errArg, "there is room for %d dimensions of %d", room, len(at))
	}
	return at, nil
}

func (a *cCall) cartRank(g *gridComm) (int, error) {
	at, err := a.ints(1, len(g.Dims()))
	if err != nil {
		return 0, err
	}
	r, err := g.At(at...)
	if err == nil && r == mpiProcNull {
		err = errorf(errArg, "%v is not on the grid of %v", at, g.Dims())
	}
	return r, err
}

func (a *cCall) cartShift(g *gridComm, d, steps int) (from, to int, err error) {
	if d < 0 || d >= len(g.Dims()) {
		return 0, 0, errorf(errArg, "dimension %d of %d", d, len(g.Dims()))
	}
	return g.Shift(d, steps)
}

func (a *cCall) cartSub(c *cComm) (*cComm, error) {
	g, err := a.grid(0)
	if err != nil {
		return nil, err
	}
	keep, err := a.bools(1, len(g.Dims()))
	if err != nil {
		return nil, err
	}
	s, err := g.Sub(keep...)
	if err != nil {
		return nil, err
	}
	return c.withTopology(s.Comm, topology{cart: s}), nil
}

func (a *cCall) cartMap(c *cComm) (int, error) {
	_, all, err := a.gridDims(c)
	if c.local.Rank() >= all {
		return mpiUndefined, err
	}
	return c.local.Rank(), err
}

func (a *cCall) dimsCreate(processes, n int) ([]int, error) {
	if n < 0 {
		return nil, errorf(errDims, "%d dimensions", n)
	}
	dims, err := a.ints(2, n)
	if err != nil || n == 0 {
		return nil, err
	}
	all, err := mpi.Dims(processes, dims...)
	if err != nil {
		err = errorf(errDims, "%v", err)
	}
	return all, err
}

func (a *cCall) graphCreate(c *intraComm) (*cComm, error) {
	all, err := a.graphEdges(c)
	if err != nil || len(all) == 0 {
		return nil, err
	}
	g, err := mpi.NewGraph(c.local, all)
	if err != nil || g == nil {
		return nil, err
	}
	return c.withTopology(g.Comm, topology{graph: g, neighbors: all}), nil
}

// graphEdges returns the neighbors of each rank, from the arguments of MPI_Graph_create.
func (a *cCall) graphEdges(c *cComm) (all [][]int, err error) {
	n := a.int(1)
	if n < 0 || n > c.local.Size() {
		return nil, errorf(errArg, "%d nodes in a communicator of %d", n, c.local.Size())
	}
	ends, err := a.ints(2, n)
	if err != nil || n == 0 {
		return nil, err
	}
	edges, err := a.ints(3, ends[n-1])
	if err != nil {
		return nil, err
	}
	first := 0
	for _, end := range ends {
		if end < first || end > len(edges) {
			return nil, errorf(errArg, "indexes %v", ends)
		}
		for _, r := range edges[first:end] {
			if r < 0 || r >= n {
				return nil, errorf(errArg, "an edge to node %d of %d", r, n)
			}
		}
		all, first = append(all, edges[first:end]), end
	}
	return all, nil
}

type (
	graphComm     = topology // with a graph of MPI_Graph_create
	distGraphComm = topology // with a graph of MPI_Dist_graph_create
)

func (a *cCall) graphdimsGet(t *graphComm) (nodes, edges int) {
	return len(t.neighbors), len(slices.Concat(t.neighbors...))
}

func (a *cCall) graphGet(t *graphComm, nodes, room int) (ends, edges []int, err error) {
	n := 0
	for _, x := range t.neighbors {
		n += len(x)
		ends = append(ends, n)
	}
	edges = slices.Concat(t.neighbors...)
	if nodes < len(ends) || room < len(edges) {
		err = errorf(errArg, "there is room for %d nodes and %d edges, of %d and %d", nodes, room, len(ends), len(edges))
	}
	return ends, edges, err
}

func (a *cCall) graphMap(c *cComm) (int, error) {
	all, err := a.graphEdges(c)
	if c.local.Rank() >= len(all) {
		return mpiUndefined, err
	}
	return c.local.Rank(), err
}

// neighborsOfRank returns the neighbors of rank r in a graph of MPI_Graph_create.
func (tp *topology) neighborsOfRank(r int) ([]int, error) {
	if r < 0 || r >= len(tp.neighbors) {
		return nil, errorf(errRank, "rank %d of %d", r, len(tp.neighbors))
	}
	return tp.neighbors[r], nil
}

func (a *cCall) graphNeighborsCount(t *graphComm, rank int) (int, error) {
	all, err := t.neighborsOfRank(rank)
	return len(all), err
}

func (a *cCall) graphNeighbors(t *graphComm, rank, room int) ([]int, error) {
	all, err := t.neighborsOfRank(rank)
	if err == nil && room < len(all) {
		err = errorf(errArg, "there is room for %d neighbors of %d", room, len(all))
	}
	return all, err
}
