package mpi

import (
	"encoding/binary"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"

	"github.com/pm2-go/pm2/nmad"
)

// Partitioned is a message, sent or received again and again, whose parts travel one by one: the sender says when each
// part is ready, and the receiver sees which parts have arrived. The two may have different numbers of parts. Start
// begins a round; Wait ends it. Ready and Arrived may be called by any number of threads at once.
type Partitioned struct {
	*Request // of the round
	comm     *Comm
	buffer   Buffer
	parts    int    // how many this side has
	peer     int    // rank of the other side
	tag      uint64 // the bits that the tags of the header and of all parts have
	sends    bool
	noPeer   bool // peer is ProcNull

	senderParts   int      // how many parts the sender has; 0: the receiver does not know yet; written before remaining
	header        [16]byte // the number of parts of the sender, and the size of the message in bytes
	headerRequest nmad.Request
	requests      []nmad.Request // by part of the sender
	arrived       []atomic.Bool  // of a receiver, by part of the sender
	ready         []atomic.Bool  // of a sender, by part
	remaining     atomic.Int64   // parts of the sender that have not left, or come, in this round

	mu     sync.Mutex // guards the fields below
	err    error      // of this round
	active bool       // a round has begun, and has not ended
}

// The tag of a part has ofParts, the tag of the program, the number of the partitioned message among those with that
// tag (modulo ofTurns+1), and the number of the part.
const (
	maxParts = 1<<20 - 1 // as the number of a part: that of the header
	ofTurns  = 1<<12 - 1
)

// partitionedKey names the partitioned messages that only their order tells apart.
type partitionedKey struct {
	peer, tag int
	sends     bool
}

// NewPartitionedSend makes a partitioned message of b, in parts of equal length, to a rank. The receiver calls
// NewPartitionedReceive; if there are several with one tag, the i-th send belongs to the i-th receive. ErrCount: parts
// is below 1, above 1,048,574, or does not divide the number of elements.
func NewPartitionedSend(c *Comm, b Buffer, parts, to, tag int) (*Partitioned, error) {
	p, err := c.partitioned("partitioned send", b, parts, to, tag, true)
	if err != nil || p.noPeer {
		return p, err
	}
	binary.LittleEndian.PutUint64(p.header[:], uint64(parts))
	binary.LittleEndian.PutUint64(p.header[8:], uint64(b.Size()))
	p.senderParts = parts
	p.requests, p.ready = make([]nmad.Request, parts), make([]atomic.Bool, parts)
	return p, c.collective.IsendInto(&p.headerRequest, c.group.job[to], p.tag|maxParts, p.header[:])
}

// NewPartitionedReceive is the other side of NewPartitionedSend.
func NewPartitionedReceive(c *Comm, b Buffer, parts, from, tag int) (*Partitioned, error) {
	return c.partitioned("partitioned receive", b, parts, from, tag, false)
}

// partitioned makes a partitioned message, which the call what asks for.
func (c *Comm) partitioned(what string, b Buffer, parts, peer, tag int, sends bool) (*Partitioned, error) {
	p := &Partitioned{Request: NewRequest(nil), comm: c, buffer: b, parts: parts, peer: peer, sends: sends}
	p.Request.comm = c
	p.extrasPtr.generalized.completion.Signal(bitDone) // it counts as done until it is started
	p.extrasPtr.generalized.status = noStatus
	if peer == ProcNull {
		p.noPeer = true
		return p, c.usable()
	}
	if err := c.checkPeer(what, peer, tag); err != nil {
		return nil, err
	}
	if parts < 1 || parts >= maxParts || b.Count%parts != 0 {
		return nil, fmt.Errorf("mpi: %s, rank %d: %w: %d elements in %d parts", what, peer, ErrCount, b.Count, parts)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.pairs == nil {
		c.pairs = map[partitionedKey]uint64{}
	}
	x := partitionedKey{peer, tag, sends}
	p.tag = ofParts | uint64(tag)<<32 | c.pairs[x]&ofTurns<<20
	c.pairs[x]++
	return p, nil
}

// Start begins a round, in which no part of a sender is ready yet. It does not block. nmad.ErrActive: the round before
// has not ended.
func (p *Partitioned) Start() error {
	if p.noPeer {
		return nil
	}
	if err := p.comm.usable(); err != nil {
		return err
	}
	p.mu.Lock()
	if p.active {
		p.mu.Unlock()
		return fmt.Errorf("mpi: start: %w", nmad.ErrActive)
	}
	p.active, p.err = true, nil
	p.mu.Unlock()
	p.extrasPtr.generalized.completion.Reset()
	if p.sends {
		for i := range p.ready {
			p.ready[i].Store(false)
		}
		p.remaining.Store(int64(p.parts))
		return nil
	}
	if p.senderParts > 0 {
		p.receive()
		return nil
	}
	op := nmad.Operation{Kind: nmad.KindRecv, Match: nmad.Tag(p.tag | maxParts), Buf: p.header[:], Done: p.gotHeader}
	op.Context = p.comm.collective
	if err := p.comm.gates[p.peer].Post(&p.headerRequest, &op); err != nil {
		p.endRound(err)
	}
	return nil
}

// gotHeader is called when the header of the sender has come.
func (p *Partitioned) gotHeader(r *nmad.Request) {
	_, err := r.Test()
	parts, size := int(binary.LittleEndian.Uint64(p.header[:])), int(binary.LittleEndian.Uint64(p.header[8:]))
	switch {
	case err != nil:
	case size != p.buffer.Size() || parts < 1 || parts >= maxParts:
		err = fmt.Errorf("%w: it sends %d bytes in %d parts, of which %d are expected", ErrCount, size, parts, p.buffer.Size())
	case p.buffer.Count%parts != 0:
		err = fmt.Errorf("%w: it sends %d parts of %d bytes, which are no whole elements here", ErrCount, parts, size/parts)
	}
	if err != nil {
		p.endRound(fmt.Errorf("mpi: partitioned message, rank %d: %w", p.peer, err))
		return
	}
	p.senderParts = parts
	p.requests, p.arrived = make([]nmad.Request, parts), make([]atomic.Bool, parts)
	p.receive()
}

// receive starts to receive all parts of a round.
func (p *Partitioned) receive() {
	for i := range p.arrived {
		p.arrived[i].Store(false)
	}
	p.remaining.Store(int64(p.senderParts))
	for i := range p.senderParts {
		p.start(i, nmad.KindRecv)
	}
}

// start starts the message of a part.
func (p *Partitioned) start(i int, kind nmad.OperationKind) {
	each := p.buffer.Count / p.senderParts
	part := p.buffer.Part(i*each, each)
	op := nmad.Operation{Kind: kind, Match: nmad.Tag(p.tag | uint64(i))}
	op.Context = p.comm.collective
	op.Done = func(r *nmad.Request) {
		_, err := r.Test()
		if kind == nmad.KindRecv && err == nil {
			p.arrived[i].Store(true)
		}
		p.partDone(err)
	}
	var whole bool
	if op.Buf, whole = part.Dense(); !whole {
		op.Data = &part
	}
	if err := p.comm.gates[p.peer].Post(&p.requests[i], &op); err != nil {
		p.partDone(err)
	}
}

// partDone counts a part that has left or come, or has failed.
func (p *Partitioned) partDone(err error) {
	if err != nil {
		p.mu.Lock()
		p.err = errors.Join(p.err, err)
		p.mu.Unlock()
	}
	if p.remaining.Add(-1) == 0 {
		p.endRound(nil)
	}
}

// endRound completes the request of the round.
func (p *Partitioned) endRound(err error) {
	p.mu.Lock()
	if p.err == nil {
		p.err = err
	}
	err = p.err
	p.active = false
	p.mu.Unlock()
	s := Status{Source: p.peer, Tag: int(p.tag >> 32 & MaxTag), Bytes: p.buffer.Size()}
	if p.sends {
		s = noStatus
	}
	p.Complete(s, err)
}

// Ready lets these parts of a sender leave. It does not block. ErrRequest: this is the receiver, there is no such part,
// the message was not started, or the part is ready already.
func (p *Partitioned) Ready(parts ...int) error {
	for _, i := range parts {
		switch {
		case p.noPeer:
			continue
		case !p.sends || i < 0 || i >= p.parts || p.extrasPtr.generalized.completion.Test(bitDone):
			return fmt.Errorf("mpi: ready: %w: part %d of %d, of a message that is sent: %v, and was started: %v", ErrRequest, i, p.parts, p.sends, !p.extrasPtr.generalized.completion.Test(bitDone))
		case p.ready[i].Swap(true):
			return fmt.Errorf("mpi: ready: %w: part %d is ready already", ErrRequest, i)
		}
		p.start(i, nmad.KindSend)
	}
	return nil
}

// Arrived reports whether a part of a receiver, which counts its own parts, has come. It makes progress, and does not
// block. Of a message that was not started all parts have. ErrRequest: this is the sender, or there is no such part.
func (p *Partitioned) Arrived(part int) (bool, error) {
	if p.noPeer {
		return true, nil
	}
	if p.sends || part < 0 || part >= p.parts {
		return false, fmt.Errorf("mpi: arrived: %w: part %d of %d, of a message that is received: %v", ErrRequest, part, p.parts, !p.sends)
	}
	if over, _, err := p.Test(); over {
		return true, err
	}
	p.comm.domain.Engine().Poll()
	if p.remaining.Load() == 0 {
		return p.extrasPtr.generalized.completion.Test(bitDone), nil
	}
	// Parts of the sender that have some of this one; senderParts is written before remaining.
	for i := part * p.senderParts / p.parts; i < p.senderParts && i*p.parts < (part+1)*p.senderParts; i++ {
		if !p.arrived[i].Load() {
			return false, nil
		}
	}
	return true, nil
}
