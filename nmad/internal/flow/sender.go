package flow

import (
	"fmt"

	"github.com/pm2-go/pm2/nmad/driver"
	"github.com/pm2-go/pm2/nmad/strategy"
)

// sender is the part of a flow that sends packets over the small track.
type sender struct {
	caps       driver.Caps // of the link of the first rail
	maxBody    int         // longest body of a packet, in bytes
	packet     Packet      // memory of the packet that next returns
	eagerLimit int         // longest body that goes eagerly, in bytes
	seq        uint32      // number of the next message
	credit     int64       // eager bytes that the peer still takes; see credit.go
	window     int64       // upper bound of credit
	records    int         // rendezvous that the peer keeps at once; see records.go
	fullSent   int         // number of records in the last FULL that was sent; 0 if none was
	queue      Queue       // sends that wait for their turn, in the order that the strategy wants
	batch      batch       // memory of the next aggregate
	leaving    Queue       // requests whose packets may lie in the driver's buffer; see leaving.go
	announced  cookieTable // rendezvous that are announced, and of which the peer may ask for bytes
	deferrals  int         // number of announcements in queue that were deferred since the last Drain; see Flow.defers

	gathered openPacket // messages that are gathered; they leave before those of queue

	noRoom  bool // the link had no room for the last packet
	batched bool // the link keeps the packets of this Drain until the flush at its end
}

// canLeave reports whether a message of that many bytes could leave at once, in one packet, given credit: it is short
// enough, and no message or answer waits before it.
func (f *Flow) canLeave(bytes int) bool {
	return bytes <= f.tx.eagerLimit && f.tx.queue.head == nil && f.rx.answers.Empty() && f.Dead == nil
}

// LacksCredit reports whether a message of that many bytes would go eagerly if there were credit for it. Then the gate
// should receive packets before it sends: one may bring credit.
func (f *Flow) LacksCredit(bytes int) bool {
	return bytes <= f.tx.eagerLimit && f.tx.credit < cost(bytes)
}

// ShortHeader returns the header of a message that can leave at once, in one packet: no other message waits before it,
// or is gathered, and there is credit for it. Else it returns nil. The message needs no request: the gate hands header
// and body to the link, and then calls ShortSent, or Refused if the link has not taken it. The header is valid until
// then.
func (f *Flow) ShortHeader(context uint16, tag uint64, bytes int) *driver.Header {
	if !f.canLeave(bytes) || f.tx.credit < cost(bytes) || f.HasGathered() {
		return nil
	}
	return f.shortHeader(context, tag, bytes)
}

// shortHeader makes the header of a message that goes eagerly.
func (f *Flow) shortHeader(context uint16, tag uint64, bytes int) *driver.Header {
	h := &f.tx.packet.Head
	h.Kind, h.Flags = KindEager, 0
	h.Body, h.Size, h.Context = uint32(bytes), uint64(bytes), context
	h.Tag, h.Seq = tag, f.tx.seq
	h.Cookie = uint32(f.rx.owed) // at most the window, which fits
	return h
}

// ShortSent accounts for a message of that many bytes, begun with ShortHeader, that the link has taken.
func (f *Flow) ShortSent(bytes int) {
	f.Stats.Sends++
	f.eagerTaken(bytes)
}

// eagerTaken accounts for an eager message that the link has taken.
func (f *Flow) eagerTaken(bytes int) {
	f.tx.seq++
	f.tx.credit -= cost(bytes)
	f.rx.creditGiven(int64(f.tx.packet.Head.Cookie))
	f.Stats.BytesSent += uint64(bytes)
}

// Refused notes that the link had no room for the last packet, or has failed. What the packet was made of waits as
// before.
func (f *Flow) Refused() {
	f.tx.noRoom = true
	p := &f.tx.packet
	if p.content == announcementPacket {
		f.endRendezvous(f.tx.announced.take(p.Head.Cookie))
	}
	f.rx.sharesValid = false
	p.clear()
}

// unsent is a set of kinds of data that still have to leave, and that belong to no pending request.
type unsent uint8

const (
	unsentBytes    unsent = 1 << iota // bytes in the driver's buffer
	unsentGathered                    // messages that were gathered
	unsentReturns                     // RETURNs
	unsentNotes                       // notes of agreements
)

// setUnsent notes whether data of that kind still has to leave.
func (f *Flow) setUnsent(kind unsent, waits bool) {
	f.unsent &^= kind
	if waits {
		f.unsent |= kind
	}
}

// unflushed reports whether the driver has bytes in its buffer.
func (f *Flow) unflushed() bool { return f.unsent&unsentBytes != 0 }

// Send begins a send. It reports whether the gate should call Drain now: not if the announcement is deferred, nor
// after the link had no room.
func (f *Flow) Send(r *Request) (due bool) {
	f.Stats.Sends++
	r.Stage = Queued
	if f.Dead != nil {
		f.Finish(r, f.Dead)
		return false
	}
	if uint64(r.Data.Size) > driver.MaxMessage {
		f.Finish(r, fmt.Errorf("nmad: send to rank %d, tag %#x: %w: %d bytes, a message has at most %d",
			f.PeerRank, r.Entry.Tag, ErrConfig, r.Data.Size, uint64(driver.MaxMessage)))
		return false
	}
	deferred := f.defers(r)
	first := f.tx.queue.Empty() && f.rx.answers.Empty()
	f.Count(r)
	f.enqueue(r)
	return !deferred && (first || !f.tx.noRoom)
}

// AwaitFlush makes r a send whose message the link has taken by ShortHeader, and of which a part is still in the
// driver's buffer. The request ends when the buffer is empty.
func (f *Flow) AwaitFlush(r *Request) {
	f.endEarlier()
	r.Stage = Queued
	f.Count(r)
	f.handOver(r)
}

// enqueue puts a send into the queue: behind all sends with its tag, and behind all that the strategy does not let it
// overtake.
func (f *Flow) enqueue(r *Request) {
	q := &f.tx.queue
	if q.Empty() || q.tail.Entry.Tag == r.Entry.Tag || !f.Strategy.Overtakes(f.item(r), f.item(q.tail)) {
		q.Push(r)
		return
	}
	var before *Request // r goes behind it, or to the front if it is nil
	for x := q.head; x != nil; x = x.Next {
		if x.Entry.Tag == r.Entry.Tag || !f.Strategy.Overtakes(f.item(r), f.item(x)) {
			before = x
		}
	}
	if before == nil {
		r.Next, q.head = q.head, r
	} else {
		r.Next, before.Next = before.Next, r // before is not the tail, which r overtakes
	}
}

// defers reports whether the announcement of r, which is started now, is deferred, so that it leaves together with
// others (strategy.MaxDeferred).
func (f *Flow) defers(r *Request) bool {
	if !f.tx.caps.Syscalls || r.Data.Size <= f.tx.eagerLimit && !r.Synchronous() {
		return false
	}
	if f.tx.announced.used == 0 && f.moving[Push] == 0 {
		return false
	}
	f.tx.deferrals++
	return f.tx.deferrals < strategy.MaxDeferred
}

// NextSize returns the size of the first send in the queue, in bytes; 0 if the queue is empty.
func (f *Flow) NextSize() int {
	if r := f.tx.queue.head; r != nil {
		return r.Data.Size
	}
	return 0
}

// waiting reports whether packets wait to be handed to the link.
func (f *Flow) waiting() bool {
	return !f.tx.queue.Empty() || !f.rx.answers.Empty() || f.controlWaits()
}

// controlWaits reports whether packets wait other than messages, announcements and answers.
func (f *Flow) controlWaits() bool {
	return f.unsent&^unsentBytes != 0 || f.bye.owesBye || f.bye.owesAck || f.rx.creditDue() || f.rx.owesRoom
}

// Outgoing reports whether packets wait, or bytes in the driver's buffer.
func (f *Flow) Outgoing() bool { return f.unflushed() || f.waiting() }

// Unsent reports whether a packet waits that Drain could hand to the link now: the link had room for the last packet,
// and the packet does not wait for the peer, as an announcement does while all of the peer's records are used.
func (f *Flow) Unsent() bool {
	stalled := f.tx.announced.used >= f.tx.records && !f.tx.queue.Empty() && f.rx.answers.Empty() &&
		!f.rx.creditDue() && !f.rx.owesRoom && !f.bye.owesAck && f.unsent&^unsentBytes == 0
	return !f.tx.noRoom && f.waiting() && !stalled
}

// WantsRoom reports whether a packet, or bytes in the driver's buffer, cannot leave until the link has room.
func (f *Flow) WantsRoom() bool { return f.tx.noRoom && f.waiting() || f.unflushed() }

// holding reports whether data has to leave that belongs to no pending request.
func (f *Flow) holding() bool { return f.unsent != 0 && !f.ended }

// SendsDone reports whether no send is under way any more.
func (f *Flow) SendsDone() bool {
	return f.tx.queue.Empty() && f.tx.announced.used == 0 && f.moving[Push] == 0 && f.unsent&^unsentReturns == 0
}

// FailSends ends all sends with err. A send one of whose chunks a copier moves just now ends when the copy is over
// (Complete).
func (f *Flow) FailSends(err error) {
	f.tx.gathered.messages = 0
	f.setUnsent(unsentGathered, false)
	for r := f.tx.leaving.Pop(); r != nil; r = f.tx.leaving.Pop() {
		if r.Stage == Leaving {
			f.Finish(r, err)
		} else { // a receive of no bytes: it is complete, whether its RTR reaches the sender or not
			f.transferred(r, 0)
		}
	}
	for r := f.tx.queue.Pop(); r != nil; r = f.tx.queue.Pop() {
		f.Finish(r, err)
	}
	for v := range f.tx.announced.drain {
		f.fail(v, err)
	}
	for i := range f.Rails {
		f.failStream(&f.Rails[i].Streams[Push], err)
	}
}
