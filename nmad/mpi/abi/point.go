//go:build cgo && linux

package main

import (
	"context"

	"github.com/pm2-go/pm2/nmad/mpi"
)

// peers returns the number of ranks that messages can be sent to: those of the other group of an
// intercommunicator.
func (c *cComm) peers() int {
	if c.inter != nil {
		return c.inter.RemoteSize()
	}
	return c.local.Size()
}

// envelope has the arguments of a send or a receive.
type envelope struct {
	comm   *cComm
	buffer mpi.Buffer
	rank   int // the other process; MPI_PROC_NULL: there is none
	tag    int
}

// Parameter types of methods: the arguments of a send, and of a receive.
type (
	outgoing = envelope
	incoming = envelope
)

// message reads a buffer at arguments i to i+2, and rank, tag and communicator at the next three.
func (a *cCall) message(i int, receives bool) (envelope, error) {
	return a.envelope(i, i+3, i+4, i+5, receives)
}

// envelope reads the arguments of a send or receive: buffer is the first one of the buffer's three.
func (a *cCall) envelope(buffer, rank, tag, of int, receives bool) (e envelope, err error) {
	if e.comm, err = a.comm(of); err != nil {
		return e, err
	}
	if e.rank, e.tag, err = e.comm.checkPeer(a.int(rank), a.int(tag), receives); err != nil {
		return e, err
	}
	if e.rank == mpiProcNull { // the buffer does not matter, not even whether it is valid
		e.buffer.Type = predefinedTypes[byteHandle-firstType].typ
		return e, nil
	}
	e.buffer, err = a.elements(buffer)
	return e, err
}

// checkPeer refuses a rank or a tag that a send, or receive, of c cannot have. It returns both as package mpi has
// them.
func (c *cComm) checkPeer(rank, tag int, receives bool) (int, int, error) {
	if rank == mpiProcNull {
		return rank, tag, nil
	}
	if receives && rank == mpiAnySource {
		rank = mpi.AnySource
	} else if rank < 0 || rank >= c.peers() {
		return 0, 0, errorf(errRank, "rank %d of %d", rank, c.peers())
	} else {
		c.findWay(rank)
	}
	if tag < 0 && !(receives && tag == mpi.AnyTag) {
		return 0, 0, errorf(errTag, "tag %d", tag)
	}
	return rank, tag, nil
}

func (a *cCall) send(e outgoing) error  { return e.comm.p2p.Send(e.buffer, e.rank, e.tag) }
func (a *cCall) rsend(e outgoing) error { return e.comm.p2p.Send(e.buffer, e.rank, e.tag) }
func (a *cCall) ssend(e outgoing) error { return e.comm.p2p.Ssend(e.buffer, e.rank, e.tag) }
func (a *cCall) bsend(e outgoing) error { return e.comm.sendBuffered(e) }

func (a *cCall) recv(e incoming, x *cStatus) error {
	s, err := e.comm.p2p.Recv(e.buffer, e.rank, e.tag)
	x.received(s, err)
	return err
}

// received fills in the status of a message; a nil one is ignored.
func (st *cStatus) received(s mpi.Status, err error) {
	if st == nil {
		return
	}
	st.source, st.tag, st.canceled = int32(s.Source), int32(s.Tag), 0
	st.setBytes(s.Bytes)
	if err != nil && s.Source >= 0 {
		st.errorCode = int32(codeOf(err))
	}
}

// empty makes the status the one that the standard calls empty.
func (st *cStatus) empty() {
	if st != nil {
		st.source, st.tag, st.errorCode, st.canceled = mpi.AnySource, mpi.AnyTag, 0, 0
		st.setBytes(0)
	}
}

// sendRequest and receiveRequest wrap the request r of a message for the program.
func (e *envelope) sendRequest(r *mpi.Request) *cRequest {
	return &cRequest{comm: e.comm, req: r, noStatus: true}
}
func (e *envelope) receiveRequest(r *mpi.Request) *cRequest { return &cRequest{comm: e.comm, req: r} }

func (a *cCall) isend(e outgoing) (*cRequest, error) {
	r := newPooled(e.comm, true)
	return r, r.embedded.Send(e.comm.p2p, e.buffer, e.rank, e.tag)
}

func (a *cCall) irsend(e outgoing) (*cRequest, error) { return a.isend(e) }

func (a *cCall) issend(e outgoing) (*cRequest, error) {
	r := newPooled(e.comm, true)
	return r, r.embedded.Ssend(e.comm.p2p, e.buffer, e.rank, e.tag)
}

func (a *cCall) ibsend(e outgoing) (*cRequest, error) {
	return &cRequest{comm: e.comm, done: true, noStatus: true}, e.comm.sendBuffered(e)
}

func (a *cCall) irecv(e incoming) (*cRequest, error) {
	e.comm.lendSlips(e.rank)
	r := newPooled(e.comm, false)
	return r, r.embedded.Recv(e.comm.p2p, e.buffer, e.rank, e.tag)
}

// exchangeArgs reads the arguments of MPI_Sendrecv.
func (a *cCall) exchangeArgs() (out, in envelope, err error) {
	if out, err = a.envelope(0, 3, 4, 10, false); err == nil {
		in, err = a.envelope(5, 8, 9, 10, true)
	}
	return out, in, err
}

// replaceArgs reads the arguments of MPI_Sendrecv_replace. out is a copy of the buffer.
func (a *cCall) replaceArgs() (out, in envelope, err error) {
	if out, err = a.envelope(0, 3, 4, 7, false); err != nil {
		return out, in, err
	}
	if in, err = a.envelope(0, 5, 6, 7, true); err != nil {
		return out, in, err
	}
	packed := make([]byte, out.buffer.Size())
	out.buffer.Pack(0, packed)
	out.buffer, err = mpi.On(packed)
	return out, in, err
}

// doExchange sends and receives, and blocks until both are complete.
func doExchange(out, in envelope, err error, x *cStatus) error {
	if err != nil {
		return err
	}
	s, err := out.comm.p2p.Sendrecv(out.buffer, out.rank, out.tag, in.buffer, in.rank, in.tag)
	x.received(s, err)
	return err
}

func (a *cCall) sendrecv(x *cStatus) error {
	out, in, err := a.exchangeArgs()
	return doExchange(out, in, err, x)
}

func (a *cCall) sendrecvReplace(x *cStatus) error {
	out, in, err := a.replaceArgs()
	return doExchange(out, in, err, x)
}

// beginExchange begins a send and a receive, and returns the request of both.
func beginExchange(out, in envelope, err error) (*cRequest, error) {
	if err != nil {
		return nil, err
	}
	r := in.receiveRequest(in.comm.p2p.Immediate().Recv(in.buffer, in.rank, in.tag))
	r.sendHalf = out.comm.p2p.Immediate().Send(out.buffer, out.rank, out.tag)
	return r, nil
}

func (a *cCall) isendrecv() (*cRequest, error)        { return beginExchange(a.exchangeArgs()) }
func (a *cCall) isendrecvReplace() (*cRequest, error) { return beginExchange(a.replaceArgs()) }

// probeArgs reads the arguments of a probe.
func (a *cCall) probeArgs() (e envelope, err error) {
	if e.comm, err = a.comm(2); err != nil {
		return e, err
	}
	e.rank, e.tag, err = e.comm.checkPeer(a.int(0), a.int(1), true)
	return e, err
}

func (a *cCall) probe(x *cStatus) error {
	e, err := a.probeArgs()
	if err != nil {
		return err
	}
	s, err := e.comm.p2p.Probe(context.Background(), e.rank, e.tag)
	x.received(s, err)
	return err
}

func (a *cCall) iprobe(x *cStatus) (bool, error) {
	e, err := a.probeArgs()
	if err != nil {
		return false, err
	}
	s, there, err := e.comm.p2p.Immediate().Probe(e.rank, e.tag)
	if err == nil && there {
		x.received(s, nil)
	}
	return there, err
}

// cMessage is a message that a probe has found and taken out for the program to receive: an MPI_Message.
type cMessage struct {
	comm    *cComm // by which it came
	message *mpi.Message
}

// statusOfNone is the status of a receive from MPI_PROC_NULL.
var statusOfNone = mpi.Status{Source: mpiProcNull, Tag: mpi.AnyTag}

// setMessage writes the handle of a message that was found to argument i, and its status to x.
func (a *cCall) setMessage(i int, x *cStatus, c *cComm, m *mpi.Message) error {
	h, err := messages.add(&cMessage{c, m})
	if err != nil {
		return err
	}
	x.received(m.Status, nil)
	return a.setHandle(i, h)
}

func (a *cCall) mprobe(x *cStatus) error {
	e, err := a.probeArgs()
	if err != nil {
		return err
	}
	if e.rank == mpiProcNull {
		x.received(statusOfNone, nil)
		return a.setHandle(3, messageNoProcHandle)
	}
	m, err := e.comm.p2p.Mprobe(context.Background(), e.rank, e.tag)
	if err != nil {
		return err
	}
	return a.setMessage(3, x, e.comm, m)
}

func (a *cCall) improbe(x *cStatus) (bool, error) {
	e, err := a.probeArgs()
	if err != nil {
		return false, err
	}
	if e.rank == mpiProcNull {
		x.received(statusOfNone, nil)
		return true, a.setHandle(4, messageNoProcHandle)
	}
	m, err := e.comm.p2p.Immediate().Mprobe(e.rank, e.tag)
	if err != nil || m == nil {
		return false, err
	}
	return true, a.setMessage(4, x, e.comm, m)
}

// claimMessage frees the handle of a message and returns it with the buffer at the first arguments. m is nil for
// MPI_MESSAGE_NO_PROC.
func (a *cCall) claimMessage(h *handle) (b mpi.Buffer, m *cMessage, err error) {
	if *h != messageNoProcHandle {
		if m, err = messages.get(*h); err != nil {
			return b, nil, err
		}
		a.object = m.comm.handle
	}
	if b, err = a.elements(0); err == nil {
		messages.drop(*h)
		*h = messageNullHandle
	}
	return b, m, err
}

func (a *cCall) mrecv(h *handle, x *cStatus) error {
	b, m, err := a.claimMessage(h)
	if err != nil {
		return err
	}
	if m == nil {
		x.received(statusOfNone, nil)
		return nil
	}
	s, err := m.message.Recv(b)
	x.received(s, err)
	return err
}

func (a *cCall) imrecv(h *handle) (*cRequest, error) {
	b, m, err := a.claimMessage(h)
	if err != nil {
		return nil, err
	}
	if m == nil {
		return &cRequest{done: true, status: statusOfNone}, nil
	}
	return &cRequest{comm: m.comm, req: m.message.Irecv(b)}, nil
}

// makePersistent makes r a persistent request.
func makePersistent(r *cRequest) *cRequest {
	r.persistent = true
	return r
}

func (a *cCall) sendInit(e outgoing) *cRequest {
	return makePersistent(e.sendRequest(e.comm.p2p.Persistent().Send(e.buffer, e.rank, e.tag)))
}
func (a *cCall) rsendInit(e outgoing) *cRequest { return a.sendInit(e) }
func (a *cCall) ssendInit(e outgoing) *cRequest {
	return makePersistent(e.sendRequest(e.comm.p2p.Persistent().Ssend(e.buffer, e.rank, e.tag)))
}
func (a *cCall) recvInit(e incoming) *cRequest {
	return makePersistent(e.receiveRequest(e.comm.p2p.Persistent().Recv(e.buffer, e.rank, e.tag)))
}

func (a *cCall) bsendInit(e outgoing) *cRequest {
	return &cRequest{comm: e.comm, noStatus: true, persistent: true, done: true, onStart: func() error { return e.comm.sendBuffered(e) }}
}
