package mpi

import (
	"context"
	"errors"
	"fmt"
	"math"

	"github.com/pm2-go/pm2/nmad"
	"github.com/pm2-go/pm2/nmad/mpi/datatype"
)

// Buffer is where the elements of a message lie; see On.
type Buffer = datatype.Buffer

// Values that stand for ranks and tags.
const (
	AnySource = -1 // of a receive: from any rank
	ProcNull  = -3 // to or from no process: the call does nothing
	AnyTag    = -2 // of a receive: with any tag
	MaxTag    = 1<<31 - 1
)

// sendMode is when a send is done.
type sendMode uint8

const (
	sendStandard sendMode = iota
	sendSynchronous
	sendBuffered
)

func (m sendMode) String() string { return [...]string{"send", "ssend", "bsend"}[m] }

// Send sends b to a rank and returns when b may be used again. It returns at once with a message of up to
// nmad.Config.Eager bytes (nmad.EnvEager; without that setting what the network takes in one packet, and 16 KiB to the
// own rank), if the receiver has memory for it. With a longer message it returns after its receive was posted, so a
// rank that sends itself a long message before it receives waits for ever. It blocks the calling thread or goroutine
// only.
func (c *Comm) Send(b Buffer, to, tag int) error { return c.send(b, to, tag, sendStandard) }

// Ssend is Send, but returns only when the receive was posted.
func (c *Comm) Ssend(b Buffer, to, tag int) error { return c.send(b, to, tag, sendSynchronous) }

// Bsend is Send that copies b to memory which the program has given to SessionOf(c).Attach. It does not block; without
// room there it fails with nmad.ErrBuffer.
func (c *Comm) Bsend(b Buffer, to, tag int) error { return c.send(b, to, tag, sendBuffered) }

// send is Send, Ssend or Bsend, as m says.
func (c *Comm) send(b Buffer, to, tag int, m sendMode) error {
	if to == ProcNull {
		return c.usable()
	}
	if whole, ok := b.Dense(); ok && m == sendStandard {
		if err := c.checkPeer("send", to, tag); err != nil {
			return err
		}
		return c.wrapError("send", c.messages.Send(c.group.job[to], c.tags|uint64(tag), whole))
	}
	r := pooledRequests.Get().(*Request)
	if err := c.postSend(r, b, to, tag, m); err != nil {
		return err
	}
	_, err := r.wait()
	r.release()
	return err
}

// isend begins a send.
func (c *Comm) isend(b Buffer, to, tag int, m sendMode) *Request {
	r := &Request{}
	return r.endIf(r.send(c, b, to, tag, m))
}

// postSend begins a send with r, which is free. It does not block.
func (c *Comm) postSend(r *Request, b Buffer, to, tag int, m sendMode) error {
	if err := c.checkPeer(m.String(), to, tag); err != nil {
		return err
	}
	op := nmad.Operation{Kind: nmad.KindSend, Match: nmad.Tag(c.tags | uint64(tag)), Sync: m == sendSynchronous, Buffered: m == sendBuffered}
	op.Context = c.messages
	r.begin(c, b, &op)
	return c.gates[to].Post(&r.message, &op)
}

// checkPeer says why there can be no message with a tag to or from a rank; nil: there can.
func (c *Comm) checkPeer(what string, rank, tag int) error {
	if err := c.checkRank(what, rank); err != nil {
		return err
	}
	return checkTag(what, rank, tag)
}

// checkTag says why a message cannot have a tag; nil: it can.
func checkTag(what string, rank, tag int) error {
	if tag < 0 || tag > MaxTag {
		return fmt.Errorf("mpi: %s, rank %d: %w: %d", what, rank, ErrTag, tag)
	}
	return nil
}

// Recv waits for a message, which it receives into b, and returns its status. A message that is longer than b is
// ErrTruncated; it may be shorter: Status.Bytes has its length. It blocks the calling thread or goroutine only.
func (c *Comm) Recv(b Buffer, from, tag int) (Status, error) {
	if from == ProcNull {
		return noStatus, c.usable()
	}
	if whole, ok := b.Dense(); ok && from != AnySource && tag != AnyTag {
		if err := c.checkPeer("recv", from, tag); err != nil {
			return Status{}, err
		}
		e, err := c.messages.Recv(c.group.job[from], c.tags|uint64(tag), whole)
		return Status{Source: from, Tag: tag, Bytes: int(e.Size)}, c.wrapError("recv", err)
	}
	r := pooledRequests.Get().(*Request)
	if err := c.postReceive(r, b, from, tag); err != nil {
		return Status{}, err
	}
	s, err := r.wait()
	r.release()
	return s, err
}

// irecv begins a receive.
func (c *Comm) irecv(b Buffer, from, tag int) *Request {
	r := &Request{}
	return r.endIf(r.Recv(c, b, from, tag))
}

// postReceive begins a receive with r, which is free. It does not block.
func (c *Comm) postReceive(r *Request, b Buffer, from, tag int) error {
	m, err := c.match("recv", from, tag)
	if err != nil {
		return err
	}
	op := nmad.Operation{Kind: nmad.KindRecv, Match: m}
	r.begin(c, b, &op)
	if from == AnySource {
		return c.domain.Post(nmad.AnySource, &r.message, &op)
	}
	return c.gates[from].Post(&r.message, &op)
}

// match returns which messages a receive or a probe is for.
func (c *Comm) match(what string, from, tag int) (nmad.Match, error) {
	if err := c.usable(); err != nil {
		return nmad.Match{}, err
	}
	if from != AnySource {
		if err := c.checkRank(what, from); err != nil {
			return nmad.Match{}, err
		}
	}
	m := nmad.Match{Tag: c.tags, Mask: math.MaxUint64 &^ MaxTag}
	if tag != AnyTag {
		if err := checkTag(what, from, tag); err != nil {
			return m, err
		}
		m = nmad.Tag(c.tags | uint64(tag))
	}
	m.Context = c.messages
	return m, nil
}

// Sendrecv sends out to a rank, and at the same time receives in from another one, or the same. It returns the status
// of the message that was received.
func (c *Comm) Sendrecv(out Buffer, to, sendTag int, in Buffer, from, receiveTag int) (Status, error) {
	r := c.irecv(in, from, receiveTag)
	err := c.Send(out, to, sendTag)
	if err != nil {
		r.Cancel()
	}
	s, err2 := r.Wait()
	if err == nil {
		err = err2
	}
	return s, err
}

// SendrecvReplace is Sendrecv with one buffer: the message that is received replaces the one that is sent.
func (c *Comm) SendrecvReplace(b Buffer, to, sendTag, from, receiveTag int) (Status, error) {
	packed := make([]byte, b.Size())
	b.Pack(0, packed)
	out, err := On(packed)
	if err != nil {
		return Status{}, err
	}
	return c.Sendrecv(out, to, sendTag, b, from, receiveTag)
}

// Probe waits for a message that a receive would take, and returns its status; or until ctx is done, and returns the
// cause of that. The message stays for the receive.
func (c *Comm) Probe(ctx context.Context, from, tag int) (Status, error) {
	if from == ProcNull {
		return noStatus, c.usable()
	}
	m, err := c.match("probe", from, tag)
	if err != nil {
		return Status{}, err
	}
	var e nmad.Envelope
	if from == AnySource {
		e, err = c.domain.Probe(ctx, m)
	} else {
		e, err = c.gates[from].Probe(ctx, m)
	}
	if err != nil {
		return Status{}, c.wrapWaitError(ctx, "probe", err)
	}
	return c.status(e), nil
}

// status returns the status of a message in terms of the communicator.
func (c *Comm) status(e nmad.Envelope) Status {
	return Status{Source: int(c.rankOf[e.Source]), Tag: int(e.Tag & MaxTag), Bytes: int(e.Size)}
}

// withCall returns an error with the call and the communicator that it belongs to.
func (c *Comm) withCall(what string, err error) error {
	return fmt.Errorf("mpi: %s, %v: %w", what, c, err)
}

// wrapError returns err with the call and the communicator that it belongs to, as the error handler of the communicator
// returns it; nil of nil.
func (c *Comm) wrapError(what string, err error) error {
	if err == nil {
		return nil
	}
	return c.handled(c.withCall(what, err))
}

// wrapWaitError is wrapError for a call that waits until ctx is done. That is no error of communication, so the error
// handler is not told of it.
func (c *Comm) wrapWaitError(ctx context.Context, what string, err error) error {
	if err != nil && ctx.Err() != nil && errors.Is(err, context.Cause(ctx)) {
		return c.withCall(what, err)
	}
	return c.wrapError(what, err)
}
