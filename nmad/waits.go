package nmad

import (
	"fmt"
	"time"

	"github.com/pm2-go/pm2/asm"
	"github.com/pm2-go/pm2/marcel"
	"github.com/pm2-go/pm2/nmad/internal/flow"
	"github.com/pm2-go/pm2/nmad/strategy"
)

// waits is how threads wait at a gate. spin and shared are set once; the rest is under the lock of the gate.
type waits struct {
	g              *Gate
	spin           time.Duration // how long a wait polls before it leaves the work to the engine; 0: not at all
	shared         bool          // other processes use our CPUs
	callsSinceWait int           // blocking calls since the last one that had to wait
	awake          int           // threads whose Recv is done after they had to wait, and that have not run since; with hooks
	free           *flow.Request // requests for the blocking calls
}

// spinBurst is how often a waiter polls before it lets the lock of the gate go
// for a moment and looks at the clock: about 100 ns over shared memory, 5 us
// over sockets.
const spinBurst = 8

// waiterPollSpan is how long a look of a waiter at a stream may take before the engine polls the gate itself: a call moves
// many bytes. A waiter that loses its CPU meanwhile must not keep the engine away. The scheduler
// gives a look that is marcel.Flowing the same time before its clock fires the Timer hooks.
const waiterPollSpan = 2 * time.Millisecond

// waiter is the owner of a request that polls for it. Which function has the lock of the gate:
//
//	poll          called with it, returns with it
//	look          called with it the first time, without later on, and takes it; returns with it if it says Arrived, else without
//	marcel.Poll   called without; Arrived: returns with it, as look has left it; else poll takes it again
//	tell, progress, pollLocked   called with it; pollLocked lets it go
type waiter struct {
	g     *Gate
	r     *Request
	looks int
}

func (w *waiter) look() marcel.Found {
	g, r := w.g, w.r
	if w.looks++; w.looks > 1 {
		g.mu.lock()
	}
	if r.core.Stage == flow.Done {
		return marcel.Arrived
	}
	found := marcel.Nothing
	streams := g.flow.Streams()
	for i := 0; i < spinBurst && !streams; i++ {
		if g.progress(r) {
			found = marcel.Moved
		}
		if r.core.Stage == flow.Done {
			return marcel.Arrived
		}
		if g.waits.shared || g.inbox.wanted() {
			break
		}
		streams = g.flow.Streams()
	}
	if !streams {
		g.rails.waited = 0
		g.letGo()
		return found
	}
	g.rails.waited = asm.Cycles() + asm.ToCycles(int64(waiterPollSpan))
	if g.pollLocked() || found == marcel.Moved || w.looks == 1 {
		return marcel.Flowing
	}
	return marcel.Nothing
}

// poll polls the gate for the owner of r before that sleeps, until r is done (marcel.Poll). It is called with the
// lock and returns with it, and says whether r is done.
func (x *waits) poll(r *Request) bool {
	g := x.g
	if x.spin <= 0 || !g.flow.Streams() && x.gathers() {
		// Without spin, park polls the engine. Beside ready threads the waiter sleeps at once: the engine's look is then the
		// Library hook, which the semaphore of Completion.Park fires, at most once in pioman.Params.Granularity (10 us).
		return false
	}
	w := waiter{g: g, r: r}
	if w.look() == marcel.Arrived {
		x.g.rails.waited = 0
		return true
	}
	if !marcel.Poll(x.spin, x.shared, w.look) {
		g.mu.lock()
	}
	g.rails.waited = 0
	return r.core.Stage == flow.Done
}

// wait blocks the owner of r until r is done.
func (x *waits) wait(r *Request) error {
	g := x.g
	if g.worker != nil {
		return x.sleep(r)
	}
	g.enter()
	if r.core.Stage != flow.Done && !x.poll(r) {
		r.tell()
	}
	g.letGo()
	if r.core.State.Load() == flow.Over {
		return nil
	}
	return x.sleep(r)
}

// sleep is wait without polling this gate in particular; r is told.
func (x *waits) sleep(r *Request) error {
	g := x.g
	if err := x.park(r); err != nil && !r.completion.Test(finished) {
		return fmt.Errorf("nmad: wait for a request at the gate to rank %d: %w", g.rank, err)
	}
	return nil
}

// park sleeps until r is finished. Where the caller has not polled its gate, for all may matter or none is polled so, it
// polls the engine first.
func (x *waits) park(r *Request) error {
	g := x.g
	if x.spin <= 0 || r.domain() != nil {
		return r.completion.Wait(g.engine, finished)
	}
	return r.completion.Park(g.engine, finished)
}

func (x *waits) take() *Request {
	c := x.free
	if c == nil {
		return &Request{}
	}
	x.free, c.Link = c.Link, nil
	return requestOf(c)
}

// release is Gate.letGo at the end of a blocking call that did not have to wait. After strategy.Quantum such calls
// the thread lets other threads of its VP run first.
func (x *waits) release() {
	g := x.g
	x.callsSinceWait++
	over := x.callsSinceWait >= strategy.Quantum
	if over {
		x.callsSinceWait = 0
	}
	g.letGo()
	if over && marcel.Ready() {
		marcel.Yield()
	}
}

// gathers says that threads which this gate has woken are ready on the caller's VP: they are about to send.
func (x *waits) gathers() bool { return x.awake > 0 && marcel.Ready() }

// keepGathering says that the gathered messages should wait for more, because threads which this gate has woken are ready
// and have not sent yet. Under mu.
func (x *waits) keepGathering() bool {
	return x.g.flow.Gathered() && x.g.flow.KeepGathering(x.gathers())
}
