package am

import (
	"encoding/binary"
	"errors"
	"fmt"
	"slices"

	"github.com/pm2-go/pm2/nmad"
	"github.com/pm2-go/pm2/nmad/rma"
)

// The body of a long message goes into memory of the receiver that a Ref of package rma names. If the sender can put
// the body there without messages, by a copy of its own or of the kernel, it does so before it sends the message
// (placed). Otherwise the body follows as a message of its own, which is received straight into the memory (follows);
// requests that come meanwhile are kept until the long one was handled.
//
//	placed    Ref, bytes ---------------> runs the handler
//	follows   Ref, bytes ---------------> holds the memory, posts a receive
//	          dataTag: the body --------> runs the handler

// placeBytes is the length, in bytes, of what a long message has instead of its body: a Ref, and the length of the
// body.
const placeBytes = rma.RefBytes + 8

// RequestLong puts src into the memory that dst names (package rma, Config.Memory), and then runs the handler of that
// id at the rank of dst, which may be the own one; that memory is the handler's body, and keeps the bytes after it.
// Within the host src is copied once, by this core or, into memory from rma's Register, by the kernel; to other hosts
// it goes as a message, straight into the memory. The handler runs in its turn, as those of other requests do. local is
// done when src may be used again; if it is nil, src may be used when RequestLong returns, which copies what has not
// left by then. r is nil, or gets the answer, as in RequestFor.
//
// RequestLong waits for room as Request does, and for an answer of the target when memory that is not from rma's Alloc
// is used for the first time; in a handler it waits for neither, and fails without room. Errors are those of Request,
// of RequestFor, and of rma's Put: rma.ErrKey, rma.ErrRange, nmad.ErrActive of local. Errors that only the target
// finds, such as memory that was closed meanwhile, or that it has no Config.Memory (rma.ErrKey), end r.Wait; without r
// the target's OnError gets them. When a request fails the bytes may have come all the same. If the target dies local
// ends with a *nmad.PeerError. rma's Close of memory waits for requests that are on their way into it. src must not
// overlap dst.
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
	if err := d.world.place(&h, dst, src, local); err != nil {
		m.discard()
		return err
	}
	p.number(&h, r)
	if r != nil {
		if err := r.listen(h.seq); err != nil {
			return p.broken(&h, local, err)
		}
		r.sent = true
	}
	return p.sendLong(m, &h, dst, args, src, local)
}

// ReplyLong is ReplyTo whose body goes into memory of the requester that dst names. See Domain.RequestLong. It never
// waits, so its body goes by a message if the memory is not from rma's Alloc and this process has not used it before.
func (t *Token) ReplyLong(dst rma.Ref, id ID, args []uint64, src []byte, local *rma.Event) error {
	if err := t.mayReply(args, nil, false); err != nil {
		return err
	}
	p := t.peer
	if dst.Rank() != p.rank {
		return fmt.Errorf("am: %w: memory of rank %d: the requester is rank %d", rma.ErrRef, dst.Rank(), p.rank)
	}
	h := head{kind: kindReply, id: id, args: len(args), seq: t.head.seq}
	if err := p.domain.world.place(&h, dst, src, local); err != nil {
		return err
	}
	t.replied, t.paid = true, true
	m, back := p.messageBack(false)
	h.credit = back
	return p.sendLong(m, &h, dst, args, src, local)
}

// place puts the body of a long message into the memory, if that needs no message, and notes in the head where it is.
func (w *World) place(h *head, dst rma.Ref, src []byte, local *rma.Event) error {
	if w.cfg.Memory == nil {
		return fmt.Errorf("am: %w: a long message needs memory: give Config.Memory", ErrConfig)
	}
	there, err := w.cfg.Memory.Default().TryPut(dst, src, local)
	if err != nil {
		return fmt.Errorf("am: %w", err)
	}
	if h.where = bodyFollows; there {
		h.where = bodyPlaced
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
	if h.where == bodyPlaced {
		return nil
	}
	if local == nil {
		src = slices.Clone(src)
	}
	return p.follow(h.dataTag(), src, local)
}

// broken ends the event of a long message that could not be sent, and returns why.
func (p *peer) broken(h *head, local *rma.Event, err error) error {
	err = p.orFailed(err)
	if h.where == bodyFollows {
		local.End(err)
	}
	return err
}

// follow sends the body of a long message as a message of its own.
func (p *peer) follow(tag uint64, src []byte, local *rma.Event) error {
	p.mu.Lock()
	f := p.outgoingBodies.Get()
	p.mu.Unlock()
	if f.peer == nil {
		f.peer = p
		f.op = nmad.Operation{Match: nmad.Match{Context: p.domain.longContext}, Done: f.left}
	}
	f.local, f.op.Match.Tag, f.op.Buf = local, tag, src
	if err := p.gate.Post(&f.req, &f.op); err != nil {
		err = p.orFailed(err)
		f.end(err)
		return err
	}
	return nil
}

// left is called when the body has left, or cannot.
func (f *outgoingBody) left(r *nmad.Request) {
	_, err := r.Test()
	f.end(err)
}

// end puts f away for the next body, and makes local done.
func (f *outgoingBody) end(err error) {
	p, local := f.peer, f.local
	f.local, f.op.Buf = nil, nil
	p.mu.Lock()
	p.outgoingBodies.Put(f)
	p.mu.Unlock()
	local.End(err)
}

// hold keeps the memory of a long message open, whose place (Ref, length) it is given.
func (w *World) hold(place []byte) (rma.Hold, error) {
	if w.cfg.Memory == nil {
		return rma.Hold{}, fmt.Errorf("%w: this process has no Config.Memory", rma.ErrKey)
	}
	at, _ := rma.ParseRef(place)
	return w.cfg.Memory.Hold(at, binary.LittleEndian.Uint64(place[rma.RefBytes:]))
}

// land posts the receive of the body of a long message: of a request, which is kept for its turn, or of a reply. data
// has the arguments and the place, and stays in use until the handler has run.
func (p *peer) land(h head, data []byte) error {
	hold, err := p.domain.world.hold(data[8*h.args:])
	p.mu.Lock()
	var l *incomingBody
	for _, x := range p.incomingBodies {
		if !x.inUse {
			l = x
			break
		}
	}
	if l == nil {
		l = &incomingBody{peer: p}
		l.op = nmad.Operation{Kind: nmad.KindRecv, Match: nmad.Match{Mask: ^uint64(0), Context: p.domain.longContext}, Done: l.arrived}
		p.incomingBodies = append(p.incomingBodies, l)
	}
	l.inUse, l.complete, l.hold = true, false, hold
	l.posted.Store(true) // with the memory: releaseAll finds both
	p.mu.Unlock()
	l.head, l.data, l.err = h, data, err
	l.op.Match.Tag, l.op.Buf = h.dataTag(), hold.Bytes()
	if h.kind == kindRequest {
		p.early[h.seq].body = l
	}
	if err := p.gate.Post(&l.req, &l.op); err != nil {
		l.posted.Store(false)
		l.release()
		return err
	}
	return nil
}

// arrived is called when a body has come, or will not come.
func (l *incomingBody) arrived(r *nmad.Request) {
	_, err := r.Test()
	p, long := l.peer, errors.Is(err, nmad.ErrTruncated)
	switch right := l.err != nil || r.Size() == uint64(len(l.op.Buf)); { // with l.err it is dropped
	case p.failed() != nil:
		l.release()
	case (err == nil || long) && !right:
		l.release()
		p.violation(fmt.Errorf("%w: a body of %d bytes, %d were announced", ErrMessage, r.Size(), len(l.op.Buf)))
	case err != nil && !long:
		l.release()
		if !p.domain.closed.Load() {
			p.fail(err)
		}
	case l.head.kind == kindRequest:
		p.mu.Lock()
		l.complete = true
		p.mu.Unlock()
		p.runDue()
	default:
		p.run(l.head, l.data, l)
		p.spareBuffers = append(p.spareBuffers, l.data[:cap(l.data)])
		if err := p.credited(1); err != nil { // take has left this credit: it bounds the bodies that come at the same time
			p.violation(err)
		}
	}
	l.posted.Store(false)
	if p.failed() != nil { // releaseAll may have found it posted, and left it
		l.release()
	}
}

// release releases the memory.
func (l *incomingBody) release() {
	l.peer.mu.Lock()
	hold := l.hold
	l.hold = rma.Hold{}
	l.peer.mu.Unlock()
	hold.Release()
}

// taken returns the memory of a body that has come, for its handler, and frees l for another body.
func (l *incomingBody) taken() (rma.Hold, error) {
	p, err := l.peer, l.err
	p.mu.Lock()
	hold := l.hold
	l.hold, l.inUse = rma.Hold{}, false
	p.mu.Unlock()
	if err == nil && hold.Bytes() == nil { // the peer fails just now
		err = ErrClosed
	}
	return hold, err
}

// bodies returns all incoming bodies of the peer.
func (p *peer) bodies() []*incomingBody {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.Clone(p.incomingBodies)
}

// releaseAll releases the memory of all bodies that have come, or will not come.
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
