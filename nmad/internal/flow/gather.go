package flow

import (
	"encoding/binary"

	"github.com/pm2-go/pm2/nmad/driver"
	"github.com/pm2-go/pm2/nmad/strategy"
)

// Gathering: threads that a packet, or several, have woken run one after the other, and most
// of them send something, before the VP looks at the network again. Under a strategy that
// puts messages together their short ones leave in one packet, for which the first waits.
//
//	Send, short, and the strategy joins:
//	  threads that this gate has woken wait for our VP   -> to the others in the open packet; done
//	  none does, but there are some                    -> to them; the packet leaves
//	  else                                               -> a packet of its own, at once
//
// So a lone thread never waits. What is gathered leaves when
//
//   - the last of those threads sends, or there are GatherMost messages, or the next does not fit;
//   - a message goes that does not join, or one is announced: order is that of the sends;
//   - a waiter polls and no woken thread is ready on its VP: one that blocks, or the hooks, the
//     idle one at once and that of the timer if a thread computes on. While such a thread is ready
//     GatherPolls polls leave it alone, so threads that switch without sending hold up nothing for
//     long.
//
// The engine counts a gate with something gathered as pending, and has hooks, so it is polled: where
// no waiter need, no thread counts as woken. The sends are done: credit and numbers are taken when
// they join. How many, and how long, is in strategy/company.go.

// openPacket is the packet that is being gathered.
type openPacket struct {
	body     []byte // its body, which is that of an aggregate
	messages int
	polls    int // how many polls have left it alone since it was begun
}

func (op *openPacket) empty() bool { return op.messages == 0 }

// joins says whether a message is to be gathered with others, or to wait for such as come soon.
func (f *Flow) joins(tag uint64, size int, c Company) bool {
	x := &f.tx.gathered
	if x.empty() && (!c.Ready || f.enough(c.Woken) < 2) || size > strategy.GatherLongest {
		return false
	}
	p := strategy.Packet{Messages: max(x.messages, 1), Bytes: len(x.body), Room: min(f.tx.room, strategy.GatherRoom)}
	return p.Bytes+AggregateHead+size <= p.Room && f.Strategy.Joins(p, strategy.Item{Tag: tag, Size: size, Eager: true})
}

// gather adds a message in the context Plain that joins, for which there is credit. leave: there is nothing more to wait
// for, and all of them are to leave.
func (f *Flow) gather(tag uint64, buf []byte, c Company) (leave bool) {
	x := &f.tx.gathered
	if x.empty() {
		if x.body == nil {
			x.body = make([]byte, 0, strategy.GatherRoom)
		}
		x.body, x.polls = x.body[:0], 0
	}
	x.body = append(appendHead(x.body, Plain, tag, len(buf)), buf...)
	x.messages++
	f.setUnsent(unsentGroup, true)
	f.tx.seq++
	f.tx.credit -= cost(len(buf))
	f.Stats.BytesSent += uint64(len(buf))
	return x.messages >= f.enough(c.Woken) || !c.Ready
}

func (f *Flow) enough(woken int) int {
	return strategy.Enough(f.tx.caps.Syscalls, woken, f.rx.posted)
}

// Gathered says that messages wait for others in the open packet.
func (f *Flow) Gathered() bool { return f.unsent&unsentGroup != 0 }

// KeepGathering says that what is Gathered is to be left alone for now; ready as in Company.
func (f *Flow) KeepGathering(ready bool) bool {
	x := &f.tx.gathered
	if x.polls == strategy.GatherPolls || !ready {
		return false
	}
	x.polls++
	return true
}

// packGathered makes the packet of what was gathered.
func (f *Flow) packGathered() *Packet {
	x := &f.tx.gathered
	p := f.pack(gathered, driver.Header{
		Kind: KindAggregate, Body: uint32(len(x.body)), Size: uint64(x.messages),
		Seq: f.tx.seq - uint32(x.messages), Cookie: uint32(f.rx.owed),
	})
	p.Body = x.body
	if x.messages == 1 {
		p.Head.Kind, p.Head.Tag = KindEager, binary.LittleEndian.Uint64(x.body)
		p.Body = x.body[AggregateHead:]
		p.Head.Body, p.Head.Size, p.Head.Context = uint32(len(p.Body)), uint64(len(p.Body)), Plain
	}
	return p
}

// sentGathered goes on when the link has taken the packet of what was gathered.
func (f *Flow) sentGathered() {
	f.rx.paid(int64(f.tx.out.Head.Cookie))
	if x := &f.tx.gathered; x.messages > 1 {
		f.Stats.Aggregates++
		f.Stats.Aggregated += uint64(x.messages)
	}
	f.tx.gathered.messages = 0
	f.setUnsent(unsentGroup, false)
}
