package mpi

import (
	"context"
	"fmt"
	"math/rand/v2"

	"github.com/pm2-go/pm2/marcel"
)

// WaitAll waits for all requests, and returns their statuses, and the first error in their order. A nil request counts
// as done.
func WaitAll(requests ...*Request) ([]Status, error) {
	return WaitAllContext(context.Background(), requests...)
}

// WaitAllContext is WaitAll until ctx is done. Then it returns the cause of that, with the statuses of the requests up
// to the first one that is not done; the requests go on.
func WaitAllContext(ctx context.Context, requests ...*Request) ([]Status, error) {
	all := make([]Status, len(requests))
	for i := range all {
		all[i] = noStatus
	}
	var first error
	for i, r := range requests {
		if r == nil {
			continue
		}
		s, err := r.WaitContext(ctx)
		if err != nil && ctx.Err() != nil && !r.isDone() {
			return all, err
		}
		if all[i] = s; first == nil {
			first = err
		}
	}
	return all, first
}

// WaitAny waits for one of the requests, and returns its index, its status, and how it ended. A nil request is never
// done; if all are nil WaitAny returns at once, with the index -1 and no error, as MPI_Waitany returns MPI_UNDEFINED
// (nmad.WaitAny fails with nmad.ErrNotStarted). If several are done WaitAny returns any of them: the search begins at a
// random one, so none is passed over for ever.
func WaitAny(requests ...*Request) (int, Status, error) {
	return WaitAnyContext(context.Background(), requests...)
}

// WaitAnyContext is WaitAny until ctx is done. Then it returns -1 and the cause of that; the requests go on.
func WaitAnyContext(ctx context.Context, requests ...*Request) (int, Status, error) {
	cases, n, some := make([]marcel.Case, len(requests)), len(requests), false
	begin := 0
	if n > 1 {
		begin = rand.IntN(n)
	}
	for k := range n {
		i := (begin + k) % n
		r := requests[i]
		if r == nil {
			continue
		}
		if r.isDone() {
			s, err := r.Wait()
			return i, s, err
		}
		cases[i], some = r.Case(), true
	}
	if !some {
		return -1, noStatus, nil
	}
	i, err := marcel.SelectContextUninterruptible(ctx, cases...)
	if err != nil {
		return -1, noStatus, fmt.Errorf("mpi: wait for any of %d requests: %w", n, err)
	}
	s, err := requests[i].Wait()
	return i, s, err
}

// WaitSome waits until one of the requests is done, and returns the indices of all that are done, with their statuses,
// and the first error in their order. A nil request is never done; if all are nil WaitSome returns no index and no
// error.
func WaitSome(requests ...*Request) (done []int, all []Status, err error) {
	return WaitSomeContext(context.Background(), requests...)
}

// WaitSomeContext is WaitSome until ctx is done. Then it returns no index and the cause of that; the requests go on.
func WaitSomeContext(ctx context.Context, requests ...*Request) (done []int, all []Status, err error) {
	if first, _, err := WaitAnyContext(ctx, requests...); first < 0 {
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

// TestAll reports whether all requests are done, and if so returns what WaitAll would. A nil request counts as done. It
// makes progress, and does not block.
func TestAll(requests ...*Request) (done bool, all []Status, err error) {
	for _, r := range requests {
		if r == nil {
			continue
		}
		if done, err := r.poll(); !done {
			return false, nil, err
		}
	}
	all, err = WaitAll(requests...)
	return true, all, err
}
