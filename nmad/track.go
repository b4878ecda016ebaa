package nmad

import (
	"github.com/pm2-go/pm2/marcel"
	"github.com/pm2-go/pm2/nmad/driver"
	"github.com/pm2-go/pm2/nmad/internal/flow"
)

// burst is how many packets one poll takes in at most, so that the lock is held
// for a bounded time.
const burst = 32

// track is the small track of a gate's first rail, over which all packets travel, and the loop that carries them between it and
// the flow: what the flow wants to leave goes to the link, what the link has goes to the flow. Under the lock of the gate.
type track struct {
	g    *Gate
	link driver.Link   // changes once, when the gate gets its links
	head driver.Header // of the packet that is being received

	apart  bool // the gate has lists under a lock of their own
	slow   bool // calls of the link enter the kernel: other threads are to have the lists meanwhile
	echoes bool // the link brings back what it is given: the gate leads to the own rank
	full   bool // echo has something to take in
}

// bind has the small track use that link. Under mu.
func (t *track) bind(link driver.Link, eager int) {
	g := t.g
	caps := link.Caps()
	t.link, t.echoes, t.slow, t.apart = link, caps.Echoes, caps.Syscalls, g.mu.lists != nil
	g.flow.Bind(caps, eager)
}

// echo takes in what has left over a link that echoes, both tracks, until nothing moves: the thread that sends receives, and needs
// no poller. The bytes of long messages are copied under the lock.
func (t *track) echo() {
	g := t.g
	for vain := 0; g.life.end == nil && (t.full || vain < 2 && g.flow.Streams()); { // what Push offers in one round Pull takes in the next one
		t.full = false
		for t.receive(nil) {
		}
		if g.flow.Outgoing() && !g.waits.keepGathering() {
			t.drain()
		}
		g.rails.copy(g.rails.reserve())
		if vain++; g.rails.complete() {
			vain = 0
		}
	}
}

// shortBody is up to how many bytes a link that enters no kernel copies faster than the lists change hands.
const shortBody = 512

// leaveLists lets other threads have the lists while the caller is inside the link with a body of that many bytes, if that takes longer than to take the lists
// again. retakeLists ends that.
func (t *track) leaveLists(body int) {
	if t.apart && (t.slow || body > shortBody) {
		t.g.mu.dropLists()
	}
}

func (t *track) retakeLists(body int) {
	if t.apart {
		t.takeLists(body)
	}
}

//go:noinline
func (t *track) takeLists(body int) {
	if t.slow || body > shortBody {
		t.g.mu.takeLists()
	}
}

// drain hands the packets that wait to the link. It stops at the first refusal.
func (t *track) drain() {
	g := t.g
	more := g.flow.StartPackets()
	for p := g.flow.Next(); p != nil; p = g.flow.Next() {
		if p.Head.Kind == flow.KindLoan && !g.memory.lend() {
			g.flow.Bar()
			continue
		}
		ok, err := t.emit(p, more)
		if !ok || err != nil {
			g.flow.Refused()
			if err != nil {
				g.life.lose(err)
				return
			}
			break
		}
		g.flow.Sent()
	}
	t.flush()
}

// emit hands a packet to the link; more: a flush follows. False: it has no room.
func (t *track) emit(p *flow.Packet, more bool) (bool, error) {
	g := t.g
	began := stamp()
	t.leaveLists(int(p.Head.Body))
	ok, err := t.link.Send(&p.Head, p.Body, p.Parts, more)
	t.retakeLists(int(p.Head.Body))
	t.full = t.echoes
	if began != 0 && ok {
		p.Takes(func(tag, size uint64, seq uint32) {
			marcel.TraceMessage(marcel.TraceOut, g.own, g.rank, seq, tag, size, began)
		})
	}
	return ok, err
}

// flush moves the driver's buffered bytes on, and says whether none are left.
func (t *track) flush() bool { return !t.g.flow.Buffered() || t.flushAll() }

func (t *track) flushAll() bool {
	g := t.g
	t.leaveLists(0)
	all, err := t.link.Flush()
	t.retakeLists(0)
	if err != nil {
		g.life.lose(err)
		return false
	}
	g.flow.Flushed(all)
	return all
}

// receive takes in the packets that are there, up to a burst. Once waiter (nil: none) is
// done and no other request waits, it looks for no more: the look would take the line of
// the next cell away from a peer that is about to write it. It says whether there were any. It takes nothing in once the gate
// has ended: receives have failed then, and a later receive would get a message in the place of another one.
func (t *track) receive(waiter *Request) bool {
	g := t.g
	h := &t.head
	for n := range burst {
		if g.life.end != nil {
			return n > 0
		}
		t.leaveLists(0)
		body, ok, err := t.link.Recv(h)
		t.retakeLists(0)
		if err != nil {
			g.life.fail(g.rails.all[0].failure(err))
			return true
		}
		if !ok {
			return n > 0
		}
		if !g.flow.Simple(h) {
			if t.expect(h.Kind); g.life.end != nil {
				return true
			}
		}
		wrong := g.flow.Packet(h, body)
		if !g.flow.Calm() {
			g.news.takeFinished()
		}
		if marcel.Tracing() && wrong == nil {
			t.traceArrived(body)
		}
		if h.Kind == flow.KindNote && wrong == nil {
			wrong = g.consensus.hear(g)
		}
		if wrong != nil {
			g.life.endOn(wrong)
			return true
		}
		if waiter != nil && waiter.core.Stage == flow.Done && g.flow.Posted() == 0 {
			return true
		}
	}
	return true
}

// expect prepares the flow for a packet that is out of the ordinary, or is to be matched with receives that are.
func (t *track) expect(kind uint8) {
	g := t.g
	if !g.flow.Exactly() {
		// A thread may have posted a receive here and then one for any source: the order of these is kept.
		g.flow.Within(g.inbox.collect())
	}
	if kind == flow.KindLoan && g.flow.WantsView() {
		if wrong := g.memory.mapPeer(); wrong != nil {
			g.life.endOn(wrong)
		}
	}
}

// traceArrived records the messages that the packet in head has brought, or announced.
func (t *track) traceArrived(body []byte) {
	g := t.g
	flow.Messages(&t.head, body, func(tag, size uint64, seq uint32) {
		marcel.TraceMessage(marcel.TraceArrived, g.own, g.rank, seq, tag, size, 0)
	})
}
