package nmad

import (
	"github.com/pm2-go/pm2/marcel"
	"github.com/pm2-go/pm2/nmad/driver"
	"github.com/pm2-go/pm2/nmad/internal/flow"
	"github.com/pm2-go/pm2/pioman"
)

// progress polls the small track once: it receives packets, and sends those that wait. waiter is the request for which
// the caller waits, or nil. It reports whether packets have come.
func (h *lockedGate) progress(waiter *Request) bool {
	arrived := h.receive(waiter)
	if h.flow.Outgoing() && h.endErr == nil && !h.keepGathering() {
		h.drain()
	}
	return arrived
}

// poll polls both tracks of the gate once, unless another thread holds its lock. It never waits, and hooks may call it.
// It reports whether anything has moved.
func (g *Gate) poll() bool {
	h := g.tryLock()
	return h != nil && h.pollLocked()
}

// pollLocked is poll for a caller that holds the lock. It releases the lock.
func (h *lockedGate) pollLocked() bool {
	moved := h.handleInbox()
	if h.echoes { // unlock moves all there is, by echo, because no other thread polls this gate
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
		h.gate.copy(taken)
		if !h.gate.mu.TryLock() {
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

// unlock releases the lock. Before that it handles what is left to do under the lock, and arms the sleeper for room.
// Afterwards it wakes the waiters for requests that have finished, and calls the program's functions. If other threads
// have left work in the inbox meanwhile, it takes the lock again and starts over.
func (h *lockedGate) unlock() {
	if h.owesNothing() && h.flow.Settled(h.countedRequests, h.countedUnsent) {
		h.gate.mu.Unlock() // the usual case
		if !h.gate.inbox.left() || !h.gate.mu.TryLock() {
			h.gate.mu.Domain().Tend()
			return
		}
		h.handleInbox()
	}
	for {
		for !h.started.Empty() || h.echoDue { // handleInbox may set echoDue, and echo may add to started
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
		h.gate.mu.Unlock()
		for r := over.pop(); r != nil; r = over.pop() { // pop comes first: after Signal the program may start r again
			if q := r.extras().queue; q == nil {
				r.completion.Signal(bitDone | bitReusable)
			} else {
				q.put(r)
			}
		}
		if called {
			h.gate.callUser()
		}
		if !h.gate.inbox.left() || !h.gate.mu.TryLock() {
			h.gate.mu.Domain().Tend()
			return
		}
		h.handleInbox()
	}
}

// owesNothing reports whether unlock has nothing to do, apart from what flow.Flow.Settled tells: no request to begin,
// no sleeper to arm for room, nothing for echo, no waiter to wake, no function to call.
func (h *lockedGate) owesNothing() bool {
	return h.started.Empty() && h.armedRails == 0 && !h.echoDue && h.toSignal.Empty() && !h.upcallsAdded
}

// tick is the function of the gate's ltask: the engine calls it to poll the gate.
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
		// A long message in one direction keeps one CPU busy, and a waiter polls for it already. Moved is right, since
		// the waiter moves bytes: if the engine took the gate for quiet, it would send its progressor to sleep for it
		// at every tick, in vain (source.Arm).
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

// burst is the largest number of packets that one poll receives, so that the lock is held for a bounded time.
const burst = 32

// bind makes the small track use a link. eager is the eager limit, in bytes; 0: as the link says.
func (h *lockedGate) bind(link driver.Link, eager int) {
	caps := link.Caps()
	h.link, h.echoes, h.slowCalls, h.hasLists = link, caps.Echoes, caps.Syscalls, h.gate.mu.HasLists()
	h.flow.Bind(caps, eager)
}

// echo receives what was sent over a link that echoes, on both tracks, until nothing moves. So a thread that sends to
// its own process needs no poller. The bytes of long messages are copied under the lock.
func (h *lockedGate) echo() {
	// Pull takes in one round what Push has offered in the round before, so one round in vain is not the end.
	for vain := 0; h.endErr == nil && (h.echoDue || vain < 2 && h.flow.HasChunks()); {
		h.echoDue = false
		for h.receive(nil) {
		}
		if h.flow.Outgoing() && !h.keepGathering() {
			h.drain()
		}
		h.gate.copy(h.reserve())
		if vain++; h.complete() {
			vain = 0
		}
	}
}

// shortBody is the largest body, in bytes, that a link without system calls copies faster than another thread could get
// the lock of the lists.
const shortBody = 512

// unlockLists releases the lock of the lists, if there is one, before the caller enters the link with a body of that
// many bytes, unless the call takes less time than to get the lock again. relockLists undoes it.
func (h *lockedGate) unlockLists(body int) {
	if h.hasLists && (h.slowCalls || body > shortBody) {
		h.gate.mu.UnlockLists()
	}
}

// relockLists takes the lock of the lists again after unlockLists with the same body.
func (h *lockedGate) relockLists(body int) {
	if h.hasLists {
		h.relockListsSlow(body)
	}
}

//go:noinline
func (h *lockedGate) relockListsSlow(body int) {
	if h.slowCalls || body > shortBody {
		h.gate.mu.LockLists()
	}
}

// drain hands the packets that wait to the link, until it has no room.
func (h *lockedGate) drain() {
	if err := h.flow.Drain(h); err != nil {
		h.lose(err)
	}
}

// Emit hands a packet to the link. Emit, Flush, View and Begin implement flow.Network.
func (h *lockedGate) Emit(p *flow.Packet, more bool) (bool, error) {
	began := traceTime()
	h.unlockLists(int(p.Head.Body))
	ok, err := h.link.Send(&p.Head, p.Body, p.Parts, more)
	h.relockLists(int(p.Head.Body))
	h.echoDue = h.echoes
	if began != 0 && ok {
		p.Messages(func(tag, size uint64, seq uint32) {
			marcel.TraceMessage(marcel.TraceOut, h.gate.ownRank, h.gate.rank, seq, tag, size, began)
		})
	}
	return ok, err
}

// Flush hands the driver's buffered bytes to the kernel, and reports whether none are left.
func (h *lockedGate) Flush() (bool, error) {
	h.unlockLists(0)
	all, err := h.link.Flush()
	h.relockLists(0)
	return all, err
}

// receive receives the packets that have come, up to burst, and reports whether there were any. waiter is the request
// for which the caller waits, or nil. Once waiter is finished and no other receive waits, receive does not look further:
// a look at an empty cell of shared memory would take its cache line away from a peer that is about to write it. After
// the gate has ended, receive takes no more packets: posted receives have failed, so a receive that is posted later
// would get a message that was meant for one of them.
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
			h.loseTo(h.gate.rails[0].failure(err))
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
			wrong = h.gate.agreements.hear(h)
		}
		if wrong != nil {
			h.endOn(wrong)
			return true
		}
		if waiter != nil && waiter.core.Stage == flow.Finished && h.flow.Posted() == 0 {
			return true
		}
	}
	return true
}

// traceArrived records the messages that the last packet has brought, or announced.
func (h *lockedGate) traceArrived(body []byte) {
	flow.Messages(&h.head, body, func(tag, size uint64, seq uint32) {
		marcel.TraceMessage(marcel.TraceArrived, h.gate.ownRank, h.gate.rank, seq, tag, size, 0)
	})
}
