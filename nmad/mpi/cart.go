package mpi

import (
	"fmt"
	"slices"
)

// Cart is a communicator whose processes have places on a grid: rank 0 is at the origin, and the last coordinate
// changes fastest.
type Cart struct {
	*Comm
	dims     []int  // how many processes each dimension has
	periodic []bool // the end of the dimension is next to its beginning
}

// NewCart returns a communicator of the first processes of c on a grid with dims[d] processes in dimension d; the end
// of a periodic dimension is next to its beginning. It returns nil at processes that have no place on the grid. All
// processes of c call it with the same arguments. The ranks stay in their order.
func NewCart(c *Comm, dims []int, periodic []bool) (*Cart, error) {
	if err := c.usable(); err != nil {
		return nil, err
	}
	var wrong error
	places := 1
	for _, n := range dims {
		if n < 1 || places > c.Size()/n {
			places, wrong = 1, fmt.Errorf("%w: a grid of %v in a communicator of %d", ErrCount, dims, c.Size())
			break
		}
		places *= n
	}
	if len(periodic) != len(dims) {
		wrong = fmt.Errorf("%w: %d dimensions, of which %d are said to be periodic or not", ErrCount, len(dims), len(periodic))
	}
	made, err := c.create(Group{c.group.job[:places]}, wrong)
	if made == nil {
		return nil, err
	}
	return &Cart{made, slices.Clone(dims), slices.Clone(periodic)}, nil
}

// Dims returns how many processes the grid has in each dimension.
func (ca *Cart) Dims() []int { return slices.Clone(ca.dims) }

// Periodic says of each dimension whether it is periodic.
func (ca *Cart) Periodic() []bool { return slices.Clone(ca.periodic) }

// With returns the same grid on another communicator of the same processes in the same order, such as a Dup.
func (ca *Cart) With(other *Comm) *Cart { return &Cart{other, ca.dims, ca.periodic} }

// Coords returns the coordinates of a rank; nil: there is no such rank.
func (ca *Cart) Coords(rank int) []int {
	if rank < 0 || rank >= ca.Size() {
		return nil
	}
	at := make([]int, len(ca.dims))
	for d := len(ca.dims) - 1; d >= 0; d-- {
		at[d], rank = rank%ca.dims[d], rank/ca.dims[d]
	}
	return at
}

// At returns the rank with these coordinates; ProcNull: they are beyond the end of a dimension that is not periodic.
// ErrCount: there are more or fewer coordinates than dimensions.
func (ca *Cart) At(at ...int) (int, error) {
	if len(at) != len(ca.dims) {
		return ProcNull, fmt.Errorf("mpi: cart: %w: %d coordinates in %d dimensions", ErrCount, len(at), len(ca.dims))
	}
	rank := 0
	for d, x := range at {
		n := ca.dims[d]
		if ca.periodic[d] {
			x = (x%n + n) % n
		}
		if x < 0 || x >= n {
			return ProcNull, nil
		}
		rank = rank*n + x
	}
	return rank, nil
}

// Shift returns the ranks from which this one receives, and to which it sends, if all ranks send to the rank that is
// steps places further along a dimension; ProcNull: there is none. steps may be negative.
func (ca *Cart) Shift(dimension, steps int) (from, to int, err error) {
	if dimension < 0 || dimension >= len(ca.dims) {
		return ProcNull, ProcNull, fmt.Errorf("mpi: shift: %w: dimension %d of %d", ErrCount, dimension, len(ca.dims))
	}
	at := ca.Coords(ca.rank)
	at[dimension] -= steps
	from, err = ca.At(at...)
	at[dimension] += 2 * steps
	if err == nil {
		to, err = ca.At(at...)
	}
	return from, to, err
}

// Sub cuts the grid into grids of fewer dimensions, those with keep[d], and returns the one that has this process. All
// processes of the grid call it.
func (ca *Cart) Sub(keep ...bool) (*Cart, error) {
	var wrong error
	if len(keep) != len(ca.dims) {
		wrong = fmt.Errorf("%w: %d dimensions are kept or not, of %d", ErrCount, len(keep), len(ca.dims))
	}
	color, sub := 0, &Cart{}
	for d, x := range ca.Coords(ca.rank) {
		if wrong == nil && keep[d] {
			sub.dims, sub.periodic = append(sub.dims, ca.dims[d]), append(sub.periodic, ca.periodic[d])
		} else {
			color = color*ca.dims[d] + x
		}
	}
	made, err := ca.split(color, ca.rank, wrong)
	if err != nil {
		return nil, err
	}
	sub.Comm = made
	return sub, nil
}

// neighbors returns the ranks before and behind this one in each dimension, or ProcNull.
func (ca *Cart) neighbors() (all []int) {
	for d := range ca.dims {
		from, to, _ := ca.Shift(d, 1)
		all = append(all, from, to)
	}
	return all
}

// NeighborAlltoall exchanges blocks with all neighbors: block 2d of in goes to the neighbor before this process in
// dimension d, from which block 2d of out comes; blocks 2d+1 are exchanged with the neighbor behind. Without a
// neighbor the block of out stays as it is.
func (ca *Cart) NeighborAlltoall(in, out Blocks) error {
	return finish(ca.neighborAlltoall(blocking, in, out))
}

// Immediate is Comm.Immediate; its NeighborAlltoall and NeighborAllgather work here.
func (ca *Cart) Immediate() Immediate { return Immediate{view{ca.Comm, ca, immediate}} }

// Persistent is Comm.Persistent; its NeighborAlltoall and NeighborAllgather work here.
func (ca *Cart) Persistent() Persistent { return Persistent{view{ca.Comm, ca, persistent}} }

func (ca *Cart) targets() int { return 2 * len(ca.dims) }

func (ca *Cart) neighborAlltoall(callForm form, in, out Blocks) (*follower, error) {
	all := ca.neighbors()
	f, _, err := ca.begin(neighbors, noRoot, callForm, signature{}, checkBlocks(&out, len(all), checkBlocks(&in, len(all), nil)))
	if err == nil {
		f.plan.Neighbors(all, ProcNull, &in, &out)
	}
	return f, err
}

// NeighborAllgather sends in to each neighbor, and receives as NeighborAlltoall does.
func (ca *Cart) NeighborAllgather(in Buffer, out Blocks) error {
	return ca.NeighborAlltoall(toEach(in, ca.targets()), out)
}

// toEach returns the elements of a buffer as the block for each of n neighbors.
func toEach(in Buffer, n int) Blocks {
	return Blocks{Buffer: in, Counts: slices.Repeat([]int{in.Count}, n), Displacements: make([]int, n)}
}
