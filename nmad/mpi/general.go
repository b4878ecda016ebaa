package mpi

import (
	"context"
	"fmt"

	"github.com/pm2-go/pm2/nmad"
	"github.com/pm2-go/pm2/pioman"
)

// outside is what a program, or this package, does by means of its own, and waits for as for messages.
type outside struct {
	over   pioman.Completion
	cancel func() bool
	status Status
	err    error
}

// NewRequest returns a request that is done when the program calls Complete: a generalized request of MPI. cancel is
// what Cancel calls, and says whether Complete will come, with nmad.ErrCanceled; nil: it cannot be cancelled.
func NewRequest(cancel func() bool) *Request {
	return &Request{extra: &special{outside: &outside{cancel: cancel}}}
}

// Complete ends a request of NewRequest; those that wait for it get the status and the error. It does not block, and
// is called once.
func (r *Request) Complete(s Status, err error) {
	x := r.special().outside
	if x == nil {
		panic(fmt.Sprintf("mpi: complete: %v: not made by NewRequest", ErrRequest))
	}
	x.status, x.err = s, err
	x.over.Signal(finished)
}

// in is the domain of c; nil: c is nil.
func (c *Comm) in() *nmad.Domain {
	if c == nil {
		return nil
	}
	return c.domain
}

// wait waits for the end, until ctx is done.
func (o *outside) wait(ctx context.Context, c *Comm) (Status, error) {
	if err := c.in().Await(ctx, &o.over, finished, pioman.Reason{}); err != nil {
		return noStatus, err
	}
	return o.status, o.err
}
