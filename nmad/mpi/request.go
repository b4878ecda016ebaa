package mpi

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/pm2-go/pm2/marcel"
	"github.com/pm2-go/pm2/nmad"
	"github.com/pm2-go/pm2/nmad/mpi/datatype"
)

// Status says what a message was.
type Status struct {
	Source int // rank in the communicator
	Tag    int
	Bytes  int // of data, also if the buffer was shorter
}

// noStatus is of a receive from no process.
var noStatus = Status{Source: ProcNull, Tag: AnyTag}

// Count is how many elements of a datatype came; Undefined: the last one is not whole. The function Count is for
// elements of a Go type.
func (st Status) Count(t *datatype.Type) int {
	if _, n := t.Count(st.Bytes); n >= 0 {
		return n
	}
	return Undefined
}

// Request is a message, or a collective operation, under way. Its methods may be called by any thread. The zero value
// is ready for Send, Ssend and Recv, and counts as done until one of them has begun something; it must not be
// copied once it was started.
type Request struct {
	// It is small, so that a program which makes one for each message makes little garbage. What few requests need is in
	// extra.

	comm    *Comm
	message nmad.Request
	extra   *special
	none    bool // there is no message: to or from ProcNull, or extra.err says why
	waits   bool // it is persistent, and was not started yet
}

// special is what few requests need.
type special struct {
	operation *follower     // nil: it is a message
	outside   *outside      // nil: it is a message, or an operation
	start     func() error  // of a persistent message: what Start does; else nil
	matched   *nmad.Request // in place of message: of a Message
	buffer    Buffer        // if it is not in one piece
	err       error
}

// usual is the special of all requests that are not out of the ordinary.
var usual special

// special is what r has beyond the ordinary, for reading only: requests without any share one.
func (r *Request) special() *special {
	if r.extra == nil {
		return &usual
	}
	return r.extra
}

// makeSpecial is special for writing: it makes one, if r has none.
func (r *Request) makeSpecial() *special {
	if r.extra == nil {
		r.extra = &special{}
	}
	return r.extra
}

// blocking are the requests of blocking calls.
var blocking = sync.Pool{New: func() any { return &Request{} }}

func (r *Request) release() {
	r.comm = nil
	if r.extra != nil {
		*r.extra = special{}
	}
	blocking.Put(r)
}

// isInactive says that nothing of r is under way, and that nothing was begun since it was made: as of the zero value.
func (r *Request) isInactive() bool {
	return r.none || r.waits || r.comm == nil && r.special().outside == nil
}

// active is the request of nmad that moves the message.
func (r *Request) active() *nmad.Request {
	if m := r.special().matched; m != nil {
		return m
	}
	return &r.message
}

// begin notes where the message lies.
func (r *Request) begin(c *Comm, b Buffer, op *nmad.Op) {
	r.comm = c
	var whole bool
	if op.Buf, whole = b.Dense(); !whole {
		x := r.makeSpecial()
		x.buffer = b
		op.Data = &x.buffer
	}
}

// Send begins a send, as Immediate.Send does, with a request of the program, zero or done, and waited for: it allocates
// nothing. It returns what is wrong with the arguments, and nmad.ErrActive while r is under way; then nothing has begun.
func (r *Request) Send(c *Comm, b Buffer, to, tag int) error { return r.send(c, b, to, tag, standard) }

// Ssend is Send whose request is done when the receive was posted.
func (r *Request) Ssend(c *Comm, b Buffer, to, tag int) error {
	return r.send(c, b, to, tag, synchronous)
}

func (r *Request) send(c *Comm, b Buffer, to, tag int, m sendMode) error {
	if err := r.again(); err != nil {
		return err
	}
	if to != ProcNull {
		return c.postSend(r, b, to, tag, m)
	}
	return r.nothing(c)
}

// Recv begins a receive with a request of the program; see Send.
func (r *Request) Recv(c *Comm, b Buffer, from, tag int) error {
	if err := r.again(); err != nil {
		return err
	}
	if from != ProcNull {
		return c.postReceive(r, b, from, tag)
	}
	return r.nothing(c)
}

// nothing makes r one to or from ProcNull, which is done at once.
func (r *Request) nothing(c *Comm) error {
	err := c.usable()
	r.none = err == nil
	return err
}

// again makes a request of the program, which may have been used before, ready to be begun.
func (r *Request) again() error {
	if !r.message.IsDone() {
		return fmt.Errorf("mpi: start a request again: %w: wait for it first", nmad.ErrActive)
	}
	if x := r.extra; x != nil {
		if x.operation != nil || x.outside != nil || x.start != nil || x.matched != nil {
			return fmt.Errorf("mpi: %w: it was made for something else than Send, Ssend or Recv", ErrRequest)
		}
		*x = special{}
	}
	r.none, r.comm = false, nil
	return nil
}

// unless is r, which ends without a message if there is an error.
func (r *Request) unless(err error) *Request {
	if err != nil {
		r.idle(err)
	}
	return r
}

// idle ends r without a message. err is what its waits return.
func (r *Request) idle(err error) *Request {
	r.none = true
	if err != nil {
		r.makeSpecial().err = err
	}
	return r
}

// Start starts a request of Persistent that was not started, or is done. One of a collective
// operation all processes of its communicator start as often: they have made theirs in the same order, as they call
// other collective operations, and may start several in any. nmad.ErrActive: it is under way. One with a wrong
// argument has the operation end everywhere, each time.
func (r *Request) Start() error {
	x := r.special()
	switch {
	case r.none && x.operation == nil:
		return x.err
	case x.start != nil:
		if err := x.start(); err != nil {
			return fmt.Errorf("mpi: start: %w", err)
		}
		r.waits = false
		return nil
	case x.operation == nil || !x.operation.lasts:
		return fmt.Errorf("mpi: start: %w: it is no persistent one", ErrRequest)
	case !x.operation.over.Test(finished):
		return fmt.Errorf("mpi: start: %w", nmad.ErrActive)
	}
	return x.operation.background()
}

// Wait waits until the message has left, or come, and says what it was; or until the operation is done.
func (r *Request) Wait() (Status, error) { return r.WaitContext(context.Background()) }

func (r *Request) wait() (Status, error) {
	err := r.active().Wait()
	return r.ended(err)
}

// WaitContext is Wait until ctx is done; then it returns its cause, and the message goes on.
func (r *Request) WaitContext(ctx context.Context) (Status, error) {
	x := r.special()
	switch {
	case r.isInactive():
		return noStatus, x.err
	case x.outside != nil:
		return x.outside.wait(ctx, r.comm)
	case x.operation == nil:
		return r.ended(r.active().WaitContext(ctx))
	}
	if err := x.operation.wait(ctx); err != nil {
		return noStatus, r.comm.explain(x.operation.what.String(), err)
	}
	return noStatus, x.operation.err
}

// WaitOrCancel is Wait of a receive until ctx is done: then it takes the receive back, and returns the cause. It waits
// for what cannot be taken back: a message that is coming in just then, and any other request.
func (r *Request) WaitOrCancel(ctx context.Context) (Status, error) {
	s, err := r.WaitContext(ctx)
	if err != nil && ctx.Err() != nil {
		r.Cancel()
		if s, err = r.Wait(); errors.Is(err, nmad.ErrCanceled) {
			return noStatus, context.Cause(ctx)
		}
	}
	return s, err
}

// Test says whether the message has left, or come, and if so what it was.
func (r *Request) Test() (done bool, s Status, err error) {
	special := r.special()
	if r.isInactive() {
		return true, noStatus, special.err
	}
	if x := special.outside; x != nil {
		if !x.over.Test(finished) {
			r.comm.in().Engine().Poll()
		}
		if !x.over.Test(finished) {
			return false, Status{}, nil
		}
		return true, x.status, x.err
	}
	if f := special.operation; f != nil {
		r.comm.domain.Engine().Poll()
		return f.over.Test(finished), noStatus, f.outcome()
	}
	if done, err = r.active().Test(); !done {
		return false, Status{}, err
	}
	s, err = r.ended(err)
	return true, s, err
}

// Cancel takes back a receive whose message has not come, and says whether it has; then Wait returns nmad.ErrCanceled.
func (r *Request) Cancel() bool {
	x := r.special()
	if x.outside != nil {
		return x.outside.cancel != nil && x.outside.cancel()
	}
	return !r.none && x.operation == nil && r.active().Cancel()
}

func (r *Request) ended(err error) (Status, error) {
	s := r.comm.status(r.active().Envelope())
	if err != nil {
		return s, r.comm.explain("message", err)
	}
	return s, nil
}

// WaitAll waits for all requests, and returns what their messages were, and the first error in their order. A nil
// request counts as done.
func WaitAll(requests ...*Request) ([]Status, error) {
	all := make([]Status, len(requests))
	var first error
	for i, r := range requests {
		if r == nil {
			all[i] = noStatus
			continue
		}
		s, err := r.Wait()
		if all[i] = s; first == nil {
			first = err
		}
	}
	return all, first
}

// WaitAny waits for one of the requests and returns its index, what its message was, and how it ended; -1 if all are nil.
func WaitAny(requests ...*Request) (int, Status, error) {
	cases, some := make([]marcel.Case, len(requests)), false
	for i, r := range requests {
		if r == nil {
			continue
		}
		x := r.special()
		switch {
		case r.isInactive():
			return i, noStatus, x.err
		case x.outside != nil:
			cases[i], some = r.comm.in().Case(&x.outside.over, finished), true
		case x.operation != nil:
			cases[i], some = r.comm.domain.Case(&x.operation.over, finished), true
		default:
			cases[i], some = r.active().Case(), true
		}
	}
	if !some {
		return -1, noStatus, nil
	}
	i, err := marcel.SelectUninterruptible(context.Background(), cases...)
	if err != nil {
		return -1, Status{}, err
	}
	s, err := requests[i].Wait()
	return i, s, err
}

// WaitSome waits until one of the requests is done, and returns the indices of all that are, with what their messages
// were, and the first error in their order. A nil request is never done; if all are nil it returns none.
func WaitSome(requests ...*Request) (done []int, all []Status, err error) {
	if first, _, err := WaitAny(requests...); first < 0 {
		return nil, nil, err
	}
	for i, r := range requests {
		if r == nil {
			continue
		}
		over, s, e := r.Test()
		if !over {
			continue
		}
		done, all = append(done, i), append(all, s)
		if err == nil {
			err = e
		}
	}
	return done, all, err
}

// TestAll says whether all requests are done. A nil request counts as done.
func TestAll(requests ...*Request) bool {
	for _, r := range requests {
		if r == nil {
			continue
		}
		if over, _, _ := r.Test(); !over {
			return false
		}
	}
	return true
}
