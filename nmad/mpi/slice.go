package mpi

import (
	"errors"
	"fmt"
	"reflect"

	"github.com/pm2-go/pm2/nmad/mpi/datatype"
)

// On returns the buffer that is the elements of a slice. As in all functions that take slices, an element may be a
// number, a bool, or an array or struct of these; any other one is ErrType. The methods of Comm take Buffers, which may
// have any datatype.
func On[T any](s []T) (Buffer, error) {
	b, err := on(s)
	if err != nil {
		err = fmt.Errorf("mpi: %w", err)
	}
	return b, err
}

func on[T any](s []T) (b Buffer, err error) {
	t := common[T]()
	if t == nil {
		if t, err = datatype.OfGo(reflect.TypeFor[T]()); err != nil {
			return b, err
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

// Count is how many elements of a Go type came in a message; Undefined: the last one is not whole, or there are no
// messages of that type.
func Count[T any](s Status) int {
	b, err := on[T](nil)
	if err != nil {
		return Undefined
	}
	return s.Count(b.Type)
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

// Isend is Immediate.Send.
func Isend[T any](c *Comm, s []T, to, tag int) *Request {
	b, err := On(s)
	if err != nil {
		return (&Request{}).idle(err)
	}
	return c.isend(b, to, tag, standard)
}

// Irecv is Immediate.Recv.
func Irecv[T any](c *Comm, s []T, from, tag int) *Request {
	b, err := On(s)
	if err != nil {
		return (&Request{}).idle(err)
	}
	return c.irecv(b, from, tag)
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

// A function that cannot have its slices in messages has the operation end everywhere, as its method does with an
// argument that is wrong.

// Bcast is Comm.Bcast.
func Bcast[T any](c *Comm, s []T, root int) error {
	b, err := on(s)
	return finish(c.bcast(now, b, root, err))
}

// both returns the buffers of an operation. If in is nil, that of in is the zero Buffer: in place.
func both[T any](in, out []T) (a, b Buffer, err error) { return eachOf(in, out, true) }

// eachOf is the buffers of an operation; in nil: in place where it may be, else no elements.
func eachOf[T any](in, out []T, mayBeInPlace bool) (a, b Buffer, err error) {
	if b, err = on(out); err == nil && (in != nil || !mayBeInPlace) {
		a = Buffer{Base: datatype.AddressOf(in), Count: len(in), Type: b.Type}
	}
	return a, b, err
}

// equal returns b as equal blocks, one for each rank; laidOut divides it.
func equal(b Buffer) Blocks { return Blocks{Buffer: b, Each: divided} }

// Reduce is Comm.Reduce. At root a nil in is in place: see Comm.Reduce. An empty slice that is not nil is an operand of no
// elements.
func Reduce[T any](c *Comm, op *Op, in, out []T, root int) error {
	a, b, err := both(in, out)
	return finish(c.reduce(now, op, a, b, root, err))
}

// Allreduce is Comm.Allreduce. A nil in is in place: see Comm.Allreduce. An empty slice that is not nil is an operand
// of no elements.
func Allreduce[T any](c *Comm, op *Op, in, out []T) error {
	a, b, err := both(in, out)
	return finish(c.allreduce(now, op, a, b, err))
}

// Scan is Comm.Scan. A nil in is in place: see Comm.Scan. An empty slice that is not nil is an operand of no elements.
func Scan[T any](c *Comm, op *Op, in, out []T) error {
	a, b, err := both(in, out)
	return finish(c.scan(now, op, a, b, err))
}

// Exscan is Comm.Exscan. A nil in is in place: see Comm.Scan. An empty slice that is not nil is an operand of no elements.
func Exscan[T any](c *Comm, op *Op, in, out []T) error {
	a, b, err := both(in, out)
	return finish(c.exscan(now, op, a, b, err))
}

// Gather is Comm.Gather with equal blocks: out has, at root, len(out)/Size elements for each rank; what does not
// divide is ErrCount, in all operations with equal blocks. A nil in is in place at root, and no elements elsewhere.
func Gather[T any](c *Comm, in, out []T, root int) error {
	a, b, err := eachOf(in, out, c.Rank() == root)
	return finish(c.gather(now, a, equal(b), root, err))
}

// Scatter is Comm.Scatter with equal blocks: in has, at root, len(in)/Size elements for each rank. A nil out is in place
// at root, and no elements elsewhere.
func Scatter[T any](c *Comm, in, out []T, root int) error {
	a, b, err := eachOf(out, in, c.Rank() == root)
	return finish(c.scatter(now, equal(b), a, root, err))
}

// Allgather is Comm.Allgather with equal blocks. A nil in is in place: see Comm.Allgather. An empty slice that is not
// nil is an operand of no elements.
func Allgather[T any](c *Comm, in, out []T) error {
	a, b, err := both(in, out)
	return finish(c.allgather(now, a, equal(b), err))
}

// Alltoall is Comm.Alltoall with equal blocks. A nil in is in place: see Comm.Alltoall. An empty slice that is not nil
// is an operand of no elements.
func Alltoall[T any](c *Comm, in, out []T) error {
	a, b, err := both(in, out)
	return finish(c.alltoall(now, equal(a), equal(b), err))
}

// Ibcast is Immediate.Bcast.
func Ibcast[T any](c *Comm, s []T, root int) *Request {
	b, err := on(s)
	return inBackground(c.bcast(later, b, root, err))
}

// Ireduce is Immediate.Reduce. A nil in is what it is in Reduce; so it is in the functions below.
func Ireduce[T any](c *Comm, op *Op, in, out []T, root int) *Request {
	a, b, err := both(in, out)
	return inBackground(c.reduce(later, op, a, b, root, err))
}

// Iallreduce is Immediate.Allreduce.
func Iallreduce[T any](c *Comm, op *Op, in, out []T) *Request {
	a, b, err := both(in, out)
	return inBackground(c.allreduce(later, op, a, b, err))
}

// Iscan is Immediate.Scan.
func Iscan[T any](c *Comm, op *Op, in, out []T) *Request {
	a, b, err := both(in, out)
	return inBackground(c.scan(later, op, a, b, err))
}

// Iexscan is Immediate.Exscan.
func Iexscan[T any](c *Comm, op *Op, in, out []T) *Request {
	a, b, err := both(in, out)
	return inBackground(c.exscan(later, op, a, b, err))
}

// Iallgather is Immediate.Allgather with equal blocks.
func Iallgather[T any](c *Comm, in, out []T) *Request {
	a, b, err := both(in, out)
	return inBackground(c.allgather(later, a, equal(b), err))
}

// Ialltoall is Immediate.Alltoall with equal blocks.
func Ialltoall[T any](c *Comm, in, out []T) *Request {
	a, b, err := both(in, out)
	return inBackground(c.alltoall(later, equal(a), equal(b), err))
}

// Gatherv is Comm.Gather whose block for rank i has, at root, counts[i] elements and begins at element places[i] of
// out. If places is nil, each block begins where the one before ends. A nil in is in place at root, and no elements elsewhere.
func Gatherv[T any](c *Comm, in, out []T, counts, places []int, root int) error {
	a, b, err := eachOf(in, out, c.Rank() == root)
	return finish(c.gather(now, a, Blocks{Buffer: b, Counts: counts, Places: places}, root, err))
}

// Scatterv is Comm.Scatter whose block for rank i has, at root, counts[i] elements and begins at element places[i] of
// in. If places is nil, each block begins where the one before ends. A nil out is in place at root, and no elements elsewhere.
func Scatterv[T any](c *Comm, in []T, counts, places []int, out []T, root int) error {
	a, b, err := eachOf(out, in, c.Rank() == root)
	return finish(c.scatter(now, Blocks{Buffer: b, Counts: counts, Places: places}, a, root, err))
}

// Allgatherv is Comm.Allgather whose block for rank i has counts[i] elements and begins at element places[i] of out. If
// places is nil, each block begins where the one before ends.
func Allgatherv[T any](c *Comm, in, out []T, counts, places []int) error {
	a, b, err := both(in, out)
	return finish(c.allgather(now, a, Blocks{Buffer: b, Counts: counts, Places: places}, err))
}

// Alltoallv is Comm.Alltoall with blocks of so many elements for, and from, each rank, one behind the other. It is in
// place if in and sent are nil; a nil in with sent is no elements.
func Alltoallv[T any](c *Comm, in []T, sent []int, out []T, received []int) error {
	a, b, err := eachOf(in, out, sent == nil)
	return finish(c.alltoall(now, Blocks{Buffer: a, Counts: sent}, Blocks{Buffer: b, Counts: received}, err))
}

// ReduceScatter is Comm.ReduceScatter whose block for rank i has counts[i] elements; if counts is nil, all have the same.
func ReduceScatter[T any](c *Comm, op *Op, in []T, counts []int, out []T) error {
	a, b, err := both(in, out)
	blocks := equal(a)
	if counts != nil {
		blocks = Blocks{Buffer: a, Counts: counts}
	}
	return finish(c.reduceScatter(now, op, blocks, b, err))
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
