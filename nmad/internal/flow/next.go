package flow

import "github.com/pm2-go/pm2/nmad/driver"

// Packet is one that is to leave over the small track of the first rail: header, body, and the parts behind it.
type Packet struct {
	Head  driver.Header
	Body  []byte
	Parts [][]byte

	act  act
	req  *Request    // eagerly: the send that it carries
	of   *rendezvous // announcing, asking: what it is about
	rail int         // asking: the rail over which the bytes are to come
}

func (p *Packet) clear() { p.Body, p.Parts, p.req, p.of, p.act = nil, nil, nil, nil, 0 }

// act is what a packet does, and for which message: what becomes of it once the link has taken it.
type act uint8

const (
	_          act = iota
	together       // it carries the first messages of the queue, Head.Size of them
	eagerly        // it carries the first message of the queue
	announcing     // it announces the first message of the queue
	asking         // it asks for bytes of a message
	gathered       // it carries the messages that were gathered
	returning      // it gives a loan back
	crediting      // it gives credit back
	granting       // it grants records
	noting         // it is a piece of a note
	full           // it says that all records are used
	acking         // it answers BYE
	parting        // it is BYE
)

func (f *Flow) pack(a act, h driver.Header) *Packet {
	p := &f.tx.out
	p.Head, p.act = h, a
	return p
}

// alone says that one message waits, or its announcement, and nothing else: it leaves in its own Send, without a flush. An
// answer (RTR) is none: also the only one leaves in the flush at the end of a batch.
func (f *Flow) alone() bool {
	r := f.tx.queue.head
	return r != nil && r.Link == nil && f.rx.answers.empty() && !f.others()
}

// next returns the packet that is to leave next, valid until taken or Refused; nil: there is none. The order is: what was
// gathered, since its sends are done; answers to announcements, because whole messages wait for them; loans that were
// released, for which sends wait; credit; notes of agreements; messages, in the order and the packets that the strategy
// wants.
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

// packMessage makes the packet of the first message of the queue: the message itself, with others that the strategy adds,
// or, if it is long or the peer has no memory left for it, its announcement. nil: it must wait for records.
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

// taken goes on with what the link has taken.
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

// announced goes on with a message whose announcement the link has taken.
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
