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

// What stands for ranks and tags.
const (
	AnySource = -1 // of a receive: from any rank
	ProcNull  = -3 // to or from no process: the call does nothing
	AnyTag    = -2 // of a receive: with any tag
	MaxTag    = 1<<31 - 1
)

// mode is when a send is done.
type mode uint8

const (
	standard mode = iota
	synchronous
	buffered
)

// Send sends b to a rank and returns when b may be used again: for a message of up to nmad.Config.Eager bytes
// (nmad.EnvEager; else what the network takes in one packet, 16 KiB to the own rank) at once, if the receiver has
// memory for it, for a longer one after its receive was posted: so one to oneself waits for ever if that comes later.
// It blocks the calling thread or goroutine only.
func (c *Comm) Send(b Buffer, to, tag int) error { return c.sendNow("send", b, to, tag, standard) }

// Ssend is Send, but returns only when the receive was posted.
func (c *Comm) Ssend(b Buffer, to, tag int) error { return c.sendNow("ssend", b, to, tag, synchronous) }

// Bsend is Send by way of memory that was attached to the session (nmad.Domain.Attach): it returns at once, or fails
// with nmad.ErrBuffer.
func (c *Comm) Bsend(b Buffer, to, tag int) error { return c.sendNow("bsend", b, to, tag, buffered) }

// Rsend is Send for a message whose receive was posted. This implementation gains nothing by that, and loses nothing
// if it was not.
func (c *Comm) Rsend(b Buffer, to, tag int) error { return c.sendNow("rsend", b, to, tag, standard) }

// Irsend begins what Rsend does.
func (c *Comm) Irsend(b Buffer, to, tag int) *Request {
	return c.sendLater("irsend", b, to, tag, standard)
}

// Ibsend is Bsend, whose request is done when it returns.
func (c *Comm) Ibsend(b Buffer, to, tag int) *Request {
	return c.sendLater("ibsend", b, to, tag, buffered)
}

// Isend begins what Send does.
func (c *Comm) Isend(b Buffer, to, tag int) *Request {
	return c.sendLater("isend", b, to, tag, standard)
}

// Issend begins what Ssend does.
func (c *Comm) Issend(b Buffer, to, tag int) *Request {
	return c.sendLater("issend", b, to, tag, synchronous)
}

func (c *Comm) sendNow(what string, b Buffer, to, tag int, m mode) error {
	if to == ProcNull {
		return c.usable()
	}
	if whole, ok := b.Dense(); ok && m == standard {
		if err := c.addressed(what, to, tag); err != nil {
			return err
		}
		return c.explain(what, c.messages.Send(c.group.job[to], c.tags|uint64(tag), whole))
	}
	r := blocking.Get().(*Request)
	if err := c.postSend(what, r, b, to, tag, m); err != nil {
		return err
	}
	_, err := r.wait()
	r.release()
	return err
}

func (c *Comm) sendLater(what string, b Buffer, to, tag int, m mode) *Request {
	r := &Request{}
	if err := c.sendInto(what, r, b, to, tag, m); err != nil {
		return r.idle(err)
	}
	return r
}

// IsendInto is Isend with a request of the caller, zero or done, and waited for: it allocates nothing. It returns
// what is wrong with the arguments, and nmad.ErrActive while r is under way; then nothing has begun.
func (c *Comm) IsendInto(r *Request, b Buffer, to, tag int) error {
	return c.sendInto("isend", r, b, to, tag, standard)
}

// IssendInto is Issend with a request of the caller; see IsendInto.
func (c *Comm) IssendInto(r *Request, b Buffer, to, tag int) error {
	return c.sendInto("issend", r, b, to, tag, synchronous)
}

func (c *Comm) sendInto(what string, r *Request, b Buffer, to, tag int, m mode) error {
	if err := r.again(); err != nil {
		return err
	}
	if to != ProcNull {
		return c.postSend(what, r, b, to, tag, m)
	}
	return r.nothing(c)
}

// nothing makes r one to or from ProcNull, which is done at once.
func (r *Request) nothing(c *Comm) error {
	err := c.usable()
	r.none = err == nil
	return err
}

// again makes a request of the caller, which may have been used before, ready to be begun.
func (r *Request) again() error {
	if !r.message.IsDone() {
		return fmt.Errorf("mpi: start a request again: %w: wait for it first", nmad.ErrActive)
	}
	if x := r.extra; x != nil {
		if x.operation != nil || x.outside != nil || x.start != nil || x.matched != nil {
			return fmt.Errorf("mpi: %w: it was made for something else than IsendInto or IrecvInto", ErrRequest)
		}
		*x = special{}
	}
	r.none, r.comm = false, nil
	return nil
}

func (c *Comm) postSend(what string, r *Request, b Buffer, to, tag int, m mode) error {
	if err := c.addressed(what, to, tag); err != nil {
		return err
	}
	op := nmad.Op{Kind: nmad.OpSend, Match: nmad.Tag(c.tags | uint64(tag)), Sync: m == synchronous, Buffered: m == buffered}
	op.Context = c.messages
	r.begin(c, b, &op)
	return c.gates[to].Post(&r.message, &op)
}

// addressed says why there can be no message with a tag to or from a rank.
func (c *Comm) addressed(what string, rank, tag int) error {
	if err := c.check(what, rank); err != nil {
		return err
	}
	return tagged(what, rank, tag)
}

// tagged says why a message cannot have a tag.
func tagged(what string, rank, tag int) error {
	if tag < 0 || tag > MaxTag {
		return fmt.Errorf("mpi: %s, rank %d: %w: %d", what, rank, ErrTag, tag)
	}
	return nil
}

// Recv receives a message into b and says what it was. A message that is longer than b is ErrTruncated, one that is
// shorter is not: Status.Bytes says how long it is.
func (c *Comm) Recv(b Buffer, from, tag int) (Status, error) {
	if from == ProcNull {
		return noStatus, c.usable()
	}
	if whole, ok := b.Dense(); ok && from != AnySource && tag != AnyTag {
		if err := c.addressed("recv", from, tag); err != nil {
			return Status{}, err
		}
		e, err := c.messages.Recv(c.group.job[from], c.tags|uint64(tag), whole)
		return Status{Source: from, Tag: tag, Bytes: int(e.Size)}, c.explain("recv", err)
	}
	r := blocking.Get().(*Request)
	if err := c.postReceive("recv", r, b, from, tag); err != nil {
		return Status{}, err
	}
	s, err := r.wait()
	r.release()
	return s, err
}

// SendContext is Send until ctx is done: then it returns the cause, and the message goes on, so b is not to be
// changed until it was received.
func (c *Comm) SendContext(ctx context.Context, b Buffer, to, tag int) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	_, err := c.Isend(b, to, tag).WaitContext(ctx)
	return err
}

// RecvContext is Recv until ctx is done: then the receive is taken back, and it returns the cause; a message that is
// coming in just then is waited for, and received.
func (c *Comm) RecvContext(ctx context.Context, b Buffer, from, tag int) (Status, error) {
	if ctx.Err() != nil {
		return noStatus, context.Cause(ctx)
	}
	r := c.Irecv(b, from, tag)
	s, err := r.WaitContext(ctx)
	if err != nil && ctx.Err() != nil {
		r.Cancel()
		if s, err = r.Wait(); errors.Is(err, nmad.ErrCanceled) {
			return noStatus, context.Cause(ctx)
		}
	}
	return s, err
}

// Irecv begins what Recv does.
func (c *Comm) Irecv(b Buffer, from, tag int) *Request {
	r := &Request{}
	if err := c.IrecvInto(r, b, from, tag); err != nil {
		return r.idle(err)
	}
	return r
}

// IrecvInto is Irecv with a request of the caller; see IsendInto.
func (c *Comm) IrecvInto(r *Request, b Buffer, from, tag int) error {
	if err := r.again(); err != nil {
		return err
	}
	if from != ProcNull {
		return c.postReceive("irecv", r, b, from, tag)
	}
	return r.nothing(c)
}

func (c *Comm) postReceive(what string, r *Request, b Buffer, from, tag int) error {
	m, err := c.match(what, from, tag)
	if err != nil {
		return err
	}
	op := nmad.Op{Kind: nmad.OpRecv, Match: m}
	r.begin(c, b, &op)
	if from == AnySource {
		return c.domain.Post(nmad.AnySource, &r.message, &op)
	}
	return c.gates[from].Post(&r.message, &op)
}

// match is which messages a receive or a probe is for.
func (c *Comm) match(what string, from, tag int) (nmad.Match, error) {
	if err := c.usable(); err != nil {
		return nmad.Match{}, err
	}
	if from != AnySource {
		if err := c.check(what, from); err != nil {
			return nmad.Match{}, err
		}
	}
	m := nmad.Match{Tag: c.tags, Mask: math.MaxUint64 &^ MaxTag}
	if tag != AnyTag {
		if err := tagged(what, from, tag); err != nil {
			return m, err
		}
		m = nmad.Tag(c.tags | uint64(tag))
	}
	m.Context = c.messages
	return m, nil
}

// Sendrecv sends out to a rank and receives in from another one, or the same, at once.
func (c *Comm) Sendrecv(out Buffer, to, sendTag int, in Buffer, from, receiveTag int) (Status, error) {
	r := c.Irecv(in, from, receiveTag)
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

// SendrecvReplace is Sendrecv of one buffer: what is received takes the place of what is sent.
func (c *Comm) SendrecvReplace(b Buffer, to, sendTag, from, receiveTag int) (Status, error) {
	packed := make([]byte, b.Size())
	b.Pack(0, packed)
	out, err := On(packed)
	if err != nil {
		return Status{}, err
	}
	return c.Sendrecv(out, to, sendTag, b, from, receiveTag)
}

// Iprobe says whether a message is there that a receive would take, and what it is.
func (c *Comm) Iprobe(from, tag int) (Status, bool, error) {
	if from == ProcNull {
		return noStatus, true, c.usable()
	}
	m, err := c.match("iprobe", from, tag)
	if err != nil {
		return Status{}, false, err
	}
	var e nmad.Envelope
	var there bool
	if from == AnySource {
		e, there = c.domain.Iprobe(m)
	} else {
		e, there = c.gates[from].Iprobe(m)
	}
	if !there {
		return Status{}, false, nil
	}
	return c.status(e), true, nil
}

// Probe is Iprobe that waits for a message, until ctx is done.
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
		return Status{}, c.explain("probe", err)
	}
	return c.status(e), nil
}

func (c *Comm) status(e nmad.Envelope) Status {
	return Status{Source: int(c.place[e.Source]), Tag: int(e.Tag & MaxTag), Bytes: int(e.Size)}
}

func (c *Comm) explain(what string, err error) error {
	if err == nil {
		return nil
	}
	return c.handled(fmt.Errorf("mpi: %s, %v: %w", what, c, err))
}
