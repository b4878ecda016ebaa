package nmad

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/pm2-go/pm2/asm"
	"github.com/pm2-go/pm2/marcel"
	"github.com/pm2-go/pm2/nmad/internal/flow"
	"github.com/pm2-go/pm2/nmad/strategy"
	"github.com/pm2-go/pm2/pioman"
)

// WaitContext is Wait until ctx is done; then it returns its cause, and the request goes on: it can be waited for again,
// or cancelled. Like Wait it polls before it sleeps, tens of microseconds, and does not look at ctx meanwhile.
func (r *Request) WaitContext(ctx context.Context) error {
	if ctx = orBackground(ctx); ctx.Done() == nil {
		return r.Wait()
	}
	if over, err := r.Test(); over || err != nil {
		return err
	}
	if ctx.Err() == nil && r.pollBriefly() { // most waits are short, and standing in line for two ends is dear
		return r.Wait()
	}
	if _, err := choose(ctx, r.Case()); err != nil {
		if r.ended() {
			return r.core.Err()
		}
		return fmt.Errorf("nmad: wait for a request: %w", err) // what it is for may change just now
	}
	return r.Wait()
}

// WaitAll waits until all requests are done, or ctx is: then it returns its cause, and
// the requests that are not done go on. Else it returns the error of the first one, in the
// order of the arguments, that has one; those of the others are kept in their
// requests. A nil request counts as done.
func WaitAll(ctx context.Context, requests ...*Request) error {
	var first error
	for _, r := range requests {
		if r == nil {
			continue
		}
		err := r.WaitContext(ctx)
		if !r.doneOrIdle() {
			return err
		}
		if first == nil {
			first = err
		}
	}
	return first
}

// WaitAny waits until one of the requests is done and returns its index and how it ended; -1 and the cause when ctx is
// done before. A nil request never is; if all are nil the error is ErrIdle. Of several that are done any may be named:
// each look begins at a random one, so that none is passed over for ever. Up to 8 requests allocate nothing if ctx cannot
// be done.
func WaitAny(ctx context.Context, requests ...*Request) (int, error) {
	some, n := false, len(requests)
	i := 0
	if n > 1 {
		i = int(rand.Uint32N(uint32(n)))
	}
	for range n {
		if r := requests[i]; r != nil {
			some = true
			if r.doneOrIdle() {
				return i, r.Wait()
			}
			if err := r.gate.accessError(); err != nil {
				return -1, err
			}
		}
		if i++; i == n {
			i = 0
		}
	}
	if !some {
		return -1, ErrIdle
	}
	var few [8]marcel.Case
	cases := few[:0]
	if len(requests) > len(few) {
		cases = make([]marcel.Case, 0, len(requests))
	}
	for _, r := range requests {
		if r == nil {
			cases = append(cases, nil)
		} else {
			cases = append(cases, r.Case())
		}
	}
	i, err := choose(ctx, cases...)
	if err != nil {
		return -1, fmt.Errorf("nmad: wait for any of %d requests: %w", len(requests), err)
	}
	return i, requests[i].Wait()
}

// doneOrIdle says whether r is, or was never started.
func (r *Request) doneOrIdle() bool {
	return r == nil || r.core.State.Load() != flow.Started || r.completion.Test(bitDone)
}

// choose is marcel.SelectUninterruptible, except that what makes it panic is an error.
func choose(ctx context.Context, cases ...marcel.Case) (i int, err error) {
	defer func() {
		if why := recover(); why != nil {
			e, ok := why.(error)
			if !ok || !errors.Is(e, pioman.ErrInHandler) {
				panic(why)
			}
			i, err = -1, e
		}
	}()
	return marcel.SelectUninterruptible(orBackground(ctx), cases...)
}

// How a program, or a library over this package, waits for what is no request: a completion that callbacks of requests
// signal, memory that another process writes. It polls, or waits in, the engine that Domain.Engine names at that moment,
// so that all that the caller has to move is moved: the domain, and the caller's private domains. These methods may be
// called on a nil Domain, for what belongs to none.

// Engine returns the engine in which the calling thread or goroutine waits or polls, this once, for what messages of the
// domain lead to.
func (d *Domain) Engine() *pioman.Engine {
	if !d.valid() {
		return waitsIn(pioman.Default())
	}
	if x := &d.access; x.owner != nil && x.ownerID == asm.GoID() {
		x.owner.withSession(d.s)
		return x.engine
	}
	return waitsIn(d.waited())
}

// waited is the engine that waiters poll.
func (d *Domain) waited() *pioman.Engine {
	if d.access.worker != nil {
		return d.s.cfg.Engine
	}
	return d.engine()
}

// Await waits until any of bits of c is set, as pioman.Completion.WaitFor does, or ctx is done: then it returns its cause.
// why is what nmad.WriteWaits says that the caller waits for.
func (d *Domain) Await(ctx context.Context, c *pioman.Completion, bits uint32, why pioman.Reason) error {
	if ctx.Done() != nil {
		if _, err := choose(ctx, completionCase{d, c, bits, why}); err != nil {
			return err
		}
	}
	for {
		e := d.Engine()
		err := c.WaitFor(e, bits, why)
		if c.Test(bits) || d.Engine() == e { // else e was closed with the last private domain of the caller
			return err
		}
	}
}

// Case returns a case of marcel.Select that can be taken once any of bits of c is set.
func (d *Domain) Case(c *pioman.Completion, bits uint32) marcel.Case {
	return completionCase{d: d, c: c, bits: bits}
}

type completionCase struct {
	d    *Domain
	c    *pioman.Completion
	bits uint32
	why  pioman.Reason
}

var _ marcel.Poller = completionCase{}

func (cc completionCase) it() pioman.CompletionCase    { return cc.c.Case(cc.d.Engine(), cc.bits) }
func (cc completionCase) Try() bool                    { return cc.it().Try() }
func (cc completionCase) Poll() bool                   { return cc.it().Poll() }
func (cc completionCase) Enlist(w *marcel.Waiter) bool { return cc.it().EnlistFor(w, cc.why) }
func (cc completionCase) Withdraw(w *marcel.Waiter)    { cc.it().Withdraw(w) }
func (cc completionCase) Taken(w *marcel.Waiter) bool  { return cc.it().Taken(w) }

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
	h      *lockedGate
	r      *Request
	looks  int
	others *owner // the caller, if it has to move other domains, too; known from the second look on
}

func (wt *waiter) look() marcel.Found {
	h, r := wt.h, wt.r
	if wt.looks++; wt.looks > 1 {
		if wt.looks == 2 {
			wt.others = h.g.private.others()
		}
		if wt.others != nil {
			wt.others.pollNowAndThen()
		}
		h.g.mu.Lock()
	}
	if r.core.Stage == flow.Done {
		return marcel.Arrived
	}
	found := marcel.Nothing
	streams := h.flow.HasChunks()
	for i := 0; i < spinBurst && !streams; i++ {
		if h.progress(r) {
			found = marcel.Moved
		}
		if r.core.Stage == flow.Done {
			return marcel.Arrived
		}
		if h.g.shared || h.g.lockWanted() {
			break
		}
		streams = h.flow.HasChunks()
	}
	if !streams {
		h.waiterUntil = 0
		h.unlock()
		return found
	}
	h.waiterUntil = asm.Cycles() + asm.ToCycles(int64(waiterPollSpan))
	if h.pollLocked() || found == marcel.Moved || wt.looks == 1 {
		return marcel.Flowing
	}
	return marcel.Nothing
}

// pollFor polls the gate for the owner of r before that sleeps, until r is done (marcel.Poll). It is called with the
// lock and returns with it, and says whether r is done.
func (h *lockedGate) pollFor(r *Request) bool {
	if h.g.spin <= 0 || !h.flow.HasChunks() && h.wokenReady() {
		// Without spin, park polls the engine. Beside ready threads the waiter sleeps at once: the engine's look is then
		// the Switch hook of the thread that goes on, at most once in pioman.Params.Granularity (10 us).
		return false
	}
	w := waiter{h: h, r: r}
	if w.look() == marcel.Arrived {
		h.waiterUntil = 0
		return true
	}
	if !marcel.Poll(h.g.spin, h.g.shared, w.look) {
		h.g.mu.Lock()
	}
	h.waiterUntil = 0
	return r.core.Stage == flow.Done
}

// pollBriefly polls as wait does before it sleeps, and tells whether r is done.
func (r *Request) pollBriefly() bool {
	g := r.gate
	if r.domain() != nil || g.worker != nil || g.accessError() != nil || InCallback() {
		return false
	}
	h := g.enter()
	over := r.core.Stage == flow.Done || h.pollFor(r)
	h.unlock()
	return over
}

// wait blocks the owner of r until r is done.
func (g *Gate) wait(r *Request) error {
	if g.worker != nil {
		return g.sleep(r)
	}
	h := g.enter()
	if r.core.Stage != flow.Done && !h.pollFor(r) {
		r.notifyOwner()
	}
	h.unlock()
	if r.core.State.Load() == flow.Ended {
		return nil
	}
	return g.sleep(r)
}

// sleep is wait without polling this gate in particular; r is told.
func (g *Gate) sleep(r *Request) error {
	if err := g.park(r); err != nil && !r.completion.Test(bitDone) {
		return fmt.Errorf("nmad: wait for a request at the gate to rank %d: %w", g.rank, err)
	}
	return nil
}

// park sleeps until r is finished. If the caller has not polled its gate, because all gates matter to it or the gate is
// not polled in this way, park polls the engine first. An owner of private domains may wait in their engine; then it tells
// the gate's engine that something is pending.
func (g *Gate) park(r *Request) error {
	if InCallback() && !r.completion.Test(bitDone) {
		return pioman.ErrInHandler
	}
	for {
		e := g.waitsIn()
		if e == g.waitEngine {
			if g.spin <= 0 || r.domain() != nil {
				return r.completion.WaitFor(e, bitDone, r.reason())
			}
			return r.completion.ParkFor(e, bitDone, r.reason())
		}
		g.waitEngine.Need()
		err := r.completion.WaitFor(e, bitDone, r.reason())
		g.waitEngine.Done()
		if !errors.Is(err, pioman.ErrClosed) { // else the last private domain was closed meanwhile
			return err
		}
	}
}

func (h *lockedGate) newRequest() *Request {
	c := h.freeRequests
	if c == nil {
		return &Request{}
	}
	h.freeRequests, c.Link = c.Link, nil
	return requestOf(c)
}

// unlockAndYield is unlock at the end of a blocking call that did not have to wait. After strategy.Quantum such calls
// the thread lets other threads of its VP run first.
func (h *lockedGate) unlockAndYield() {
	h.callsSinceWait++
	over := h.callsSinceWait >= strategy.Quantum
	if over {
		h.callsSinceWait = 0
	}
	h.unlock()
	if over && marcel.Ready() {
		marcel.Yield()
	}
}

// wokenReady says that threads which this gate has woken are ready on the caller's VP: they are about to send.
func (h *lockedGate) wokenReady() bool { return h.wokenThreads > 0 && marcel.Ready() }

// keepGathering says that the gathered messages should wait for more, because threads which this gate has woken are ready
// and have not sent yet.
func (h *lockedGate) keepGathering() bool {
	return h.flow.HasGathered() && h.flow.KeepGathering(h.wokenReady())
}
