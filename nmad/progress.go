package nmad

import (
	"fmt"
	"time"

	"github.com/pm2-go/pm2/asm"
	"github.com/pm2-go/pm2/marcel"
	"github.com/pm2-go/pm2/nmad/internal/flow"
	"github.com/pm2-go/pm2/pioman"
)

// spinBurst is how often a waiter polls before it lets the lock of the gate go
// for a moment and looks at the clock: about 100 ns over shared memory, 5 us
// over sockets.
const spinBurst = 8

// longLook is how long a look of a waiter at a stream may take before the engine takes the gate up: a call moves
// many bytes. A waiter that loses its CPU in there, to others that compute, is not to keep the engine away.
const longLook = 2 * time.Millisecond

// progress moves the small track on, once, for waiter (nil: nobody in particular).
// Under mu. It says whether packets arrived.
func (g *Gate) progress(waiter *Request) bool {
	if g.life.end != nil || g.link == nil {
		return false
	}
	arrived := g.receive(waiter)
	if g.flow.Outgoing() && g.life.end == nil && !g.patient() {
		g.drain()
	}
	return arrived
}

// poll moves the gate on, both tracks, unless somebody else does just now. It
// never waits and may be called from hooks. It says whether anything moved.
func (g *Gate) poll() bool {
	return g.mu.tryLock() && g.pollLocked()
}

// pollLocked is poll for a caller that has the lock, and lets it go.
func (g *Gate) pollLocked() bool {
	moved := g.attend()
	if g.woken {
		g.look()
	}
	moved = g.progress(nil) || moved
	for range rounds {
		taken := g.takeAll()
		if taken == 0 {
			break
		}
		g.release()
		g.carryAll(taken)
		if !g.mu.tryLock() {
			return true // whoever holds it takes home what has landed
		}
		if !g.attend() {
			break
		}
		moved = true
	}
	g.release()
	return moved
}

// patient says that what is gathered is to be left alone for now. Under mu.
func (g *Gate) patient() bool { return g.flow.Gathered() && g.flow.Patient(g.gathers()) }

// streams says that bytes of long messages are to move. Under mu.
func (g *Gate) streams() bool { return g.flow.Moving(flow.Pull)+g.flow.Moving(flow.Push) != 0 }

// release lets the lock go, and sees to what must not be forgotten then: owners of
// requests that are done, functions to be called, what others have left for the holder of
// the lock meanwhile, and a sleeper that was not told to look out for room.
func (g *Gate) release() {
	if g.collected.Empty() && g.armed == 0 && g.over.Empty() && !g.called && g.settled() {
		g.mu.unlock() // as most often
		if !g.left() || !g.mu.tryLock() {
			return
		}
		g.attend()
	}
	for {
		if !g.collected.Empty() {
			g.attend()
		}
		if g.armed != 0 {
			g.rearm()
		}
		g.settle()
		over, called := g.over, g.called
		g.over, g.called = requestQueue{}, false
		g.mu.unlock()
		for r := over.pop(); r != nil; r = over.pop() { // r is out of it before its owner may use it again
			if r.queue == nil {
				r.completion.Signal(finished | free)
			} else {
				r.queue.put(r)
			}
		}
		if called {
			g.upcall()
		}
		if !g.left() || !g.mu.tryLock() {
			return
		}
		g.attend()
	}
}

// settled says that no waiter and no callback has to hear of anything that the flow has done: its requests that are done, and
// whether the engine is to poll for those under way, and for what is to leave. Under mu.
func (g *Gate) settled() bool {
	return g.flow.Calm() && (g.flow.Pending() != 0) == g.needing && (g.flow.Holding() && g.life.end == nil) == g.holding
}

// settle has them hear. The engine, whose hooks poll from then on, counts the gate as long as anything of it is under way. Under mu.
func (g *Gate) settle() {
	g.heedFinished()
	g.count(&g.needing, g.flow.Pending() != 0)
	g.count(&g.holding, g.flow.Holding() && g.life.end == nil)
}

func (g *Gate) count(is *bool, should bool) {
	switch {
	case *is == should:
		return
	case should:
		g.engine.Need()
	default:
		g.engine.Done()
	}
	*is = should
}

// pollFor polls the gate for the owner of r before that sleeps, until r is done (marcel.Poll). It is called with the
// lock and returns with it, and says whether r is done.
func (g *Gate) pollFor(r *Request) bool {
	if g.spin <= 0 || !g.streams() && g.gathers() {
		return false // the engine has a look before it lets us sleep
	}
	w := waiter{g: g, r: r}
	if !marcel.Poll(g.spin, g.shared, w.look) {
		g.mu.lock()
	}
	g.waited = 0
	return r.core.Stage == flow.Done
}

// waiter is the owner of a request that polls for it.
type waiter struct {
	g     *Gate
	r     *Request
	looks int
}

// look is called with the lock the first time, and returns with it once the request is done.
func (w *waiter) look() marcel.Found {
	g, r := w.g, w.r
	if w.looks++; w.looks > 1 {
		g.mu.lock()
	}
	if r.core.Stage == flow.Done {
		return marcel.Arrived
	}
	found := marcel.Nothing
	streams := g.streams()
	for i := 0; i < spinBurst && !streams; i++ {
		if g.progress(r) {
			found = marcel.Moved
		}
		if r.core.Stage == flow.Done {
			return marcel.Arrived
		}
		if g.shared || g.wanted() {
			break
		}
		streams = g.streams()
	}
	if !streams {
		g.waited = 0
		g.release()
		return found
	}
	g.waited = asm.Cycles() + asm.ToCycles(int64(longLook))
	if g.pollLocked() || found == marcel.Moved || w.looks == 1 {
		return marcel.Flowing
	}
	return marcel.Nothing
}

// wait blocks the owner of r until r is done.
func (g *Gate) wait(r *Request) error {
	g.enter()
	if r.core.Stage != flow.Done && !g.pollFor(r) {
		r.told = true
	}
	g.release()
	return g.sleep(r)
}

// sleep is wait without polling this gate in particular; r is told, or over.
func (g *Gate) sleep(r *Request) error {
	if r.over.Load() != 0 {
		return nil
	}
	if err := g.park(r); err != nil && !r.completion.Test(finished) {
		return fmt.Errorf("nmad: wait for a request at the gate to rank %d: %w", g.rank, err)
	}
	return nil
}

// park sleeps until r is finished. Where the caller has not polled its gate, for all may matter or none is polled so, it
// polls the engine first.
func (g *Gate) park(r *Request) error {
	if g.spin <= 0 || r.any != nil {
		return r.completion.Wait(g.engine, finished)
	}
	return r.completion.Park(g.engine, finished)
}

// tick is the gate's ltask.
func (g *Gate) tick(*pioman.Task) pioman.Status {
	if !g.mu.tryLock() {
		return pioman.Again
	}
	if g.life.end != nil {
		g.release()
		return pioman.Done
	}
	if g.attended() && (g.flow.Moving(flow.Pull) == 0 || g.flow.Moving(flow.Push) == 0) {
		// One direction keeps one CPU busy, and the waiter's. Something moves, by his hand: if the engine took the gate
		// for quiet it would send its spare LWP at every tick to sleep for it, in vain (rail.arm).
		g.release()
		return pioman.Moved
	}
	if len(g.rails) > 1 {
		g.lookAround()
	}
	if g.pollLocked() {
		return pioman.Moved
	}
	return pioman.Again
}
