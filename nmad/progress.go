package nmad

import (
	"github.com/pm2-go/pm2/nmad/internal/flow"
	"github.com/pm2-go/pm2/pioman"
)

// progress moves the small track on, once, for waiter (nil: no particular request).
// Under mu. It says whether packets arrived.
func (g *Gate) progress(waiter *Request) bool {
	arrived := g.track.receive(waiter)
	if g.flow.Outgoing() && g.life.end == nil && !g.waits.keepGathering() {
		g.track.drain()
	}
	return arrived
}

// poll moves the gate on, both tracks, unless another thread does just now. It
// never waits and may be called from hooks. It says whether anything moved.
func (g *Gate) poll() bool {
	return g.mu.tryLock() && g.pollLocked()
}

// pollLocked is poll for a caller that has the lock, and lets it go.
func (g *Gate) pollLocked() bool {
	moved := g.handleInbox()
	if g.track.echoes { // under the lock, to the end: no thread polls this gate for what is left
		g.track.full = true
		g.letGo()
		return moved
	}
	if g.rails.woken {
		g.rails.look()
	}
	moved = g.progress(nil) || moved
	for range rounds {
		taken := g.rails.reserve()
		if taken == 0 {
			break
		}
		g.letGo()
		g.rails.copy(taken)
		if !g.mu.tryLock() {
			return true // the holder completes the transfers
		}
		if !g.handleInbox() {
			break
		}
		moved = true
	}
	g.letGo()
	return moved
}

// letGo releases the lock. Before and after that it does what the holder owes: it tells the owners of
// requests that are done, calls the user's functions, takes in what other threads have left in the inbox
// meanwhile, and arms a sleeper for room.
func (g *Gate) letGo() {
	if g.owesNothing() && g.flow.Settled(g.news.needing, g.news.holding) {
		g.mu.unlock() // the usual case
		if !g.inbox.left() || !g.mu.tryLock() {
			g.mu.domain.tend()
			return
		}
		g.handleInbox()
	}
	for {
		for !g.inbox.collected.Empty() || g.track.full { // each may lead to the other
			g.handleInbox()
			g.track.echo()
		}
		if g.rails.armed != 0 {
			if g.rails.rearm(); !g.inbox.collected.Empty() {
				continue
			}
		}
		g.news.publish()
		over, called := g.news.over, g.news.called
		g.news.over, g.news.called = requestQueue{}, false
		g.mu.unlock()
		for r := over.pop(); r != nil; r = over.pop() { // r is out of it before its owner may use it again
			if q := r.rare().queue; q == nil {
				r.completion.Signal(finished | free)
			} else {
				q.put(r)
			}
		}
		if called {
			g.news.call()
		}
		if !g.inbox.left() || !g.mu.tryLock() {
			g.mu.domain.tend()
			return
		}
		g.handleInbox()
	}
}

// owesNothing says that the holder of the lock has nothing to do before it lets the lock go, apart from what the flow says
// (flow.Settled): no request to start, no sleeper to arm for room, no packet that came back, no owner to tell, no function to call.
// Under mu.
func (g *Gate) owesNothing() bool {
	return g.inbox.collected.Empty() && g.rails.armed == 0 && !g.track.full && g.news.over.Empty() && !g.news.called
}

// tick is the gate's ltask.
func (g *Gate) tick(*pioman.Task) pioman.Status {
	if !g.mu.tryLock() {
		return pioman.Again
	}
	if g.life.end != nil {
		g.letGo()
		return pioman.Done
	}
	if g.rails.waiterPolls() && (g.flow.Moving(flow.Pull) == 0 || g.flow.Moving(flow.Push) == 0) {
		// A long message in one direction keeps one CPU busy, and a waiter polls for it already. Moved is right, since the
		// waiter moves bytes: if the engine took the gate for quiet, it would send its progressor to sleep for it at every
		// tick, in vain (source.Arm).
		g.letGo()
		return pioman.Moved
	}
	if len(g.rails.all) > 1 {
		g.rails.lookAround()
	}
	if g.pollLocked() {
		return pioman.Moved
	}
	return pioman.Again
}
