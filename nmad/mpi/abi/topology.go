//go:build cgo && linux

package main

import (
	"slices"

	"github.com/pm2-go/pm2/nmad/mpi"
)

// topology is which processes of a communicator are neighbours.
type topology struct {
	cart  *mpi.Cart
	graph *mpi.Graph
	all   [][]int // of MPI_Graph_create: the neighbours of each rank
	in    []int   // weights of the edges of MPI_Dist_graph_create; nil: there are none
	out   []int
}

// Kinds of topologies.
const (
	kindCart      = 211
	kindGraph     = 212
	kindDistGraph = 213
	unweighted    = 10
	emptyWeights  = 11
)

// like is the same topology of another communicator with the same processes.
func (tp *topology) like(c *mpi.Comm) topology {
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

func (a *cCall) topoTest(c *cComm) int {
	switch t := &c.topology; {
	case t.cart != nil:
		return kindCart
	case t.all != nil:
		return kindGraph
	case t.graph != nil:
		return kindDistGraph
	}
	return undefined
}

// booleans are ints at an argument of which each says whether.
func (a *cCall) booleans(i, n int) ([]bool, error) {
	in, err := a.ints(i, n)
	all := make([]bool, len(in))
	for j, x := range in {
		all[j] = x != 0
	}
	return all, err
}

func (a *cCall) cartCreate(c *intraComm, n int) (*cComm, error) {
	dims, _, err := a.places(c)
	if err != nil {
		return nil, err
	}
	periodic, err := a.booleans(3, n)
	if err != nil {
		return nil, err
	}
	g, err := mpi.NewCart(c.c, dims, periodic)
	if err != nil || g == nil {
		return nil, err
	}
	return c.on(g.Comm, topology{cart: g}), nil
}

// on is the communicator of a topology, made of c.
func (c *cComm) on(made *mpi.Comm, t topology) *cComm {
	d, _ := c.like(made, nil)
	d.topology = t
	return d
}

// places are the dimensions of a grid, a number of them and the list behind it, and how many places it has: no more
// than processes.
func (a *cCall) places(c *cComm) (dims []int, all int, err error) {
	if n := a.int(1); n < 0 {
		return nil, 0, wrong(errDims, "%d dimensions", n)
	}
	if dims, err = a.ints(2, a.int(1)); err != nil {
		return nil, 0, err
	}
	all = 1
	for _, d := range dims {
		if d < 1 {
			return nil, 0, wrong(errDims, "dimensions %v", dims)
		}
		all *= d
	}
	if all > c.c.Size() {
		err = wrong(errArg, "a grid of %v has %d places, more than %d processes", dims, all, c.c.Size())
	}
	return dims, all, err
}

// gridComm is a communicator of a grid.
type gridComm = mpi.Cart

// grid is an argument that is one.
func (a *cCall) grid(i int) (*gridComm, error) {
	c, err := a.comm(i)
	if err == nil && c.topology.cart == nil {
		err = wrong(errTopology, "it has no grid")
	}
	if err != nil {
		return nil, err
	}
	return c.topology.cart, nil
}

func (a *cCall) cartdimGet(g *gridComm) int { return len(g.Dims()) }

func (a *cCall) cartGet(g *gridComm, room int) (dims, around, at []int, err error) {
	dims, at = g.Dims(), g.Coords(g.Rank())
	if room < len(dims) {
		return nil, nil, nil, wrong(errArg, "there is room for %d dimensions of %d", room, len(dims))
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
		return nil, wrong(errRank, "rank %d of %d", rank, g.Size())
	}
	if room < len(at) {
		return nil, wrong(errArg, "there is room for %d dimensions of %d", room, len(at))
	}
	return at, nil
}

func (a *cCall) cartRank(g *gridComm) (int, error) {
	at, err := a.ints(1, len(g.Dims()))
	if err != nil {
		return 0, err
	}
	r, err := g.At(at...)
	if err == nil && r == procNull {
		err = wrong(errArg, "%v is not on the grid of %v", at, g.Dims())
	}
	return r, err
}

func (a *cCall) cartShift(g *gridComm, d, steps int) (from, to int, err error) {
	if d < 0 || d >= len(g.Dims()) {
		return 0, 0, wrong(errArg, "dimension %d of %d", d, len(g.Dims()))
	}
	return g.Shift(d, steps)
}

func (a *cCall) cartSub(c *cComm) (*cComm, error) {
	g, err := a.grid(0)
	if err != nil {
		return nil, err
	}
	keep, err := a.booleans(1, len(g.Dims()))
	if err != nil {
		return nil, err
	}
	s, err := g.Sub(keep...)
	if err != nil {
		return nil, err
	}
	return c.on(s.Comm, topology{cart: s}), nil
}

func (a *cCall) cartMap(c *cComm) (int, error) {
	_, all, err := a.places(c)
	if c.c.Rank() >= all {
		return undefined, err
	}
	return c.c.Rank(), err
}

func (a *cCall) dimsCreate(processes, n int) ([]int, error) {
	if n < 0 {
		return nil, wrong(errDims, "%d dimensions", n)
	}
	dims, err := a.ints(2, n)
	if err != nil || n == 0 {
		return nil, err
	}
	all, err := mpi.Dims(processes, dims...)
	if err != nil {
		err = wrong(errDims, "%v", err)
	}
	return all, err
}

func (a *cCall) graphCreate(c *intraComm) (*cComm, error) {
	all, err := a.edges(c)
	if err != nil || len(all) == 0 {
		return nil, err
	}
	g, err := mpi.NewGraph(c.c, all)
	if err != nil || g == nil {
		return nil, err
	}
	return c.on(g.Comm, topology{graph: g, all: all}), nil
}

// edges are the neighbours of each rank, from the arguments of MPI_Graph_create.
func (a *cCall) edges(c *cComm) (all [][]int, err error) {
	n := a.int(1)
	if n < 0 || n > c.c.Size() {
		return nil, wrong(errArg, "%d nodes in a communicator of %d", n, c.c.Size())
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
			return nil, wrong(errArg, "indexes %v", ends)
		}
		for _, r := range edges[first:end] {
			if r < 0 || r >= n {
				return nil, wrong(errArg, "an edge to node %d of %d", r, n)
			}
		}
		all, first = append(all, edges[first:end]), end
	}
	return all, nil
}

type (
	graphComm     = topology // of MPI_Graph_create
	distGraphComm = topology // of MPI_Dist_graph_create
)

// graph is an argument that is a communicator of one.
func (a *cCall) graph(i int) (*graphComm, error) {
	c, err := a.comm(i)
	if err == nil && c.topology.all == nil {
		err = wrong(errTopology, "it has no graph")
	}
	if err != nil {
		return nil, err
	}
	return &c.topology, nil
}

func (a *cCall) graphdimsGet(t *graphComm) (nodes, edges int) {
	return len(t.all), len(slices.Concat(t.all...))
}

func (a *cCall) graphGet(t *graphComm, nodes, room int) (ends, edges []int, err error) {
	n := 0
	for _, x := range t.all {
		n += len(x)
		ends = append(ends, n)
	}
	edges = slices.Concat(t.all...)
	if nodes < len(ends) || room < len(edges) {
		err = wrong(errArg, "there is room for %d nodes and %d edges, of %d and %d", nodes, room, len(ends), len(edges))
	}
	return ends, edges, err
}

func (a *cCall) graphMap(c *cComm) (int, error) {
	all, err := a.edges(c)
	if c.c.Rank() >= len(all) {
		return undefined, err
	}
	return c.c.Rank(), err
}

// neighboursOf are those of a rank.
func (tp *topology) neighboursOf(r int) ([]int, error) {
	if r < 0 || r >= len(tp.all) {
		return nil, wrong(errRank, "rank %d of %d", r, len(tp.all))
	}
	return tp.all[r], nil
}

func (a *cCall) graphNeighborsCount(t *graphComm, rank int) (int, error) {
	all, err := t.neighboursOf(rank)
	return len(all), err
}

func (a *cCall) graphNeighbors(t *graphComm, rank, room int) ([]int, error) {
	all, err := t.neighboursOf(rank)
	if err == nil && room < len(all) {
		err = wrong(errArg, "there is room for %d neighbours of %d", room, len(all))
	}
	return all, err
}
