package flow

import (
	"encoding/binary"

	"github.com/pm2-go/pm2/nmad/driver"
	"github.com/pm2-go/pm2/nmad/strategy"
)

// Gathering: threads that one or more packets have woken run one after the other on their VP, and most of them send
// something before the VP looks at the network again. Under a strategy that aggregates, their short messages leave in
// one packet, the open packet, in which the first messages wait for the others.
//
//	a thread sends a short message that the strategy joins with others:
//	  other woken threads are ready on its VP     -> the message goes into the open packet, and its send is done
//	  none is, but the open packet has messages   -> likewise, and the packet leaves
//	  else                                        -> the message leaves at once, in a packet of its own
//
// So the message of a lone thread never waits. The open packet leaves when
//
//   - the last of the woken threads sends, or the packet has enough messages (strategy.Enough), or the next one does not fit;
//   - another message leaves, or is announced: messages leave in the order of the sends;
//   - the gate is polled and no woken thread is ready on the poller's VP. The poller is a waiter that blocks, or a hook: the
//     idle hook at once, the timer hook if a thread goes on computing. While a woken thread is ready, the first MaxGatherPolls
//     polls leave the packet waiting, so threads that switch without sending do not hold it up for long.
//
// The engine counts a gate whose open packet has messages as pending, so its hooks poll the gate. In an engine without
// hooks no thread counts as woken, and nothing is gathered. A message takes its credit and its number when it goes into
// the open packet. strategy/company.go has the limits.

// openPacket is the packet in which messages are gathered.
type openPacket struct {
	body     []byte // the body of an aggregate
	messages int    // number of messages in body
	polls    int    // polls that have left the packet waiting since its first message
}

func (op *openPacket) empty() bool { return op.messages == 0 }

// mayGather reports whether a message goes into the open packet, or opens one because others will follow.
func (f *Flow) mayGather(tag uint64, size int, c WaitingSenders) bool {
	x := &f.tx.gathered
	if x.empty() && (!c.Ready || f.enoughGathered(c.Woken) < 2) || size > strategy.MaxGatherBytes {
		return false
	}
	p := strategy.Packet{Messages: max(x.messages, 1), Bytes: len(x.body), Room: min(f.tx.maxBody, strategy.GatherRoom)}
	return p.Bytes+AggregateHead+size <= p.Room && f.Strategy.Joins(p, strategy.Item{Tag: tag, Size: size, Eager: true})
}

// gather adds a message in the DefaultContext, for which there is credit, to the open packet. leave reports whether the
// packet has nothing more to wait for.
func (f *Flow) gather(tag uint64, buf []byte, c WaitingSenders) (leave bool) {
	x := &f.tx.gathered
	if x.empty() {
		if x.body == nil {
			x.body = make([]byte, 0, strategy.GatherRoom)
		}
		x.body, x.polls = x.body[:0], 0
	}
	x.body = append(appendHead(x.body, DefaultContext, tag, len(buf)), buf...)
	x.messages++
	f.setUnsent(unsentGathered, true)
	f.tx.seq++
	f.tx.credit -= cost(len(buf))
	f.Stats.BytesSent += uint64(len(buf))
	return x.messages >= f.enoughGathered(c.Woken) || !c.Ready
}

// enoughGathered returns how many messages are enough to send the open packet.
func (f *Flow) enoughGathered(woken int) int {
	return strategy.Enough(f.tx.caps.Syscalls, woken, f.rx.posted)
}

// HasGathered reports whether the open packet has messages.
func (f *Flow) HasGathered() bool { return f.unsent&unsentGathered != 0 }

// KeepGathering reports whether a poll should leave the open packet waiting, and counts the poll. ready is
// WaitingSenders.Ready.
func (f *Flow) KeepGathering(ready bool) bool {
	x := &f.tx.gathered
	if x.polls == strategy.MaxGatherPolls || !ready {
		return false
	}
	x.polls++
	return true
}

// packGathered makes the packet of the gathered messages: EAGER of a single one, else AGGREGATE.
func (f *Flow) packGathered() *Packet {
	x := &f.tx.gathered
	p := f.pack(gatheredPacket, driver.Header{
		Kind: KindAggregate, Body: uint32(len(x.body)), Size: uint64(x.messages),
		Seq: f.tx.seq - uint32(x.messages), Cookie: uint32(f.rx.owed),
	})
	p.Body = x.body
	if x.messages == 1 {
		p.Head.Kind, p.Head.Tag = KindEager, binary.LittleEndian.Uint64(x.body)
		p.Body = x.body[AggregateHead:]
		p.Head.Body, p.Head.Size, p.Head.Context = uint32(len(p.Body)), uint64(len(p.Body)), DefaultContext
	}
	return p
}

// gatheredTaken is the part of packetTaken for the gathered messages.
func (f *Flow) gatheredTaken() {
	f.rx.creditGiven(int64(f.tx.packet.Head.Cookie))
	if x := &f.tx.gathered; x.messages > 1 {
		f.Stats.Aggregates++
		f.Stats.Aggregated += uint64(x.messages)
	}
	f.tx.gathered.messages = 0
	f.setUnsent(unsentGathered, false)
}
