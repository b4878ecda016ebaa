package nmad

import (
	"encoding/binary"

	"github.com/pm2-go/pm2/marcel"
	"github.com/pm2-go/pm2/nmad/driver"
	"github.com/pm2-go/pm2/nmad/strategy"
)

// An aggregate is a packet that holds several eager messages: for each a head of
// aggregateHead bytes and its body, one after the other. On the receiving side they
// are what as many EAGER packets would have been. The bodies go from the buffers of the
// senders into the driver's memory, with no stop in between.

// aggregateHead is what comes before each message: tag (8), size (4), zero (4).
const aggregateHead = 16

// maxAggregate bounds the messages of one packet, and so the time for which the lock is
// held.
const maxAggregate = 256

// batch is the aggregate that is being made up. Under the lock of the gate; its memory
// is used again and again.
type batch struct {
	heads []byte
	parts [][]byte
}

// together says how many messages from the head of the queue go into the next packet, as
// the strategy wants it, and how many bytes of body that makes; 1: no aggregate.
func (g *Gate) together() (messages, bytes int) {
	r := g.tx.queue.head
	credit := g.tx.credit
	p := strategy.Packet{Room: g.tx.room}
	for ; r != nil && p.Messages < maxAggregate; r = r.link {
		size := r.data.size
		if !g.mayShare(r, credit) || p.Bytes+aggregateHead+size > p.Room {
			break
		}
		if p.Messages > 0 && !g.strategy.Joins(p, g.item(r)) {
			break
		}
		p.Messages++
		p.Bytes += aggregateHead + size
		credit -= cost(size)
	}
	return max(p.Messages, 1), p.Bytes
}

// mayShare says whether a message may go eagerly, given that much credit.
func (g *Gate) mayShare(r *Request, credit int64) bool {
	return r.data.size <= g.tx.eager && credit >= cost(r.data.size) && !r.sync && r.data.data == nil && (!r.special || !g.lendable(r))
}

// item is r as a strategy sees it.
func (g *Gate) item(r *Request) strategy.Item {
	return strategy.Item{Tag: r.entry.Tag, Size: r.data.size, Priority: r.priority, Eager: g.mayShare(r, g.tx.credit)}
}

// transmitTogether sends the first messages of the queue in one packet.
func (g *Gate) transmitTogether(messages, bytes int) (bool, error) {
	b := &g.tx.batch
	b.heads, b.parts = b.heads[:0], b.parts[:0]
	if cap(b.heads) < messages*aggregateHead { // else appending would move what parts points to
		b.heads = make([]byte, 0, maxAggregate*aggregateHead)
	}
	for r, i := g.tx.queue.head, 0; i < messages; r, i = r.link, i+1 {
		at := len(b.heads)
		b.heads = binary.LittleEndian.AppendUint64(b.heads, r.entry.Tag)
		b.heads = binary.LittleEndian.AppendUint64(b.heads, uint64(r.data.size)) // and four zeros
		b.parts = append(b.parts, b.heads[at:])
		if r.data.parts == nil {
			b.parts = append(b.parts, r.data.buf)
		} else {
			b.parts = append(b.parts, r.data.parts...)
		}
	}
	g.tx.head = driver.Header{
		Kind: kindAggregate, Body: uint32(bytes), Size: uint64(messages), Seq: g.tx.seq,
		Cookie: uint32(g.rx.owed), // at most the window, which fits
	}
	began := stamp()
	ok, err := g.emit(nil, b.parts)
	clear(b.parts) // the buffers are their owners' again
	if !ok || err != nil {
		return false, err
	}
	g.rx.paid()
	g.follow()
	g.stats.Aggregates++
	g.stats.Aggregated += uint64(messages)
	for range messages {
		r := g.tx.queue.pop()
		if began != 0 {
			marcel.TraceMessage(marcel.TraceOut, g.own, g.rank, g.tx.seq, r.entry.Tag, uint64(r.data.size), began)
		}
		g.tx.seq++
		g.tx.credit -= cost(r.data.size)
		g.stats.BytesSent += uint64(r.data.size)
		g.handOver(r)
	}
	return true, nil
}

// handleAggregate takes in an aggregate. Each number in body is read once: the peer may
// change it meanwhile.
func (g *Gate) handleAggregate(h *driver.Header, body []byte) *PeerError {
	if h.Tag != 0 || h.Size < 2 || h.Size > maxAggregate {
		return violation(g.rank, "an aggregate of %d messages, tag %#x", h.Size, h.Tag)
	}
	if h.Seq != g.rx.seq {
		return g.outOfOrder(h)
	}
	if h.Cookie != 0 {
		if wrong := g.handleCredit(uint64(h.Cookie)); wrong != nil {
			return wrong
		}
	}
	for i := range h.Size {
		if len(body) < aggregateHead {
			return violation(g.rank, "an aggregate of %d messages ends in message %d", h.Size, i)
		}
		tag, size := binary.LittleEndian.Uint64(body), binary.LittleEndian.Uint64(body[8:])
		body = body[aggregateHead:]
		if size > uint64(len(body)) {
			return violation(g.rank, "a message of %d bytes where an aggregate has %d", size, len(body))
		}
		if !g.rx.charge(int(size)) {
			return g.overdrawn()
		}
		if marcel.Tracing() {
			g.traceArrived(&driver.Header{Tag: tag, Size: size, Seq: g.rx.seq})
		}
		g.rx.seq++
		g.arrive(tag, body[:size])
		body = body[size:]
	}
	if len(body) != 0 {
		return violation(g.rank, "%d bytes behind the last message of an aggregate", len(body))
	}
	return nil
}
