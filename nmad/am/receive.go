package am

import (
	"errors"
	"fmt"

	"github.com/pm2-go/pm2/asm"
	"github.com/pm2-go/pm2/nmad"
	"github.com/pm2-go/pm2/nmad/rma"
)

// prepare makes the receives of a peer.
func (p *peer) prepare() {
	cfg := &p.d.w.cfg
	for i := range cfg.Receives + max(cfg.Receives/4, 1) {
		s := &postedReceive{p: p}
		s.op = nmad.Op{Kind: nmad.OpRecv, Done: s.arrived, Match: nmad.Match{Mask: answerBit, Context: p.in}}
		if i < cfg.Receives {
			s.op.Buf = make([]byte, shortSize)
		} else {
			s.op.Match.Context = p.d.long
			s.op.Buf = make([]byte, argsRoom+cfg.Medium)
		}
		p.slots = append(p.slots, s)
	}
}

// open posts the receives of a peer.
func (p *peer) open() {
	for _, s := range p.slots {
		s.cycles.Store(true)
		s.post()
	}
}

// post has the slot receive.
func (s *postedReceive) post() {
	if s.p.d.closed.Load() {
		s.cycles.Store(false)
		return
	}
	if err := s.p.gate.Post(&s.req, &s.op); err != nil {
		s.p.fail(err)
		s.cycles.Store(false)
	}
}

// arrived handles a message. nmad calls it, for one message of a gate at a time.
func (s *postedReceive) arrived(r *nmad.Request) {
	p := s.p
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
		if !p.d.closed.Load() {
			p.fail(err)
		}
		s.cycles.Store(false)
		return
	}
	if p.parks() {
		p.park(s)
	} else {
		s.post()
	}
}

// take deals with what has come: with a request when its turn has come.
func (p *peer) take(tag uint64, data []byte) error {
	h, err := decode(tag, len(data))
	if err != nil {
		return err
	}
	given := h.credit
	if h.kind == reply && h.where == follows {
		given-- // until the body is there
	}
	if err := p.credited(given); err != nil {
		return err
	}
	switch {
	case h.kind == credit:
		return nil
	case h.kind == reply && h.where == follows:
		return p.land(h, p.copyOf(data))
	case h.kind == reply:
		p.run(h, data, nil)
		return nil
	}
	if err := p.came(); err != nil {
		return err
	}
	if h.seq != p.next || h.where == follows {
		return p.keep(h, data)
	}
	p.next++
	p.run(h, data, nil)
	p.runDue()
	return nil
}

// runDue handles the requests that were kept, and whose turn has come.
func (p *peer) runDue() {
	for p.early != nil {
		e := p.early[p.next]
		if !e.here || e.landing != nil && !e.landing.there {
			return
		}
		p.early[p.next] = keptRequest{}
		p.next++
		p.run(e.head, e.data, e.landing)
		p.spare = append(p.spare, e.data[:cap(e.data)])
	}
}

// keep stores a request for later: a long one that was sent before is still on its way, or its own body is.
func (p *peer) keep(h head, data []byte) error {
	if p.early == nil {
		p.early = &[256]keptRequest{}
	}
	e := &p.early[h.seq]
	if e.here || int(h.seq-p.next) >= p.d.w.cfg.Window {
		return fmt.Errorf("%w: request number %d where %d is due", ErrMessage, h.seq, p.next)
	}
	*e = keptRequest{head: h, data: p.copyOf(data), here: true}
	if h.where == follows {
		return p.land(h, e.data)
	}
	return nil
}

// copyOf is a copy in a buffer of the peer's.
func (p *peer) copyOf(data []byte) []byte { return append(p.spareOf(len(data))[:0], data...) }

// spareOf takes a buffer of at least that many bytes.
func (p *peer) spareOf(n int) []byte {
	for i := len(p.spare) - 1; i >= 0; i-- {
		if b := p.spare[i]; cap(b) >= n {
			last := len(p.spare) - 1
			p.spare[i], p.spare[last] = p.spare[last], nil
			p.spare = p.spare[:last]
			return b
		}
	}
	return make([]byte, 0, max(n, shortSize))
}

// run runs the handler of a request, or of a reply. l is the body, if that has followed.
func (p *peer) run(h head, data []byte, l *landing) {
	asm.StoreRelease32(&p.spent, p.spent.Load()+1)
	t := &p.token
	*t = Token{p: p, head: h}
	f := p.d.w.handlers.Load().find(h.id)
	var hold rma.Hold
	var err error
	body := data[8*h.args:]
	if h.where != within {
		hold, err = p.longBody(body, l)
		body = hold.Bytes()
	}
	switch {
	case f == nil:
		t.undone(unhandled, fmt.Errorf("%w: %d", ErrHandler, h.id))
	case err != nil:
		t.undone(refusalOf(err), err)
	default:
		f(t, getArgs(&p.args, data, h.args), body)
		asm.StoreRelease64(&p.ran, p.ran.Load()+1)
	}
	if h.where != within {
		hold.Release()
	}
	live := t.live()
	t.p = nil
	if h.kind != request || t.paid {
		return
	}
	if live && h.wants {
		_ = p.answer(h.seq, silent, nil, nil) // fails with the peer
	} else if p.handled() {
		p.giveBack()
	}
}

func (t *Token) live() bool { return t != nil && t.p != nil && !t.replied }

// Rank is that of the process that has sent the message; -1 after the handler has returned.
func (t *Token) Rank() int {
	if t == nil || t.p == nil {
		return -1
	}
	return t.p.rank
}

// Domain is the domain here that the message has come through; nil after the handler has returned.
func (t *Token) Domain() *Domain {
	if t == nil || t.p == nil {
		return nil
	}
	return t.p.d
}

// Awaited says whether the requester awaits a Reply (Domain.RequestFor).
func (t *Token) Awaited() bool { return t.live() && t.head.wants }

// Reply answers a request that awaits an answer (Domain.RequestFor), at most once; else ErrReply. Its room was
// reserved with the request: it never waits, and copies args and body, of up to the bytes that the requester has room
// for: more ends the requester's Wait with nmad.ErrTruncated.
func (t *Token) Reply(args []uint64, body []byte) error {
	if err := t.mayReply(args, body, true); err != nil {
		return err
	}
	t.replied, t.paid = true, true
	return t.p.answer(t.head.seq, answered, args, body)
}

// ReplyTo answers a request that awaits no answer by running that handler of the requester, at most once; else
// ErrReply. Its room was reserved with the request: it never waits, and copies args and body. A handler that runs so
// cannot reply.
func (t *Token) ReplyTo(id ID, args []uint64, body []byte) error {
	if err := t.mayReply(args, body, false); err != nil {
		return err
	}
	t.replied, t.paid = true, true
	p, n := t.p, 8*len(args)+len(body)
	p.mu.Lock()
	p.owed++
	h := head{kind: reply, id: id, args: len(args), credit: p.pay()}
	m := p.message(n > shortSize)
	p.mu.Unlock()
	putArgs(m.buf[front-8*h.args:], args)
	if err := p.sendCopy(m, h.tag(), front-8*h.args, body); err != nil {
		return p.orFailed(err)
	}
	return nil
}

func (t *Token) mayReply(args []uint64, body []byte, awaited bool) error {
	switch {
	case !t.live():
		return fmt.Errorf("am: %w: a handler replies once, before it returns", ErrReply)
	case t.head.kind != request:
		return fmt.Errorf("am: %w: the message from rank %d is a reply itself", ErrReply, t.p.rank)
	case t.head.wants != awaited && awaited:
		return fmt.Errorf("am: %w: rank %d does not await one: ReplyTo runs a handler there", ErrReply, t.p.rank)
	case t.head.wants != awaited:
		return fmt.Errorf("am: %w: rank %d awaits it: give it by Reply", ErrReply, t.p.rank)
	}
	return t.p.d.fits(len(args), len(body))
}

// undone deals with a message that no handler is run for.
func (t *Token) undone(s answerStatus, why error) {
	p := t.p
	p.lost.Add(1)
	if t.head.kind == request && t.head.wants {
		t.replied, t.paid = true, true
		_ = p.answer(t.head.seq, s, nil, nil) // fails with the peer
		return
	}
	p.d.w.tell(fmt.Errorf("am: a message from rank %d: %w", p.rank, why))
}

// answer sends the answer to a request, with the credit for it.
func (p *peer) answer(seq uint8, s answerStatus, args []uint64, body []byte) error {
	n := 8*len(args) + len(body)
	p.mu.Lock()
	p.owed++
	v := answerWord{status: s, args: len(args), credit: p.pay()}
	m := p.message(n > shortSize)
	p.mu.Unlock()
	at := front - 8*v.args
	putArgs(m.buf[at:], args)
	v.put(m.buf[at-wordSize:])
	if err := p.sendCopy(m, answerTag(seq), at-wordSize, body); err != nil {
		return p.orFailed(err)
	}
	return nil
}

// parks says whether a slot waits for the next poll before it receives again. It does after enough handlers have run
// since the last poll began.
func (p *peer) parks() bool {
	return int(p.spent.Load()) > p.d.w.cfg.Budget-len(p.slots) && p.d.bounded()
}

// park leaves a receive for the next poll.
func (p *peer) park(s *postedReceive) {
	p.mu.Lock()
	s.next, p.parked = p.parked, s
	p.mu.Unlock()
	p.d.parked()
}

// unpark begins a poll: it posts what park has left.
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
