package flow

import (
	"fmt"

	"github.com/pm2-go/pm2/nmad/driver"
	"github.com/pm2-go/pm2/nmad/strategy"
)

// sender is what a flow knows about its outgoing small track.
type sender struct {
	caps    driver.Caps
	room    int         // longest body of a packet, in bytes
	out     Packet      // that is to leave, see next
	eager   int         // longest body that goes eagerly, in bytes
	seq     uint32      // of the next message
	credit  int64       // eager bytes that the peer still takes
	window  int64       // what credit can be at most
	records int         // rendezvous that the peer keeps at once
	told    int         // records of which it was told that they are all used
	queue   Queue       // messages that wait for their turn, in the order of the strategy
	batch   batch       // the packet of several of them that is being made up
	leaving Queue       // requests whose packets may lie in the driver's buffer, see leaving.go
	sends   cookieTable // announced
	late    int         // announcements in queue that are put off, see putsOff

	gathered openPacket // messages that are done and wait for company; before queue

	refused bool // the link had no room for the last packet
	batched bool // it keeps all packets there until the next flush
}

// clear says that a message of so many bytes could leave at once, in one packet, if there is credit for it: none waits.
func (f *Flow) clear(bytes int) bool {
	return bytes <= f.tx.eager && f.tx.queue.head == nil && f.rx.answers.head == nil && f.Dead == nil
}

// Lacks says that a message of so many bytes would go eagerly, if there were credit: a sender that only sends should look
// for what came back.
func (f *Flow) Lacks(bytes int) bool { return bytes <= f.tx.eager && f.tx.credit < cost(bytes) }

// Short is the header of a message that can leave at once, in one packet: none waits before it, nothing is Gathered, and
// there is credit for it. nil: it cannot. It needs no request; the owner hands it to the link, and ShortSent goes on, or
// Refused.
func (f *Flow) Short(context uint16, tag uint64, bytes int) *driver.Header {
	if !f.clear(bytes) || f.tx.credit < cost(bytes) || f.Gathered() {
		return nil
	}
	return f.short(context, tag, bytes)
}

// short makes the header of a message that goes eagerly.
func (f *Flow) short(context uint16, tag uint64, bytes int) *driver.Header {
	h := &f.tx.out.Head
	h.Kind, h.Flags = KindEager, 0
	h.Body, h.Size, h.Context = uint32(bytes), uint64(bytes), context
	h.Tag, h.Seq = tag, f.tx.seq
	h.Cookie = uint32(f.rx.owed) // at most the window, which fits
	return h
}

// ShortSent goes on with what Short has given once the link has taken it.
func (f *Flow) ShortSent(bytes int) {
	f.Stats.Sends++
	f.eagerSent(bytes)
}

// eagerSent accounts for an eager message that the link has taken.
func (f *Flow) eagerSent(bytes int) {
	f.tx.seq++
	f.tx.credit -= cost(bytes)
	f.rx.paid(int64(f.tx.out.Head.Cookie))
	f.Stats.BytesSent += uint64(bytes)
}

// Refused goes on when the link had no room for a packet, or has failed.
func (f *Flow) Refused() {
	f.tx.refused = true
	p := &f.tx.out
	if p.act == announcing {
		f.endRendezvous(f.tx.sends.take(p.Head.Cookie))
	}
	f.rx.sharing = false
	p.clear()
}

// unsent is a set of the kinds of things that still have to leave although no pending request stands for them.
type unsent uint8

const (
	unsentBytes   unsent = 1 << iota // bytes in the driver's buffer
	unsentGroup                      // messages that were gathered
	unsentReturns                    // loans that were released
	unsentNotes                      // notes
)

// setUnsent notes whether there is something of that kind.
func (f *Flow) setUnsent(what unsent, some bool) {
	f.unsent &^= what
	if some {
		f.unsent |= what
	}
}

// unflushed says that the driver has bytes in its buffer.
func (f *Flow) unflushed() bool { return f.unsent&unsentBytes != 0 }

// Send begins a send. Unless it is to wait for others something may leave now (Drain), if due: not after the network had
// no room.
func (f *Flow) Send(r *Request) (due bool) {
	f.Stats.Sends++
	r.Stage = Queued
	if f.Dead != nil {
		f.finish(r, f.Dead)
		return false
	}
	if uint64(r.Data.Size) > driver.MaxMessage {
		f.finish(r, fmt.Errorf("nmad: send to rank %d, tag %#x: %w: %d bytes, a message has at most %d", f.Rank, r.Entry.Tag, ErrConfig, r.Data.Size, uint64(driver.MaxMessage)))
		return false
	}
	late := f.putsOff(r)
	first := f.tx.queue.Empty() && f.rx.answers.empty()
	f.Count(r)
	f.enqueue(r)
	return !late && (first || !f.tx.refused)
}

// AwaitFlush ends a send that the link has taken with Short, once the flush has emptied the driver's buffer.
func (f *Flow) AwaitFlush(r *Request) {
	f.follow()
	r.Stage = Queued
	f.Count(r)
	f.handOver(r)
}

// enqueue puts a message into its place: behind all with its
// tag, and behind all that the strategy does not let it overtake.
func (f *Flow) enqueue(r *Request) {
	q := &f.tx.queue
	if q.Empty() || q.tail.Entry.Tag == r.Entry.Tag || !f.Strategy.Overtakes(f.item(r), f.item(q.tail)) {
		q.Push(r)
		return
	}
	var before *Request // r goes behind it; nil: to the front
	for x := q.head; x != nil; x = x.Link {
		if x.Entry.Tag == r.Entry.Tag || !f.Strategy.Overtakes(f.item(r), f.item(x)) {
			before = x
		}
	}
	if before == nil {
		r.Link, q.head = q.head, r
	} else {
		r.Link, before.Link = before.Link, r // before is not the tail, which r overtakes
	}
}

// putsOff says that the announcement of r, which is started now, may wait for company.
func (f *Flow) putsOff(r *Request) bool {
	if !f.tx.caps.Syscalls || r.Data.Size <= f.tx.eager && !r.Synchronous() {
		return false
	}
	ahead := f.tx.sends.used != 0 || f.moving[Push] != 0
	if ahead {
		f.tx.late++
	}
	return strategy.PutsOff(true, ahead, f.tx.late)
}

// Queued is the size of the send that is next, in bytes; 0: there is none.
func (f *Flow) Queued() int {
	if r := f.tx.queue.head; r != nil {
		return r.Data.Size
	}
	return 0
}

// waiting says whether packets wait to be handed to the link.
func (f *Flow) waiting() bool {
	return !f.tx.queue.Empty() || !f.rx.answers.empty() || f.others()
}

// others says whether packets wait that neither are nor announce nor ask for messages in queues.
func (f *Flow) others() bool {
	return f.unsent&^unsentBytes != 0 || f.bye.owes || f.bye.owesAck || f.rx.due() || f.rx.owesRoom
}

// Outgoing says whether packets wait, or bytes in the driver's buffer.
func (f *Flow) Outgoing() bool { return f.unflushed() || f.waiting() }

// Unsent says whether something could be handed to the link that it was not asked to take yet: it had room for the last
// packet, and what waits does not wait for the peer's answers, as when as many messages are announced as it keeps.
func (f *Flow) Unsent() bool {
	stalled := f.tx.sends.used >= f.tx.records && !f.tx.queue.Empty() && f.rx.answers.empty() &&
		!f.rx.due() && !f.rx.owesRoom && !f.bye.owesAck && f.unsent&^unsentBytes == 0
	return !f.tx.refused && f.waiting() && !stalled
}

// WantsRoom says whether something cannot leave until the link has room.
func (f *Flow) WantsRoom() bool { return f.tx.refused && f.waiting() || f.unflushed() }

// holding says that something has to leave which belongs to no request that counts.
func (f *Flow) holding() bool { return f.unsent != 0 && !f.ended }

// Quiet says that no send is under way any more.
func (f *Flow) Quiet() bool {
	return f.tx.queue.Empty() && f.tx.sends.used == 0 && f.moving[Push] == 0 && f.unsent&^unsentReturns == 0
}

// FailSends ends all sends but those whose bytes are being carried right now: they are
// ended when these land.
func (f *Flow) FailSends(err error) {
	f.tx.gathered.messages = 0
	f.setUnsent(unsentGroup, false)
	for r := f.tx.leaving.Pop(); r != nil; r = f.tx.leaving.Pop() {
		if r.Stage == Leaving {
			f.finish(r, err)
		} else { // a receive of no bytes: it lacks nothing, whether its sender hears of it or not
			f.transferred(r, 0)
		}
	}
	for r := f.tx.queue.Pop(); r != nil; r = f.tx.queue.Pop() {
		f.finish(r, err)
	}
	from := 0
	for v := f.tx.sends.takeAny(&from); v != nil; v = f.tx.sends.takeAny(&from) {
		f.fail(v, err)
	}
	for i := range f.Rails {
		f.failStream(&f.Rails[i].Streams[Push], err)
	}
}
