package nmad

import (
	"github.com/pm2-go/pm2/marcel"
	"github.com/pm2-go/pm2/nmad/driver"
	"github.com/pm2-go/pm2/nmad/internal/flow"
	"github.com/pm2-go/pm2/pioman"
)

// progress moves the small track on, once, for waiter (nil: no particular request).
// It says whether packets arrived.
func (h *lockedGate) progress(waiter *Request) bool {
	arrived := h.receive(waiter)
	if h.flow.Outgoing() && h.endErr == nil && !h.keepGathering() {
		h.drain()
	}
	return arrived
}

// poll moves the gate on, both tracks, unless another thread does just now. It
// never waits and may be called from hooks. It says whether anything moved.
func (g *Gate) poll() bool {
	h := g.tryLock()
	return h != nil && h.pollLocked()
}

// pollLocked is poll for a caller that has the lock, and lets it go.
func (h *lockedGate) pollLocked() bool {
	moved := h.handleInbox()
	if h.echoes { // under the lock, to the end: no thread polls this gate for what is left
		h.echoDue = h.echoDue || h.flow.HasChunks() || h.flow.Outgoing()
		h.unlock()
		return moved
	}
	if h.railsWoken {
		h.lookAtRails()
	}
	moved = h.progress(nil) || moved
	for range rounds {
		taken := h.reserve()
		if taken == 0 {
			break
		}
		h.unlock()
		h.g.copy(taken)
		if !h.g.mu.TryLock() {
			return true // the holder completes the transfers
		}
		if !h.handleInbox() {
			break
		}
		moved = true
	}
	h.unlock()
	return moved
}

// unlock releases the lock. Before and after that it does what the holder owes: it tells the owners of
// requests that are done, calls the user's functions, takes in what other threads have left in the inbox
// meanwhile, and arms a sleeper for room.
func (h *lockedGate) unlock() {
	if h.owesNothing() && h.flow.Settled(h.countedRequests, h.countedUnsent) {
		h.g.mu.Unlock() // the usual case
		if !h.g.inbox.left() || !h.g.mu.TryLock() {
			h.g.mu.Domain().Tend()
			return
		}
		h.handleInbox()
	}
	for {
		for !h.started.Empty() || h.echoDue { // each may lead to the other
			h.handleInbox()
			h.echo()
		}
		if h.armedRails != 0 {
			if h.rearm(); !h.started.Empty() {
				continue
			}
		}
		h.publish()
		over, called := h.toSignal, h.upcallsAdded
		h.toSignal, h.upcallsAdded = requestQueue{}, false
		h.g.mu.Unlock()
		for r := over.pop(); r != nil; r = over.pop() { // r is out of it before its owner may use it again
			if q := r.rare().queue; q == nil {
				r.completion.Signal(bitDone | bitReusable)
			} else {
				q.put(r)
			}
		}
		if called {
			h.g.callUser()
		}
		if !h.g.inbox.left() || !h.g.mu.TryLock() {
			h.g.mu.Domain().Tend()
			return
		}
		h.handleInbox()
	}
}

// owesNothing says that the holder of the lock has nothing to do before it lets the lock go, apart from what the flow says
// (flow.Settled): no request to start, no sleeper to arm for room, no packet that came back, no owner to tell, no function
// to call.
func (h *lockedGate) owesNothing() bool {
	return h.started.Empty() && h.armedRails == 0 && !h.echoDue && h.toSignal.Empty() && !h.upcallsAdded
}

// tick is the gate's ltask.
func (g *Gate) tick(*pioman.Task) pioman.Status {
	h := g.tryLock()
	if h == nil {
		return pioman.Again
	}
	if h.endErr != nil {
		h.unlock()
		return pioman.Done
	}
	if h.waiterPolls() && (h.flow.Moving(flow.Pull) == 0 || h.flow.Moving(flow.Push) == 0) {
		// A long message in one direction keeps one CPU busy, and a waiter polls for it already. Moved is right, since the
		// waiter moves bytes: if the engine took the gate for quiet, it would send its progressor to sleep for it at every
		// tick, in vain (source.Arm).
		h.unlock()
		return pioman.Moved
	}
	if len(g.rails) > 1 {
		h.lookAround()
	}
	if h.pollLocked() {
		return pioman.Moved
	}
	return pioman.Again
}

// burst is how many packets one poll takes in at most, so that the lock is held
// for a bounded time.
const burst = 32

// bind has the small track use that link.
func (h *lockedGate) bind(link driver.Link, eager int) {
	caps := link.Caps()
	h.link, h.echoes, h.slowCalls, h.hasLists = link, caps.Echoes, caps.Syscalls, h.g.mu.HasLists()
	h.flow.Bind(caps, eager)
}

// echo takes in what was sent over a link that echoes, on both tracks, until nothing moves. So the sending thread receives
// itself, and needs no poller. The bytes of long messages are copied under the lock.
func (h *lockedGate) echo() {
	for vain := 0; h.endErr == nil && (h.echoDue || vain < 2 && h.flow.HasChunks()); { // what Push offers in one round Pull takes in the next one
		h.echoDue = false
		for h.receive(nil) {
		}
		if h.flow.Outgoing() && !h.keepGathering() {
			h.drain()
		}
		h.g.copy(h.reserve())
		if vain++; h.complete() {
			vain = 0
		}
	}
}

// shortBody is the largest body, in bytes, that a link without system calls copies faster than the lists change hands.
const shortBody = 512

// unlockLists lets other threads have the lists while the caller is inside the link with a body of that many bytes, if that
// takes longer than to take the lists again. relockLists ends that.
func (h *lockedGate) unlockLists(body int) {
	if h.hasLists && (h.slowCalls || body > shortBody) {
		h.g.mu.UnlockLists()
	}
}

func (h *lockedGate) relockLists(body int) {
	if h.hasLists {
		h.relockListsSlow(body)
	}
}

//go:noinline
func (h *lockedGate) relockListsSlow(body int) {
	if h.slowCalls || body > shortBody {
		h.g.mu.LockLists()
	}
}

// drain hands the packets that wait to the link. It stops when that has no room.
func (h *lockedGate) drain() {
	if err := h.flow.Drain(h); err != nil {
		h.lose(err)
	}
}

// Emit hands a packet to the link. Emit, Flush, View and Begin are flow.Network.
func (h *lockedGate) Emit(p *flow.Packet, more bool) (bool, error) {
	began := traceTime()
	h.unlockLists(int(p.Head.Body))
	ok, err := h.link.Send(&p.Head, p.Body, p.Parts, more)
	h.relockLists(int(p.Head.Body))
	h.echoDue = h.echoes
	if began != 0 && ok {
		p.Messages(func(tag, size uint64, seq uint32) {
			marcel.TraceMessage(marcel.TraceOut, h.g.ownRank, h.g.rank, seq, tag, size, began)
		})
	}
	return ok, err
}

// Flush moves the driver's buffered bytes on.
func (h *lockedGate) Flush() (bool, error) {
	h.unlockLists(0)
	all, err := h.link.Flush()
	h.relockLists(0)
	return all, err
}

// receive takes in the packets that are there, up to a burst. Once waiter (nil: none) is done and no other request waits,
// it looks for no more: the look would take the line of the next cell away from a peer that is about to write it. It says
// whether there were any. After the gate has ended it takes in nothing: receives have failed, and a later receive would
// get a message in the place of another one.
func (h *lockedGate) receive(waiter *Request) bool {
	head := &h.head
	for n := range burst {
		if h.endErr != nil {
			return n > 0
		}
		h.unlockLists(0)
		body, ok, err := h.link.Recv(head)
		h.relockLists(0)
		if err != nil {
			h.g.tellLost(h)
			h.fail(h.g.rails[0].failure(err))
			return true
		}
		if !ok {
			return n > 0
		}
		wrong := h.flow.Packet(head, body, h)
		if !h.flow.NoNews() {
			h.takeFinished()
		}
		if marcel.Tracing() && wrong == nil {
			h.traceArrived(body)
		}
		if head.Kind == flow.KindNote && wrong == nil {
			wrong = h.g.agreements.hear(h)
		}
		if wrong != nil {
			h.endOn(wrong)
			return true
		}
		if waiter != nil && waiter.core.Stage == flow.Done && h.flow.Posted() == 0 {
			return true
		}
	}
	return true
}

// traceArrived records the messages that the packet in head has brought, or announced.
func (h *lockedGate) traceArrived(body []byte) {
	flow.Messages(&h.head, body, func(tag, size uint64, seq uint32) {
		marcel.TraceMessage(marcel.TraceArrived, h.g.ownRank, h.g.rank, seq, tag, size, 0)
	})
}
