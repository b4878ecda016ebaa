package nmad

import (
	"encoding/binary"

	"github.com/pm2-go/pm2/marcel"
	"github.com/pm2-go/pm2/nmad/driver"
	"github.com/pm2-go/pm2/nmad/strategy"
)

// Gathering: threads that a packet, or several, have woken run one after the other, and most
// of them send something, before the VP looks at the network again. Under a strategy that
// puts messages together their short ones leave in one packet, for which the first waits.
//
//	Send, short, and the strategy joins:
//	  threads that this gate has woken wait for our VP   -> to the others in gathering; done
//	  nobody does, but there are some                    -> to them; the packet leaves
//	  else                                               -> a packet of its own, at once
//
// So a lone thread never waits. What is gathered leaves when
//
//   - the last of those threads sends, or there are gatherMost messages, or the next does not fit;
//   - a message goes that does not join, or one is announced: order is that of the sends;
//   - somebody polls and no woken thread is ready on his VP: who blocks, or the hooks, the
//     idle one at once and that of the timer if a thread computes on. While such a thread is ready
//     gatherPatience polls leave it alone, so threads that switch without sending hold up nothing for
//     long.
//
// The engine counts a gate with something gathered as pending, and has hooks, so somebody does poll: where
// nobody need, no thread counts as woken (Gate.awake). The sends are done: credit and numbers are taken when
// they join. All under the lock of the gate.

const (
	gatherMost     = 16   // messages in a packet; more would keep the peer waiting for work
	gatherLongest  = 128  // bytes of a message that is copied once more
	gatherRoom     = 2048 // bytes of a packet
	gatherPatience = 16   // polls
)

// gathering is the packet that is being gathered.
type gathering struct {
	body     []byte // as of an aggregate
	messages int
	polls    int // that have left it alone
}

func (x *gathering) empty() bool { return x.messages == 0 }

// gathers says that threads which this gate has woken are ready on the caller's VP.
func (g *Gate) gathers() bool { return g.awake > 0 && marcel.Ready() }

// joins says whether a message is to be sent together with those that were gathered, or with
// such as come soon.
func (g *Gate) joins(tag uint64, size int) bool {
	x := &g.tx.gathered
	if x.empty() && (!g.gathers() || g.enough() < 2) || size > gatherLongest || marcel.Tracing() {
		return false
	}
	p := strategy.Packet{Messages: max(x.messages, 1), Bytes: len(x.body), Room: min(g.tx.room, gatherRoom)}
	return p.Bytes+aggregateHead+size <= p.Room && g.strategy.Joins(p, strategy.Item{Tag: tag, Size: size, Eager: true})
}

// gather adds a message, for which there is credit, and sends them all if there is nothing to
// wait for.
func (g *Gate) gather(tag uint64, buf []byte) {
	x := &g.tx.gathered
	if x.empty() {
		if x.body == nil {
			x.body = make([]byte, 0, gatherRoom)
		}
		x.body, x.polls = x.body[:0], 0
		g.hold(true)
	}
	x.body = binary.LittleEndian.AppendUint64(x.body, tag)
	x.body = binary.LittleEndian.AppendUint64(x.body, uint64(len(buf))) // and four zeros
	x.body = append(x.body, buf...)
	x.messages++
	g.tx.seq++
	g.tx.credit -= cost(len(buf))
	g.stats.BytesSent += uint64(len(buf))
	if x.messages >= g.enough() || !g.gathers() {
		g.drain()
	}
}

// enough is how many messages make a packet. Where packets are cheap the peer is better off with
// some of the messages early: else one side stands still while the other one works.
func (g *Gate) enough() int {
	if g.tx.caps.Syscalls {
		return gatherMost
	}
	return min((g.awake+g.rx.Posted())/4, gatherMost)
}

// patient says that what is gathered is to be left alone for now.
func (g *Gate) patient() bool {
	x := &g.tx.gathered
	if x.empty() || x.polls == gatherPatience || !g.gathers() {
		return false
	}
	x.polls++
	return true
}

// transmitGathered sends what was gathered. False: the link has no room.
func (g *Gate) transmitGathered() (bool, error) {
	x := &g.tx.gathered
	h, body := &g.tx.head, x.body
	*h = driver.Header{
		Kind: kindAggregate, Body: uint32(len(body)), Size: uint64(x.messages),
		Seq: g.tx.seq - uint32(x.messages), Cookie: uint32(g.rx.owed),
	}
	if x.messages == 1 {
		h.Kind, h.Tag = kindEager, binary.LittleEndian.Uint64(body)
		body = body[aggregateHead:]
		h.Body, h.Size = uint32(len(body)), uint64(len(body))
	}
	if ok, err := g.emit(body, nil); !ok || err != nil {
		return false, err
	}
	g.rx.paid()
	if x.messages > 1 {
		g.stats.Aggregates++
		g.stats.Aggregated += uint64(x.messages)
	}
	x.messages = 0
	return true, nil
}
