package nmad

import (
	"errors"
	"fmt"
	"time"

	"github.com/pm2-go/pm2/asm"
	"github.com/pm2-go/pm2/marcel"
	"github.com/pm2-go/pm2/nmad/internal/flow"
	"github.com/pm2-go/pm2/nmad/strategy"
	"github.com/pm2-go/pm2/pioman"
)

// spinBurst is how often a waiter polls before it lets the lock of the gate go
// for a moment and looks at the clock: about 100 ns over shared memory, 5 us
// over sockets.
const spinBurst = 8

// waiterPollSpan is how long a look of a waiter at a stream may take before the engine polls the gate itself: a call moves
// many bytes. A waiter that loses its CPU meanwhile must not keep the engine away. The scheduler gives a look that is
// marcel.Flowing the same time before its clock fires the Timer hooks.
const waiterPollSpan = 2 * time.Millisecond

// waiter is the owner of a request that polls for it. Which function has the lock of the gate:
//
//	poll          called with it, returns with it
//	look          called with it the first time, without later on, and takes it; returns with it if it says Arrived, else without
//	marcel.Poll   called without; Arrived: returns with it, as look has left it; else poll takes it again
//	tell, progress, pollLocked   called with it; pollLocked lets it go
type waiter struct {
	h      *held
	r      *Request
	looks  int
	others *owner // the caller, if it has to move other domains, too; known from the second look on
}

func (wt *waiter) look() marcel.Found {
	h, r := wt.h, wt.r
	if wt.looks++; wt.looks > 1 {
		if wt.looks == 2 {
			wt.others = h.g.owned.others()
		}
		if wt.others != nil {
			wt.others.turn()
		}
		h.g.mu.lock()
	}
	if r.core.Stage == flow.Done {
		return marcel.Arrived
	}
	found := marcel.Nothing
	streams := h.flow.Streams()
	for i := 0; i < spinBurst && !streams; i++ {
		if h.progress(r) {
			found = marcel.Moved
		}
		if r.core.Stage == flow.Done {
			return marcel.Arrived
		}
		if h.g.shared || h.g.wanted() {
			break
		}
		streams = h.flow.Streams()
	}
	if !streams {
		h.waited = 0
		h.letGo()
		return found
	}
	h.waited = asm.Cycles() + asm.ToCycles(int64(waiterPollSpan))
	if h.pollLocked() || found == marcel.Moved || wt.looks == 1 {
		return marcel.Flowing
	}
	return marcel.Nothing
}

// pollFor polls the gate for the owner of r before that sleeps, until r is done (marcel.Poll). It is called with the
// lock and returns with it, and says whether r is done.
func (h *held) pollFor(r *Request) bool {
	if h.g.spin <= 0 || !h.flow.Streams() && h.gathers() {
		// Without spin, park polls the engine. Beside ready threads the waiter sleeps at once: the engine's look is then
		// the Switch hook of the thread that goes on, at most once in pioman.Params.Granularity (10 us).
		return false
	}
	w := waiter{h: h, r: r}
	if w.look() == marcel.Arrived {
		h.waited = 0
		return true
	}
	if !marcel.Poll(h.g.spin, h.g.shared, w.look) {
		h.g.mu.lock()
	}
	h.waited = 0
	return r.core.Stage == flow.Done
}

// glances polls as wait does before it sleeps, and tells whether r is done.
func (r *Request) glances() bool {
	g := r.gate
	if r.domain() != nil || g.worker != nil || g.barred() != nil || InCallback() {
		return false
	}
	h := g.enter()
	over := r.core.Stage == flow.Done || h.pollFor(r)
	h.letGo()
	return over
}

// wait blocks the owner of r until r is done.
func (g *Gate) wait(r *Request) error {
	if g.worker != nil {
		return g.sleep(r)
	}
	h := g.enter()
	if r.core.Stage != flow.Done && !h.pollFor(r) {
		r.tellOwner()
	}
	h.letGo()
	if r.core.State.Load() == flow.Over {
		return nil
	}
	return g.sleep(r)
}

// sleep is wait without polling this gate in particular; r is told.
func (g *Gate) sleep(r *Request) error {
	if err := g.park(r); err != nil && !r.completion.Test(finished) {
		return fmt.Errorf("nmad: wait for a request at the gate to rank %d: %w", g.rank, err)
	}
	return nil
}

// park sleeps until r is finished. If the caller has not polled its gate, because all gates matter to it or the gate is
// not polled in this way, park polls the engine first. An owner of private domains may wait in their engine; then it tells
// the gate's engine that something is pending.
func (g *Gate) park(r *Request) error {
	if InCallback() && !r.completion.Test(finished) {
		return pioman.ErrInHandler
	}
	for {
		e := g.waitsIn()
		if e == g.engine {
			if g.spin <= 0 || r.domain() != nil {
				return r.completion.WaitFor(e, finished, r.reason())
			}
			return r.completion.ParkFor(e, finished, r.reason())
		}
		g.engine.Need()
		err := r.completion.WaitFor(e, finished, r.reason())
		g.engine.Done()
		if !errors.Is(err, pioman.ErrClosed) { // else the last private domain was closed meanwhile
			return err
		}
	}
}

func (h *held) newRequest() *Request {
	c := h.free
	if c == nil {
		return &Request{}
	}
	h.free, c.Link = c.Link, nil
	return requestOf(c)
}

// release is letGo at the end of a blocking call that did not have to wait. After strategy.Quantum such calls
// the thread lets other threads of its VP run first.
func (h *held) release() {
	h.callsSinceWait++
	over := h.callsSinceWait >= strategy.Quantum
	if over {
		h.callsSinceWait = 0
	}
	h.letGo()
	if over && marcel.Ready() {
		marcel.Yield()
	}
}

// gathers says that threads which this gate has woken are ready on the caller's VP: they are about to send.
func (h *held) gathers() bool { return h.awake > 0 && marcel.Ready() }

// keepGathering says that the gathered messages should wait for more, because threads which this gate has woken are ready
// and have not sent yet.
func (h *held) keepGathering() bool {
	return h.flow.Gathered() && h.flow.KeepGathering(h.gathers())
}
