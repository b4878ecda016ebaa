package flow

import "github.com/pm2-go/pm2/nmad/driver"

// Packet is a packet that leaves over the small track of the first rail. Its body is Body followed by Parts.
type Packet struct {
	Head  driver.Header
	Body  []byte
	Parts [][]byte

	act  act         // tells packetTaken what to do
	req  *Request    // eagerly: the send whose message it is
	of   *rendezvous // announcing, asking: the rendezvous
	rail int         // asking: the rail over which the bytes are to come
}

// clear drops the references of a packet that has left, or that the link has refused.
func (p *Packet) clear() { p.Body, p.Parts, p.req, p.of, p.act = nil, nil, nil, nil, 0 }

// act says what a packet holds, and so what packetTaken does when the link has taken it.
type act uint8

const (
	_          act = iota
	together       // AGGREGATE: the first Head.Size messages of the queue
	eagerly        // EAGER: the first message of the queue
	announcing     // RDV, LOAN or EXPOSE: it announces the first message of the queue
	asking         // RTR
	gathered       // AGGREGATE, or EAGER: the messages that were gathered
	returning      // RETURN
	crediting      // CREDIT
	granting       // ROOM
	noting         // NOTE: a piece of a note
	full           // FULL
	acking         // BYEACK
	parting        // BYE
)

// pack makes a packet of a header.
func (f *Flow) pack(a act, h driver.Header) *Packet {
	p := &f.tx.out
	p.Head, p.act = h, a
	return p
}

// alone reports whether one message waits, or its announcement, and nothing else: then Drain sends it without a flush. An
// RTR does not count as a message: even a single one leaves by the flush at the end of a batch.
func (f *Flow) alone() bool {
	r := f.tx.queue.head
	return r != nil && r.Link == nil && f.rx.answers.empty() && !f.others()
}

// next returns the packet that is to leave next, valid until packetTaken or Refused; nil if none may leave. The order is:
// gathered messages, because their sends are done; answers to announcements, because whole messages wait for them; RETURNs,
// for which sends wait; credit and records; notes of agreements; messages, in the order and the packets that the strategy
// wants; BYEACK; BYE.
func (f *Flow) next() *Packet {
	if !f.tx.gathered.empty() {
		return f.packGathered()
	}
	for v := f.rx.answers.head; v != nil; v = f.rx.answers.head {
		if p := f.ask(v); p != nil {
			return p
		}
	}
	switch l := f.loans.returns.head; {
	case l != nil:
		return f.pack(returning, driver.Header{Kind: KindReturn, Cookie: l.cookie})
	case f.rx.due() && !f.ended:
		return f.pack(crediting, plain(KindCredit, uint64(f.rx.owed)))
	case f.rx.owesRoom && !f.ended:
		return f.pack(granting, plain(KindRoom, uint64(f.rx.records)))
	case !f.notes.empty():
		return f.packNote()
	case f.tx.queue.head != nil:
		return f.packMessage(f.tx.queue.head)
	case f.bye.owesAck:
		return f.pack(acking, plain(KindByeAck, 0))
	case f.bye.owes && f.inactive():
		return f.pack(parting, plain(KindBye, f.total(Push)))
	}
	return nil
}

// packMessage makes the packet of r, the first send of the queue: its message, together with those that the strategy adds;
// or its announcement, if the message is long or lacks credit; or FULL, if the peer has no record left for the announcement.
// It returns nil if FULL was sent: then the queue waits for ROOM.
func (f *Flow) packMessage(r *Request) *Packet {
	if r.Link != nil {
		if n, bytes := f.together(); n > 1 {
			return f.packTogether(n, bytes)
		}
	}
	size := r.Data.Size
	if f.mayShare(r, f.tx.credit) {
		p := &f.tx.out
		f.short(r.Context, r.Entry.Tag, size)
		p.act, p.req, p.Body = eagerly, r, r.Data.Buf()
		if x := r.pieces(); x != nil {
			p.Parts = x.Parts
		}
		return p
	}
	if f.tx.sends.used >= f.tx.records {
		if f.tx.told == f.tx.records {
			return nil
		}
		return f.pack(full, plain(KindFull, uint64(f.tx.records)))
	}
	p := f.pack(announcing, driver.Header{Kind: KindRdv, Context: r.Context, Tag: r.Entry.Tag, Size: uint64(size), Seq: f.tx.seq})
	p.of = f.startRendezvous(r, unknown)
	switch {
	case f.lendable(r):
		f.describeLoan(p)
	case f.exposes(r):
		f.describeExposed(p)
	}
	p.Head.Cookie = f.tx.sends.put(p.of)
	return p
}

// taken carries on with the packet of next, which the link has taken.
func (f *Flow) taken() {
	p := &f.tx.out
	f.follow()
	switch p.act {
	case together:
		f.sentTogether(p)
	case eagerly:
		f.eagerSent(p.req.Data.Size)
		f.tx.queue.Pop()
		f.handOver(p.req)
	case announcing:
		f.announced(p)
	case asking:
		f.asked(p)
	case gathered:
		f.sentGathered()
	case returning:
		f.putAway(f.loans.returns.pop())
		f.setUnsent(unsentReturns, f.loans.returns.head != nil)
	case crediting:
		f.rx.paid(int64(p.Head.Size))
		f.Stats.Credits++
	case granting:
		f.rx.owesRoom = false
	case noting:
		f.notes.left(len(p.Body))
		f.setUnsent(unsentNotes, !f.notes.empty())
	case full:
		f.tx.told = f.tx.records
	case acking:
		f.bye.owesAck = false
	case parting:
		f.bye.owes = false
	}
	p.clear()
}

// announced is taken for an announcement.
func (f *Flow) announced(p *Packet) {
	r := f.tx.queue.Pop()
	f.tx.seq++
	r.Stage = Announced
	if p.of.loaned = p.Head.Kind != KindRdv; p.Head.Kind == KindLoan {
		f.Stats.Loaned++
		return
	}
	f.Stats.Rendezvous++
	if r.Data.Size <= f.tx.eager && !r.Synchronous() {
		f.Stats.Starved++
	}
}
