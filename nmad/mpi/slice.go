package mpi

import (
	"errors"
	"fmt"
	"reflect"

	"github.com/pm2-go/pm2/nmad/mpi/datatype"
)

// On returns the buffer that has the elements of a slice. As in all functions for slices, an element may be a number, a
// bool, or an array or struct of these; any other one is ErrType. The methods of Comm take Buffers, which may have any
// datatype.
func On[T any](s []T) (Buffer, error) {
	b, err := on(s)
	if err != nil {
		err = fmt.Errorf("mpi: %w", err)
	}
	return b, err
}

// on is On without the name of the package in its error.
func on[T any](s []T) (b Buffer, err error) {
	t := common[T]()
	if t == nil {
		if t, err = datatype.OfGo(reflect.TypeFor[T]()); err != nil {
			return b, err
		}
	}
	return Buffer{Base: datatype.AddressOf(s), Count: len(s), Type: t}, nil
}

// common returns the datatype of the element types that most messages have, without a look-up; nil: T is none of these.
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

// Count returns how many elements of a Go type a message has; Undefined: the last one is not whole, or no message can
// have that type.
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

// Recv is Comm.Recv. It also returns how many whole elements it has received into s.
func Recv[T any](c *Comm, s []T, from, tag int) (n int, status Status, err error) {
	b, err := On(s)
	if err != nil {
		return 0, Status{}, err
	}
	status, err = c.Recv(b, from, tag)
	return elementsReceived(status, b), status, err
}

// elementsReceived returns how many whole elements of the message with a status are in b.
func elementsReceived(s Status, b Buffer) int { return min(max(s.Count(b.Type), 0), b.Count) }

// Ssend is Comm.Ssend.
func Ssend[T any](c *Comm, s []T, to, tag int) error {
	b, err := On(s)
	if err != nil {
		return err
	}
	return c.Ssend(b, to, tag)
}

// Isend is Immediate.Send.
func Isend[T any](c *Comm, s []T, to, tag int) *Request { return isend(c, s, to, tag, sendStandard) }

// Issend is Immediate.Ssend.
func Issend[T any](c *Comm, s []T, to, tag int) *Request {
	return isend(c, s, to, tag, sendSynchronous)
}

// isend is Isend or Issend, as m says.
func isend[T any](c *Comm, s []T, to, tag int, m sendMode) *Request {
	b, err := On(s)
	if err != nil {
		return (&Request{}).endAtOnce(err)
	}
	return c.isend(b, to, tag, m)
}

// Irecv is Immediate.Recv.
func Irecv[T any](c *Comm, s []T, from, tag int) *Request {
	b, err := On(s)
	if err != nil {
		return (&Request{}).endAtOnce(err)
	}
	return c.irecv(b, from, tag)
}

// Sendrecv is Comm.Sendrecv. It also returns how many whole elements it has received into in.
func Sendrecv[T, U any](c *Comm, out []T, to, sendTag int, in []U, from, receiveTag int) (n int, status Status, err error) {
	a, err1 := On(out)
	b, err2 := On(in)
	if err := errors.Join(err1, err2); err != nil {
		return 0, Status{}, err
	}
	status, err = c.Sendrecv(a, to, sendTag, b, from, receiveTag)
	return elementsReceived(status, b), status, err
}

// Collective is what the functions for slices call a collective operation on: a communicator (*Comm, *Intercomm, *Cart,
// *Graph) or a view of one. R is the result: an error of a communicator, whose operations block, and a *Request of
// Immediate and Persistent.
//
//	err := mpi.Bcast(c, s, root)             blocks
//	r := mpi.Bcast(c.Immediate(), s, root)   begins the operation: s belongs to it until r is done
//	r := mpi.Bcast(c.Persistent(), s, root)  makes a request that r.Start() begins, again and again
//
// If the elements of a slice cannot be in messages, the operation ends with an error at all ranks, as with a wrong
// argument of its method.
type Collective[R any] interface {
	// operations returns what makes the plans of operations, and the form in which they are called.
	operations() (planner, form)
	// result returns what the call of an operation returns whose plan f follows, or which has failed with err.
	result(f *follower, err error) R
}

func (c *Comm) operations() (planner, form)              { return c, blocking }
func (c *Comm) result(f *follower, err error) error      { return finish(f, err) }
func (x *Intercomm) operations() (planner, form)         { return x, blocking }
func (x *Intercomm) result(f *follower, err error) error { return finish(f, err) }
func (v view) operations() (planner, form)               { return v.collectives, v.form }

// Bcast is Comm.Bcast.
func Bcast[T, R any](c Collective[R], s []T, root int) R {
	p, callForm := c.operations()
	b, err := on(s)
	return c.result(p.bcast(callForm, b, root, err))
}

// both returns the buffers of an operation. If in is nil, the first is the zero Buffer: in place.
func both[T any](in, out []T) (a, b Buffer, err error) { return buffers(in, out, true) }

// buffers returns the buffers of an operation. If in is nil, the first is the zero Buffer where the operation may be in
// place, and has no elements elsewhere.
func buffers[T any](in, out []T, mayBeInPlace bool) (a, b Buffer, err error) {
	if b, err = on(out); err == nil && (in != nil || !mayBeInPlace) {
		a = Buffer{Base: datatype.AddressOf(in), Count: len(in), Type: b.Type}
	}
	return a, b, err
}

// equal returns b as equal blocks, one for each rank; checkBlocks divides it.
func equal(b Buffer) Blocks { return Blocks{Buffer: b, Each: divided} }

// Reduce is Comm.Reduce. A nil in is in place at root: see Comm.Reduce. An empty slice that is not nil is an operand of
// no elements.
func Reduce[T, R any](c Collective[R], op *Op, in, out []T, root int) R {
	p, callForm := c.operations()
	a, b, err := both(in, out)
	return c.result(p.reduce(callForm, op, a, b, root, err))
}

// Allreduce is Comm.Allreduce. A nil in is in place: see Comm.Allreduce. An empty slice that is not nil is an operand
// of no elements.
func Allreduce[T, R any](c Collective[R], op *Op, in, out []T) R {
	p, callForm := c.operations()
	a, b, err := both(in, out)
	return c.result(p.allreduce(callForm, op, a, b, err))
}

// Scan is Comm.Scan. A nil in is in place: see Comm.Scan. An empty slice that is not nil is an operand of no elements.
func Scan[T, R any](c Collective[R], op *Op, in, out []T) R {
	p, callForm := c.operations()
	a, b, err := both(in, out)
	return c.result(p.scan(callForm, op, a, b, err))
}

// Exscan is Comm.Exscan. A nil in is in place: see Comm.Scan. An empty slice that is not nil is an operand of no
// elements.
func Exscan[T, R any](c Collective[R], op *Op, in, out []T) R {
	p, callForm := c.operations()
	a, b, err := both(in, out)
	return c.result(p.exscan(callForm, op, a, b, err))
}

// Gather is Comm.Gather with equal blocks: out has, at root, len(out)/Size elements for each rank. As in all operations
// with equal blocks, a length that is not a multiple of Size is ErrCount. A nil in is in place at root, and no elements
// elsewhere.
func Gather[T, R any](c Collective[R], in, out []T, root int) R {
	p, callForm := c.operations()
	a, b, err := buffers(in, out, p.isRoot(root))
	return c.result(p.gather(callForm, a, equal(b), root, err))
}

// Gatherv is Comm.Gather whose block for rank i has, at root, counts[i] elements and begins at element displs[i] of
// out. If displs is nil, each block begins where the one before ends. A nil in is in place at root, and no elements
// elsewhere.
func Gatherv[T, R any](c Collective[R], in, out []T, counts, displs []int, root int) R {
	p, callForm := c.operations()
	a, b, err := buffers(in, out, p.isRoot(root))
	return c.result(p.gather(callForm, a, Blocks{Buffer: b, Counts: counts, Displacements: displs}, root, err))
}

// Scatter is Comm.Scatter with equal blocks: in has, at root, len(in)/Size elements for each rank. A nil out is in
// place at root, and no elements elsewhere.
func Scatter[T, R any](c Collective[R], in, out []T, root int) R {
	p, callForm := c.operations()
	a, b, err := buffers(out, in, p.isRoot(root))
	return c.result(p.scatter(callForm, equal(b), a, root, err))
}

// Scatterv is Comm.Scatter whose block for rank i has, at root, counts[i] elements and begins at element displs[i] of
// in. If displs is nil, each block begins where the one before ends. A nil out is in place at root, and no elements
// elsewhere.
func Scatterv[T, R any](c Collective[R], in []T, counts, displs []int, out []T, root int) R {
	p, callForm := c.operations()
	a, b, err := buffers(out, in, p.isRoot(root))
	return c.result(p.scatter(callForm, Blocks{Buffer: b, Counts: counts, Displacements: displs}, a, root, err))
}

// Allgather is Comm.Allgather with equal blocks. A nil in is in place: see Comm.Allgather. An empty slice that is not
// nil is an operand of no elements.
func Allgather[T, R any](c Collective[R], in, out []T) R {
	p, callForm := c.operations()
	a, b, err := both(in, out)
	return c.result(p.allgather(callForm, a, equal(b), err))
}

// Allgatherv is Comm.Allgather whose block for rank i has counts[i] elements and begins at element displs[i] of out. If
// displs is nil, each block begins where the one before ends.
func Allgatherv[T, R any](c Collective[R], in, out []T, counts, displs []int) R {
	p, callForm := c.operations()
	a, b, err := both(in, out)
	return c.result(p.allgather(callForm, a, Blocks{Buffer: b, Counts: counts, Displacements: displs}, err))
}

// Alltoall is Comm.Alltoall with equal blocks. A nil in is in place: see Comm.Alltoall. An empty slice that is not nil
// is an operand of no elements.
func Alltoall[T, R any](c Collective[R], in, out []T) R {
	p, callForm := c.operations()
	a, b, err := both(in, out)
	return c.result(p.alltoall(callForm, equal(a), equal(b), err))
}

// Alltoallv is Comm.Alltoall whose block for rank i has sendCounts[i] elements of in, and whose block from rank i has
// receiveCounts[i] elements of out; the blocks lie one behind the other. If in and sendCounts are nil the operation is
// in place; if only in is nil it has no elements.
func Alltoallv[T, R any](c Collective[R], in []T, sendCounts []int, out []T, receiveCounts []int) R {
	p, callForm := c.operations()
	a, b, err := buffers(in, out, sendCounts == nil)
	return c.result(p.alltoall(callForm, Blocks{Buffer: a, Counts: sendCounts}, Blocks{Buffer: b, Counts: receiveCounts}, err))
}

// ReduceScatter is Comm.ReduceScatter whose block for rank i has counts[i] elements; if counts is nil, all blocks are
// equal.
func ReduceScatter[T, R any](c Collective[R], op *Op, in []T, counts []int, out []T) R {
	p, callForm := c.operations()
	a, b, err := both(in, out)
	blocks := equal(a)
	if counts != nil {
		blocks = Blocks{Buffer: a, Counts: counts}
	}
	return c.result(p.reduceScatter(callForm, op, blocks, b, err))
}
