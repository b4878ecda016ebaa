package mpi

// view has the methods that Immediate and Persistent share: the operations of a communicator, each of which returns a
// request.
type view struct {
	messages    *Comm   // carries the messages
	collectives planner // of the communicator, grid, graph or intercommunicator
	form        form
}

// planner makes the plans of collective operations, in a form. wrong says why this rank cannot take part; nil: it can.
// A method returns the follower of the plan, or the error with which the operation has failed, or both if it is to fail
// in its turn.
type planner interface {
	barrier(callForm form) (*follower, error)
	bcast(callForm form, b Buffer, root int, wrong error) (*follower, error)
	reduce(callForm form, op *Op, in, out Buffer, root int, wrong error) (*follower, error)
	allreduce(callForm form, op *Op, in, out Buffer, wrong error) (*follower, error)
	scan(callForm form, op *Op, in, out Buffer, wrong error) (*follower, error)
	exscan(callForm form, op *Op, in, out Buffer, wrong error) (*follower, error)
	reduceScatter(callForm form, op *Op, in Blocks, out Buffer, wrong error) (*follower, error)
	gather(callForm form, in Buffer, out Blocks, root int, wrong error) (*follower, error)
	scatter(callForm form, in Blocks, out Buffer, root int, wrong error) (*follower, error)
	allgather(callForm form, in Buffer, out Blocks, wrong error) (*follower, error)
	alltoall(callForm form, in, out Blocks, wrong error) (*follower, error)
	neighborAlltoall(callForm form, in, out Blocks) (*follower, error)
	targets() int         // to how many neighbors this process sends
	isRoot(root int) bool // whether root, as a call gives it, is this process
}

// Immediate starts operations of a communicator, which go on while the program computes. Its methods never wait. Each
// returns a Request; a wrong argument is the error of its Test and Wait. Until the request is done the buffers belong
// to it. Probe and Mprobe return at once what has come. An Immediate is a small value, made for each call:
// c.Immediate().Send(b, to, tag).
type Immediate struct{ view }

// Persistent makes requests of operations of a communicator. Request.Start starts one, again and again, with what its
// buffers hold then. A collective operation has its place in the order of the others where its request is made, however
// often, and whenever, it is started. A wrong argument is the error of Test and Wait; one of a collective operation is
// told to the other ranks when it is started. A request need not be freed.
type Persistent struct{ view }

// Immediate returns the view whose operations do not block.
func (c *Comm) Immediate() Immediate { return Immediate{view{c, c, immediate}} }

// Persistent returns the view that makes requests of operations, to be started again and again.
func (c *Comm) Persistent() Persistent { return Persistent{view{c, c, persistent}} }

// Probe reports whether a message is there that a receive would take, and what it is.
func (im Immediate) Probe(from, tag int) (Status, bool, error) { return im.messages.iprobe(from, tag) }

// Mprobe is Probe that takes the message which it finds. nil: there is none.
func (im Immediate) Mprobe(from, tag int) (*Message, error) { return im.messages.improbe(from, tag) }

// Send is Comm.Send.
func (v view) Send(b Buffer, to, tag int) *Request { return v.send(b, to, tag, sendStandard) }

// Ssend is Comm.Ssend.
func (v view) Ssend(b Buffer, to, tag int) *Request { return v.send(b, to, tag, sendSynchronous) }

// Bsend is Comm.Bsend.
func (v view) Bsend(b Buffer, to, tag int) *Request { return v.send(b, to, tag, sendBuffered) }

func (v view) send(b Buffer, to, tag int, m sendMode) *Request {
	c := v.messages
	if v.form == immediate {
		return c.isend(b, to, tag, m)
	}
	return c.persistentMessage(to, func(r *Request) error { return c.postSend(r, b, to, tag, m) }, func() error { return c.checkPeer(m.String(), to, tag) })
}

// Recv is Comm.Recv.
func (v view) Recv(b Buffer, from, tag int) *Request {
	c := v.messages
	if v.form == immediate {
		return c.irecv(b, from, tag)
	}
	return c.persistentMessage(from, func(r *Request) error { return c.postReceive(r, b, from, tag) }, func() error {
		_, err := c.match("recv", from, tag)
		return err
	})
}

// result returns the request of a collective operation whose plan f follows, or which has failed with err.
func (v view) result(f *follower, err error) *Request {
	if v.form == immediate {
		return startOperation(f, err)
	}
	return operationRequest(f, err)
}

// Barrier is Comm.Barrier.
func (v view) Barrier() *Request { return v.result(v.collectives.barrier(v.form)) }

// Bcast is Comm.Bcast.
func (v view) Bcast(b Buffer, root int) *Request {
	return v.result(v.collectives.bcast(v.form, b, root, nil))
}

// Reduce is Comm.Reduce.
func (v view) Reduce(op *Op, in, out Buffer, root int) *Request {
	return v.result(v.collectives.reduce(v.form, op, in, out, root, nil))
}

// Allreduce is Comm.Allreduce.
func (v view) Allreduce(op *Op, in, out Buffer) *Request {
	return v.result(v.collectives.allreduce(v.form, op, in, out, nil))
}

// Scan is Comm.Scan.
func (v view) Scan(op *Op, in, out Buffer) *Request {
	return v.result(v.collectives.scan(v.form, op, in, out, nil))
}

// Exscan is Comm.Exscan.
func (v view) Exscan(op *Op, in, out Buffer) *Request {
	return v.result(v.collectives.exscan(v.form, op, in, out, nil))
}

// ReduceScatter is Comm.ReduceScatter.
func (v view) ReduceScatter(op *Op, in Blocks, out Buffer) *Request {
	return v.result(v.collectives.reduceScatter(v.form, op, in, out, nil))
}

// Gather is Comm.Gather.
func (v view) Gather(in Buffer, out Blocks, root int) *Request {
	return v.result(v.collectives.gather(v.form, in, out, root, nil))
}

// Scatter is Comm.Scatter.
func (v view) Scatter(in Blocks, out Buffer, root int) *Request {
	return v.result(v.collectives.scatter(v.form, in, out, root, nil))
}

// Allgather is Comm.Allgather.
func (v view) Allgather(in Buffer, out Blocks) *Request {
	return v.result(v.collectives.allgather(v.form, in, out, nil))
}

// Alltoall is Comm.Alltoall.
func (v view) Alltoall(in, out Blocks) *Request {
	return v.result(v.collectives.alltoall(v.form, in, out, nil))
}

// NeighborAlltoall is that of Cart and Graph. Of another communicator it is ErrComm.
func (v view) NeighborAlltoall(in, out Blocks) *Request {
	return v.result(v.collectives.neighborAlltoall(v.form, in, out))
}

// NeighborAllgather is that of Cart and Graph. Of another communicator it is ErrComm.
func (v view) NeighborAllgather(in Buffer, out Blocks) *Request {
	return v.NeighborAlltoall(toEach(in, v.collectives.targets()), out)
}
