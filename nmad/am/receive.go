package am

import (
	"errors"
	"fmt"
	"slices"

	"github.com/pm2-go/pm2/asm"
	"github.com/pm2-go/pm2/nmad"
	"github.com/pm2-go/pm2/nmad/rma"
)

// prepare makes the receives for messages of a peer: Receives short ones, and a quarter as many long ones.
func (p *peer) prepare() {
	cfg := &p.domain.world.cfg
	for i := range cfg.Receives + max(cfg.Receives/4, 1) {
		s := &postedReceive{peer: p}
		s.op = nmad.Operation{Kind: nmad.KindRecv, Done: s.arrived, Match: nmad.Match{Mask: answerBit, Context: p.shortContext}}
		if i < cfg.Receives {
			s.op.Buf = make([]byte, shortSize)
		} else {
			s.op.Match.Context = p.domain.longContext
			s.op.Buf = make([]byte, argsRoom+cfg.Medium)
		}
		p.receives = append(p.receives, s)
	}
}

// open posts the receives for messages of a peer.
func (p *peer) open() {
	for _, s := range p.receives {
		s.active.Store(true)
		s.post()
	}
}

// post posts the receive, unless the domain is closed.
func (s *postedReceive) post() {
	if s.peer.domain.closed.Load() {
		s.active.Store(false)
		return
	}
	if err := s.peer.gate.Post(&s.req, &s.op); err != nil {
		s.peer.fail(err)
		s.active.Store(false)
	}
}

// arrived is called when the receive has ended, for one message of a gate at a time: it handles the message, and posts
// or parks the receive.
func (s *postedReceive) arrived(r *nmad.Request) {
	p := s.peer
	_, err := r.Test()
	if err == nil && p.failed() == nil {
		err = p.take(r.Tag(), s.op.Buf[:r.Len()])
	}
	switch {
	case err == nil:
	case errors.Is(err, nmad.ErrTruncated):
		p.violation(fmt.Errorf("%w: %w", ErrMessage, err))
	case errors.Is(err, ErrMessage):
		p.violation(err)
	default:
		if !p.domain.closed.Load() {
			p.fail(err)
		}
		s.active.Store(false)
		return
	}
	if p.parks() {
		p.park(s)
	} else {
		s.post()
	}
}

// take handles a message: it takes the credit, and runs the handler of a reply, or of a request whose turn has come. It
// keeps other requests.
func (p *peer) take(tag uint64, data []byte) error {
	h, err := decode(tag, len(data))
	if err != nil {
		return err
	}
	given := h.credit
	if h.kind == kindReply && h.where == bodyFollows {
		given-- // incomingBody.arrived takes the rest, once the body has come
	}
	if err := p.credited(given); err != nil {
		return err
	}
	switch {
	case h.kind == kindCredit:
		return nil
	case h.kind == kindReply && h.where == bodyFollows:
		return p.land(h, p.copyOf(data))
	case h.kind == kindReply:
		p.run(h, data, nil)
		return nil
	}
	if err := p.countReceived(); err != nil {
		return err
	}
	if h.seq != p.nextSeq || h.where == bodyFollows {
		return p.keep(h, data)
	}
	p.nextSeq++
	p.run(h, data, nil)
	p.runDue()
	return nil
}

// runDue handles the kept requests whose turn has come.
func (p *peer) runDue() {
	for p.early != nil {
		e := p.early[p.nextSeq]
		if !e.present || e.body != nil && !e.body.complete {
			return
		}
		p.early[p.nextSeq] = keptRequest{}
		p.nextSeq++
		p.run(e.head, e.data, e.body)
		p.spareBuffers = append(p.spareBuffers, e.data[:cap(e.data)])
	}
}

// keep keeps a request that cannot be handled yet: one that was sent before it, or its own body, has not come.
func (p *peer) keep(h head, data []byte) error {
	if p.early == nil {
		p.early = &[256]keptRequest{}
	}
	e := &p.early[h.seq]
	if e.present || int(h.seq-p.nextSeq) >= p.domain.world.cfg.Window {
		return fmt.Errorf("%w: request number %d where %d is due", ErrMessage, h.seq, p.nextSeq)
	}
	*e = keptRequest{head: h, data: p.copyOf(data), present: true}
	if h.where == bodyFollows {
		return p.land(h, e.data)
	}
	return nil
}

// copyOf returns a copy, in a buffer from spareBuffers, or a new one.
func (p *peer) copyOf(data []byte) []byte {
	i := slices.IndexFunc(p.spareBuffers, func(b []byte) bool { return cap(b) >= len(data) })
	if i < 0 {
		return append(make([]byte, 0, max(len(data), shortSize)), data...)
	}
	b := p.spareBuffers[i]
	p.spareBuffers = slices.Delete(p.spareBuffers, i, i+1)
	return append(b[:0], data...)
}

// run runs the handler of a request, or of a reply, and gives the room of a request back. l has received the body; nil:
// the body did not follow.
func (p *peer) run(h head, data []byte, l *incomingBody) {
	asm.StoreRelease32(&p.ranThisPoll, p.ranThisPoll.Load()+1)
	t := &p.token
	*t = Token{peer: p, head: h}
	f := p.domain.world.handlers.Load().find(h.id)
	var hold rma.Hold
	var err error
	body := data[8*h.args:]
	if h.where != bodyWithin {
		if l != nil {
			hold, err = l.taken()
		} else { // the sender has put the body there (World.place)
			hold, err = p.domain.world.hold(body)
		}
		body = hold.Bytes()
	}
	switch {
	case f == nil:
		t.refuse(statusUnhandled, fmt.Errorf("%w: %d", ErrHandler, h.id))
	case err != nil:
		t.refuse(refusalOf(err), err)
	default:
		f(t, getArgs(&p.args, data, h.args), body)
		asm.StoreRelease64(&p.ranEver, p.ranEver.Load()+1)
	}
	if h.where != bodyWithin {
		hold.Release()
	}
	live := t.live()
	t.peer = nil
	if h.kind != kindRequest || t.paid {
		return
	}
	if live && h.wants {
		_ = p.answer(h.seq, statusSilent, nil, nil) // fails with the peer
	} else {
		p.handled()
	}
}

// live reports whether the handler runs, and has not replied.
func (t *Token) live() bool { return t != nil && t.peer != nil && !t.replied }

// Rank returns the rank of the process that has sent the message; -1 after the handler has returned.
func (t *Token) Rank() int {
	if t == nil || t.peer == nil {
		return -1
	}
	return t.peer.rank
}

// Domain returns the domain of this process that the message has come through; nil after the handler has returned.
func (t *Token) Domain() *Domain {
	if t == nil || t.peer == nil {
		return nil
	}
	return t.peer.domain
}

// Awaited reports whether the requester awaits a Reply (Domain.RequestFor).
func (t *Token) Awaited() bool { return t.live() && t.head.wants }

// Reply answers a request that awaits an answer (Domain.RequestFor), at most once; else ErrReply. It copies args and
// body, and never waits: the request has reserved its room. A body longer than the requester's Reply.Size ends its Wait
// with nmad.ErrTruncated.
func (t *Token) Reply(args []uint64, body []byte) error {
	if err := t.mayReply(args, body, true); err != nil {
		return err
	}
	t.replied, t.paid = true, true
	return t.peer.answer(t.head.seq, statusAnswered, args, body)
}

// ReplyTo answers a request that awaits no answer by running the handler of that id at the requester, at most once;
// else ErrReply. It copies args and body, and never waits: the request has reserved its room. That handler cannot
// reply.
func (t *Token) ReplyTo(id ID, args []uint64, body []byte) error {
	if err := t.mayReply(args, body, false); err != nil {
		return err
	}
	t.replied, t.paid = true, true
	p, n := t.peer, 8*len(args)+len(body)
	m, back := p.messageBack(n > shortSize)
	h := head{kind: kindReply, id: id, args: len(args), credit: back}
	putArgs(m.buf[front-8*h.args:], args)
	if err := p.sendCopy(m, h.tag(), front-8*h.args, body); err != nil {
		return p.orFailed(err)
	}
	return nil
}

// mayReply returns an error if the handler may not reply, with an answer (awaited) or to a handler, or not these bytes.
func (t *Token) mayReply(args []uint64, body []byte, awaited bool) error {
	switch {
	case !t.live():
		return fmt.Errorf("am: %w: a handler replies once, before it returns", ErrReply)
	case t.head.kind != kindRequest:
		return fmt.Errorf("am: %w: the message from rank %d is a reply itself", ErrReply, t.peer.rank)
	case t.head.wants != awaited && awaited:
		return fmt.Errorf("am: %w: rank %d does not await one: ReplyTo runs a handler there", ErrReply, t.peer.rank)
	case t.head.wants != awaited:
		return fmt.Errorf("am: %w: rank %d awaits it: give it by Reply", ErrReply, t.peer.rank)
	}
	return t.peer.domain.fits(len(args), len(body))
}

// refuse refuses a message for which no handler runs: it answers with the status, or reports the error.
func (t *Token) refuse(s answerStatus, why error) {
	p := t.peer
	p.droppedEver.Add(1)
	if t.head.kind == kindRequest && t.head.wants {
		t.replied, t.paid = true, true
		_ = p.answer(t.head.seq, s, nil, nil) // fails with the peer
		return
	}
	p.domain.world.tell(fmt.Errorf("am: a message from rank %d: %w", p.rank, why))
}

// answer sends the answer to the request of that number, with credit.
func (p *peer) answer(seq uint8, s answerStatus, args []uint64, body []byte) error {
	n := 8*len(args) + len(body)
	m, back := p.messageBack(n > shortSize)
	v := answerWord{status: s, args: len(args), credit: back}
	at := front - 8*v.args
	putArgs(m.buf[at:], args)
	v.put(m.buf[at-wordSize:])
	if err := p.sendCopy(m, answerTag(seq), at-wordSize, body); err != nil {
		return p.orFailed(err)
	}
	return nil
}

// parks reports whether receives are parked until the next poll: Budget handlers, or nearly so, have run since the last
// poll began.
func (p *peer) parks() bool {
	return int(p.ranThisPoll.Load()) > p.domain.world.cfg.Budget-len(p.receives) && p.domain.bounded()
}

// park leaves a receive for the next poll to post.
func (p *peer) park(s *postedReceive) {
	p.mu.Lock()
	s.next, p.parked = p.parked, s
	p.mu.Unlock()
	p.domain.parked()
}

// unpark posts the parked receives of the peer.
func (p *peer) unpark() {
	p.mu.Lock()
	s := p.parked
	p.parked = nil
	p.mu.Unlock()
	for s != nil {
		next := s.next
		s.next = nil
		s.post()
		s = next
	}
}
