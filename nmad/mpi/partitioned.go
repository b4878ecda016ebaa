package mpi

import (
	"encoding/binary"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"

	"github.com/pm2-go/pm2/nmad"
)

// Partitioned is a message, sent or received again and again, whose parts travel one by one: the sender says of each
// when it is ready, and the receiver sees which have arrived. The two may have different numbers of parts. Start
// begins a round; Wait ends it. Ready and Arrived may be called by any number of threads at once.
type Partitioned struct {
	*Request
	comm  *Comm
	b     Buffer
	parts int // of this side
	peer  int
	tag   uint64 // of all messages; that of a part has its number
	sends bool
	empty bool // to or from no process

	theirs  int // parts of the sender, as the receiver knows them; 0: not yet
	header  [16]byte
	first   nmad.Request
	request []nmad.Request // by part of the sender
	arrived []atomic.Bool  // likewise
	ready   []atomic.Bool
	left    atomic.Int64 // parts under way, or not ready

	mu     sync.Mutex
	err    error
	active bool
}

// The tag of a message of a partitioned one: ofParts, the tag of the user, which of those with that tag, and the part.
const (
	maxParts = 1<<20 - 1 // the number that stands for how many parts there are
	ofTurns  = 1<<12 - 1
)

// partitionedKey tells partitioned messages apart.
type partitionedKey struct {
	peer, tag int
	sends     bool
}

// NewPartitionedSend makes a partitioned message of b, in as many equal parts, to a rank. The receiver calls
// NewPartitionedReceive; of
// several with one tag the first belongs to the first.
func NewPartitionedSend(c *Comm, b Buffer, parts, to, tag int) (*Partitioned, error) {
	p, err := c.partitioned("partitioned send", b, parts, to, tag, true)
	if err != nil || p.empty {
		return p, err
	}
	binary.LittleEndian.PutUint64(p.header[:], uint64(parts))
	binary.LittleEndian.PutUint64(p.header[8:], uint64(b.Size()))
	p.theirs = parts
	p.request, p.ready = make([]nmad.Request, parts), make([]atomic.Bool, parts)
	return p, c.collective.IsendInto(&p.first, c.group.job[to], p.tag|maxParts, p.header[:])
}

// NewPartitionedReceive is the other side of NewPartitionedSend.
func NewPartitionedReceive(c *Comm, b Buffer, parts, from, tag int) (*Partitioned, error) {
	return c.partitioned("partitioned receive", b, parts, from, tag, false)
}

func (c *Comm) partitioned(what string, b Buffer, parts, peer, tag int, sends bool) (*Partitioned, error) {
	p := &Partitioned{Request: NewRequest(nil), comm: c, b: b, parts: parts, peer: peer, sends: sends}
	p.Request.comm = c
	p.extra.generalized.completion.Signal(finished) // it counts as done until it is started
	p.extra.generalized.status = noStatus
	if peer == ProcNull {
		p.empty = true
		return p, c.usable()
	}
	if err := c.addressed(what, peer, tag); err != nil {
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

// Start begins a round. nmad.ErrActive: the one before is under way. A sender's parts are not ready then.
func (p *Partitioned) Start() error {
	if p.empty {
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
	p.extra.generalized.completion.Reset()
	if p.sends {
		for i := range p.ready {
			p.ready[i].Store(false)
		}
		p.left.Store(int64(p.parts))
		return nil
	}
	if p.theirs > 0 {
		p.receive()
		return nil
	}
	op := nmad.Op{Kind: nmad.OpRecv, Match: nmad.Tag(p.tag | maxParts), Buf: p.header[:], Done: p.gotHeader}
	op.Context = p.comm.collective
	if err := p.comm.gates[p.peer].Post(&p.first, &op); err != nil {
		p.ended(err)
	}
	return nil
}

// gotHeader is called when the sender has said how many parts it has.
func (p *Partitioned) gotHeader(r *nmad.Request) {
	_, err := r.Test()
	parts, size := int(binary.LittleEndian.Uint64(p.header[:])), int(binary.LittleEndian.Uint64(p.header[8:]))
	switch {
	case err != nil:
	case size != p.b.Size() || parts < 1 || parts >= maxParts:
		err = fmt.Errorf("%w: it sends %d bytes in %d parts, of which %d are expected", ErrCount, size, parts, p.b.Size())
	case p.b.Count%parts != 0:
		err = fmt.Errorf("%w: it sends %d parts of %d bytes, which are no whole elements here", ErrCount, parts, size/parts)
	}
	if err != nil {
		p.ended(fmt.Errorf("mpi: partitioned message, rank %d: %w", p.peer, err))
		return
	}
	p.theirs = parts
	p.request, p.arrived = make([]nmad.Request, parts), make([]atomic.Bool, parts)
	p.receive()
}

// receive starts to receive all parts.
func (p *Partitioned) receive() {
	for i := range p.arrived {
		p.arrived[i].Store(false)
	}
	p.left.Store(int64(p.theirs))
	for i := range p.theirs {
		p.start(i, nmad.OpRecv)
	}
}

// start starts the message of a part.
func (p *Partitioned) start(i int, kind nmad.Kind) {
	each := p.b.Count / p.theirs
	part := p.b.Part(i*each, each)
	op := nmad.Op{Kind: kind, Match: nmad.Tag(p.tag | uint64(i))}
	op.Context = p.comm.collective
	op.Done = func(r *nmad.Request) {
		_, err := r.Test()
		if kind == nmad.OpRecv && err == nil {
			p.arrived[i].Store(true)
		}
		p.part(err)
	}
	var whole bool
	if op.Buf, whole = part.Dense(); !whole {
		op.Data = &part
	}
	if err := p.comm.gates[p.peer].Post(&p.request[i], &op); err != nil {
		p.part(err)
	}
}

// part notes that a part has ended.
func (p *Partitioned) part(err error) {
	if err != nil {
		p.mu.Lock()
		p.err = errors.Join(p.err, err)
		p.mu.Unlock()
	}
	if p.left.Add(-1) == 0 {
		p.ended(nil)
	}
}

// ended ends the round.
func (p *Partitioned) ended(err error) {
	p.mu.Lock()
	if p.err == nil {
		p.err = err
	}
	err = p.err
	p.active = false
	p.mu.Unlock()
	s := Status{Source: p.peer, Tag: int(p.tag >> 32 & MaxTag), Bytes: p.b.Size()}
	if p.sends {
		s = noStatus
	}
	p.Complete(s, err)
}

// Ready says that these parts of a sender may leave. ErrRequest: the message is received here, was not started, or
// the part is ready already.
func (p *Partitioned) Ready(parts ...int) error {
	for _, i := range parts {
		switch {
		case p.empty:
			continue
		case !p.sends || i < 0 || i >= p.parts || p.extra.generalized.completion.Test(finished):
			return fmt.Errorf("mpi: ready: %w: part %d of %d, of a message that is sent: %v, and was started: %v", ErrRequest, i, p.parts, p.sends, !p.extra.generalized.completion.Test(finished))
		case p.ready[i].Swap(true):
			return fmt.Errorf("mpi: ready: %w: part %d is ready already", ErrRequest, i)
		}
		p.start(i, nmad.OpSend)
	}
	return nil
}

// Arrived says whether a part of a receiver has come, of as many as the receiver has. Of a message that was not
// started all have.
func (p *Partitioned) Arrived(part int) (bool, error) {
	if p.empty {
		return true, nil
	}
	if p.sends || part < 0 || part >= p.parts {
		return false, fmt.Errorf("mpi: arrived: %w: part %d of %d, of a message that is received: %v", ErrRequest, part, p.parts, !p.sends)
	}
	if over, _, err := p.Test(); over {
		return true, err
	}
	p.comm.domain.Engine().Poll()
	if p.left.Load() == 0 {
		return p.extra.generalized.completion.Test(finished), nil
	}
	// Parts of the sender that have some of this one; theirs is written before left.
	for i := part * p.theirs / p.parts; i < p.theirs && i*p.parts < (part+1)*p.theirs; i++ {
		if !p.arrived[i].Load() {
			return false, nil
		}
	}
	return true, nil
}
