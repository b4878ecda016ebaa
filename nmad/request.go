package nmad

import (
	"fmt"

	"github.com/pm2-go/pm2/asm"
	"github.com/pm2-go/pm2/marcel"
	"github.com/pm2-go/pm2/nmad/internal/flow"
	"github.com/pm2-go/pm2/nmad/internal/match"
	"github.com/pm2-go/pm2/pioman"
)

// How the owner of a request hears that it is done. Most requests are done before a thread
// sleeps for them: then that is a word which the holder of the gate's lock writes, and
// nothing else. A thread that is about to sleep says so before, under the lock, and is told
// through the completion, which knows its waiters.
//
//	             under mu                            told, when the lock was let go
//	by state --- ended: core.State = Over, the last touch
//	   | listen, under mu
//	 told ------ ended: into lockedGate.toSignal, or its Queue, or upcalls ----> completion.Signal, the last touch
//
// Over is set in three places: by the flow (finish), as a rule; by lockedGate.tellEnd, of a request that the flow has given to
// the gate for another reason than a waiter, such as a monitor; by Gate.sendNow, of a send that was never under way.
//
// A request never changes its way once it is done, so a thread that has seen the one or the other
// may start it again, and no other one touches it.

// Bits of a request's completion.
const (
	bitDone     = 1 << iota // it has ended
	bitReusable             // and may be started again: only its owner knows it
)

// Request is a send or a receive that has been started. The zero value is ready
// for IsendInto and IrecvInto. It must not be copied once it was started. Any
// number of threads may Test or Wait for it; any thread may start it again once it is
// done and all of them have returned.
type Request struct {
	// It is two cache lines, so that a program which makes one for each message makes little garbage, and windows of many
	// stay in the first cache. What few requests need is in a rare, to which core.Rare points.

	gate       *Gate // any source: the one to the own rank
	completion pioman.Completion
	core       flow.Request // under the lock of the gate until it is done
}

// rare is what few requests need. All zero unless core.UsesRare, but for began.
type rare struct {
	flow.Rare
	domain   *Domain                  // recv from any source
	chooser  func(Envelope) []byte    // recv: gives the buffer when the message has come
	onDone   func(*Request)           // called when it is done
	queue    *Queue                   // gets it when it is done
	buffer   *block                   // send of a Buffer
	any      *match.Any[flow.Request] // recv from any source: where it waits
	pattern  match.Pattern            // recv, or probe: what the owner has asked for; core.Entry.Tag becomes that of the message
	forLinks bool                     // it waits for the links of its gate, not for a message
	began    int64                    // cycles: when it started, if a trace is recorded; else 0
}

// setWild has r wait for a message with its tag as far as mask says; probe: without taking it.
func (ra *rare) setWild(r *Request, mask uint64, probe bool) {
	ra.pattern = match.Pattern{Tag: r.core.Entry.Tag, Mask: mask}
	ra.Wild.Set(&r.core.Entry, mask, probe)
}

// noRare is the rare part of all requests that use none. It stays zero.
var noRare rare

// rare is the rare part of r, for reading.
func (r *Request) rare() *rare {
	if !r.core.UsesRare {
		return &noRare
	}
	return r.rareOrNil()
}

// needRare is the rare part of r, which it makes if there is none.
func (r *Request) needRare() *rare {
	if r.core.Rare == nil {
		r.core.Rare = &new(rare).Rare
	}
	return r.rareOrNil()
}

// useRare is the rare part of r, which r uses from here on.
func (r *Request) useRare() *rare {
	r.core.UsesRare = true
	return r.needRare()
}

// domain is where a receive from any source was started; nil: r is none.
func (r *Request) domain() *Domain { return r.rare().domain }

// claim makes r ours to start.
func (r *Request) claim() error {
	if r.core.State.Load() == flow.Ended {
		return nil // what most are that are used again
	}
	return r.claimAnew()
}

func (r *Request) claimAnew() error {
	if !r.core.State.CompareAndSwap(flow.Fresh, flow.Started) && !r.completion.Test(bitReusable) {
		return fmt.Errorf("nmad: start a request again: %w: wait for it first", ErrActive)
	}
	return nil
}

// prepare sets the fields that a new operation begins with.
func (r *Request) prepare(g *Gate, op flow.Op, in *Context, tag uint64, buf []byte, heard flow.Notify) {
	c := &r.core
	if c.UsesRare {
		r.clearRare()
	}
	r.gate = g
	c.Entry.Tag, c.Entry.Owner, c.Context = tag, c, in.numberOrPlain()
	c.Data.Set(buf)
	c.Op, c.Notify, c.Counted, c.Wakes = op, heard, false, false
	c.N, c.Size = 0, 0
	c.SetErr(nil)
	if began := traceTime(); began != 0 {
		if r.needRare().began = began; heard == flow.NotifyState {
			r.notifyOwner()
		}
	}
	if g.worker != nil {
		r.notifyOwner() // its owner does not poll
	}
	if heard != flow.NotifyNone {
		asm.StoreRelease32(&c.State, flow.Started) // a thread that is to see it gets r through a lock
		r.completion.Reset()
	}
}

// startLink starts r for Gate.Link: to the flow r is a probe, and so counts as pending; but no message ends it, linking
// does, and no monitor is told. It takes the lock of g, and returns with it.
func (r *Request) startLink(g *Gate) *lockedGate {
	r.prepare(g, flow.OpRecv, nil, 0, nil, flow.NotifyState)
	x := r.useRare()
	x.Wild.Probe, x.forLinks = true, true
	r.core.Stage = flow.Posted
	h := g.enter()
	h.flow.Count(&r.core)
	return h
}

// ended says that r is done: nothing of it changes until it is started again.
func (r *Request) ended() bool {
	return r.core.State.Load() == flow.Ended || r.completion.Test(bitDone)
}

// listen has a waiter for r told through its completion, unless r has ended. It takes the
// lock of the gate.
func (r *Request) listen() {
	if r.domain() != nil || r.gate.worker != nil {
		return // told from the start
	}
	h := r.gate.enter()
	if r.core.Stage != flow.Done {
		r.notifyOwner()
	}
	h.unlock()
}

// notifyOwner has the owner of r told through its completion. Under the lock of the gate, or before r begins.
func (r *Request) notifyOwner() { r.core.Notify = flow.NotifyOwner }

// clearRare takes back all that is out of the ordinary.
func (r *Request) clearRare() {
	r.core.UsesRare = false
	*r.rareOrNil() = rare{}
}

// Tag returns the tag of the message. That of a receive that did not name it is valid
// once the request is done, as are Source, Size and Envelope.
func (r *Request) Tag() uint64 { return r.Envelope().Tag }

// Source returns, of a receive, the rank of the sender.
func (r *Request) Source() int {
	if r == nil {
		return -1
	}
	switch x := r.rare(); {
	case x.Anywhere:
		return x.From
	case r.gate == nil:
		return 0 // there is no message
	}
	return r.gate.rank
}

// Size returns the bytes of the whole message, also of one that was truncated.
func (r *Request) Size() uint64 { return r.Envelope().Size }

// Envelope returns Source, Tag and Size.
func (r *Request) Envelope() Envelope {
	if r == nil {
		return Envelope{}
	}
	return Envelope{r.Source(), r.core.Entry.Tag, r.core.Size}
}

// Len returns how many bytes were sent, or received into the buffer. It is valid
// once the request is done.
func (r *Request) Len() int {
	if r == nil {
		return 0
	}
	return r.core.N
}

// Test says whether the request is done, and, if so, how it ended. If not, it
// moves the request's gate on, once. It never blocks.
func (r *Request) Test() (bool, error) {
	if r == nil || r.core.State.Load() == flow.Fresh {
		return false, ErrIdle
	}
	if !r.ended() {
		if err := r.gate.accessError(); err != nil {
			return false, err
		}
		r.poll()
		if !r.ended() {
			return false, nil
		}
	}
	return true, r.core.Err()
}

// Wait blocks the calling thread or goroutine, and no other one, until the request is done, and says how it ended. It
// polls the request's gate for Config.Spin (10 us), while no other thread is ready on the VP, and then leaves the work to
// the engine. Waiting again for a request that is done gives the same answer. It is no cancellation point of threads;
// WaitContext ends with its context. ErrInHandler and ErrClosed of package pioman say that it could not be waited for here
// and now; the request is not done then.
func (r *Request) Wait() error {
	if r == nil {
		return ErrIdle
	}
	if !r.ended() {
		if r.core.State.Load() == flow.Fresh {
			return ErrIdle
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

// IsDone says whether the request is done, or was never started. Unlike Test it moves nothing on.
func (r *Request) IsDone() bool { return r.doneOrIdle() }

// poll moves on what r depends on, once.
func (r *Request) poll() {
	if d := r.domain(); d != nil {
		d.advance()
		return
	}
	r.gate.advance()
}

func (r *Request) waitDone() error {
	if r.domain() != nil { // all gates may matter: the wait polls the engine
		return r.gate.sleep(r)
	}
	return r.gate.wait(r)
}

// requestQueue is a first-in-first-out queue of requests, which are in no other one.
type requestQueue struct{ flow.Queue }

func (rq *requestQueue) push(r *Request) { rq.Push(&r.core) }

func (rq *requestQueue) pop() *Request {
	c := rq.Pop()
	if c == nil {
		return nil
	}
	return requestOf(c)
}

// Cancel takes a receive back if no message has been found for it yet, and says whether it has. True: it ends with
// ErrCanceled, it has received nothing, its buffer is not touched any more, and the message that it was waiting for is for
// another receive. False: it ends as if nothing had been said, or has ended; or it is a send, which cannot be taken back.
// Callbacks and hooks must not call it.
func (r *Request) Cancel() bool {
	if r == nil || r.doneOrIdle() || r.gate.accessError() != nil {
		return false
	}
	g := r.gate
	h := g.enter()
	defer h.unlock()
	if any := r.rare().any; any != nil {
		if !any.Remove(&r.core.Rare.Wild) {
			return false
		}
	} else if r.core.Stage != flow.Posted || !h.flow.Withdraw(&r.core) {
		return false
	}
	h.flow.Finish(&r.core, ErrCanceled)
	return true
}

// Case returns the case of a marcel.Select that can be taken once the request is
// done. Then Wait says how it ended, at once. A request that was never started
// counts as done, and Wait says ErrIdle. Any number of Selects and Waits may wait for one
// request, as long as it is not started again. It allocates nothing.
func (r *Request) Case() marcel.Case {
	if r == nil {
		r = &Request{}
	}
	return (*requestCase)(r)
}

type requestCase Request

var _ marcel.Poller = (*requestCase)(nil)

func (rc *requestCase) done() bool { return (*Request)(rc).doneOrIdle() }

func (rc *requestCase) completed() pioman.CompletionCase {
	return rc.completion.Case(rc.gate.waitsIn(), bitDone)
}

// Try moves the gate on, once, if the request is not done.
func (rc *requestCase) Try() bool {
	if rc.done() {
		return true
	}
	(*Request)(rc).poll()
	return rc.done() || rc.completed().Try()
}

func (rc *requestCase) Poll() bool { return !rc.done() && rc.completed().Poll() }

// Enlist is for Select, which calls it on the waiting thread only.
func (rc *requestCase) Enlist(w *marcel.Waiter) bool {
	if rc.done() {
		return false
	}
	(*Request)(rc).listen()
	return !rc.done() && rc.completed().EnlistFor(w, (*Request)(rc).reason())
}

func (rc *requestCase) Withdraw(w *marcel.Waiter)   { rc.completed().Withdraw(w) }
func (rc *requestCase) Taken(w *marcel.Waiter) bool { return rc.completed().Taken(w) }

// traceTime returns the time at which a request begins, if a trace is being recorded; else 0.
func traceTime() int64 {
	if marcel.Tracing() {
		return asm.Cycles()
	}
	return 0
}
