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

// WaitContext is Wait that also ends when ctx is done. Then it returns the cause of ctx, and the request goes on: the
// program may wait for it again, or cancel it. Like Wait it first polls for Config.Spin, and does not look at ctx
// meanwhile.
func (r *Request) WaitContext(ctx context.Context) error {
	if ctx = orBackground(ctx); ctx.Done() == nil {
		return r.Wait()
	}
	if done, err := r.Test(); done || err != nil {
		return err
	}
	if ctx.Err() == nil && r.pollBriefly() { // most waits are short, and a wait for two events is expensive
		return r.Wait()
	}
	if _, err := choose(ctx, r.Case()); err != nil {
		if r.done() {
			return r.core.Err()
		}
		return fmt.Errorf("nmad: wait for a request: %w", err) // without its tag, which may change at this moment
	}
	return r.Wait()
}

// WaitAll waits until all requests are done, and returns the error of the first request, in the order of the arguments,
// that has failed; the other requests keep their errors. If ctx is done before, WaitAll returns the cause of ctx, and
// the requests go on. A nil request counts as done.
func WaitAll(ctx context.Context, requests ...*Request) error {
	var first error
	for _, r := range requests {
		if r == nil {
			continue
		}
		err := r.WaitContext(ctx)
		if !r.doneOrNotStarted() {
			return err
		}
		if first == nil {
			first = err
		}
	}
	return first
}

// WaitAny waits until one of the requests is done, and returns its index and how it has ended. If ctx is done before,
// it returns -1 and the cause of ctx. A nil request is never done; if all are nil, WaitAny fails with ErrNotStarted
// (the WaitAny of package mpi then has no error, as in MPI). If several requests are done, WaitAny returns one of them:
// it begins its look at a random one, so that none is passed over for ever. A WaitAny for up to 8 requests allocates
// nothing if ctx cannot be done.
func WaitAny(ctx context.Context, requests ...*Request) (int, error) {
	some, n := false, len(requests)
	i := 0
	if n > 1 {
		i = int(rand.Uint32N(uint32(n)))
	}
	for range n {
		if r := requests[i]; r != nil {
			some = true
			if r.doneOrNotStarted() {
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
		return -1, ErrNotStarted
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

// doneOrNotStarted reports whether r is nil, is done, or was never started.
func (r *Request) doneOrNotStarted() bool {
	return r == nil || r.core.State.Load() != flow.StateStarted || r.completion.Test(bitDone)
}

// choose is marcel.SelectContextUninterruptible, except that it returns pioman.ErrInHandler as an error where that
// panics.
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
	return marcel.SelectContextUninterruptible(orBackground(ctx), cases...)
}

// The methods below are for a program, or a library over this package, that waits for something other than a request: a
// completion that callbacks signal, or memory that another process writes. It polls, or waits in, the engine that
// Domain.Engine returns at that moment, so that all that depends on the caller moves: the domain, and the caller's
// private domains. These methods may be called on a nil Domain, for what belongs to no domain.

// Engine returns the engine in which the caller should wait or poll for the consequences of messages of the domain. The
// engine may be another one in the next wait, so the caller asks for it each time.
func (d *Domain) Engine() *pioman.Engine {
	if !d.valid() {
		return waitsIn(pioman.Default())
	}
	if x := &d.access; x.owner != nil && x.ownerID == asm.GoID() {
		x.owner.withSession(d.session)
		return x.engine
	}
	return waitsIn(d.waited())
}

// waited returns the engine in which waiters of the domain wait.
func (d *Domain) waited() *pioman.Engine {
	if d.access.worker != nil {
		return d.session.cfg.Engine
	}
	return d.engine()
}

// Await waits until any of bits of c is set, as pioman.Completion.WaitAs does. If ctx is done before, it returns the
// cause of ctx. why tells WriteWaits what the caller waits for. Await blocks the calling thread or goroutine only.
func (d *Domain) Await(ctx context.Context, c *pioman.Completion, bits uint32, why pioman.Reason) error {
	if ctx.Done() != nil {
		if _, err := choose(ctx, completionCase{d, c, bits, why}); err != nil {
			return err
		}
	}
	for {
		e := d.Engine()
		err := c.WaitAs(e, bits, why)
		if c.Test(bits) || d.Engine() == e { // else e was closed, with the last private domain of the caller: wait in another one
			return err
		}
	}
}

// Case returns a case of marcel.Select that can be taken once any of bits of c is set.
func (d *Domain) Case(c *pioman.Completion, bits uint32) marcel.Case {
	return completionCase{domain: d, completion: c, bits: bits}
}

// completionCase implements marcel.Case for a completion, in the engine that Domain.Engine returns at each call.
type completionCase struct {
	domain     *Domain
	completion *pioman.Completion
	bits       uint32
	why        pioman.Reason
}

var _ marcel.PollingCase = completionCase{}

func (cc completionCase) now() pioman.CompletionCase {
	return cc.completion.Case(cc.domain.Engine(), cc.bits)
}
func (cc completionCase) Try() bool                    { return cc.now().Try() }
func (cc completionCase) Poll() bool                   { return cc.now().Poll() }
func (cc completionCase) Enlist(w *marcel.Waiter) bool { return cc.now().EnlistAs(w, cc.why) }
func (cc completionCase) Withdraw(w *marcel.Waiter)    { cc.now().Withdraw(w) }
func (cc completionCase) Taken(w *marcel.Waiter) bool  { return cc.now().Taken(w) }

// spinBurst is how often a waiter polls before it releases the lock of the gate for a moment and looks at the clock:
// about 100 ns over shared memory, 5 us over sockets.
const spinBurst = 8

// waiterPollSpan is for how long the engine leaves a gate to a waiter that polls for bytes of long messages, from the
// begin of its last look. One look moves many bytes. The limit is for a waiter that loses its CPU. The scheduler gives
// a look that is marcel.FoundFlowing the same time before its clock fires the Timer hooks.
const waiterPollSpan = 2 * time.Millisecond

// waiter is a thread that polls for a request. These functions hold the lock of the gate as follows:
//
//	pollFor       is called with the lock, and returns with it
//	look          is called with the lock the first time, and takes it later on; it returns with the lock if it returns FoundArrived, else without
//	marcel.Poll   is called without the lock; it returns with it if look has returned FoundArrived, else pollFor takes it again
//	progress, pollLocked   are called with the lock; pollLocked releases it
type waiter struct {
	held    *lockedGate
	request *Request
	looks   int    // number of calls of look
	others  *owner // the caller, if it has to move other private domains, too; set by the second look
}

// look polls the gate for a moment, and tells marcel.Poll what it has found: FoundArrived if the request is finished.
func (wt *waiter) look() marcel.Found {
	h, r := wt.held, wt.request
	if wt.looks++; wt.looks > 1 {
		if wt.looks == 2 {
			wt.others = h.gate.private.others()
		}
		if wt.others != nil {
			wt.others.pollNowAndThen()
		}
		h.gate.mu.Lock()
	}
	if r.core.Stage == flow.Finished {
		return marcel.FoundArrived
	}
	found := marcel.FoundNothing
	streams := h.flow.HasChunks()
	for i := 0; i < spinBurst && !streams; i++ {
		if h.progress(r) {
			found = marcel.FoundMoved
		}
		if r.core.Stage == flow.Finished {
			return marcel.FoundArrived
		}
		if h.gate.shared || h.gate.lockWanted() {
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
	if h.pollLocked() || found == marcel.FoundMoved || wt.looks == 1 {
		return marcel.FoundFlowing
	}
	return marcel.FoundNothing
}

// pollFor polls the gate for a waiter for r, before it sleeps, for Config.Spin or until r is finished
// (marcel.Poll). It is called with the lock and returns with it. It reports whether r is finished.
func (h *lockedGate) pollFor(r *Request) bool {
	if h.gate.spin <= 0 || !h.flow.HasChunks() && h.wokenReady() {
		// Without spin, park polls the engine. If threads are ready that this gate has woken, the waiter sleeps at
		// once, and the Switch hook polls, at most once in pioman.Params.Granularity (10 us).
		return false
	}
	w := waiter{held: h, request: r}
	if w.look() == marcel.FoundArrived {
		h.waiterUntil = 0
		return true
	}
	if !marcel.Poll(h.gate.spin, h.gate.shared, w.look) {
		h.gate.mu.Lock()
	}
	h.waiterUntil = 0
	return r.core.Stage == flow.Finished
}

// pollBriefly polls as Gate.wait does before it sleeps, and reports whether r is finished.
func (r *Request) pollBriefly() bool {
	g := r.gate
	if r.domain() != nil || g.worker != nil || g.accessError() != nil || InCallback() {
		return false
	}
	h := g.enter()
	finished := r.core.Stage == flow.Finished || h.pollFor(r)
	h.unlock()
	return finished
}

// wait blocks the caller until r is done.
func (g *Gate) wait(r *Request) error {
	if g.worker != nil {
		return g.sleep(r)
	}
	h := g.enter()
	if r.core.Stage != flow.Finished && !h.pollFor(r) {
		r.endBySignal()
	}
	h.unlock()
	if r.core.State.Load() == flow.StateDone {
		return nil
	}
	return g.sleep(r)
}

// sleep is wait without polling this gate first, for a request that ends by a signal of its completion (endBySignal).
func (g *Gate) sleep(r *Request) error {
	if err := g.park(r); err != nil && !r.completion.Test(bitDone) {
		return fmt.Errorf("nmad: wait for a request at the gate to rank %d: %w", g.rank, err)
	}
	return nil
}

// park sleeps until r is done. If the caller has not polled the gate, because r is from any source or the gate has no
// spin, park polls the engine first. An owner of private domains may wait in their engine; then park counts r as
// pending in the gate's engine meanwhile.
func (g *Gate) park(r *Request) error {
	if InCallback() && !r.completion.Test(bitDone) {
		return pioman.ErrInHandler
	}
	for {
		e := g.waitsIn()
		if e == g.waitEngine {
			if g.spin <= 0 || r.domain() != nil {
				return r.completion.WaitAs(e, bitDone, r.reason())
			}
			return r.completion.ParkAs(e, bitDone, r.reason())
		}
		g.waitEngine.AddPending()
		err := r.completion.WaitAs(e, bitDone, r.reason())
		g.waitEngine.RemovePending()
		if !errors.Is(err, pioman.ErrClosed) {
			return err
		}
		// The engine was closed, with the last private domain of the caller: wait in another one.
	}
}

// newRequest takes a request for a blocking call out of the gate's pool, or makes one.
func (h *lockedGate) newRequest() *Request {
	c := h.freeRequests
	if c == nil {
		return &Request{}
	}
	h.freeRequests, c.Next = c.Next, nil
	return requestOf(c)
}

// unlockAndYield is unlock at the end of a blocking call that did not have to wait. After strategy.Quantum such calls
// in a row the thread lets other threads of its VP run first.
func (h *lockedGate) unlockAndYield() {
	h.callsSinceWait++
	yield := h.callsSinceWait >= strategy.Quantum
	if yield {
		h.callsSinceWait = 0
	}
	h.unlock()
	if yield && marcel.OthersReady() {
		marcel.Yield()
	}
}

// wokenReady reports whether this gate has woken threads that have not run since, and threads are ready on the caller's
// VP: some of them are about to send.
func (h *lockedGate) wokenReady() bool { return h.wokenThreads > 0 && marcel.OthersReady() }

// keepGathering reports whether the open packet should wait for the messages of threads that are about to send.
func (h *lockedGate) keepGathering() bool {
	return h.flow.HasGathered() && h.flow.KeepGathering(h.wokenReady())
}
