package mpi

import (
	"context"
	"fmt"

	"github.com/pm2-go/pm2/nmad"
	"github.com/pm2-go/pm2/pioman"
)

// generalized is the state of a request of NewRequest. What it stands for is done by the program, or by a goroutine of
// this package.
type generalized struct {
	completion pioman.Completion // set to bitDone by Complete, which has written status and err before
	cancel     func() bool       // what Request.Cancel calls; nil: it cannot be canceled
	status     Status
	err        error
}

// NewRequest returns a request that is done when the program calls Complete: a generalized request of MPI.
// Request.Cancel calls cancel, which reports whether the program will complete the request with nmad.ErrCanceled;
// nil: it cannot be canceled.
func NewRequest(cancel func() bool) *Request {
	return &Request{extrasPtr: &extras{generalized: &generalized{cancel: cancel}}}
}

// Complete ends a request of NewRequest: its waiters return with the status and the error. It does not block. The
// program calls it once. It panics if the request was not made by NewRequest.
func (r *Request) Complete(s Status, err error) {
	x := r.extras().generalized
	if x == nil {
		panic(fmt.Sprintf("mpi: complete: %v: not made by NewRequest", ErrRequest))
	}
	x.status, x.err = s, err
	x.completion.Signal(bitDone)
}

// domainOrNil returns the domain of c; nil: c is nil.
func (c *Comm) domainOrNil() *nmad.Domain {
	if c == nil {
		return nil
	}
	return c.domain
}

// wait waits for the end, until ctx is done. c is the communicator of the request, or nil.
func (g *generalized) wait(ctx context.Context, c *Comm) (Status, error) {
	if err := c.domainOrNil().Await(ctx, &g.completion, bitDone, pioman.Reason{}); err != nil {
		return noStatus, err
	}
	return g.status, g.err
}
