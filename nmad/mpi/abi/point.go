//go:build cgo && linux

package main

import (
	"context"

	"github.com/pm2-go/pm2/nmad/mpi"
)

// far is a rank as the communicator of the messages has it.
func (c *comm) far(rank int) int {
	if c.x != nil {
		return c.x.Far(rank)
	}
	return rank
}

// near is the source of a status as the program has it.
func (c *comm) near(s mpi.Status) int {
	if c != nil && c.x != nil {
		return c.x.Source(s)
	}
	return s.Source
}

// peers is how many ranks there are to send to.
func (c *comm) peers() int {
	if c.x != nil {
		return c.x.RemoteSize()
	}
	return c.c.Size()
}

// envelope is the arguments of a message: a buffer, from the first argument on, and then the other rank, tag and communicator.
type envelope struct {
	c    *comm
	b    mpi.Buffer
	rank int // in the communicator of the messages
	tag  int
}

// to is the arguments of a send.
func (a *call) to() (e envelope, err error) { return a.envelope(0, 3, 4, 5, false) }

// from is the arguments of a receive.
func (a *call) from() (envelope, error) { return a.envelope(0, 3, 4, 5, true) }

func (a *call) envelope(buffer, rank, tag, of int, receives bool) (e envelope, err error) {
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
	e.b, _, err = a.buffer(buffer, buffer+1, buffer+2)
	return e, err
}

// peer checks a rank and a tag.
func (c *comm) peer(rank, tag int, receives bool) (int, int, error) {
	if rank == procNull {
		return rank, tag, nil
	}
	if receives && rank == anySource {
		rank = mpi.AnySource
	} else if rank < 0 || rank >= c.peers() {
		return 0, 0, wrong(errRank, "rank %d of %d", rank, c.peers())
	} else {
		c.settle(rank)
		rank = c.far(rank)
	}
	if tag < 0 && !(receives && tag == mpi.AnyTag) {
		return 0, 0, wrong(errTag, "tag %d", tag)
	}
	return rank, tag, nil
}

func (a *call) send() error {
	e, err := a.to()
	if err != nil {
		return err
	}
	return e.c.m.Send(e.b, e.rank, e.tag)
}

func (a *call) ssend() error {
	e, err := a.to()
	if err != nil {
		return err
	}
	return e.c.m.Ssend(e.b, e.rank, e.tag)
}

func (a *call) rsend() error { return a.send() }

func (a *call) bsend() error {
	e, err := a.to()
	if err != nil {
		return err
	}
	return e.c.buffered(e)
}

func (a *call) recv() error {
	e, err := a.from()
	if err != nil {
		return err
	}
	s, err := e.c.m.Recv(e.b, e.rank, e.tag)
	a.status(6).received(e.c, s, err)
	return err
}

// received fills in a status; a nil one is ignored.
func (x *status) received(c *comm, s mpi.Status, err error) {
	if x == nil {
		return
	}
	x.source, x.tag, x.cancelled = int32(c.near(s)), int32(s.Tag), 0
	x.setBytes(s.Bytes)
	if err != nil && s.Source >= 0 {
		x.failed = int32(codeOf(err))
	}
}

// empty is the status of what was no message.
func (x *status) empty() {
	if x != nil {
		x.source, x.tag, x.failed, x.cancelled = mpi.AnySource, mpi.AnyTag, 0, 0
		x.setBytes(0)
	}
}

// begins hands a request out.
func (a *call) begins(c *comm, i int, r *mpi.Request, sends bool) error {
	return a.setRequest(i, &request{comm: c, r: r, sends: sends})
}

func (a *call) isend() error {
	e, err := a.to()
	if err != nil {
		return err
	}
	r := fresh(e.c, true)
	if err := e.c.m.IsendInto(&r.own, e.b, e.rank, e.tag); err != nil {
		return err
	}
	return a.setRequest(6, r)
}

func (a *call) issend() error {
	e, err := a.to()
	if err != nil {
		return err
	}
	return a.begins(e.c, 6, e.c.m.Issend(e.b, e.rank, e.tag), true)
}

func (a *call) irsend() error { return a.isend() }

func (a *call) ibsend() error {
	e, err := a.to()
	if err != nil {
		return err
	}
	if err := e.c.buffered(e); err != nil {
		return err
	}
	return a.setRequest(6, &request{comm: e.c, done: true, sends: true})
}

func (a *call) irecv() error {
	e, err := a.from()
	if err != nil {
		return err
	}
	e.c.lend(e.rank)
	r := fresh(e.c, false)
	if err := e.c.m.IrecvInto(&r.own, e.b, e.rank, e.tag); err != nil {
		return err
	}
	return a.setRequest(6, r)
}

// exchange is the arguments of a send and a receive.
func (a *call) exchange() (out, in envelope, err error) {
	if out, err = a.envelope(0, 3, 4, 10, false); err == nil {
		in, err = a.envelope(5, 8, 9, 10, true)
	}
	return out, in, err
}

func (a *call) sendrecv() error {
	out, in, err := a.exchange()
	if err != nil {
		return err
	}
	s, err := out.c.m.Sendrecv(out.b, out.rank, out.tag, in.b, in.rank, in.tag)
	a.status(11).received(out.c, s, err)
	return err
}

// replacing are the arguments of an exchange of one buffer.
func (a *call) replacing() (out, in envelope, err error) {
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

func (a *call) sendrecvReplace() error {
	out, in, err := a.replacing()
	if err != nil {
		return err
	}
	s, err := out.c.m.Sendrecv(out.b, out.rank, out.tag, in.b, in.rank, in.tag)
	a.status(8).received(out.c, s, err)
	return err
}

// begin2 begins an exchange: its request is the receive, which is over when the send is, too.
func (a *call) begin2(i int, out, in envelope) error {
	r := in.c.m.Irecv(in.b, in.rank, in.tag)
	s := out.c.m.Isend(out.b, out.rank, out.tag)
	return a.setRequest(i, &request{comm: out.c, r: r, also: s})
}

func (a *call) isendrecv() error {
	out, in, err := a.exchange()
	if err != nil {
		return err
	}
	return a.begin2(11, out, in)
}

func (a *call) isendrecvReplace() error {
	out, in, err := a.replacing()
	if err != nil {
		return err
	}
	return a.begin2(8, out, in)
}

// looked are the arguments of a probe.
func (a *call) looked() (e envelope, err error) {
	if e.c, err = a.comm(2); err != nil {
		return e, err
	}
	e.rank, e.tag, err = e.c.peer(a.int(0), a.int(1), true)
	return e, err
}

func (a *call) probe() error {
	e, err := a.looked()
	if err != nil {
		return err
	}
	s, err := e.c.m.Probe(context.Background(), e.rank, e.tag)
	a.status(3).received(e.c, s, err)
	return err
}

func (a *call) iprobe() error {
	e, err := a.looked()
	if err != nil {
		return err
	}
	s, there, err := e.c.m.Iprobe(e.rank, e.tag)
	if err == nil && there {
		a.status(4).received(e.c, s, nil)
	}
	if err != nil {
		return err
	}
	return a.setFlag(3, there)
}

// message is one that was found, to be received.
type message struct {
	c *comm
	m *mpi.Message
}

const (
	nullMessage   handle = 0x128
	noProcMessage handle = 0x129
)

// setMessage hands a found message out.
func (a *call) setMessage(i int, c *comm, m *mpi.Message) error {
	h, err := messages.add(&message{c, m})
	if err != nil {
		return err
	}
	return a.setHandle(i, h)
}

func (a *call) mprobe() error {
	e, err := a.looked()
	if err != nil {
		return err
	}
	if e.rank == procNull {
		a.status(4).received(e.c, mpi.Status{Source: procNull, Tag: mpi.AnyTag}, nil)
		return a.setHandle(3, noProcMessage)
	}
	m, err := e.c.m.Mprobe(context.Background(), e.rank, e.tag)
	if err != nil {
		return err
	}
	a.status(4).received(e.c, m.Status, nil)
	return a.setMessage(3, e.c, m)
}

func (a *call) improbe() error {
	e, err := a.looked()
	if err != nil {
		return err
	}
	if e.rank == procNull {
		a.status(5).received(e.c, mpi.Status{Source: procNull, Tag: mpi.AnyTag}, nil)
		if err := a.setHandle(4, noProcMessage); err != nil {
			return err
		}
		return a.setFlag(3, true)
	}
	m, err := e.c.m.Improbe(e.rank, e.tag)
	if err != nil {
		return err
	}
	if m != nil {
		a.status(5).received(e.c, m.Status, nil)
		if err := a.setMessage(4, e.c, m); err != nil {
			return err
		}
	}
	return a.setFlag(3, m != nil)
}

// claim are the arguments of the receive of a found message; nil: of none.
func (a *call) claim() (mpi.Buffer, *message, error) {
	h, err := a.handleAt(3)
	if err != nil {
		return mpi.Buffer{}, nil, err
	}
	var m *message
	if h != noProcMessage {
		if m, err = messages.get(h); err != nil {
			return mpi.Buffer{}, nil, err
		}
		a.object = m.c.handle
	}
	b, _, err := a.buffer(0, 1, 2)
	if err != nil {
		return b, nil, err
	}
	messages.drop(h)
	return b, m, a.setHandle(3, nullMessage)
}

func (a *call) mrecv() error {
	b, m, err := a.claim()
	if err != nil {
		return err
	}
	if m == nil {
		a.status(4).received(nil, mpi.Status{Source: procNull, Tag: mpi.AnyTag}, nil)
		return nil
	}
	s, err := m.m.Recv(b)
	a.status(4).received(m.c, s, err)
	return err
}

func (a *call) imrecv() error {
	b, m, err := a.claim()
	if err != nil {
		return err
	}
	if m == nil {
		return a.setRequest(4, &request{done: true, status: mpi.Status{Source: procNull, Tag: mpi.AnyTag}})
	}
	return a.begins(m.c, 4, m.m.Irecv(b), false)
}

// lasting hands a persistent request out.
func (a *call) lasting(c *comm, i int, r *mpi.Request, sends bool) error {
	return a.setRequest(i, &request{comm: c, r: r, sends: sends, persistent: true})
}

func (a *call) sendInit() error {
	e, err := a.to()
	if err != nil {
		return err
	}
	return a.lasting(e.c, 6, e.c.m.SendInit(e.b, e.rank, e.tag), true)
}

func (a *call) rsendInit() error { return a.sendInit() }

func (a *call) ssendInit() error {
	e, err := a.to()
	if err != nil {
		return err
	}
	return a.lasting(e.c, 6, e.c.m.SsendInit(e.b, e.rank, e.tag), true)
}

func (a *call) bsendInit() error {
	e, err := a.to()
	if err != nil {
		return err
	}
	return a.setRequest(6, &request{comm: e.c, sends: true, persistent: true, done: true, begin: func() error { return e.c.buffered(e) }})
}

func (a *call) recvInit() error {
	e, err := a.from()
	if err != nil {
		return err
	}
	return a.lasting(e.c, 6, e.c.m.RecvInit(e.b, e.rank, e.tag), false)
}
