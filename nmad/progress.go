package nmad

import (
	"github.com/pm2-go/pm2/nmad/internal/flow"
	"github.com/pm2-go/pm2/pioman"
)

// progress moves the small track on, once, for waiter (nil: no particular request).
// It says whether packets arrived.
func (h *held) progress(waiter *Request) bool {
	arrived := h.receive(waiter)
	if h.flow.Outgoing() && h.end == nil && !h.keepGathering() {
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
func (h *held) pollLocked() bool {
	moved := h.handleInbox()
	if h.echoes { // under the lock, to the end: no thread polls this gate for what is left
		h.full = h.full || h.flow.Streams() || h.flow.Outgoing()
		h.letGo()
		return moved
	}
	if h.woken {
		h.lookAtRails()
	}
	moved = h.progress(nil) || moved
	for range rounds {
		taken := h.reserve()
		if taken == 0 {
			break
		}
		h.letGo()
		h.g.copy(taken)
		if !h.g.mu.tryLock() {
			return true // the holder completes the transfers
		}
		if !h.handleInbox() {
			break
		}
		moved = true
	}
	h.letGo()
	return moved
}

// letGo releases the lock. Before and after that it does what the holder owes: it tells the owners of
// requests that are done, calls the user's functions, takes in what other threads have left in the inbox
// meanwhile, and arms a sleeper for room.
func (h *held) letGo() {
	if h.owesNothing() && h.flow.Settled(h.needing, h.holding) {
		h.g.mu.unlock() // the usual case
		if !h.g.inbox.left() || !h.g.mu.tryLock() {
			h.g.mu.domain.tend()
			return
		}
		h.handleInbox()
	}
	for {
		for !h.started.Empty() || h.full { // each may lead to the other
			h.handleInbox()
			h.echo()
		}
		if h.armed != 0 {
			if h.rearm(); !h.started.Empty() {
				continue
			}
		}
		h.publish()
		over, called := h.over, h.called
		h.over, h.called = requestQueue{}, false
		h.g.mu.unlock()
		for r := over.pop(); r != nil; r = over.pop() { // r is out of it before its owner may use it again
			if q := r.rare().queue; q == nil {
				r.completion.Signal(finished | free)
			} else {
				q.put(r)
			}
		}
		if called {
			h.g.callUser()
		}
		if !h.g.inbox.left() || !h.g.mu.tryLock() {
			h.g.mu.domain.tend()
			return
		}
		h.handleInbox()
	}
}

// owesNothing says that the holder of the lock has nothing to do before it lets the lock go, apart from what the flow says
// (flow.Settled): no request to start, no sleeper to arm for room, no packet that came back, no owner to tell, no function
// to call.
func (h *held) owesNothing() bool {
	return h.started.Empty() && h.armed == 0 && !h.full && h.over.Empty() && !h.called
}

// tick is the gate's ltask.
func (g *Gate) tick(*pioman.Task) pioman.Status {
	h := g.tryLock()
	if h == nil {
		return pioman.Again
	}
	if h.end != nil {
		h.letGo()
		return pioman.Done
	}
	if h.waiterPolls() && (h.flow.Moving(flow.Pull) == 0 || h.flow.Moving(flow.Push) == 0) {
		// A long message in one direction keeps one CPU busy, and a waiter polls for it already. Moved is right, since the
		// waiter moves bytes: if the engine took the gate for quiet, it would send its progressor to sleep for it at every
		// tick, in vain (source.Arm).
		h.letGo()
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
