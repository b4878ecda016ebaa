package nmad

import (
	"github.com/pm2-go/pm2/nmad/internal/flow"
	"github.com/pm2-go/pm2/pioman"
)

// progress moves the small track on, once, for waiter (nil: for none in particular).
// Under mu. It says whether packets arrived.
func (g *Gate) progress(waiter *Request) bool {
	arrived := g.track.receive(waiter)
	if g.flow.Outgoing() && g.life.end == nil && !g.waits.patient() {
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
	moved := g.attend()
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
		taken := g.rails.take()
		if taken == 0 {
			break
		}
		g.letGo()
		g.rails.carry(taken)
		if !g.mu.tryLock() {
			return true // the holder takes home what has landed
		}
		if !g.attend() {
			break
		}
		moved = true
	}
	g.letGo()
	return moved
}

// letGo lets the lock go, and sees to what must not be forgotten then: owners of
// requests that are done, functions to be called, what others have left for the holder of
// the lock meanwhile, and a sleeper that was not told to look out for room.
func (g *Gate) letGo() {
	if g.owesNothing() && g.flow.Settled(g.news.needing, g.news.holding) {
		g.mu.unlock() // as most often
		if !g.inbox.left() || !g.mu.tryLock() {
			return
		}
		g.attend()
	}
	for {
		for !g.inbox.collected.Empty() || g.track.full { // each may lead to the other
			g.attend()
			g.track.echo()
		}
		if g.rails.armed != 0 {
			if g.rails.rearm(); !g.inbox.collected.Empty() {
				continue
			}
		}
		g.news.settle()
		over, called := g.news.over, g.news.called
		g.news.over, g.news.called = requestQueue{}, false
		g.mu.unlock()
		for r := over.pop(); r != nil; r = over.pop() { // r is out of it before its owner may use it again
			if r.queue == nil {
				r.completion.Signal(finished | free)
			} else {
				r.queue.put(r)
			}
		}
		if called {
			g.news.call()
		}
		if !g.inbox.left() || !g.mu.tryLock() {
			return
		}
		g.attend()
	}
}

// owesNothing says that the holder of the lock has nothing to see to before it lets the lock go, as far as the flow does not say: no
// request to begin, no sleeper to be told of room, no packet that came back, no owner to be told, no function to be called. Under mu.
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
	if g.rails.attended() && (g.flow.Moving(flow.Pull) == 0 || g.flow.Moving(flow.Push) == 0) {
		// One direction keeps one CPU busy, and the waiter's. Something moves, by his hand: if the engine took the gate
		// for quiet it would send its spare LWP at every tick to sleep for it, in vain (rail.arm).
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
