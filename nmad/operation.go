package nmad

import (
	"github.com/pm2-go/pm2/nmad/internal/flow"

	"github.com/pm2-go/pm2/nmad/internal/region"
)

// Envelope describes a message: source, tag and size, without its data.
type Envelope struct {
	Source int    // rank of its sender
	Tag    uint64 //
	Size   uint64 // bytes
}

// SendOp is a send with all its options; Gate.StartSend starts
// it. The zero value of each field is the usual case.
type SendOp struct {
	Context *Context // of the tag; nil: the one that messages have which name none
	Tag     uint64
	Buf     []byte   // the message
	Parts   [][]byte // or, if not nil: the message in parts, which are sent one after the other without being put together
	Data    Data     // or, if not nil: something that walks over the message

	// Buffer, in place of these, is memory of Gate.Alloc, of the same gate, and all of it the message. It is
	// lent to a receive that takes loans, and otherwise sent as Buf is. No other send of it may be under way (ErrActive).
	Buffer Buffer

	// Sync: the send is done only when the receiver has posted its receive. Else a
	// short message is done as soon as the network has all of it.
	Sync bool
	// Priority: under the strategy "priority" a message goes before those with a lower
	// one that wait for the same gate, unless they have the same tag.
	Priority int8

	Done  func(*Request) // called when it is done; see RecvOp
	Queue *Queue         // where it goes when it is done; nil: nowhere
}

// RecvOp is a receive with all its options; Gate.StartRecv
// and those of Domain and Session start it. The zero value of each field is the usual case, except that
// the zero Match takes a message with any tag: use Tag(7) for tag 7.
type RecvOp struct {
	Match
	Buf   []byte   // where the message goes
	Parts [][]byte // or, if not nil: places that it fills one after the other
	Data  Data     // or, if not nil: something that walks over these places

	// Choose, if not nil, is asked for the buffer, instead of Buf, Parts and Data, when the
	// message, or its announcement, has come. It is called like Done.
	Choose func(Envelope) []byte

	// Loan: the receive takes a message that its sender lends (Gate.Alloc) where it lies, whatever its size, and uses none of the
	// above. Any other message goes there as usual. Either way Request.Loan gives what has come, unless there was an error; it must be
	// released. Of a message that went into Parts or Data it has no Bytes.
	Loan bool

	// Done is called when the receive is done, instead of waking a thread that waits;
	// the request may be started again in it. Done, Choose and monitors are called
	// without any lock, by the thread that moves the gate on: perhaps by a hook of the
	// scheduler, so they must neither block nor wait nor call Cancel, but may start
	// requests. Calls on behalf of one gate come one at a time. If one panics the
	// program ends.
	Done  func(*Request)
	Queue *Queue // where the request goes when it is done; nil: nowhere
}

// StartSend starts a send with a request of the caller. It fails with ErrActive, and
// starts nothing, while r is under way. Neither op nor the slice of its parts, but the
// parts themselves, must stay as they are until it is done. It allocates nothing.
func (g *Gate) StartSend(r *Request, op *SendOp) error {
	if err := lacking(g.barred(), r, op != nil); err != nil {
		return err
	}
	if err := op.Context.allows(g.domain, g.rank); err != nil {
		return err
	}
	if op.Buffer.pool != nil {
		if err := op.Buffer.startSendOp(g, op); err != nil {
			return err
		}
	}
	if err := r.claim(); err != nil {
		if op.Buffer.pool != nil {
			op.Buffer.pool.sendDone(op.Buffer.page)
		}
		return err
	}
	r.prepareSend(g, op)
	g.submit(r)
	return nil
}

// prepareSend is prepare for a send that may be out of the ordinary.
func (r *Request) prepareSend(g *Gate, op *SendOp) {
	r.prepare(g, flow.OpSend, op.Tag, op.Buf, flow.ByState)
	r.core.Context = op.Context.id()
	b := op.Buffer
	if op.Parts == nil && op.Data == nil && b.pool == nil && !op.Sync && op.Priority == 0 && op.Done == nil && op.Queue == nil {
		return
	}
	c, x := &r.core, r.special()
	switch {
	case op.Data != nil:
		c.Describe(op.Data)
	case op.Parts != nil:
		c.Scatter(op.Parts)
	case b.pool != nil: // which has begun
		x.Lends, x.Place = true, b.page*region.PageSize
		c.Data.Set(b.bytes())
	}
	if op.Sync {
		x.Until = flow.Received
	}
	x.Priority, x.notify = op.Priority, op.Done
	r.setQueue(x, op.Queue)
}

// setQueue says where r goes when it is done.
func (r *Request) setQueue(x *rest, q *Queue) {
	if x.queue = q; q != nil {
		q.moves(r.gate.engine)
	}
}

// StartRecv starts a receive from this gate; see StartSend.
func (g *Gate) StartRecv(r *Request, op *RecvOp) error {
	if err := lacking(g.barred(), r, op != nil); err != nil {
		return err
	}
	if err := op.Context.allows(g.domain, g.rank); err != nil {
		return err
	}
	if err := r.claim(); err != nil {
		return err
	}
	r.prepareRecv(g, op)
	r.age(op.Mask)
	g.submit(r)
	return nil
}

// age says when a receive that takes tags by that mask was posted.
func (r *Request) age(mask uint64) {
	if any := r.gate.any; mask == exact {
		r.core.Entry.Age = any.Now()
	} else {
		r.core.Entry.Age = any.Stamp()
	}
}

// StartRecv starts a receive from any rank, the own one included; Request.Source
// says from which rank the message came. If messages of several gates are there already, successive receives begin
// with different gates; the messages of one gate are taken in the order of that gate. It
// fails when the domain is closed, or with ErrPeerLost when no other process is left.
func (d *Domain) StartRecv(r *Request, op *RecvOp) error {
	if err := lacking(d.barred(), r, op != nil); err != nil {
		return err
	}
	if err := op.Match.Context.allows(d, d.s.cfg.Rank); err != nil {
		return err
	}
	if err := r.claim(); err != nil {
		return err
	}
	d.launchRecv(r, op)
	return nil
}

func (d *Domain) launchRecv(r *Request, op *RecvOp) {
	r.prepareRecv(d.own(), op)
	r.special().Wild.Set(&r.core.Entry, op.Mask, false)
	d.startAny(r, op.Match.Context)
}

// prepareRecv is prepare for a receive that may be out of the ordinary.
func (r *Request) prepareRecv(g *Gate, op *RecvOp) {
	r.prepare(g, flow.OpRecv, op.Tag, op.Buf, flow.ByState)
	r.core.Context = op.Context.id()
	if op.Parts == nil && op.Data == nil && op.Mask == exact && op.Choose == nil && op.Done == nil && op.Queue == nil && !op.Loan {
		return
	}
	c, x := &r.core, r.special()
	if op.Data != nil {
		c.Describe(op.Data)
	} else if op.Parts != nil {
		c.Scatter(op.Parts)
	}
	x.Loans, x.Chooses = op.Loan, op.Choose != nil
	x.chooser, x.notify = op.Choose, op.Done
	r.setQueue(x, op.Queue)
	x.Wild.Set(&c.Entry, op.Mask, false)
}

// isend is StartSend with a request of its own.
func isend(g *Gate, op *SendOp) *Request {
	if err := g.barred(); err != nil {
		return failed(err)
	}
	r := &Request{}
	r.prepareSend(g, op)
	g.submit(r)
	return r
}

// irecv is StartRecv with a request of its own.
func irecv(g *Gate, op *RecvOp) *Request {
	if err := g.barred(); err != nil {
		return failed(err)
	}
	if err := op.Context.allows(g.domain, g.rank); err != nil {
		return failed(err)
	}
	r := &Request{}
	r.prepareRecv(g, op)
	r.age(op.Mask)
	g.submit(r)
	return r
}

// Issend is Isend, but done only when the receiver has posted its receive (a
// synchronous send).
func (g *Gate) Issend(tag uint64, buf []byte) *Request {
	return isend(g, &SendOp{Tag: tag, Buf: buf, Sync: true})
}

// Ssend sends buf as one message and returns once the receiver has posted its receive.
func (g *Gate) Ssend(tag uint64, buf []byte) error { return g.Issend(tag, buf).Wait() }

// IsendParts is Isend of a message that lies in several places.
func (g *Gate) IsendParts(tag uint64, parts [][]byte) *Request {
	return isend(g, &SendOp{Tag: tag, Parts: parts})
}

// IrecvParts is Irecv of a message into several places.
func (g *Gate) IrecvParts(tag uint64, parts [][]byte) *Request {
	return irecv(g, &RecvOp{Match: Tag(tag), Parts: parts})
}

// IsendData is Isend of a message that d walks over.
func (g *Gate) IsendData(tag uint64, d Data) *Request {
	return isend(g, &SendOp{Tag: tag, Data: d})
}

// IrecvData is Irecv of a message into the places that d walks over.
func (g *Gate) IrecvData(tag uint64, d Data) *Request {
	return irecv(g, &RecvOp{Match: Tag(tag), Data: d})
}

// IrecvMatch is Irecv of the next message that m is for.
func (g *Gate) IrecvMatch(m Match, buf []byte) *Request {
	return irecv(g, &RecvOp{Match: m, Buf: buf})
}

// Irecv starts to receive a message that m is for from any rank; see StartRecv.
func (d *Domain) Irecv(m Match, buf []byte) *Request {
	return d.irecv(&RecvOp{Match: m, Buf: buf})
}

func (d *Domain) irecv(op *RecvOp) *Request {
	if err := d.barred(); err != nil {
		return failed(err)
	}
	if err := op.Match.Context.allows(d, d.s.cfg.Rank); err != nil {
		return failed(err)
	}
	r := &Request{}
	d.launchRecv(r, op)
	return r
}

// Recv receives a message that m is for from any rank, waits for it, and says what it
// was. With ErrTruncated Size is that of the whole message.
func (d *Domain) Recv(m Match, buf []byte) (Envelope, error) {
	r := d.Irecv(m, buf)
	err := r.Wait()
	return r.Envelope(), err
}
