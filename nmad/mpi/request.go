package mpi

import (
	"context"
	"sync"

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

// Count is how many elements of a datatype came; Undefined: the last one is not whole.
func (s Status) Count(t *datatype.Type) int {
	if _, n := t.Count(s.Bytes); n >= 0 {
		return n
	}
	return Undefined
}

// Request is a message under way. Its methods may be called by any thread.
type Request struct {
	comm    *Comm
	message nmad.Request
	buffer  Buffer // if it is not in one piece
	none    bool   // there is no message: to or from ProcNull, or err says why
	err     error
}

// blocking are the requests of blocking calls.
var blocking = sync.Pool{New: func() any { return &Request{} }}

func (r *Request) release() {
	r.comm, r.buffer = nil, Buffer{}
	blocking.Put(r)
}

// begin notes where the message lies.
func (r *Request) begin(c *Comm, b Buffer, op *nmad.Op) {
	r.comm = c
	var whole bool
	if op.Buf, whole = b.Dense(); !whole {
		r.buffer = b
		op.Data = &r.buffer
	}
}

// idle makes r one without a message.
func (r *Request) idle(err error) *Request {
	r.none, r.err = true, err
	return r
}

// Wait waits until the message has left, or come, and says what it was.
func (r *Request) Wait() (Status, error) {
	if r.none {
		return noStatus, r.err
	}
	return r.wait()
}

func (r *Request) wait() (Status, error) {
	err := r.message.Wait()
	return r.ended(err)
}

// WaitContext is Wait until ctx is done; then it returns its cause, and the message goes on.
func (r *Request) WaitContext(ctx context.Context) (Status, error) {
	if r.none {
		return noStatus, r.err
	}
	return r.ended(r.message.WaitContext(ctx))
}

// Test says whether the message has left, or come, and if so what it was.
func (r *Request) Test() (done bool, s Status, err error) {
	if r.none {
		return true, noStatus, r.err
	}
	if done, err = r.message.Test(); !done {
		return false, Status{}, err
	}
	s, err = r.ended(err)
	return true, s, err
}

// Cancel takes back a receive whose message has not come, and says whether it has; then Wait returns nmad.ErrCanceled.
func (r *Request) Cancel() bool { return !r.none && r.message.Cancel() }

func (r *Request) ended(err error) (Status, error) {
	s := r.comm.status(r.message.Envelope())
	if err != nil {
		return s, r.comm.explain("message", err)
	}
	return s, nil
}

// WaitAll waits for all requests, and returns what their messages were, and the first error in their order. A nil request counts as done.
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
	messages, some := make([]*nmad.Request, len(requests)), false
	for i, r := range requests {
		switch {
		case r == nil:
		case r.none:
			return i, noStatus, r.err
		default:
			messages[i], some = &r.message, true
		}
	}
	if !some {
		return -1, noStatus, nil
	}
	i, err := nmad.WaitAny(context.Background(), messages...)
	if i < 0 {
		return -1, Status{}, err
	}
	s, err := requests[i].ended(err)
	return i, s, err
}
