package mpi

// view has the methods that Immediate and Persistent share: the operations of a communicator, each of which returns a
// request.
type view struct {
	messages    *Comm // that has the messages
	collectives planner
	manner      manner
}

// planner makes the plans of collective operations. wrong says why this rank cannot take part.
type planner interface {
	barrier(m manner) (*follower, error)
	bcast(m manner, b Buffer, root int, wrong error) (*follower, error)
	reduce(m manner, op *Op, in, out Buffer, root int, wrong error) (*follower, error)
	allreduce(m manner, op *Op, in, out Buffer, wrong error) (*follower, error)
	scan(m manner, op *Op, in, out Buffer, wrong error) (*follower, error)
	exscan(m manner, op *Op, in, out Buffer, wrong error) (*follower, error)
	reduceScatter(m manner, op *Op, in Blocks, out Buffer, wrong error) (*follower, error)
	gather(m manner, in Buffer, out Blocks, root int, wrong error) (*follower, error)
	scatter(m manner, in Blocks, out Buffer, root int, wrong error) (*follower, error)
	allgather(m manner, in Buffer, out Blocks, wrong error) (*follower, error)
	alltoall(m manner, in, out Blocks, wrong error) (*follower, error)
	neighborAlltoall(m manner, in, out Blocks) (*follower, error)
	targets() int // to how many neighbours this process sends
}

// Immediate starts operations of a communicator, which go on while the program computes. Its methods never wait. Each
// returns a Request; a wrong argument is the error of its Test and Wait. Until the request is done the buffers belong to
// it. Probe and Mprobe return at once what has come. An Immediate is a small value: c.Immediate().Send(b, to, tag).
type Immediate struct{ view }

// Persistent makes requests of operations of a communicator. Request.Start starts one, again and again, with what its
// buffers hold then. A collective operation has its place in the order of the others where its request is made, however
// often, and whenever, it is started. A wrong argument is the error of Test and Wait; one of a collective operation is
// told to the other ranks when it is started. A request need not be freed.
type Persistent struct{ view }

// Immediate begins operations.
func (c *Comm) Immediate() Immediate { return Immediate{view{c, c, later}} }

// Persistent makes requests of operations that are started again and again.
func (c *Comm) Persistent() Persistent { return Persistent{view{c, c, lasting}} }

// Probe says whether a message is there that a receive would take, and what it is.
func (im Immediate) Probe(from, tag int) (Status, bool, error) { return im.messages.iprobe(from, tag) }

// Mprobe is Probe that takes the message it finds. nil: none is there.
func (im Immediate) Mprobe(from, tag int) (*Message, error) { return im.messages.improbe(from, tag) }

// Send is Comm.Send.
func (v view) Send(b Buffer, to, tag int) *Request { return v.send(b, to, tag, standard) }

// Ssend is Comm.Ssend.
func (v view) Ssend(b Buffer, to, tag int) *Request { return v.send(b, to, tag, synchronous) }

// Bsend is Comm.Bsend.
func (v view) Bsend(b Buffer, to, tag int) *Request { return v.send(b, to, tag, buffered) }

func (v view) send(b Buffer, to, tag int, m sendMode) *Request {
	c := v.messages
	if v.manner == later {
		return c.isend(b, to, tag, m)
	}
	return c.persistentMessage(to, func(r *Request) error { return c.postSend(r, b, to, tag, m) }, func() error { return c.addressed(m.String(), to, tag) })
}

// Recv is Comm.Recv.
func (v view) Recv(b Buffer, from, tag int) *Request {
	c := v.messages
	if v.manner == later {
		return c.irecv(b, from, tag)
	}
	return c.persistentMessage(from, func(r *Request) error { return c.postReceive(r, b, from, tag) }, func() error {
		_, err := c.match("recv", from, tag)
		return err
	})
}

// request returns the request of a collective operation that f follows.
func (v view) request(f *follower, err error) *Request {
	if v.manner == later {
		return inBackground(f, err)
	}
	return persistent(f, err)
}

// Barrier is Comm.Barrier.
func (v view) Barrier() *Request { return v.request(v.collectives.barrier(v.manner)) }

// Bcast is Comm.Bcast.
func (v view) Bcast(b Buffer, root int) *Request {
	return v.request(v.collectives.bcast(v.manner, b, root, nil))
}

// Reduce is Comm.Reduce.
func (v view) Reduce(op *Op, in, out Buffer, root int) *Request {
	return v.request(v.collectives.reduce(v.manner, op, in, out, root, nil))
}

// Allreduce is Comm.Allreduce.
func (v view) Allreduce(op *Op, in, out Buffer) *Request {
	return v.request(v.collectives.allreduce(v.manner, op, in, out, nil))
}

// Scan is Comm.Scan.
func (v view) Scan(op *Op, in, out Buffer) *Request {
	return v.request(v.collectives.scan(v.manner, op, in, out, nil))
}

// Exscan is Comm.Exscan.
func (v view) Exscan(op *Op, in, out Buffer) *Request {
	return v.request(v.collectives.exscan(v.manner, op, in, out, nil))
}

// ReduceScatter is Comm.ReduceScatter.
func (v view) ReduceScatter(op *Op, in Blocks, out Buffer) *Request {
	return v.request(v.collectives.reduceScatter(v.manner, op, in, out, nil))
}

// Gather is Comm.Gather.
func (v view) Gather(in Buffer, out Blocks, root int) *Request {
	return v.request(v.collectives.gather(v.manner, in, out, root, nil))
}

// Scatter is Comm.Scatter.
func (v view) Scatter(in Blocks, out Buffer, root int) *Request {
	return v.request(v.collectives.scatter(v.manner, in, out, root, nil))
}

// Allgather is Comm.Allgather.
func (v view) Allgather(in Buffer, out Blocks) *Request {
	return v.request(v.collectives.allgather(v.manner, in, out, nil))
}

// Alltoall is Comm.Alltoall.
func (v view) Alltoall(in, out Blocks) *Request {
	return v.request(v.collectives.alltoall(v.manner, in, out, nil))
}

// NeighborAlltoall is that of Cart and Graph. Of another communicator it is ErrComm.
func (v view) NeighborAlltoall(in, out Blocks) *Request {
	return v.request(v.collectives.neighborAlltoall(v.manner, in, out))
}

// NeighborAllgather is that of Cart and Graph. Of another communicator it is ErrComm.
func (v view) NeighborAllgather(in Buffer, out Blocks) *Request {
	return v.NeighborAlltoall(toEach(in, v.collectives.targets()), out)
}
