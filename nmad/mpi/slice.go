package mpi

import (
	"errors"
	"fmt"
	"reflect"

	"github.com/pm2-go/pm2/nmad/mpi/datatype"
)

// The functions here take slices of numbers, bools, and arrays and structs of these; any other element is ErrType. The methods of Comm take Buffers, which may have any datatype.

// On returns the buffer that is the elements of a slice.
func On[T any](s []T) (Buffer, error) {
	t := common[T]()
	if t == nil {
		var err error
		if t, err = datatype.OfGo(reflect.TypeFor[T]()); err != nil {
			return Buffer{}, fmt.Errorf("mpi: %w", err)
		}
	}
	return Buffer{Base: datatype.AddressOf(s), Count: len(s), Type: t}, nil
}

// common is the datatype of the elements that most messages have, without a look-up; nil: it is not one of these.
func common[T any]() *datatype.Type {
	switch any((*T)(nil)).(type) {
	case *byte:
		return datatype.Of(datatype.Uint8)
	case *float64:
		return datatype.Of(datatype.Float64)
	case *float32:
		return datatype.Of(datatype.Float32)
	case *int32:
		return datatype.Of(datatype.Int32)
	case *int64:
		return datatype.Of(datatype.Int64)
	}
	return nil
}

// Send is Comm.Send.
func Send[T any](c *Comm, s []T, to, tag int) error {
	b, err := On(s)
	if err != nil {
		return err
	}
	return c.Send(b, to, tag)
}

// Recv is Comm.Recv; it returns how many whole elements came, too.
func Recv[T any](c *Comm, s []T, from, tag int) (n int, status Status, err error) {
	b, err := On(s)
	if err != nil {
		return 0, Status{}, err
	}
	status, err = c.Recv(b, from, tag)
	return min(max(status.Count(b.Type), 0), len(s)), status, err
}

// Isend is Comm.Isend.
func Isend[T any](c *Comm, s []T, to, tag int) *Request {
	b, err := On(s)
	if err != nil {
		return (&Request{}).idle(err)
	}
	return c.Isend(b, to, tag)
}

// Irecv is Comm.Irecv.
func Irecv[T any](c *Comm, s []T, from, tag int) *Request {
	b, err := On(s)
	if err != nil {
		return (&Request{}).idle(err)
	}
	return c.Irecv(b, from, tag)
}

// Bcast is Comm.Bcast.
func Bcast[T any](c *Comm, s []T, root int) error {
	b, err := On(s)
	if err != nil {
		return err
	}
	return c.Bcast(b, root)
}

// both is the buffers of an operation; in nil: in place.
func both[T any](in, out []T) (a, b Buffer, err error) {
	if b, err = On(out); err == nil && in != nil {
		a = Buffer{Base: datatype.AddressOf(in), Count: len(in), Type: b.Type}
	}
	return a, b, err
}

// Reduce is Comm.Reduce.
func Reduce[T any](c *Comm, op *Op, in, out []T, root int) error {
	a, b, err := both(in, out)
	if err != nil {
		return err
	}
	return c.Reduce(op, a, b, root)
}

// Allreduce is Comm.Allreduce.
func Allreduce[T any](c *Comm, op *Op, in, out []T) error {
	a, b, err := both(in, out)
	if err != nil {
		return err
	}
	return c.Allreduce(op, a, b)
}

// Scan is Comm.Scan.
func Scan[T any](c *Comm, op *Op, in, out []T) error {
	a, b, err := both(in, out)
	if err != nil {
		return err
	}
	return c.Scan(op, a, b)
}

// Exscan is Comm.Exscan.
func Exscan[T any](c *Comm, op *Op, in, out []T) error {
	a, b, err := both(in, out)
	if err != nil {
		return err
	}
	return c.Exscan(op, a, b)
}

// Gather is Comm.Gather with equal blocks: out has, at root, len(out)/Size elements for each rank.
func Gather[T any](c *Comm, in, out []T, root int) error {
	a, b, err := both(in, out)
	if err != nil {
		return err
	}
	return c.Gather(a, c.equal(b), root)
}

// Scatter is Comm.Scatter with equal blocks: in has, at root, len(in)/Size elements for each rank.
func Scatter[T any](c *Comm, in, out []T, root int) error {
	a, b, err := both(out, in)
	if err != nil {
		return err
	}
	return c.Scatter(c.equal(b), a, root)
}

// Allgather is Comm.Allgather with equal blocks.
func Allgather[T any](c *Comm, in, out []T) error {
	a, b, err := both(in, out)
	if err != nil {
		return err
	}
	return c.Allgather(a, c.equal(b))
}

// Alltoall is Comm.Alltoall with equal blocks.
func Alltoall[T any](c *Comm, in, out []T) error {
	a, b, err := both(in, out)
	if err != nil {
		return err
	}
	if in == nil {
		return c.Alltoall(Blocks{}, c.equal(b))
	}
	return c.Alltoall(c.equal(a), c.equal(b))
}

func (c *Comm) equal(b Buffer) Blocks {
	if c == nil || c.Size() == 0 {
		return Blocks{Buffer: b}
	}
	return Blocks{Buffer: b, Each: b.Count / c.Size()}
}

// Ibcast is Comm.Ibcast.
func Ibcast[T any](c *Comm, s []T, root int) *Request {
	b, err := On(s)
	if err != nil {
		return (&Request{}).idle(err)
	}
	return c.Ibcast(b, root)
}

// Ireduce is Comm.Ireduce.
func Ireduce[T any](c *Comm, op *Op, in, out []T, root int) *Request {
	a, b, err := both(in, out)
	if err != nil {
		return (&Request{}).idle(err)
	}
	return c.Ireduce(op, a, b, root)
}

// Iallreduce is Comm.Iallreduce.
func Iallreduce[T any](c *Comm, op *Op, in, out []T) *Request {
	a, b, err := both(in, out)
	if err != nil {
		return (&Request{}).idle(err)
	}
	return c.Iallreduce(op, a, b)
}

// Iscan is Comm.Iscan.
func Iscan[T any](c *Comm, op *Op, in, out []T) *Request {
	a, b, err := both(in, out)
	if err != nil {
		return (&Request{}).idle(err)
	}
	return c.Iscan(op, a, b)
}

// Iexscan is Comm.Iexscan.
func Iexscan[T any](c *Comm, op *Op, in, out []T) *Request {
	a, b, err := both(in, out)
	if err != nil {
		return (&Request{}).idle(err)
	}
	return c.Iexscan(op, a, b)
}

// Iallgather is Comm.Iallgather with equal blocks.
func Iallgather[T any](c *Comm, in, out []T) *Request {
	a, b, err := both(in, out)
	if err != nil {
		return (&Request{}).idle(err)
	}
	return c.Iallgather(a, c.equal(b))
}

// Ialltoall is Comm.Ialltoall with equal blocks.
func Ialltoall[T any](c *Comm, in, out []T) *Request {
	a, b, err := both(in, out)
	if err != nil {
		return (&Request{}).idle(err)
	}
	if in == nil {
		return c.Ialltoall(Blocks{}, c.equal(b))
	}
	return c.Ialltoall(c.equal(a), c.equal(b))
}

// Ssend is Comm.Ssend.
func Ssend[T any](c *Comm, s []T, to, tag int) error {
	b, err := On(s)
	if err != nil {
		return err
	}
	return c.Ssend(b, to, tag)
}

// Sendrecv is Comm.Sendrecv.
func Sendrecv[T, U any](c *Comm, out []T, to, sendTag int, in []U, from, receiveTag int) (Status, error) {
	a, err1 := On(out)
	b, err2 := On(in)
	if err := errors.Join(err1, err2); err != nil {
		return Status{}, err
	}
	return c.Sendrecv(a, to, sendTag, b, from, receiveTag)
}

// Gatherv is Comm.Gather with blocks of counts elements, at root; places nil: each begins where the one before ends.
func Gatherv[T any](c *Comm, in, out []T, counts, places []int, root int) error {
	a, b, err := both(in, out)
	if err != nil {
		return err
	}
	return c.Gather(a, Blocks{Buffer: b, Counts: counts, Places: places}, root)
}

// Scatterv is Comm.Scatter with blocks of counts elements, at root; places nil: each begins where the one before ends.
func Scatterv[T any](c *Comm, in []T, counts, places []int, out []T, root int) error {
	a, b, err := both(out, in)
	if err != nil {
		return err
	}
	return c.Scatter(Blocks{Buffer: b, Counts: counts, Places: places}, a, root)
}

// Allgatherv is Comm.Allgather with blocks of counts elements; places nil: each begins where the one before ends.
func Allgatherv[T any](c *Comm, in, out []T, counts, places []int) error {
	a, b, err := both(in, out)
	if err != nil {
		return err
	}
	return c.Allgather(a, Blocks{Buffer: b, Counts: counts, Places: places})
}

// Alltoallv is Comm.Alltoall with blocks of so many elements for, and from, each rank, one behind the other.
func Alltoallv[T any](c *Comm, in []T, sent []int, out []T, received []int) error {
	a, b, err := both(in, out)
	if err != nil {
		return err
	}
	to := Blocks{Buffer: b, Counts: received}
	if in == nil {
		return c.Alltoall(Blocks{}, to)
	}
	return c.Alltoall(Blocks{Buffer: a, Counts: sent}, to)
}

// ReduceScatter is Comm.ReduceScatter with blocks of counts elements; counts nil: with equal ones.
func ReduceScatter[T any](c *Comm, op *Op, in []T, counts []int, out []T) error {
	a, b, err := both(in, out)
	if err != nil {
		return err
	}
	blocks := c.equal(a)
	if counts != nil {
		blocks = Blocks{Buffer: a, Counts: counts}
	}
	return c.ReduceScatter(op, blocks, b)
}

// ReduceLocal computes inout[i] = in[i] op inout[i].
func ReduceLocal[T any](op *Op, in, inout []T) error {
	a, b, err := both(in, inout)
	if err != nil {
		return err
	}
	if len(in) != len(inout) || op == nil {
		return fmt.Errorf("mpi: reduce local: %w: %d elements with %d", ErrCount, len(in), len(inout))
	}
	if err := op.Check(b.Type); err != nil {
		return fmt.Errorf("mpi: reduce local: %w", err)
	}
	op.Apply(a, b)
	return nil
}
