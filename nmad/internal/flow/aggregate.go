package flow

import (
	"encoding/binary"

	"github.com/pm2-go/pm2/nmad/driver"
	"github.com/pm2-go/pm2/nmad/strategy"
)

// An aggregate is a packet that holds several eager messages, one after the other: for each a head of AggregateHead
// bytes, and its body. The receiver handles them as it handles as many EAGER packets. The driver copies the bodies
// straight from the buffers of the senders into its own memory.

// AggregateHead is the length of what comes before each message, in bytes: tag (8), size (6), context (2).
const AggregateHead = 16

// MaxAggregate is the largest number of messages in one packet. It bounds the time for which the receiver holds the
// lock.
const MaxAggregate = 256

// batch is the memory of an aggregate, which is used again for the next one.
type batch struct {
	heads []byte   // the heads of the messages
	parts [][]byte // a head, the parts of a body, a head ...
}

// measureAggregate returns how many messages from the head of the queue go into the next packet, as the strategy
// decides, and the length of their body in bytes. 1 message is no aggregate.
func (f *Flow) measureAggregate() (messages, bytes int) {
	r := f.tx.queue.head
	credit := f.tx.credit
	p := strategy.Packet{Room: f.tx.maxBody}
	for ; r != nil && p.Messages < MaxAggregate; r = r.Next {
		size := r.Data.Size
		if !f.mayGoEagerly(r, credit) || p.Bytes+AggregateHead+size > p.Room {
			break
		}
		if p.Messages > 0 && !f.Strategy.Joins(p, f.item(r)) {
			break
		}
		p.Messages++
		p.Bytes += AggregateHead + size
		credit -= cost(size)
	}
	return max(p.Messages, 1), p.Bytes
}

// mayGoEagerly reports whether a message may go eagerly, given that much credit.
func (f *Flow) mayGoEagerly(r *Request, credit int64) bool {
	return r.Data.Size <= f.tx.eagerLimit && credit >= cost(r.Data.Size) &&
		(!r.UsesExtras || !r.Extras.Sync && r.Extras.Data == nil && !f.lendable(r))
}

// item describes r to a strategy.
func (f *Flow) item(r *Request) strategy.Item {
	x := strategy.Item{Tag: r.Entry.Tag, Size: r.Data.Size, Eager: f.mayGoEagerly(r, f.tx.credit)}
	if r.UsesExtras {
		x.Priority = r.Extras.Priority
	}
	return x
}

// packAggregate makes the aggregate of that many messages from the head of the queue, whose body has that many bytes.
func (f *Flow) packAggregate(messages, bytes int) *Packet {
	b := &f.tx.batch
	b.heads, b.parts = b.heads[:0], b.parts[:0]
	if cap(b.heads) < messages*AggregateHead { // else appending would move what parts points to
		b.heads = make([]byte, 0, MaxAggregate*AggregateHead)
	}
	for r, i := f.tx.queue.head, 0; i < messages; r, i = r.Next, i+1 {
		at := len(b.heads)
		b.heads = appendHead(b.heads, r.Context, r.Entry.Tag, r.Data.Size)
		b.parts = append(b.parts, b.heads[at:])
		if p := r.pieces(); p == nil {
			b.parts = append(b.parts, r.Data.Buf())
		} else {
			b.parts = append(b.parts, p.Parts...)
		}
	}
	p := f.pack(aggregatePacket, driver.Header{
		Kind: KindAggregate, Body: uint32(bytes), Size: uint64(messages), Seq: f.tx.seq,
		Cookie: uint32(f.rx.owed), // at most the window, which fits
	})
	p.req, p.Parts = f.tx.queue.head, b.parts
	return p
}

// appendHead appends the head of a message.
func appendHead(b []byte, context uint16, tag uint64, size int) []byte {
	b = binary.LittleEndian.AppendUint64(b, tag)
	return binary.LittleEndian.AppendUint64(b, (&driver.Header{Size: uint64(size), Context: context}).SizeAndContext())
}

// readHead is the inverse of appendHead. It reads each number once, since a peer that shares the memory may change it
// at any time.
func readHead(b []byte) (context uint16, tag, size uint64) {
	var h driver.Header
	h.SetSizeAndContext(binary.LittleEndian.Uint64(b[8:]))
	return h.Context, binary.LittleEndian.Uint64(b), h.Size
}

// aggregateTaken is the part of packetTaken for an aggregate.
func (f *Flow) aggregateTaken(p *Packet) {
	clear(p.Parts) // keep no reference to the buffers of the program
	f.rx.creditGiven(int64(p.Head.Cookie))
	f.Stats.Aggregates++
	f.Stats.Aggregated += p.Head.Size
	for range p.Head.Size {
		r := f.tx.queue.Pop()
		f.tx.seq++
		f.tx.credit -= cost(r.Data.Size)
		f.Stats.BytesSent += uint64(r.Data.Size)
		f.handOver(r)
	}
}

// Messages calls yield for each message that a packet that has come brings, or announces. seq is the number of the
// message.
func Messages(h *driver.Header, body []byte, yield func(tag, size uint64, seq uint32)) {
	switch h.Kind {
	case KindEager, KindRdv, KindLoan, KindExpose:
		yield(h.Tag, h.Size, h.Seq)
	case KindAggregate:
		for i := uint32(0); len(body) >= AggregateHead; i++ {
			_, tag, size := readHead(body)
			if body = body[AggregateHead:]; size > uint64(len(body)) {
				return
			}
			yield(tag, size, h.Seq+i)
			body = body[size:]
		}
	}
}

// Messages calls yield for each message that p carries, or announces, as the function Messages does for a packet that
// has come.
func (p *Packet) Messages(yield func(tag, size uint64, seq uint32)) {
	if p.content != aggregatePacket {
		if p.content != gatheredPacket { // only traces call this, and while a trace is recorded nothing is gathered
			Messages(&p.Head, nil, yield)
		}
		return
	}
	r := p.req
	for i := range uint32(p.Head.Size) {
		yield(r.Entry.Tag, uint64(r.Data.Size), p.Head.Seq+i)
		r = r.Next
	}
}

// handleAggregate handles an aggregate that has come.
func (f *Flow) handleAggregate(h *driver.Header, body []byte) error {
	if h.Tag != 0 || h.Size < 2 || h.Size > MaxAggregate {
		return violation("an aggregate of %d messages, tag %#x", h.Size, h.Tag)
	}
	if h.Seq != f.rx.seq {
		return f.outOfOrder(h)
	}
	if h.Cookie != 0 {
		if wrong := f.handleCredit(uint64(h.Cookie)); wrong != nil {
			return wrong
		}
	}
	for i := range h.Size {
		if len(body) < AggregateHead {
			return violation("an aggregate of %d messages ends in message %d", h.Size, i)
		}
		context, tag, size := readHead(body)
		body = body[AggregateHead:]
		if size > uint64(len(body)) {
			return violation("a message of %d bytes where an aggregate has %d", size, len(body))
		}
		if wrong := f.rx.check(context); wrong != nil {
			return wrong
		}
		if !f.rx.charge(int(size)) {
			return f.overdrawn()
		}
		f.rx.seq++
		f.arrive(context, tag, body[:size])
		body = body[size:]
	}
	if len(body) != 0 {
		return violation("%d bytes behind the last message of an aggregate", len(body))
	}
	return nil
}
