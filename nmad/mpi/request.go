package mpi

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/pm2-go/pm2/marcel"
	"github.com/pm2-go/pm2/nmad"
	"github.com/pm2-go/pm2/nmad/mpi/datatype"
	"github.com/pm2-go/pm2/pioman"
)

// Status describes a message that was received or found.
type Status struct {
	Source int // rank of the sender in the communicator
	Tag    int
	Bytes  int // of data that the message has, also if the buffer was shorter
}

// noStatus is the status of a receive from no process, and of requests that receive nothing.
var noStatus = Status{Source: ProcNull, Tag: AnyTag}

// Count returns how many elements of a datatype the message has; Undefined: the last one is not whole. The function
// Count is for elements of a Go type.
func (st Status) Count(t *datatype.Type) int {
	if _, n := t.Count(st.Bytes); n >= 0 {
		return n
	}
	return Undefined
}

// Request is a message, or a collective operation, under way. Any thread may call its methods. The zero value is ready
// for Send, Ssend and Recv, and counts as done until one of them has begun something. A Request must not be copied once
// it was started.
type Request struct {
	// A program that makes a request for each message makes garbage of its size. What few requests need is in
	// extrasPtr.

	comm       *Comm
	message    nmad.Request
	extrasPtr  *extras
	empty      bool // there is no message: its peer is ProcNull, or extrasPtr.err says why
	notStarted bool // the request is persistent, and Start was not called yet: MPI calls it inactive, as one that is done
}

// extras is the state that few requests need.
type extras struct {
	operation   *follower     // of a collective operation, else nil
	generalized *generalized  // of NewRequest, else nil
	start       func() error  // of a persistent message: what Start does; else nil
	matched     *nmad.Request // of a Message: carries it in place of Request.message; else nil
	buffer      Buffer        // of a message whose data is not in one piece
	err         error         // why nothing has begun
}

// noExtras is the extras of all requests that have none of their own. They are read only.
var noExtras extras

// extras returns the extras of r, for reading.
func (r *Request) extras() *extras {
	if r.extrasPtr == nil {
		return &noExtras
	}
	return r.extrasPtr
}

// completion returns what is set when the operation, or the generalized request, is done; nil of a message.
func (x *extras) completion() *pioman.Completion {
	switch {
	case x.generalized != nil:
		return &x.generalized.completion
	case x.operation != nil:
		return &x.operation.completion
	}
	return nil
}

// makeExtras returns the extras of r, for writing; it makes them if r has none.
func (r *Request) makeExtras() *extras {
	if r.extrasPtr == nil {
		r.extrasPtr = &extras{}
	}
	return r.extrasPtr
}

// pooledRequests are for blocking calls, which need a request until they return.
var pooledRequests = sync.Pool{New: func() any { return &Request{} }}

// release gives r, which is done, back to pooledRequests.
func (r *Request) release() {
	r.comm = nil
	if r.extrasPtr != nil {
		*r.extrasPtr = extras{}
	}
	pooledRequests.Put(r)
}

// isInactive reports whether MPI calls r inactive: the zero value, a persistent request before its first Start, or one
// without a message.
func (r *Request) isInactive() bool {
	return r.empty || r.notStarted || r.comm == nil && r.extras().generalized == nil
}

// isDone reports whether a wait for r would return at once. It does not poll.
func (r *Request) isDone() bool {
	if r.isInactive() {
		return true
	}
	if c := r.extras().completion(); c != nil {
		return c.Test(bitDone)
	}
	return r.carrier().IsDone()
}

// carrier returns the request of nmad that moves the message.
func (r *Request) carrier() *nmad.Request {
	if m := r.extras().matched; m != nil {
		return m
	}
	return &r.message
}

// begin notes in r and op where the data of the message lies.
func (r *Request) begin(c *Comm, b Buffer, op *nmad.Operation) {
	r.comm = c
	var dense bool
	if op.Buf, dense = b.Dense(); !dense {
		x := r.makeExtras()
		x.buffer = b
		op.Data = &x.buffer
	}
}

// Send begins a send, as Immediate.Send does, with a request of the program, which is zero, or done and waited for. It
// allocates nothing. It returns what is wrong with the arguments, and nmad.ErrActive while r is under way; then nothing
// has begun.
func (r *Request) Send(c *Comm, b Buffer, to, tag int) error {
	return r.send(c, b, to, tag, sendStandard)
}

// Ssend is Send whose request is done when the receive was posted.
func (r *Request) Ssend(c *Comm, b Buffer, to, tag int) error {
	return r.send(c, b, to, tag, sendSynchronous)
}

// send is Send or Ssend, as m says.
func (r *Request) send(c *Comm, b Buffer, to, tag int, m sendMode) error {
	if err := r.reuse(); err != nil {
		return err
	}
	if to != ProcNull {
		return c.postSend(r, b, to, tag, m)
	}
	return r.toNone(c)
}

// Recv begins a receive with a request of the program; see Send.
func (r *Request) Recv(c *Comm, b Buffer, from, tag int) error {
	if err := r.reuse(); err != nil {
		return err
	}
	if from != ProcNull {
		return c.postReceive(r, b, from, tag)
	}
	return r.toNone(c)
}

// toNone makes r a message to or from ProcNull, which is done at once.
func (r *Request) toNone(c *Comm) error {
	err := c.usable()
	r.empty = err == nil
	return err
}

// reuse makes a request of the program, which may have been used before, ready to be begun.
func (r *Request) reuse() error {
	if !r.message.IsDone() {
		return fmt.Errorf("mpi: start a request again: %w: wait for it first", nmad.ErrActive)
	}
	if x := r.extrasPtr; x != nil {
		if x.operation != nil || x.generalized != nil || x.start != nil || x.matched != nil {
			return fmt.Errorf("mpi: %w: it was made for something else than Send, Ssend or Recv", ErrRequest)
		}
		*x = extras{}
	}
	r.empty, r.comm = false, nil
	return nil
}

// endIf returns r. If there is an error r ends with it, without a message.
func (r *Request) endIf(err error) *Request {
	if err != nil {
		r.endAtOnce(err)
	}
	return r
}

// endAtOnce ends r without a message, and returns it. err is what its waits return.
func (r *Request) endAtOnce(err error) *Request {
	r.empty = true
	if err != nil {
		r.makeExtras().err = err
	}
	return r
}

// Start begins a request of Persistent that was not started, or is done; nmad.ErrActive: it is under way. All processes
// of a communicator start a collective operation equally often. They have made their requests in the same order, in
// which they also call other collective operations, and may start several requests in any order. An operation with a
// wrong argument ends with an error everywhere, each time. Start does not block.
func (r *Request) Start() error {
	x := r.extras()
	switch {
	case r.empty && x.operation == nil:
		return x.err
	case x.start != nil:
		if err := x.start(); err != nil {
			return fmt.Errorf("mpi: start: %w", err)
		}
		r.notStarted = false
		return nil
	case x.operation == nil || !x.operation.persistent:
		return fmt.Errorf("mpi: start: %w: it is no persistent one", ErrRequest)
	case !x.operation.completion.Test(bitDone):
		return fmt.Errorf("mpi: start: %w", nmad.ErrActive)
	}
	return x.operation.runInBackground()
}

// Wait waits until the message has left, or come, and returns its status; or until the operation is done. It blocks the
// calling thread or goroutine only.
func (r *Request) Wait() (Status, error) { return r.WaitContext(context.Background()) }

// wait is Wait for a message that has begun.
func (r *Request) wait() (Status, error) { return r.outcome(r.carrier().Wait()) }

// WaitContext is Wait until ctx is done. Then it returns the cause of that, and the request goes on: it can be waited
// for again.
func (r *Request) WaitContext(ctx context.Context) (Status, error) {
	x := r.extras()
	switch {
	case r.isInactive():
		return noStatus, x.err
	case x.generalized != nil:
		return x.generalized.wait(ctx, r.comm)
	case x.operation != nil:
		if err := x.operation.wait(ctx); err != nil {
			return noStatus, r.comm.wrapWaitError(ctx, x.operation.kind.String(), err)
		}
		return noStatus, x.operation.err
	}
	err := r.carrier().WaitContext(ctx)
	if err != nil && !r.carrier().IsDone() {
		return noStatus, r.comm.wrapWaitError(ctx, "message", err)
	}
	return r.outcome(err)
}

// WaitThenCancel is WaitContext of a receive, which it cancels when ctx is done: a receive that Cancel can take back
// gets no message, and WaitThenCancel returns the cause. It goes on waiting for what cannot be taken back: a message
// that is coming in just then, and any other request.
func (r *Request) WaitThenCancel(ctx context.Context) (Status, error) {
	s, err := r.WaitContext(ctx)
	if err != nil && ctx.Err() != nil {
		r.Cancel()
		if s, err = r.Wait(); errors.Is(err, nmad.ErrCanceled) {
			return noStatus, context.Cause(ctx)
		}
	}
	return s, err
}

// poll polls once, unless r is done, and reports whether r is done. err: the calling thread cannot poll for r.
func (r *Request) poll() (done bool, err error) {
	if r.isDone() {
		return true, nil
	}
	if r.extras().completion() == nil {
		if done, err := r.carrier().Test(); !done {
			return false, err
		}
		return true, nil
	}
	r.comm.domainOrNil().Engine().Poll()
	return r.isDone(), nil
}

// Test reports whether the request is done, and if so returns what Wait would. It makes progress, and does not block.
func (r *Request) Test() (done bool, s Status, err error) {
	x := r.extras()
	if r.isInactive() {
		return true, noStatus, x.err
	}
	if c := x.completion(); c != nil {
		if !c.Test(bitDone) {
			r.comm.domainOrNil().Engine().Poll()
		}
		switch {
		case !c.Test(bitDone):
			return false, Status{}, nil
		case x.generalized != nil:
			return true, x.generalized.status, x.generalized.err
		}
		return true, noStatus, x.operation.err
	}
	if done, err = r.carrier().Test(); !done {
		return false, Status{}, err
	}
	s, err = r.outcome(err)
	return true, s, err
}

// Case returns the case of a marcel.Select that can be taken once the request is done; then Wait returns at once. A
// request that was not started counts as done. The case of a nil request is never ready. The case is for one round: of
// a request that is started again make another one.
func (r *Request) Case() marcel.Case {
	if r == nil {
		return nil
	}
	if r.isInactive() {
		return (*nmad.Request)(nil).Case() // which counts as done
	}
	if c := r.extras().completion(); c != nil {
		return r.comm.domainOrNil().Case(c, bitDone)
	}
	return r.carrier().Case()
}

// Cancel takes back a receive whose message has not come, and reports whether it has; then Wait returns
// nmad.ErrCanceled, of which no error handler is told. Of a request of NewRequest it calls the function that was
// given there.
func (r *Request) Cancel() bool {
	x := r.extras()
	if x.generalized != nil {
		return x.generalized.cancel != nil && x.generalized.cancel()
	}
	return !r.empty && x.operation == nil && r.carrier().Cancel()
}

// outcome returns the status of the message, which is done, and err with what it belongs to.
func (r *Request) outcome(err error) (Status, error) {
	s := r.comm.status(r.carrier().Envelope())
	switch {
	case err == nil:
		return s, nil
	case errors.Is(err, nmad.ErrCanceled):
		return s, r.comm.withCall("message", err)
	}
	return s, r.comm.wrapError("message", err)
}
