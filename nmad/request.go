package nmad

import (
	"fmt"

	"github.com/pm2-go/pm2/asm"
	"github.com/pm2-go/pm2/marcel"
	"github.com/pm2-go/pm2/nmad/internal/flow"
	"github.com/pm2-go/pm2/nmad/internal/match"
	"github.com/pm2-go/pm2/pioman"
)

// How a waiter learns that a request is done. Most requests end before a thread sleeps for them: then the
// holder of the gate's lock writes core.State, and nothing else. A thread that is about to sleep first changes
// core.Notify, under the lock, so that the request ends by a signal of its completion, which wakes the waiters.
//
//	NotifyState --- ends, under mu: core.State = StateDone, the last access
//	   | listen, or endBySignal, under mu
//	NotifyGate --- ends, under mu: into lockedGate.toSignal, or upcalls ---> without mu: completion.Signal, or into its Queue, the last access
//
// State becomes StateDone in three places: as a rule in the flow (flow.Flow.Finish); in lockedGate.tellDone, for a
// request that the flow has given to the gate for another reason than a waiter, such as a monitor; and in Gate.sendNow,
// for a send that was never under way.
//
// Notify never changes once the request is finished. So a thread that has seen either sign of the end may start the
// request again: no other thread accesses it.

// Bits of a request's completion.
const (
	bitDone     = 1 << iota // the request is done
	bitReusable             // and it may be started again, as no queue and no callback holds it
)

// Request is a send or a receive that has been started. The zero Request is ready for IsendInto, IrecvInto and Post. A
// program must not copy a Request once it has started it. Any number of threads may Test a Request or Wait for it; any
// thread may start it again once it is done and all of these calls have returned.
type Request struct {
	// A Request has two cache lines, so that a program that makes one for each message makes little garbage, and
	// windows of many requests stay in the first cache. What few requests need is in extras, to which core.Extras
	// points.

	gate       *Gate // the gate at which it was started; of a receive from any source the gate to the own rank
	completion pioman.Completion
	core       flow.Request // guarded by the lock of the gate while the request is under way
}

// extras is what few requests need. It is zero unless core.UsesExtras is set, except for began.
type extras struct {
	flow.Extras
	domain   *Domain                      // recv from any source: the domain at which it was started; else nil
	chooser  func(Envelope) []byte        // recv: Operation.Choose
	onDone   func(*Request)               // Operation.Done
	queue    *Queue                       // Operation.Queue
	buffer   *block                       // send: the block of Operation.Buffer
	anyList  *match.AnyList[flow.Request] // recv from any source: the list in which it waits
	pattern  match.Pattern                // recv, or probe: what the program has asked for; core.Entry.Tag becomes the tag of the message
	forLinks bool                         // it waits for the links of its gate (Gate.Link), or for an agreement, not for a message
	began    int64                        // cycle counter at its start, if a trace is recorded; else 0
}

// setWild makes r, which uses ra, wait for a message whose tag agrees with its own in all bits of mask. With probe, r
// leaves the message where it is.
func (ra *extras) setWild(r *Request, mask uint64, probe bool) {
	ra.pattern = match.Pattern{Tag: r.core.Entry.Tag, Mask: mask}
	ra.Wild.Set(&r.core.Entry, mask, probe)
}

// noExtras is what Request.extras returns for requests that use no extras. It stays zero.
var noExtras extras

// extras returns the extras of r, for reading only.
func (r *Request) extras() *extras {
	if !r.core.UsesExtras {
		return &noExtras
	}
	return r.extrasOrNil()
}

// makeExtras returns the extras of r, and makes them if there are none. It does not set UsesExtras.
func (r *Request) makeExtras() *extras {
	if r.core.Extras == nil {
		r.core.Extras = &new(extras).Extras
	}
	return r.extrasOrNil()
}

// useExtras returns the extras of r, which r uses from here on.
func (r *Request) useExtras() *extras {
	r.core.UsesExtras = true
	return r.makeExtras()
}

// domain returns the domain at which a receive from any source was started; nil for any other request.
func (r *Request) domain() *Domain { return r.extras().domain }

// claim makes the caller the one that starts r. It fails with ErrActive while r is under way.
func (r *Request) claim() error {
	if r.core.State.Load() == flow.StateDone {
		return nil // the usual case of a request that is used again
	}
	return r.claimSlow()
}

// claimSlow is claim for a request that was never started, or that ends by its completion.
func (r *Request) claimSlow() error {
	if !r.core.State.CompareAndSwap(flow.StateNotStarted, flow.StateStarted) && !r.completion.Test(bitReusable) {
		return fmt.Errorf("nmad: start a request again: %w: wait for it first", ErrActive)
	}
	return nil
}

// prepare sets up a request that was claimed for an operation at a gate, in a context, or in none if that is nil.
// notify is how a waiter learns that r is done.
func (r *Request) prepare(g *Gate, op flow.RequestKind, msgContext *Context, tag uint64, buf []byte, notify flow.Notify) {
	c := &r.core
	if c.UsesExtras {
		r.clearExtras()
	}
	r.gate = g
	c.Entry.Tag, c.Entry.Value, c.Context = tag, c, msgContext.numberOrDefault()
	c.Data.Set(buf)
	c.Kind, c.Notify, c.Counted, c.WakesThread = op, notify, false, false
	c.N, c.Size = 0, 0
	c.SetErr(nil)
	if began := traceTime(); began != 0 {
		if r.makeExtras().began = began; notify == flow.NotifyState {
			r.endBySignal()
		}
	}
	if g.worker != nil {
		r.endBySignal() // the worker polls in place of the waiter, which sleeps
	}
	if notify != flow.NotifyNone {
		asm.StoreRelease32(&c.State, flow.StateStarted) // other threads get r through a lock, so this needs no stronger order
		r.completion.Reset()
	}
}

// startLink starts r as a request that no message ends: its caller ends it by flow.Flow.Finish when the links are made,
// or an agreement is reached. For the flow r is a probe, so it counts as pending, and no monitor is told about it.
// startLink takes the lock of g, and returns with it.
func (r *Request) startLink(g *Gate) *lockedGate {
	r.prepare(g, flow.RequestRecv, nil, 0, nil, flow.NotifyState)
	x := r.useExtras()
	x.Wild.Probe, x.forLinks = true, true
	r.core.Stage = flow.Posted
	h := g.enter()
	h.flow.Count(&r.core)
	return h
}

// done reports whether r is done: then nothing in it changes until it is started again.
func (r *Request) done() bool {
	return r.core.State.Load() == flow.StateDone || r.completion.Test(bitDone)
}

// listen makes r end by a signal of its completion, unless it is finished. It takes the lock of the gate.
func (r *Request) listen() {
	if r.domain() != nil || r.gate.worker != nil {
		return // prepare, or startAny, has called endBySignal
	}
	h := r.gate.enter()
	if r.core.Stage != flow.Finished {
		r.endBySignal()
	}
	h.unlock()
}

// endBySignal makes r end by a signal of its completion. The caller holds the lock of the gate, or r has not begun.
func (r *Request) endBySignal() { r.core.Notify = flow.NotifyGate }

// clearExtras makes r an ordinary request, which uses no extras.
func (r *Request) clearExtras() {
	r.core.UsesExtras = false
	*r.extrasOrNil() = extras{}
}

// Tag returns the tag of the message. If a receive does not name its tag, Tag is valid once the request is done.
// Source, Size and Envelope are valid once the request is done.
func (r *Request) Tag() uint64 { return r.Envelope().Tag }

// Source returns the rank of the sender of a received message; of a send, the rank to which it goes. It is -1 for a nil
// Request.
func (r *Request) Source() int {
	if r == nil {
		return -1
	}
	switch x := r.extras(); {
	case x.Anywhere:
		return x.From
	case r.gate == nil:
		return 0 // r was never started
	}
	return r.gate.rank
}

// Size returns the length of the whole message in bytes, also if it was truncated.
func (r *Request) Size() uint64 { return r.Envelope().Size }

// Envelope returns Source, Tag and Size of the message.
func (r *Request) Envelope() Envelope {
	if r == nil {
		return Envelope{}
	}
	return Envelope{r.Source(), r.core.Entry.Tag, r.core.Size}
}

// Len returns how many bytes were sent, or received into the buffer. It is valid once the request is done.
func (r *Request) Len() int {
	if r == nil {
		return 0
	}
	return r.core.N
}

// Test reports whether the request is done, and, if it is, returns how it has ended. If it is not, Test polls the
// request's gate once, and looks again. It fails with ErrNotStarted if the request was never started. It never blocks.
func (r *Request) Test() (bool, error) {
	if r == nil || r.core.State.Load() == flow.StateNotStarted {
		return false, ErrNotStarted
	}
	if !r.done() {
		if err := r.gate.accessError(); err != nil {
			return false, err
		}
		r.poll()
		if !r.done() {
			return false, nil
		}
	}
	return true, r.core.Err()
}

// Wait waits until the request is done, and returns how it has ended. It blocks the calling thread or goroutine only.
// It polls the request's gate for Config.Spin (10 us by default), as long as no other thread is ready on the VP, and
// then leaves the work to the engine and sleeps. A second Wait returns the same. Wait is no cancellation point of
// threads; WaitContext ends with its context. It fails with ErrNotStarted if the request was never started, and with
// pioman.ErrInHandler or pioman.ErrClosed if the caller cannot wait, in a callback or in an engine that was closed;
// then the request is still under way.
func (r *Request) Wait() error {
	if r == nil {
		return ErrNotStarted
	}
	if !r.done() {
		if r.core.State.Load() == flow.StateNotStarted {
			return ErrNotStarted
		}
		if err := r.gate.accessError(); err != nil {
			return err
		}
		if err := r.waitDone(); err != nil {
			return err
		}
	}
	return r.core.Err()
}

// IsDone reports whether the request is done, or was never started. Unlike Test it polls nothing.
func (r *Request) IsDone() bool { return r.doneOrNotStarted() }

// poll polls once what r depends on: its gate, or, for a receive from any source, all gates of its domain.
func (r *Request) poll() {
	if d := r.domain(); d != nil {
		d.advance()
		return
	}
	r.gate.advance()
}

// waitDone waits until r is done.
func (r *Request) waitDone() error {
	if r.domain() != nil { // any gate may bring the message, so the wait polls the engine
		return r.gate.sleep(r)
	}
	return r.gate.wait(r)
}

// requestQueue is a first-in-first-out queue of requests. A request is in one queue at a time.
type requestQueue struct{ flow.Queue }

func (rq *requestQueue) push(r *Request) { rq.Push(&r.core) }

func (rq *requestQueue) pop() *Request {
	c := rq.Pop()
	if c == nil {
		return nil
	}
	return requestOf(c)
}

// Cancel takes a receive back if it has no message yet, and reports whether it has done so. After true, the request
// ends with ErrCanceled, has received nothing, and does not touch its buffer any more; its message goes to another
// receive. After false, the receive goes on as if Cancel had not been called, or has ended; or the request is a send,
// which cannot be canceled. Cancel spins for the lock of the gate. Callbacks and hooks must not call it.
func (r *Request) Cancel() bool {
	if r == nil || r.doneOrNotStarted() || r.gate.accessError() != nil {
		return false
	}
	g := r.gate
	h := g.enter()
	defer h.unlock()
	if anyList := r.extras().anyList; anyList != nil {
		if !anyList.Remove(&r.core.Extras.Wild) {
			return false
		}
	} else if r.core.Stage != flow.Posted || !h.flow.Withdraw(&r.core) {
		return false
	}
	h.flow.Finish(&r.core, ErrCanceled)
	return true
}

// Case returns a case of marcel.Select that can be taken once the request is done; then Wait returns at once. A request
// that was never started counts as done, and its Wait returns ErrNotStarted. Any number of Selects and Waits may wait
// for one request, as long as it is not started again. Case allocates nothing.
func (r *Request) Case() marcel.Case {
	if r == nil {
		r = &Request{}
	}
	return (*requestCase)(r)
}

// requestCase implements marcel.Case for a Request.
type requestCase Request

var _ marcel.PollingCase = (*requestCase)(nil)

func (rc *requestCase) ready() bool { return (*Request)(rc).doneOrNotStarted() }

func (rc *requestCase) completed() pioman.CompletionCase {
	return rc.completion.Case(rc.gate.waitsIn(), bitDone)
}

// Try polls the gate once if the request is not done, and reports whether it is done.
func (rc *requestCase) Try() bool {
	if rc.ready() {
		return true
	}
	(*Request)(rc).poll()
	return rc.ready() || rc.completed().Try()
}

func (rc *requestCase) Poll() bool { return !rc.ready() && rc.completed().Poll() }

// Enlist adds the waiter of a Select, which calls it on the waiting thread only. It returns false if the request is
// done.
func (rc *requestCase) Enlist(w *marcel.Waiter) bool {
	if rc.ready() {
		return false
	}
	(*Request)(rc).listen()
	return !rc.ready() && rc.completed().EnlistAs(w, (*Request)(rc).reason())
}

func (rc *requestCase) Withdraw(w *marcel.Waiter)   { rc.completed().Withdraw(w) }
func (rc *requestCase) Taken(w *marcel.Waiter) bool { return rc.completed().Taken(w) }

// traceTime returns the cycle counter if a trace is being recorded; else 0.
func traceTime() int64 {
	if marcel.Tracing() {
		return asm.Cycles()
	}
	return 0
}
