package nmad

import (
	"fmt"

	"github.com/pm2-go/pm2/nmad/internal/flow"
)

// Envelope describes a message: source, tag and size, without its data.
type Envelope struct {
	Source int    // rank of its sender
	Tag    uint64 //
	Size   uint64 // bytes
}

// Kind is what an operation does.
type Kind uint8

// The kinds of operations.
const (
	OpSend Kind = iota
	OpRecv
)

// AnySource stands for a rank, in Domain.Post: a receive takes a message from any process, the own one included.
const AnySource = -1

// Op is a send or a receive with all its options; Gate.Post and Domain.Post start it. The zero value of each field is the
// usual case, except that a receive with the zero Match takes a message with any tag: Tag(7) is for tag 7. An option of
// the other kind of operation is an ErrConfig.
type Op struct {
	Kind  Kind
	Match // of a send: its context and tag; Mask has no say

	Buf   []byte   // the message, or where it goes
	Parts [][]byte // or, if not nil: its parts, one after the other, which are not put together
	Data  Data     // or, if not nil: something that walks over them

	// Done is called when the request is done, instead of waking a thread that waits;
	// the request may be started again in it. Done, Choose and monitors are called
	// without any lock, by the thread that moves the gate on: perhaps by a hook of the
	// scheduler, so they must neither block nor wait nor call Cancel, but may start
	// requests. Calls on behalf of one gate come one at a time. If one panics the
	// program ends.
	Done  func(*Request)
	Queue *Queue // where the request goes when it is done; nil: nowhere

	// Of sends.

	// Buffer, unless it is the zero one, is used in place of Buf, Parts and Data: it is memory of Gate.Alloc, of the same
	// gate, and all of it is the message. The sender loans it to a receive that takes loans, and sends it to any other
	// receive as Buf. The send is done when the receiver has copied or released the message; until then another send of
	// the buffer fails with ErrActive.
	Buffer Buffer
	// Sync: the send is done only when the receiver has posted its receive. Else a
	// short message is done as soon as the network has all of it.
	Sync bool
	// Priority: under the strategy "priority" a message goes before those with a lower
	// one that wait for the same gate, unless they have the same tag.
	Priority int8

	// Buffered: the message is copied into the memory of Domain.Attach, and the request is done when Post returns; Done
	// and Queue are not for it. Post fails with ErrBuffer, and sends nothing, if there is no room. If the message is given
	// up later, the next buffered send of the domain, or Detach, returns the error, and monitors tell it.
	Buffered bool

	// Of receives.

	// Choose, if not nil, is asked for the buffer, instead of Buf, Parts and Data, when the
	// message, or its announcement, has come. It is called like Done.
	Choose func(Envelope) []byte
	// Loan: the receive takes a message that its sender lends (Gate.Alloc) where it lies, whatever its size, and uses none
	// of the above. Any other message goes there as usual. In both cases Request.Loan returns the message, unless there
	// was an error; the program must release it. If the message went into Parts or Data the Loan has no Bytes.
	Loan bool

	drops bool // of a receive of Context.Drop, which a revoked context allows
}

// check says why op cannot be started between that domain and that rank; nil: it can.
func (op *Op) check(d *Domain, rank int) error {
	switch {
	case op.Kind > OpRecv:
		return fmt.Errorf("nmad: %w: an operation of kind %d", ErrConfig, op.Kind)
	case op.Kind == OpRecv && (op.Buffer.block != nil || op.Sync || op.Priority != 0 || op.Buffered):
		return fmt.Errorf("nmad: %w: a receive with Buffer, Sync, Priority or Buffered, which are options of a send", ErrConfig)
	case op.Buffered && (op.Buffer.block != nil || op.Sync || op.Done != nil || op.Queue != nil):
		return fmt.Errorf("nmad: %w: a buffered send with Buffer, Sync, Done or Queue: it is done when Post returns", ErrConfig)
	case op.Kind == OpSend && (op.Choose != nil || op.Loan):
		return fmt.Errorf("nmad: %w: a send with Choose or Loan, which are options of a receive", ErrConfig)
	}
	if op.drops {
		return nil
	}
	return op.Context.check(d, rank)
}

// Post starts op with a request of the caller, which may have been used before: it allocates nothing. It fails with
// ErrActive, and starts nothing, while r is under way. The parts must stay as they are until the request is done; op and
// the slice of parts may be used again at once.
func (g *Gate) Post(r *Request, op *Op) error {
	if err := checkStart(g.accessError(), r, op != nil); err != nil {
		return err
	}
	if err := op.check(g.domain, g.rank); err != nil {
		return err
	}
	if op.Buffered {
		return g.sendBuffered(r, op)
	}
	if op.Buffer.block != nil {
		if err := op.Buffer.startSend(g, op); err != nil {
			return err
		}
	}
	if err := r.claim(); err != nil {
		if op.Buffer.block != nil {
			op.Buffer.block.sendDone()
		}
		return err
	}
	if op.Kind == OpSend {
		r.prepareSend(g, op)
	} else {
		r.prepareRecv(g, op)
		r.setAge(op.Mask)
	}
	g.submit(r)
	return nil
}

// Start is Post with a request of its own, which it returns. Errors show in Test and Wait.
func (g *Gate) Start(op *Op) *Request {
	r := &Request{}
	if err := g.Post(r, op); err != nil {
		return failed(err)
	}
	return r
}

// Post is Gate.Post at the gate to that rank, or, for a receive, with AnySource: Request.Source says from which rank the
// message came. If messages of several gates are there already, successive receives from any source begin with different
// gates; the messages of one gate are taken in the order of that gate. Such a receive fails when the domain is closed, or
// with ErrPeerLost when no other process is left.
func (d *Domain) Post(rank int, r *Request, op *Op) error {
	if err := checkStart(d.accessError(), r, op != nil); err != nil {
		return err
	}
	if rank != AnySource || op.Kind == OpSend {
		return d.Gate(rank).Post(r, op)
	}
	if err := op.check(d, d.s.cfg.Rank); err != nil {
		return err
	}
	if err := r.claim(); err != nil {
		return err
	}
	r.prepareRecv(d.ownGate(), op)
	r.useRare().setWild(r, op.Mask, false)
	d.startAny(r, op.Context)
	return nil
}

// Start is Post with a request of its own, which it returns. Errors show in Test and Wait.
func (d *Domain) Start(rank int, op *Op) *Request {
	r := &Request{}
	if err := d.Post(rank, r, op); err != nil {
		return failed(err)
	}
	return r
}

// Irecv starts to receive a message that m is for from any rank; see Post.
func (d *Domain) Irecv(m Match, buf []byte) *Request {
	return d.Start(AnySource, &Op{Kind: OpRecv, Match: m, Buf: buf})
}

// Recv receives a message that m is for from any rank, waits for it, and says what it
// was. With ErrTruncated Size is that of the whole message.
func (d *Domain) Recv(m Match, buf []byte) (Envelope, error) {
	r := d.Irecv(m, buf)
	err := r.Wait()
	return r.Envelope(), err
}

// prepareSend is prepare for a send that may be out of the ordinary.
func (r *Request) prepareSend(g *Gate, op *Op) {
	r.prepare(g, flow.OpSend, op.Context, op.Tag, op.Buf, flow.NotifyState)
	b := op.Buffer
	if op.Parts == nil && op.Data == nil && b.block == nil && !op.Sync && op.Priority == 0 && op.Done == nil && op.Queue == nil {
		return
	}
	c, x := &r.core, r.useRare()
	switch {
	case op.Data != nil:
		c.Describe(op.Data)
	case op.Parts != nil:
		c.Scatter(op.Parts)
	case b.block != nil: // which has begun
		if x.buffer = b.block; b.block.pool.memory.Card().PID != 0 {
			x.LoanPlace = &b.block.loanBody
		}
		c.Data.Set(b.bytes())
	}
	if op.Sync {
		x.Until = flow.Received
	}
	x.Priority, x.onDone = op.Priority, op.Done
	r.setQueue(x, op.Queue)
}

// setQueue says where r goes when it is done.
func (r *Request) setQueue(x *rare, q *Queue) {
	if x.queue = q; q != nil {
		q.moves(r.gate.waitEngine)
	}
}

// setAge says when a receive that takes tags by that mask was posted.
func (r *Request) setAge(mask uint64) {
	if any := r.gate.any; mask == exact {
		r.core.Entry.Age = any.Now()
	} else {
		r.core.Entry.Age = any.Stamp()
	}
}

// prepareRecv is prepare for a receive that may be out of the ordinary.
func (r *Request) prepareRecv(g *Gate, op *Op) {
	r.prepare(g, flow.OpRecv, op.Context, op.Tag, op.Buf, flow.NotifyState)
	if op.Parts == nil && op.Data == nil && op.Mask == exact && op.Choose == nil && op.Done == nil && op.Queue == nil && !op.Loan {
		return
	}
	c, x := &r.core, r.useRare()
	if op.Data != nil {
		c.Describe(op.Data)
	} else if op.Parts != nil {
		c.Scatter(op.Parts)
	}
	x.Loans, x.Chooses = op.Loan, op.Choose != nil
	x.chooser, x.onDone = op.Choose, op.Done
	r.setQueue(x, op.Queue)
	x.setWild(r, op.Mask, false)
}
