package nmad

import (
	"fmt"

	"github.com/pm2-go/pm2/nmad/internal/flow"
)

// Envelope describes a message without its data.
type Envelope struct {
	Source int    // rank of its sender
	Tag    uint64 // its tag
	Size   uint64 // length of the whole message, in bytes
}

// OperationKind says what an operation does.
type OperationKind uint8

const (
	KindSend OperationKind = iota // the operation sends a message
	KindRecv                      // the operation receives a message
)

// AnySource takes the place of a rank in Domain.Post: the receive takes a message from any process, this one included.
const AnySource = -1

// Operation is a send or a receive with all its options; Gate.Post and Domain.Post start it. The zero value of each
// field is the usual case, except that a receive with the zero Match takes a message with any tag; Tag(7) is the Match
// for tag 7. An option that belongs to the other kind of operation is an ErrConfig.
type Operation struct {
	Kind OperationKind
	// Match is the context and the tag of a send, whose Mask is ignored, or says which messages a receive takes.
	Match

	// The message, or where it goes, is one of these three; the first one that is not nil in the order Data, Parts,
	// Buf.
	Buf   []byte   // one piece of memory
	Parts [][]byte // several pieces, one after the other; they are never put together
	Data  Data     // pieces that methods describe

	// Done is called when the request is done, in place of waking a waiter. It may start the request again.
	//
	// Done, Choose and monitors are called without any lock, by the thread that polls the gate, which may be in a hook
	// of the scheduler. So they must neither block nor wait, nor call Cancel; they may start requests. Calls for one
	// gate come one at a time. If a call panics, the program ends.
	Done func(*Request)
	// Queue gets the request when it is done; see Session.NewQueue.
	Queue *Queue

	// Options of a send.

	// Buffer, unless it is the zero Buffer, takes the place of Buf, Parts and Data: memory of Gate.Alloc of the same
	// gate, all of which is the message. The sender loans the message to a receive that takes loans, and sends it to
	// any other receive as it sends Buf. The send is done when the receiver has copied or released the message; until
	// then another send of the buffer fails with ErrActive.
	Buffer Buffer
	// Sync makes the send done only when its receive is posted. Without it the send of a short message is done when the
	// network has all of it.
	Sync bool
	// Priority orders messages that wait for the same gate under the strategy "priority": a message goes before those
	// with a lower Priority and another tag.
	Priority int8
	// Buffered copies the message into the memory of Domain.Attach, so that the request is done when Post returns; it
	// must not have Done or Queue. Post fails with ErrBuffer, and sends nothing, if there is no room. If the message
	// fails later, the next buffered send of the domain, or Detach, returns the error, and monitors get it.
	Buffered bool

	// Options of a receive.

	// Choose, if not nil, is called when the message, or its announcement, has come, and returns the buffer for it, in
	// place of Buf, Parts and Data. Done says how it is called.
	Choose func(Envelope) []byte
	// Loan makes the receive take a message that its sender lends (Gate.Alloc) where it lies, whatever its size, and
	// use no buffer. Any other message goes into the buffer as usual. In both cases Request.Loan returns the message,
	// unless the request has failed, and the program must release it. If the message went into Parts or Data, the Loan
	// has no Bytes.
	Loan bool

	drops bool // a receive of Context.Drop, which is allowed in a revoked context
}

// check fails if op cannot be started at a gate of that domain to that rank.
func (op *Operation) check(d *Domain, rank int) error {
	switch {
	case op.Kind > KindRecv:
		return fmt.Errorf("nmad: %w: an operation of kind %d", ErrConfig, op.Kind)
	case op.Kind == KindRecv && (op.Buffer.block != nil || op.Sync || op.Priority != 0 || op.Buffered):
		return fmt.Errorf("nmad: %w: a receive with Buffer, Sync, Priority or Buffered, which are options of a send", ErrConfig)
	case op.Buffered && (op.Buffer.block != nil || op.Sync || op.Done != nil || op.Queue != nil):
		return fmt.Errorf("nmad: %w: a buffered send with Buffer, Sync, Done or Queue: it is done when Post returns", ErrConfig)
	case op.Kind == KindSend && (op.Choose != nil || op.Loan):
		return fmt.Errorf("nmad: %w: a send with Choose or Loan, which are options of a receive", ErrConfig)
	}
	if op.drops {
		return nil
	}
	return op.Context.check(d, rank)
}

// Post starts op with a request of the caller, which may have been used before. It allocates nothing, and does not
// block; callbacks may call it. It fails with ErrActive, and starts nothing, while r is under way. Afterwards the
// caller may change op and the slice Parts at once; the memory of the message belongs to the gate until the request is
// done.
func (g *Gate) Post(r *Request, op *Operation) error {
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
	if op.Kind == KindSend {
		r.prepareSend(g, op)
	} else {
		r.prepareRecv(g, op)
		r.setAge(op.Mask)
	}
	g.submit(r)
	return nil
}

// Start is Post with a new request, which it returns. Test and Wait of the request return errors.
func (g *Gate) Start(op *Operation) *Request {
	r := &Request{}
	if err := g.Post(r, op); err != nil {
		return failed(err)
	}
	return r
}

// Post is Gate.Post at the gate to a rank. For a receive the rank may be AnySource: then the receive takes a message
// from any process, and Request.Source returns its rank. If messages of several processes are there already, successive
// receives begin with different processes; the messages of one process are taken in their order. A receive from any
// source fails with ErrClosed when the domain is closed, and with ErrPeerLost when no other process is left.
func (d *Domain) Post(rank int, r *Request, op *Operation) error {
	if err := checkStart(d.accessError(), r, op != nil); err != nil {
		return err
	}
	if rank != AnySource || op.Kind == KindSend {
		return d.Gate(rank).Post(r, op)
	}
	if err := op.check(d, d.session.cfg.Rank); err != nil {
		return err
	}
	if err := r.claim(); err != nil {
		return err
	}
	r.prepareRecv(d.ownGate(), op)
	r.useExtras().setWild(r, op.Mask, false)
	d.startAny(r, op.Context)
	return nil
}

// Start is Post with a new request, which it returns. Test and Wait of the request return errors.
func (d *Domain) Start(rank int, op *Operation) *Request {
	r := &Request{}
	if err := d.Post(rank, r, op); err != nil {
		return failed(err)
	}
	return r
}

// Irecv starts to receive a message that m matches from any rank into buf; see Post.
func (d *Domain) Irecv(m Match, buf []byte) *Request {
	return d.Start(AnySource, &Operation{Kind: KindRecv, Match: m, Buf: buf})
}

// Recv receives a message that m matches from any rank into buf, and returns its envelope. With ErrTruncated, Size is
// that of the whole message. Recv blocks the calling thread or goroutine only.
func (d *Domain) Recv(m Match, buf []byte) (Envelope, error) {
	r := d.Irecv(m, buf)
	err := r.Wait()
	return r.Envelope(), err
}

// prepareSend is prepare for a send with options.
func (r *Request) prepareSend(g *Gate, op *Operation) {
	r.prepare(g, flow.RequestSend, op.Context, op.Tag, op.Buf, flow.NotifyState)
	b := op.Buffer
	if op.Parts == nil && op.Data == nil && b.block == nil && !op.Sync && op.Priority == 0 &&
		op.Done == nil && op.Queue == nil {
		return
	}
	c, x := &r.core, r.useExtras()
	switch {
	case op.Data != nil:
		c.Describe(op.Data)
	case op.Parts != nil:
		c.Scatter(op.Parts)
	case b.block != nil: // startSend has marked it
		if x.buffer = b.block; b.block.pool.memory.Locator().PID != 0 {
			x.LoanPlace = &b.block.loanBody
		}
		c.Data.Set(b.bytes())
	}
	x.Sync, x.Priority, x.onDone = op.Sync, op.Priority, op.Done
	r.setQueue(x, op.Queue)
}

// setQueue sets the completion queue of r, which may be nil.
func (r *Request) setQueue(x *extras, q *Queue) {
	if x.queue = q; q != nil {
		q.moves(r.gate.waitEngine)
	}
}

// setAge sets the age of a receive with that mask, which is posted now (match.AnyList).
func (r *Request) setAge(mask uint64) {
	if anyList := r.gate.anyList; mask == exact {
		r.core.Entry.Age = anyList.Now()
	} else {
		r.core.Entry.Age = anyList.Stamp()
	}
}

// prepareRecv is prepare for a receive with options.
func (r *Request) prepareRecv(g *Gate, op *Operation) {
	r.prepare(g, flow.RequestRecv, op.Context, op.Tag, op.Buf, flow.NotifyState)
	if op.Parts == nil && op.Data == nil && op.Mask == exact && op.Choose == nil && !op.Loan &&
		op.Done == nil && op.Queue == nil {
		return
	}
	c, x := &r.core, r.useExtras()
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
