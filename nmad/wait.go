package nmad

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"

	"github.com/pm2-go/pm2/marcel"
	"github.com/pm2-go/pm2/nmad/internal/flow"
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
	if ctx.Err() == nil && r.glances() { // most waits are short, and standing in line for two ends is dear
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
		if !r.done() {
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
			if r.done() {
				return i, r.Wait()
			}
			if err := r.gate.barred(); err != nil {
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

// done says whether r is, or was never started.
func (r *Request) done() bool {
	return r == nil || r.core.State.Load() != flow.Started || r.completion.Test(finished)
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
