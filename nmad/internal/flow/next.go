package flow

import "github.com/pm2-go/pm2/nmad/driver"

// Packet is a packet that leaves over the small track of the first rail. Its body is Body followed by Parts.
type Packet struct {
	Head  driver.Header
	Body  []byte
	Parts [][]byte

	content    content     // tells packetTaken what to do
	req        *Request    // of an eagerPacket, or an aggregatePacket: the send whose message it is, or the first of them
	rendezvous *rendezvous // of an announcementPacket and an rtrPacket
	rail       int         // of an rtrPacket: the rail over which the bytes are to come
}

// clear drops the references of a packet that has left, or that the link has refused.
func (p *Packet) clear() { p.Body, p.Parts, p.req, p.rendezvous, p.content = nil, nil, nil, nil, 0 }

// content says what a packet holds, and so what packetTaken does when the link has taken it.
type content uint8

const (
	_                  content = iota
	aggregatePacket            // AGGREGATE: the first Head.Size messages of the queue
	eagerPacket                // EAGER: the first message of the queue
	announcementPacket         // RDV, LOAN or EXPOSE: it announces the first message of the queue
	rtrPacket                  // RTR
	gatheredPacket             // AGGREGATE, or EAGER: the messages that were gathered
	returnPacket               // RETURN
	creditPacket               // CREDIT
	roomPacket                 // ROOM
	notePacket                 // NOTE: a piece of a note
	fullPacket                 // FULL
	byeAckPacket               // BYEACK
	byePacket                  // BYE
)

// pack makes a packet of a header.
func (f *Flow) pack(c content, h driver.Header) *Packet {
	p := &f.tx.packet
	p.Head, p.content = h, c
	return p
}

// onlyOneMessage reports whether one message waits, or its announcement, and nothing else: then Drain sends it without
// a flush. An RTR does not count as a message: even a single one leaves by the flush at the end of a batch.
func (f *Flow) onlyOneMessage() bool {
	r := f.tx.queue.head
	return r != nil && r.Next == nil && f.rx.answers.Empty() && !f.controlWaits()
}

// next returns the packet that is to leave next, valid until packetTaken or Refused; nil if none may leave. The order
// is: gathered messages, because their sends are done; answers to announcements, because whole messages wait for them;
// RETURNs, for which sends wait; credit and records; notes of agreements; messages, in the order and the packets that
// the strategy wants; BYEACK; BYE.
func (f *Flow) next() *Packet {
	if !f.tx.gathered.empty() {
		return f.packGathered()
	}
	for v := f.rx.answers.First(); v != nil; v = f.rx.answers.First() {
		if p := f.packNextRtr(v); p != nil {
			return p
		}
	}
	switch l := f.loans.returns.First(); {
	case l != nil:
		return f.pack(returnPacket, driver.Header{Kind: KindReturn, Cookie: l.cookie})
	case f.rx.creditDue() && !f.ended:
		return f.pack(creditPacket, driver.Header{Kind: KindCredit, Size: uint64(f.rx.owed)})
	case f.rx.owesRoom && !f.ended:
		return f.pack(roomPacket, driver.Header{Kind: KindRoom, Size: uint64(f.rx.records)})
	case !f.notes.empty():
		return f.packNote()
	case f.tx.queue.head != nil:
		return f.packMessage(f.tx.queue.head)
	case f.bye.owesAck:
		return f.pack(byeAckPacket, driver.Header{Kind: KindByeAck})
	case f.bye.owesBye && f.streamsIdle():
		return f.pack(byePacket, driver.Header{Kind: KindBye, Size: f.total(Push)})
	}
	return nil
}

// packMessage makes the packet of r, the first send of the queue: its message, together with those that the strategy
// adds; or its announcement, if the message is long or lacks credit; or FULL, if the peer has no record left for the
// announcement. It returns nil if FULL was sent: then the queue waits for ROOM.
func (f *Flow) packMessage(r *Request) *Packet {
	if r.Next != nil {
		if n, bytes := f.measureAggregate(); n > 1 {
			return f.packAggregate(n, bytes)
		}
	}
	size := r.Data.Size
	if f.mayGoEagerly(r, f.tx.credit) {
		p := &f.tx.packet
		f.shortHeader(r.Context, r.Entry.Tag, size)
		p.content, p.req, p.Body = eagerPacket, r, r.Data.Buf()
		if x := r.pieces(); x != nil {
			p.Parts = x.Parts
		}
		return p
	}
	if f.tx.announced.used >= f.tx.records {
		if f.tx.fullSent == f.tx.records {
			return nil
		}
		return f.pack(fullPacket, driver.Header{Kind: KindFull, Size: uint64(f.tx.records)})
	}
	p := f.pack(announcementPacket, driver.Header{
		Kind: KindRdv, Context: r.Context, Tag: r.Entry.Tag, Size: uint64(size), Seq: f.tx.seq,
	})
	p.rendezvous = f.startRendezvous(r, unknown)
	switch {
	case f.lendable(r):
		f.describeLoan(p)
	case f.exposes(r):
		f.describeExposed(p)
	}
	p.Head.Cookie = f.tx.announced.put(p.rendezvous)
	return p
}

// packetTaken carries on with the packet of next, which the link has taken.
func (f *Flow) packetTaken() {
	p := &f.tx.packet
	f.endEarlier()
	switch p.content {
	case aggregatePacket:
		f.aggregateTaken(p)
	case eagerPacket:
		f.eagerTaken(p.req.Data.Size)
		f.tx.queue.Pop()
		f.handOver(p.req)
	case announcementPacket:
		f.announcementTaken(p)
	case rtrPacket:
		f.rtrTaken(p)
	case gatheredPacket:
		f.gatheredTaken()
	case returnPacket:
		f.forgetLoan(f.loans.returns.Pop())
		f.setUnsent(unsentReturns, !f.loans.returns.Empty())
	case creditPacket:
		f.rx.creditGiven(int64(p.Head.Size))
		f.Stats.Credits++
	case roomPacket:
		f.rx.owesRoom = false
	case notePacket:
		f.notes.noteTaken(len(p.Body))
		f.setUnsent(unsentNotes, !f.notes.empty())
	case fullPacket:
		f.tx.fullSent = f.tx.records
	case byeAckPacket:
		f.bye.owesAck = false
	case byePacket:
		f.bye.owesBye = false
	}
	p.clear()
}

// announcementTaken is the part of packetTaken for an announcement.
func (f *Flow) announcementTaken(p *Packet) {
	r := f.tx.queue.Pop()
	f.tx.seq++
	r.Stage = Announced
	if p.rendezvous.inPlace = p.Head.Kind != KindRdv; p.Head.Kind == KindLoan {
		f.Stats.Loaned++
		return
	}
	f.Stats.Rendezvous++
	if r.Data.Size <= f.tx.eagerLimit && !r.Synchronous() {
		f.Stats.Starved++
	}
}
