package am

import (
	"encoding/binary"
	"errors"
	"fmt"
	"slices"

	"github.com/pm2-go/pm2/nmad"
	"github.com/pm2-go/pm2/nmad/rma"
)

// A long message has its body in memory of its receiver, which package rma names. Its sender puts the body there if
// it can do so without messages, by a copy of its own or of the kernel. Otherwise the body comes as a message of its
// own, which the receiver takes straight to its place. Messages that come meanwhile wait for their turn.
//
//	placed    Ref, bytes                  the body is there
//	follows   Ref, bytes ---------------> holds the memory, posts a receive
//	          dataTag: the body --------> it is there

// placeBytes is what a long message has in place of its body: a Ref, and how many bytes.
const placeBytes = rma.RefBytes + 8

// RequestLong puts src into memory of another process, or of the own one, and then has the handler of that id run
// there, whose body is that memory: dst names it (package rma, Config.Memory), and by its rank the target. Bytes that
// lie there are seen by the handler, and after it. Within the host that is one copy, by this core or, for memory that
// is registered, the kernel; else a message that goes straight there. The handler runs in its turn, as those of other
// requests do; those behind it wait for it. local is done when src may be used again; nil: it may be when the call
// returns, for what does not leave at once is copied. r is nil, or awaits a Token.Reply, as in RequestFor.
//
// It waits for room as Request does, and for an answer of the target, when memory that is not from rma's Alloc is
// used for the first time; in a handler it does neither: without room it fails. Errors are those of Request, of
// RequestFor, and of rma's Put: rma.ErrKey, rma.ErrRange, nmad.ErrActive of local. Memory that was closed since, and
// what the target has to look at itself, ends r.Wait with them, without r it is told to the OnError there, as is
// ErrKey of a process without Config.Memory. When a request fails the bytes may have come all the same. If the target
// dies local ends with a *nmad.PeerError. rma's Close of memory waits for requests that are on their way into it. src
// must not overlap dst.
func (d *Domain) RequestLong(r *Reply, dst rma.Ref, id ID, args []uint64, src []byte, local *rma.Event) error {
	p, err := d.to(dst.Rank())
	if err == nil {
		err = d.fits(len(args), 0)
	}
	if err == nil && r != nil {
		err = r.prepare(p, id)
	}
	if err != nil {
		return err
	}
	m, err := p.room(nil, nil, false, true)
	if err != nil {
		return err
	}
	h := head{id: id, wants: r != nil, args: len(args)}
	if err := d.w.place(&h, dst, src, local); err != nil {
		m.discard()
		return err
	}
	p.number(&h, r)
	if r != nil {
		if err := r.listen(h.seq); err != nil {
			return p.broken(&h, local, err)
		}
		r.begun = true
	}
	return p.sendLong(m, &h, dst, args, src, local)
}

// ReplyLong is ReplyTo whose body is put into memory of the requester: that of the handler which it runs there. See
// Domain.RequestLong. It never waits, so into memory that is not from rma's Alloc, and that no thread of this process
// has used, it goes by messages.
func (t *Token) ReplyLong(dst rma.Ref, id ID, args []uint64, src []byte, local *rma.Event) error {
	if err := t.mayReply(args, nil, false); err != nil {
		return err
	}
	p := t.p
	if dst.Rank() != p.rank {
		return fmt.Errorf("am: %w: memory of rank %d: the requester is rank %d", rma.ErrRef, dst.Rank(), p.rank)
	}
	h := head{kind: reply, id: id, args: len(args), seq: t.head.seq}
	if err := p.d.w.place(&h, dst, src, local); err != nil {
		return err
	}
	t.replied, t.paid = true, true
	p.mu.Lock()
	p.owed++
	h.credit = p.pay()
	m := p.message(false)
	p.mu.Unlock()
	return p.sendLong(m, &h, dst, args, src, local)
}

// place puts the body of a long message there, if that needs no message, and says in the head where it is.
func (w *World) place(h *head, dst rma.Ref, src []byte, local *rma.Event) error {
	if w.cfg.Memory == nil {
		return fmt.Errorf("am: %w: a long message needs memory: give Config.Memory", ErrConfig)
	}
	there, err := w.cfg.Memory.Default().TryPut(dst, src, local)
	if err != nil {
		return fmt.Errorf("am: %w", err)
	}
	if h.where = follows; there {
		h.where = placed
	}
	return nil
}

// sendLong sends a message whose body is placed, or follows.
func (p *peer) sendLong(m *Message, h *head, dst rma.Ref, args []uint64, src []byte, local *rma.Event) error {
	putArgs(m.buf[front-8*h.args:], args)
	_, _ = dst.AppendBinary(m.buf[front:front])
	binary.LittleEndian.PutUint64(m.buf[front+rma.RefBytes:], uint64(len(src)))
	if err := p.send(m, h.tag(), front-8*h.args, placeBytes); err != nil {
		return p.broken(h, local, err)
	}
	if h.where == placed {
		return nil
	}
	if local == nil {
		src = slices.Clone(src)
	}
	return p.follow(h.dataTag(), src, local)
}

// broken ends the event of a long message that could not be sent.
func (p *peer) broken(h *head, local *rma.Event, err error) error {
	err = p.orFailed(err)
	if h.where == follows {
		local.End(err)
	}
	return err
}

// follow sends the body of a long message.
func (p *peer) follow(tag uint64, src []byte, local *rma.Event) error {
	p.mu.Lock()
	f := p.followings
	if f != nil {
		p.followings = f.next
	}
	p.mu.Unlock()
	if f == nil {
		f = &following{p: p}
		f.op = nmad.Op{Match: nmad.Match{Context: p.d.long}, Done: f.left}
	}
	f.local, f.op.Match.Tag, f.op.Buf = local, tag, src
	if err := p.gate.Post(&f.req, &f.op); err != nil {
		err = p.orFailed(err)
		f.end(err)
		return err
	}
	return nil
}

func (f *following) left(r *nmad.Request) {
	_, err := r.Test()
	f.end(err)
}

func (f *following) end(err error) {
	p, local := f.p, f.local
	f.local, f.op.Buf = nil, nil
	p.mu.Lock()
	f.next, p.followings = p.followings, f
	p.mu.Unlock()
	local.End(err)
}

// hold is the memory of a long message, whose place that is.
func (w *World) hold(place []byte) (rma.Hold, error) {
	if w.cfg.Memory == nil {
		return rma.Hold{}, fmt.Errorf("%w: this process has no Config.Memory", rma.ErrKey)
	}
	at, _ := rma.ParseRef(place)
	return w.cfg.Memory.Hold(at, binary.LittleEndian.Uint64(place[rma.RefBytes:]))
}

// land receives the body of a long message: of a request, which is kept for its turn, or of a reply. data has the
// arguments and the place, and is kept.
func (p *peer) land(h head, data []byte) error {
	hold, err := p.d.w.hold(data[8*h.args:])
	p.mu.Lock()
	var l *landing
	for _, x := range p.landings {
		if !x.busy {
			l = x
			break
		}
	}
	if l == nil {
		l = &landing{p: p}
		l.op = nmad.Op{Kind: nmad.OpRecv, Match: nmad.Match{Mask: ^uint64(0), Context: p.d.long}, Done: l.arrived}
		p.landings = append(p.landings, l)
	}
	l.busy, l.there, l.hold = true, false, hold
	l.posted.Store(true) // with the memory: releaseAll finds both
	p.mu.Unlock()
	l.head, l.data, l.err = h, data, err
	l.op.Match.Tag, l.op.Buf = h.dataTag(), hold.Bytes()
	if h.kind == request {
		p.early[h.seq].landing = l
	}
	if err := p.gate.Post(&l.req, &l.op); err != nil {
		l.posted.Store(false)
		l.release()
		return err
	}
	return nil
}

// arrived deals with a body that has come, or will not.
func (l *landing) arrived(r *nmad.Request) {
	_, err := r.Test()
	p, long := l.p, errors.Is(err, nmad.ErrTruncated)
	switch right := l.err != nil || r.Size() == uint64(len(l.op.Buf)); { // with l.err it is dropped
	case p.failed() != nil:
		l.release()
	case (err == nil || long) && !right:
		l.release()
		p.violation(fmt.Errorf("%w: a body of %d bytes, %d were announced", ErrMessage, r.Size(), len(l.op.Buf)))
	case err != nil && !long:
		l.release()
		if !p.d.closed.Load() {
			p.fail(err)
		}
	case l.head.kind == request:
		p.mu.Lock()
		l.there = true
		p.mu.Unlock()
		p.runDue()
	default:
		p.run(l.head, l.data, l)
		p.spare = append(p.spare, l.data[:cap(l.data)])
		if err := p.credited(1); err != nil { // take has left it, so that no more bodies come at once than requests were sent
			p.violation(err)
		}
	}
	l.posted.Store(false)
	if p.failed() != nil { // and releaseAll has found it posted, perhaps
		l.release()
	}
}

// release lets the memory go.
func (l *landing) release() {
	l.p.mu.Lock()
	hold := l.hold
	l.hold = rma.Hold{}
	l.p.mu.Unlock()
	hold.Release()
}

// taken returns the memory of a body that is there, for its handler, and frees the landing for another body.
func (l *landing) taken() (rma.Hold, error) {
	p, err := l.p, l.err
	p.mu.Lock()
	hold := l.hold
	l.hold, l.busy = rma.Hold{}, false
	p.mu.Unlock()
	if err == nil && hold.Bytes() == nil { // the peer fails just now
		err = ErrClosed
	}
	return hold, err
}

// longBody is the memory that the body of a message is in.
func (p *peer) longBody(place []byte, l *landing) (rma.Hold, error) {
	if l != nil {
		return l.taken()
	}
	return p.d.w.hold(place)
}

// bodies are those that come, or have not been handled.
func (p *peer) bodies() []*landing {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.Clone(p.landings)
}

// releaseAll lets all memory go whose bodies are there, or do not come any more.
func (p *peer) releaseAll() {
	for _, l := range p.bodies() {
		hold := rma.Hold{}
		p.mu.Lock()
		if !l.posted.Load() {
			hold, l.hold = l.hold, rma.Hold{}
		}
		p.mu.Unlock()
		hold.Release()
	}
}
