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
func (t *topology) like(c *mpi.Comm) topology {
	x := *t
	if c == nil {
		return topology{}
	}
	if t.cart != nil {
		x.cart = t.cart.With(c)
	}
	if t.graph != nil {
		x.graph = t.graph.With(c)
	}
	return x
}

func (a *call) topoTest() error {
	c, err := a.comm(0)
	if err != nil {
		return err
	}
	switch t := &c.topology; {
	case t.cart != nil:
		return a.setInt(1, kindCart)
	case t.all != nil:
		return a.setInt(1, kindGraph)
	case t.graph != nil:
		return a.setInt(1, kindDistGraph)
	}
	return a.setInt(1, undefined)
}

// booleans are ints at an argument of which each says whether.
func (a *call) booleans(i, n int) ([]bool, error) {
	in, err := a.ints(i, n)
	all := make([]bool, len(in))
	for j, x := range in {
		all[j] = x != 0
	}
	return all, err
}

func (a *call) cartCreate() error {
	c, err := a.intra(0)
	if err != nil {
		return err
	}
	n := a.int(1)
	if n < 0 {
		return wrong(errDims, "%d dimensions", n)
	}
	dims, err := a.ints(2, n)
	if err != nil {
		return err
	}
	periodic, err := a.booleans(3, n)
	if err != nil {
		return err
	}
	all := 1
	for _, d := range dims {
		if d < 1 {
			return wrong(errDims, "dimensions %v", dims)
		}
		all *= d
	}
	if all > c.c.Size() {
		return wrong(errArg, "a grid of %v has %d places, more than %d processes", dims, all, c.c.Size())
	}
	g, err := c.c.Cart(dims, periodic)
	if err != nil || g == nil {
		if err != nil {
			return err
		}
		return a.setHandle(5, nullComm)
	}
	d, _ := c.like(g.Comm, nil)
	d.topology.cart = g
	return a.setComm(5, d)
}

// cart is an argument that is a communicator of a grid.
func (a *call) cart(i int) (*mpi.Cart, error) {
	c, err := a.comm(i)
	if err != nil {
		return nil, err
	}
	if c.topology.cart == nil {
		return nil, wrong(errTopology, "it has no grid")
	}
	return c.topology.cart, nil
}

func (a *call) cartdimGet() error {
	g, err := a.cart(0)
	if err != nil {
		return err
	}
	return a.setInt(1, len(g.Dims()))
}

func (a *call) cartGet() error {
	g, err := a.cart(0)
	if err != nil {
		return err
	}
	dims, at, periodic := g.Dims(), g.Coords(g.Rank()), g.Periodic()
	n := min(a.int(1), len(dims))
	if n < len(dims) {
		return wrong(errArg, "there is room for %d dimensions of %d", n, len(dims))
	}
	around := make([]int, n)
	for i := range around {
		if periodic[i] {
			around[i] = 1
		}
	}
	for i, v := range [][]int{dims, around, at} {
		if err := a.setInts(2+i, v); err != nil {
			return err
		}
	}
	return nil
}

func (a *call) cartCoords() error {
	g, err := a.cart(0)
	if err != nil {
		return err
	}
	at := g.Coords(a.int(1))
	if at == nil {
		return wrong(errRank, "rank %d of %d", a.int(1), g.Size())
	}
	if a.int(2) < len(at) {
		return wrong(errArg, "there is room for %d dimensions of %d", a.int(2), len(at))
	}
	return a.setInts(3, at)
}

func (a *call) cartRank() error {
	g, err := a.cart(0)
	if err != nil {
		return err
	}
	at, err := a.ints(1, len(g.Dims()))
	if err != nil {
		return err
	}
	r, err := g.At(at...)
	if err != nil {
		return err
	}
	if r == procNull {
		return wrong(errArg, "%v is not on the grid of %v", at, g.Dims())
	}
	return a.setInt(2, r)
}

func (a *call) cartShift() error {
	g, err := a.cart(0)
	if err != nil {
		return err
	}
	d := a.int(1)
	if d < 0 || d >= len(g.Dims()) {
		return wrong(errArg, "dimension %d of %d", d, len(g.Dims()))
	}
	from, to, err := g.Shift(d, a.int(2))
	if err != nil {
		return err
	}
	if err := a.setInt(3, from); err != nil {
		return err
	}
	return a.setInt(4, to)
}

func (a *call) cartSub() error {
	g, err := a.cart(0)
	if err != nil {
		return err
	}
	c, err := a.comm(0)
	if err != nil {
		return err
	}
	keep, err := a.booleans(1, len(g.Dims()))
	if err != nil {
		return err
	}
	s, err := g.Sub(keep...)
	if err != nil {
		return err
	}
	d, _ := c.like(s.Comm, nil)
	d.topology.cart = s
	return a.setComm(2, d)
}

func (a *call) cartMap() error {
	c, err := a.comm(0)
	if err != nil {
		return err
	}
	dims, err := a.ints(2, a.int(1))
	if err != nil {
		return err
	}
	all := 1
	for _, d := range dims {
		if d < 1 {
			return wrong(errDims, "dimensions %v", dims)
		}
		all *= d
	}
	if all > c.c.Size() {
		return wrong(errArg, "a grid of %v has %d places, more than %d processes", dims, all, c.c.Size())
	}
	r := c.c.Rank()
	if r >= all {
		r = undefined
	}
	return a.setInt(4, r)
}

func (a *call) dimsCreate() error {
	n := a.int(1)
	if n < 0 {
		return wrong(errDims, "%d dimensions", n)
	}
	dims, err := a.ints(2, n)
	if err != nil || n == 0 {
		return err
	}
	all, err := mpi.Dims(a.int(0), dims...)
	if err != nil {
		return wrong(errDims, "%v", err)
	}
	return a.setInts(2, all)
}

func (a *call) graphCreate() error {
	c, err := a.intra(0)
	if err != nil {
		return err
	}
	all, err := a.edges(c)
	if err != nil {
		return err
	}
	if len(all) == 0 {
		return a.setHandle(5, nullComm)
	}
	g, err := c.c.Graph(all)
	if err != nil || g == nil {
		if err != nil {
			return err
		}
		return a.setHandle(5, nullComm)
	}
	d, _ := c.like(g.Comm, nil)
	d.topology = topology{graph: g, all: all}
	return a.setComm(5, d)
}

// edges are the neighbours of each rank, from the arguments of MPI_Graph_create.
func (a *call) edges(c *comm) (all [][]int, err error) {
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

// graph is an argument that is a communicator of MPI_Graph_create.
func (a *call) graph(i int) (*topology, error) {
	c, err := a.comm(i)
	if err != nil {
		return nil, err
	}
	if c.topology.all == nil {
		return nil, wrong(errTopology, "it has no graph")
	}
	return &c.topology, nil
}

func (a *call) graphdimsGet() error {
	t, err := a.graph(0)
	if err != nil {
		return err
	}
	if err := a.setInt(1, len(t.all)); err != nil {
		return err
	}
	return a.setInt(2, len(slices.Concat(t.all...)))
}

func (a *call) graphGet() error {
	t, err := a.graph(0)
	if err != nil {
		return err
	}
	var ends []int
	n := 0
	for _, x := range t.all {
		n += len(x)
		ends = append(ends, n)
	}
	edges := slices.Concat(t.all...)
	if a.int(1) < len(ends) || a.int(2) < len(edges) {
		return wrong(errArg, "there is room for %d nodes and %d edges, of %d and %d", a.int(1), a.int(2), len(ends), len(edges))
	}
	if err := a.setInts(3, ends); err != nil {
		return err
	}
	return a.setInts(4, edges)
}

func (a *call) graphMap() error {
	c, err := a.comm(0)
	if err != nil {
		return err
	}
	all, err := a.edges(c)
	if err != nil {
		return err
	}
	r := c.c.Rank()
	if r >= len(all) {
		r = undefined
	}
	return a.setInt(4, r)
}

// neighboursOf are those of a rank.
func (a *call) neighboursOf() ([]int, error) {
	t, err := a.graph(0)
	if err != nil {
		return nil, err
	}
	r := a.int(1)
	if r < 0 || r >= len(t.all) {
		return nil, wrong(errRank, "rank %d of %d", r, len(t.all))
	}
	return t.all[r], nil
}

func (a *call) graphNeighborsCount() error {
	all, err := a.neighboursOf()
	if err != nil {
		return err
	}
	return a.setInt(2, len(all))
}

func (a *call) graphNeighbors() error {
	all, err := a.neighboursOf()
	if err != nil {
		return err
	}
	if a.int(2) < len(all) {
		return wrong(errArg, "there is room for %d neighbours of %d", a.int(2), len(all))
	}
	return a.setInts(3, all)
}
