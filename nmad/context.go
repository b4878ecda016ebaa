package nmad

import (
	"errors"
	"fmt"
	"slices"
	"sync/atomic"

	"github.com/pm2-go/pm2/marcel"
	"github.com/pm2-go/pm2/nmad/internal/contexts"
	"github.com/pm2-go/pm2/nmad/internal/flow"
	"github.com/pm2-go/pm2/nmad/internal/match"
)

// Context is a name space of tags for messages between some processes of a domain, its group: a receive or a probe in
// one context never finds a message of another. Match.Context names it, in a receive, a probe or an Operation;
// operations that name none share a context whose group is the job. Domain.OpenContext opens a Context. Safe for
// concurrent use.
type Context struct {
	domain  *Domain
	number  uint16
	anyList *match.AnyList[flow.Request] // its group, and its receives from any source

	describe atomic.Pointer[func(tag, mask uint64) string] // set by Describe; nil before

	revoked   atomic.Bool // set by Revoke of any process, as soon as this one knows
	dropping  atomic.Bool // set by Drop
	hasAgreed atomic.Bool // its group takes part in agreements
}

// maxContexts is the largest number of open contexts of a domain. Each takes some hundred bytes at each gate of its
// group.
const maxContexts = 24 << 10

// OpenContext opens the context of a number, 2 to 65535, for messages between these ranks, among which is that of this
// process. Each of these processes opens the context with the same ranks, at any time: a message that comes earlier
// waits. The context stays open until it, or the domain, is closed. CONTEXTS.md lists the numbers that packages of the
// library use. OpenContext fails with ErrConfig for a number that is out of range or in use, with ErrRank for wrong
// ranks, and with ErrClosed after Close.
func (d *Domain) OpenContext(number int, ranks ...int) (*Context, error) {
	if err := d.accessError(); err != nil {
		return nil, err
	}
	group := match.NewGroup(len(d.gates))
	for _, rank := range ranks {
		if rank < 0 || rank >= len(d.gates) {
			return nil, fmt.Errorf("nmad: context %d: %w: %d, the job has 0 to %d", number, ErrRank, rank, len(d.gates)-1)
		}
		group.Add(rank)
	}
	switch own := d.session.cfg.Rank; {
	case number <= int(flow.DefaultContext) || number > contexts.Last:
		return nil, fmt.Errorf("nmad: context %d: %w: a number from %d to %d", number, ErrConfig, flow.DefaultContext+1, contexts.Last)
	case !group.Has(own):
		return nil, fmt.Errorf("nmad: context %d: %w: the own rank %d is not among %v", number, ErrRank, own, ranks)
	}
	c := &Context{domain: d, number: uint16(number), anyList: d.anyList.Sibling(group, d.session.cfg.Rank, &marcel.SpinLock{})}
	if err := d.addContext(c); err != nil {
		return nil, err
	}
	for _, g := range d.gates.all {
		h := g.enter()
		h.open(c)
		h.unlock()
	}
	if why := d.closing.Load(); why != nil { // Close may have walked over the contexts before this one was added
		c.anyList.Close(*why)
		return nil, *why
	}
	if d.number == 0 && d.session.agreements.pendingCount.Load() > 0 { // after addContext
		d.session.agreements.post(func() { d.session.agreements.takePending(c.number) })
	}
	return c, nil
}

// Close closes the context, so that its number may be used for another one. It fails with ErrActive, and leaves the
// context open, if a receive, a probe or an unexpected message waits in it here, if its group has agreed on something,
// or if it was revoked. The program must not use the context during Close, nor afterwards. Sends that are under way go
// on. A process that has not closed the context yet may still send in it: such a message waits for the next context of
// that number, so programs that use numbers again must tell these messages apart by their tags. Close does not block.
func (c *Context) Close() error {
	if c == nil {
		return fmt.Errorf("nmad: %w: no context", ErrConfig)
	}
	busy := !c.anyList.Empty() || c.hasAgreed.Load() || c.dropping.Load()
	for _, g := range c.domain.gates.all {
		if c.anyList.Group().Has(g.rank) {
			h := g.enter()
			busy = busy || !h.flow.ContextIdle(c.number)
			h.unlock()
		}
	}
	if busy {
		return fmt.Errorf("nmad: close context %d: %w: receives, probes or messages wait in it, or its group has agreed", c.number, ErrActive)
	}
	c.domain.dropContext(c)
	for _, g := range c.domain.gates.all {
		h := g.enter()
		if i := slices.Index(h.contexts, c); i >= 0 {
			h.contexts = slices.Delete(h.contexts, i, i+1)
			h.flow.Unjoin(c.number)
		}
		h.unlock()
	}
	return nil
}

// Describe makes WriteWaits write what f returns for a message of this context, in place of its tag. mask has the bits
// in which the tag of a message must agree with that of a receive or a probe. Any thread may call f, which must not
// wait.
func (c *Context) Describe(f func(tag, mask uint64) string) {
	if c != nil {
		c.describe.Store(&f)
	}
}

// Send is Gate.Send to a rank of the group, in this context: the short way, without an Operation.
func (c *Context) Send(to int, tag uint64, buf []byte) error {
	g, err := c.gate(to)
	if err != nil {
		return err
	}
	return g.sendIn(c, tag, buf)
}

// Recv is Gate.Recv from a rank of the group, in this context. Size of the envelope is that of the whole message, also
// with ErrTruncated.
func (c *Context) Recv(from int, tag uint64, buf []byte) (Envelope, error) {
	g, err := c.gate(from)
	if err != nil {
		return Envelope{}, err
	}
	_, size, err := g.recvIn(c, tag, buf)
	return Envelope{Source: from, Tag: tag, Size: size}, err
}

// IsendInto is Gate.IsendInto to a rank of the group, in this context.
func (c *Context) IsendInto(r *Request, to int, tag uint64, buf []byte) error {
	g, err := c.gateFor(r, to)
	if err == nil {
		g.send(r, c, tag, buf)
	}
	return err
}

// IrecvInto is Gate.IrecvInto from a rank of the group, in this context.
func (c *Context) IrecvInto(r *Request, from int, tag uint64, buf []byte) error {
	g, err := c.gateFor(r, from)
	if err == nil {
		g.recv(r, c, tag, buf)
	}
	return err
}

// gateFor is gate that also claims a request of the caller's.
func (c *Context) gateFor(r *Request, rank int) (*Gate, error) {
	g, err := c.gate(rank)
	if err := checkStart(err, r, true); err != nil {
		return nil, err
	}
	return g, r.claim()
}

// gate returns the gate to a rank of the group. It fails if the caller may not use the context, or the gate.
func (c *Context) gate(rank int) (*Gate, error) {
	if c == nil {
		return nil, fmt.Errorf("nmad: %w: no context", ErrConfig)
	}
	if rank < 0 || rank >= len(c.domain.gates) || !c.anyList.Group().Has(rank) {
		return nil, fmt.Errorf("nmad: context %d: %w: %d is not in its group", c.number, ErrRank, rank)
	}
	if c.revoked.Load() {
		return nil, c.whyRevoked()
	}
	g := c.domain.Gate(rank)
	return g, g.accessError()
}

// EndAtFirst makes receives and probes from any source in this context end as soon as one process of its group has
// ended; by default they end when all have. It holds for those that wait now and for those that are posted later, also
// after such an end. A receive whose message is here already gets it. The error names the process that has ended first
// (*PeerError). EndAtFirst cannot be taken back; it does not touch other contexts of the same processes. It does not
// block.
func (c *Context) EndAtFirst() {
	if c != nil && c.anyList.AtFirst() {
		c.domain.lookLast(c.anyList)
	}
}

// addContext adds c to the open contexts of d. It fails if its number is in use.
func (d *Domain) addContext(c *Context) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.context(c.number) != nil {
		return fmt.Errorf("nmad: context %d: %w: it is open already", c.number, ErrConfig)
	}
	if len(d.contexts.All()) >= maxContexts {
		return fmt.Errorf("nmad: context %d: %w: a domain has at most %d contexts", c.number, ErrConfig, maxContexts)
	}
	d.contexts.Add(c)
	d.noteOpened(c.number)
	return nil
}

// dropContext removes c from the open contexts of d.
func (d *Domain) dropContext(c *Context) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.contexts.Delete(func(x *Context) bool { return x == c })
}

// openAll makes the gate take part in all open contexts to whose groups its rank belongs.
func (h *lockedGate) openAll() {
	for _, c := range h.gate.domain.contexts.All() {
		h.open(c)
	}
}

// open makes the gate take part in a context, if its rank belongs to the group.
func (h *lockedGate) open(c *Context) {
	if !c.anyList.Group().Has(h.gate.rank) || slices.Contains(h.contexts, c) {
		return
	}
	h.contexts = append(h.contexts, c)
	h.flow.Join(c.number, c.anyList)
	if h.endErr != nil && h.gate.rank != h.gate.ownRank {
		c.gateEnded(h)
	}
}

// gateEnded notes that a gate has ended.
func (c *Context) gateEnded(h *lockedGate) {
	if c.anyList.End(h.gate.rank, h.flow.Dead) {
		c.domain.work.Go(func() { c.domain.lookLast(c.anyList) })
	}
}

// numberOrDefault returns the number of the context; flow.DefaultContext for nil.
func (c *Context) numberOrDefault() uint16 {
	if c == nil {
		return flow.DefaultContext
	}
	return c.number
}

// anyListOf returns the list in which receives from any source in that context wait; nil stands for flow.DefaultContext.
func (c *Context) anyListOf(d *Domain) *match.AnyList[flow.Request] {
	if c == nil {
		return d.anyList
	}
	return c.anyList
}

// check fails if the context is not for a gate of that domain to that rank.
func (c *Context) check(d *Domain, rank int) error {
	switch {
	case c == nil:
		return nil
	case c.domain != d:
		return fmt.Errorf("nmad: context %d: %w: it is of another domain", c.number, ErrConfig)
	case !c.anyList.Group().Has(rank):
		return fmt.Errorf("nmad: context %d: %w: %d is not in its group", c.number, ErrRank, rank)
	case c.revoked.Load():
		return c.whyRevoked()
	}
	return nil
}

// whyRevoked returns the error of requests in a context that was revoked.
func (c *Context) whyRevoked() error {
	return fmt.Errorf("nmad: context %d: %w", c.number, ErrRevoked)
}

// Revoked reports whether the context was revoked, as far as this process knows.
func (c *Context) Revoked() bool { return c != nil && c.revoked.Load() }

// context returns the open context of a number; nil if there is none.
func (d *Domain) context(number uint16) *Context {
	for _, c := range d.contexts.All() {
		if c.number == number {
			return c
		}
	}
	return nil
}

// end ends the requests that wait in a context that was revoked, at the gates and for any source.
func (c *Context) end() {
	why := c.whyRevoked()
	for _, g := range c.domain.gates.all {
		if c.anyList.Group().Has(g.rank) {
			h := g.enter() // so that receives in the inbox end, too
			h.flow.FailContext(c.number, why)
			h.unlock()
		}
	}
	c.anyList.Close(why)
	c.domain.lookLast(c.anyList)
	c.Drop()
}

// Drop receives and discards every message that comes in the context from here on, until the domain is closed, so that
// sends to this process end. A context that was revoked does so by itself. Drop does not block.
func (c *Context) Drop() {
	if c == nil || c.dropping.Swap(true) {
		return
	}
	for rank := range c.domain.gates {
		if c.anyList.Group().Has(rank) {
			c.dropFrom(c.domain.Gate(rank), &Request{})
		}
	}
}

// dropFrom receives and discards the messages that come from a gate, one after the other, by r.
func (c *Context) dropFrom(g *Gate, r *Request) {
	// Post fails if the gate has ended: then nothing comes.
	_ = g.Post(r, &Operation{Kind: KindRecv, Match: Match{Context: c}, drops: true, Done: func(r *Request) {
		if _, err := r.Test(); err == nil || errors.Is(err, ErrTruncated) {
			c.dropFrom(g, r)
		}
	}})
}
