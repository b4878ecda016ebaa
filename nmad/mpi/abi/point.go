//go:build cgo && linux

package main

import (
	"context"

	"github.com/pm2-go/pm2/nmad/mpi"
)

// peers is how many ranks there are to send to.
func (c *cComm) peers() int {
	if c.x != nil {
		return c.x.RemoteSize()
	}
	return c.c.Size()
}

// envelope is the arguments of a message: a buffer, from the first argument on, and then the other rank, tag and
// communicator.
type envelope struct {
	c    *cComm
	b    mpi.Buffer
	rank int
	tag  int
}

// What a send and a receive take.
type (
	outgoing = envelope
	incoming = envelope
)

// message are the arguments of a send or a receive, from one on.
func (a *cCall) message(i int, receives bool) (envelope, error) {
	return a.envelope(i, i+3, i+4, i+5, receives)
}

func (a *cCall) envelope(buffer, rank, tag, of int, receives bool) (e envelope, err error) {
	if e.c, err = a.comm(of); err != nil {
		return e, err
	}
	if e.rank, e.tag, err = e.c.peer(a.int(rank), a.int(tag), receives); err != nil {
		return e, err
	}
	if e.rank == procNull { // whatever the buffer is
		e.b.Type = predefinedTypes[byteType-firstType].t
		return e, nil
	}
	e.b, err = a.elements(buffer)
	return e, err
}

// peer checks a rank and a tag.
func (c *cComm) peer(rank, tag int, receives bool) (int, int, error) {
	if rank == procNull {
		return rank, tag, nil
	}
	if receives && rank == anySource {
		rank = mpi.AnySource
	} else if rank < 0 || rank >= c.peers() {
		return 0, 0, wrong(errRank, "rank %d of %d", rank, c.peers())
	} else {
		c.settle(rank)
	}
	if tag < 0 && !(receives && tag == mpi.AnyTag) {
		return 0, 0, wrong(errTag, "tag %d", tag)
	}
	return rank, tag, nil
}

func (a *cCall) send(e outgoing) error  { return e.c.m.Send(e.b, e.rank, e.tag) }
func (a *cCall) rsend(e outgoing) error { return e.c.m.Send(e.b, e.rank, e.tag) }
func (a *cCall) ssend(e outgoing) error { return e.c.m.Ssend(e.b, e.rank, e.tag) }
func (a *cCall) bsend(e outgoing) error { return e.c.buffered(e) }

func (a *cCall) recv(e incoming, x *cStatus) error {
	s, err := e.c.m.Recv(e.b, e.rank, e.tag)
	x.received(s, err)
	return err
}

// received fills in a status; a nil one is ignored.
func (st *cStatus) received(s mpi.Status, err error) {
	if st == nil {
		return
	}
	st.source, st.tag, st.cancelled = int32(s.Source), int32(s.Tag), 0
	st.setBytes(s.Bytes)
	if err != nil && s.Source >= 0 {
		st.failed = int32(codeOf(err))
	}
}

// empty is the status of what was no message.
func (st *cStatus) empty() {
	if st != nil {
		st.source, st.tag, st.failed, st.cancelled = mpi.AnySource, mpi.AnyTag, 0, 0
		st.setBytes(0)
	}
}

// sends and receives are requests of messages.
func (e *envelope) sends(r *mpi.Request) *cRequest    { return &cRequest{comm: e.c, r: r, sends: true} }
func (e *envelope) receives(r *mpi.Request) *cRequest { return &cRequest{comm: e.c, r: r} }

func (a *cCall) isend(e outgoing) (*cRequest, error) {
	r := fresh(e.c, true)
	return r, r.own.Send(e.c.m, e.b, e.rank, e.tag)
}

func (a *cCall) irsend(e outgoing) (*cRequest, error) { return a.isend(e) }

func (a *cCall) issend(e outgoing) (*cRequest, error) {
	r := fresh(e.c, true)
	return r, r.own.Ssend(e.c.m, e.b, e.rank, e.tag)
}

func (a *cCall) ibsend(e outgoing) (*cRequest, error) {
	return &cRequest{comm: e.c, done: true, sends: true}, e.c.buffered(e)
}

func (a *cCall) irecv(e incoming) (*cRequest, error) {
	e.c.lend(e.rank)
	r := fresh(e.c, false)
	return r, r.own.Recv(e.c.m, e.b, e.rank, e.tag)
}

// exchange are the arguments of a send and a receive.
func (a *cCall) exchange() (out, in envelope, err error) {
	if out, err = a.envelope(0, 3, 4, 10, false); err == nil {
		in, err = a.envelope(5, 8, 9, 10, true)
	}
	return out, in, err
}

// replacing are the arguments of an exchange of one buffer.
func (a *cCall) replacing() (out, in envelope, err error) {
	if out, err = a.envelope(0, 3, 4, 7, false); err != nil {
		return out, in, err
	}
	if in, err = a.envelope(0, 5, 6, 7, true); err != nil {
		return out, in, err
	}
	packed := make([]byte, out.b.Size())
	out.b.Pack(0, packed)
	out.b, err = mpi.On(packed)
	return out, in, err
}

// sendAndReceive makes an exchange.
func sendAndReceive(out, in envelope, err error, x *cStatus) error {
	if err != nil {
		return err
	}
	s, err := out.c.m.Sendrecv(out.b, out.rank, out.tag, in.b, in.rank, in.tag)
	x.received(s, err)
	return err
}

func (a *cCall) sendrecv(x *cStatus) error {
	out, in, err := a.exchange()
	return sendAndReceive(out, in, err, x)
}

func (a *cCall) sendrecvReplace(x *cStatus) error {
	out, in, err := a.replacing()
	return sendAndReceive(out, in, err, x)
}

// begin begins an exchange: its request is the receive, which is over when the send is, too.
func begin(out, in envelope, err error) (*cRequest, error) {
	if err != nil {
		return nil, err
	}
	r := in.receives(in.c.m.Immediate().Recv(in.b, in.rank, in.tag))
	r.also = out.c.m.Immediate().Send(out.b, out.rank, out.tag)
	return r, nil
}

func (a *cCall) isendrecv() (*cRequest, error)        { return begin(a.exchange()) }
func (a *cCall) isendrecvReplace() (*cRequest, error) { return begin(a.replacing()) }

// looked are the arguments of a probe.
func (a *cCall) looked() (e envelope, err error) {
	if e.c, err = a.comm(2); err != nil {
		return e, err
	}
	e.rank, e.tag, err = e.c.peer(a.int(0), a.int(1), true)
	return e, err
}

func (a *cCall) probe(x *cStatus) error {
	e, err := a.looked()
	if err != nil {
		return err
	}
	s, err := e.c.m.Probe(context.Background(), e.rank, e.tag)
	x.received(s, err)
	return err
}

func (a *cCall) iprobe(x *cStatus) (bool, error) {
	e, err := a.looked()
	if err != nil {
		return false, err
	}
	s, there, err := e.c.m.Immediate().Probe(e.rank, e.tag)
	if err == nil && there {
		x.received(s, nil)
	}
	return there, err
}

// cMessage is one that was found, to be received.
type cMessage struct {
	c *cComm
	m *mpi.Message
}

const (
	nullMessage   handle = 0x128
	noProcMessage handle = 0x129
)

// ofNone is the status of a message of MPI_PROC_NULL.
var ofNone = mpi.Status{Source: procNull, Tag: mpi.AnyTag}

// found hands a found message out, and writes its status.
func (a *cCall) found(i int, x *cStatus, c *cComm, m *mpi.Message) error {
	h, err := messages.add(&cMessage{c, m})
	if err != nil {
		return err
	}
	x.received(m.Status, nil)
	return a.setHandle(i, h)
}

func (a *cCall) mprobe(x *cStatus) error {
	e, err := a.looked()
	if err != nil {
		return err
	}
	if e.rank == procNull {
		x.received(ofNone, nil)
		return a.setHandle(3, noProcMessage)
	}
	m, err := e.c.m.Mprobe(context.Background(), e.rank, e.tag)
	if err != nil {
		return err
	}
	return a.found(3, x, e.c, m)
}

func (a *cCall) improbe(x *cStatus) (bool, error) {
	e, err := a.looked()
	if err != nil {
		return false, err
	}
	if e.rank == procNull {
		x.received(ofNone, nil)
		return true, a.setHandle(4, noProcMessage)
	}
	m, err := e.c.m.Immediate().Mprobe(e.rank, e.tag)
	if err != nil || m == nil {
		return false, err
	}
	return true, a.found(4, x, e.c, m)
}

// claim takes a found message out, to be received into the buffer of the first arguments; nil: there is none.
func (a *cCall) claim(h *handle) (b mpi.Buffer, m *cMessage, err error) {
	if *h != noProcMessage {
		if m, err = messages.get(*h); err != nil {
			return b, nil, err
		}
		a.object = m.c.handle
	}
	if b, err = a.elements(0); err == nil {
		messages.drop(*h)
		*h = nullMessage
	}
	return b, m, err
}

func (a *cCall) mrecv(h *handle, x *cStatus) error {
	b, m, err := a.claim(h)
	if err != nil {
		return err
	}
	if m == nil {
		x.received(ofNone, nil)
		return nil
	}
	s, err := m.m.Recv(b)
	x.received(s, err)
	return err
}

func (a *cCall) imrecv(h *handle) (*cRequest, error) {
	b, m, err := a.claim(h)
	if err != nil {
		return nil, err
	}
	if m == nil {
		return &cRequest{done: true, status: ofNone}, nil
	}
	return &cRequest{comm: m.c, r: m.m.Irecv(b)}, nil
}

// lasts has a request be a persistent one.
func lasts(r *cRequest) *cRequest {
	r.persistent = true
	return r
}

func (a *cCall) sendInit(e outgoing) *cRequest {
	return lasts(e.sends(e.c.m.Persistent().Send(e.b, e.rank, e.tag)))
}
func (a *cCall) rsendInit(e outgoing) *cRequest { return a.sendInit(e) }
func (a *cCall) ssendInit(e outgoing) *cRequest {
	return lasts(e.sends(e.c.m.Persistent().Ssend(e.b, e.rank, e.tag)))
}
func (a *cCall) recvInit(e incoming) *cRequest {
	return lasts(e.receives(e.c.m.Persistent().Recv(e.b, e.rank, e.tag)))
}

func (a *cCall) bsendInit(e outgoing) *cRequest {
	return &cRequest{comm: e.c, sends: true, persistent: true, done: true, begin: func() error { return e.c.buffered(e) }}
}
