package mpi

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/pm2-go/pm2/marcel"
	"github.com/pm2-go/pm2/nmad"
)

// TestWaitForSeveral: waits for several requests end with their context, and the requests go on; a request that is done
// is found though the context is done.
func TestWaitForSeveral(t *testing.T) {
	each(t, 2, func(c *Comm) error {
		if c.Rank() == 1 {
			return errors.Join(Send(c, []int64{1}, 0, 1), c.Barrier(), Send(c, []int64{2}, 0, 2), c.Barrier())
		}
		ended, stop := context.WithCancel(t.Context())
		stop()
		got := make([]int64, 2)
		first, second := Irecv(c, got[:1], 1, 1), Irecv(c, got[1:], 1, 2)
		if _, err := first.Wait(); err != nil {
			return err
		}
		var errs []error
		check := func(what string, ok bool, err error) {
			if !ok {
				errs = append(errs, fmt.Errorf("%s: %w", what, err))
			}
		}
		over, all, err := TestAll(nil, first, second)
		check("test of all", !over && all == nil && err == nil, err)
		all, err = WaitAllContext(ended, nil, first, second)
		check("all", errors.Is(err, context.Canceled) && all[0] == noStatus && all[1].Tag == 1, err)
		i, s, err := WaitAnyContext(ended, nil, first, second)
		check("any of two", err == nil && i == 1 && s.Tag == 1, err)
		i, _, err = WaitAnyContext(ended, nil, second)
		check("any of one", i == -1 && errors.Is(err, context.Canceled), err)
		done, _, err := WaitSomeContext(ended, second, nil)
		check("some of one", done == nil && errors.Is(err, context.Canceled), err)
		done, all, err = WaitSomeContext(ended, second, first)
		check("some of two", err == nil && slices.Equal(done, []int{1}) && all[0].Tag == 1, err)
		i, _, err = WaitAnyContext(ended, nil, nil)
		check("any of none", i == -1 && err == nil, err)

		errs = append(errs, c.Barrier())
		all, err = WaitAllContext(t.Context(), first, second)
		check("all, later", err == nil && all[1].Tag == 2 && got[1] == 2, err)
		over, all, err = TestAll(nil, first, second)
		check("test of all, later", over && err == nil && len(all) == 3 && all[0] == noStatus && all[1].Tag == 1 && all[2].Tag == 2, err)
		over, all, err = TestAll(second, c.Immediate().Recv(Buffer{}, 7, 1))
		check("test of all, one of which has failed", over && errors.Is(err, ErrRank) && len(all) == 2 && all[0].Tag == 2, err)
		return errors.Join(errors.Join(errs...), c.Barrier())
	})
}

// TestCase: Select waits for requests of all kinds; Wait then returns at once.
func TestCase(t *testing.T) {
	each(t, 2, func(c *Comm) error {
		if c.Rank() == 1 {
			return errors.Join(c.Barrier(), Send(c, []int64{1}, 0, 1), Allreduce(c, Sum, nil, []int64{1}), endImmediate(c.Immediate().Barrier()))
		}
		got := []int64{0}
		message, own := Irecv(c, got, 1, 1), NewRequest(nil)
		var none *Request
		if i := marcel.TrySelect(message.Case(), own.Case(), none.Case()); i >= 0 {
			return fmt.Errorf("case %d is ready: no message was sent", i)
		}
		if i := marcel.TrySelect(own.Case(), (&Request{}).Case()); i != 1 {
			return fmt.Errorf("a request that was not started is not ready: %d", i)
		}
		if err := c.Barrier(); err != nil {
			return err
		}
		if i := marcel.Select(none.Case(), message.Case(), own.Case()); i != 1 {
			return fmt.Errorf("case %d is ready, not the message", i)
		}
		done, s, err := message.Test()
		if !done || err != nil || s.Bytes != 8 || got[0] != 1 {
			return fmt.Errorf("%v, %+v, %v: %w", done, s, got, err)
		}
		if err := Allreduce(c, Sum, nil, []int64{1}); err != nil {
			return err
		}
		collective := c.Immediate().Barrier()
		if i := marcel.Select(collective.Case(), own.Case()); i != 0 {
			return fmt.Errorf("case %d is ready, not the barrier", i)
		}
		go own.Complete(Status{Bytes: 3}, nil)
		if i := marcel.Select(own.Case(), none.Case()); i != 0 {
			return fmt.Errorf("case %d is ready, not the request of the program", i)
		}
		s, err = own.Wait()
		if err == nil && s.Bytes != 3 {
			err = fmt.Errorf("status %+v", s)
		}
		return errors.Join(err, endImmediate(collective))
	})
}

// TestContextIsNoError: an error handler is not told of the end of a context, nor of a receive that was canceled.
func TestContextIsNoError(t *testing.T) {
	each(t, 1, func(c *Comm) error {
		var told []error
		c.SetErrorHandler(func(_ *Comm, err error) { told = append(told, err) })
		ended, stop := context.WithCancel(t.Context())
		stop()
		r := Irecv(c, []int64{0}, 0, 1)
		_, err1 := r.WaitContext(ended)
		_, err2 := c.Probe(ended, 0, 1)
		_, err3 := r.WaitThenCancel(ended)
		for i, err := range []error{err1, err2, err3} {
			if !errors.Is(err, context.Canceled) {
				return fmt.Errorf("call %d: %w", i, err)
			}
		}
		if _, err := r.Wait(); !errors.Is(err, nmad.ErrCanceled) {
			return fmt.Errorf("a receive that was taken back: %w", err)
		}
		if len(told) > 0 {
			return fmt.Errorf("the handler was told of %q", told)
		}
		return nil
	})
}
