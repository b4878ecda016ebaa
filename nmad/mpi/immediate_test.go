package mpi

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/pm2-go/pm2/nmad"
)

// TestImmediate: several operations are under way at once, with messages beside them, and are waited for in another order.
func TestImmediate(t *testing.T) {
	for size := 1; size <= 5; size++ {
		each(t, size, func(c *Comm) error {
			for round := range 20 {
				n := []int{1, 3, 4000}[round%3]
				sums, low, all := make([]int64, n), ramp(n, func(i int) int64 { return int64(i + c.Rank()) }), make([]int64, size)
				cast, mine := make([]int64, n), ramp(n, func(i int) int64 { return int64(i) })
				if c.Rank() == round%size {
					copy(cast, mine)
				}
				there, back := []int64{int64(c.Rank())}, make([]int64, 1)
				next, last := (c.Rank()+1)%size, (c.Rank()+size-1)%size
				requests := []*Request{
					Allreduce(c.Immediate(), Sum, mine, sums), c.Immediate().Barrier(), Bcast(c.Immediate(), cast, round%size), Irecv(c, back, last, 5),
					Allgather(c.Immediate(), []int64{int64(c.Rank())}, all), Allreduce(c.Immediate(), Min, nil, low), Isend(c, there, next, 5), nil,
				}
				for left := len(requests) - 1; left > 0; left-- {
					i, _, err := WaitAny(requests...)
					if err != nil {
						return fmt.Errorf("request %d: %w", i, err)
					}
					if done, _, err := requests[i].Test(); !done || err != nil {
						return fmt.Errorf("request %d, which is done: %v, %w", i, done, err)
					}
					requests[i] = nil
				}
				ranks := ramp(size, func(i int) int64 { return int64(i) })
				if err := errors.Join(expect(sums, ramp(n, func(i int) int64 { return int64(i * size) })), expect(low, mine), expect(cast, mine), expect(all, ranks), expect(back, []int64{int64(last)})); err != nil {
					return err
				}
			}
			return nil
		})
	}
}

// TestPersistent: a request is started again and again, and takes what lies in its buffers then.
func TestPersistent(t *testing.T) {
	each(t, 3, func(c *Comm) error {
		in, out := []float64{0, 0}, make([]float64, 2)
		a, b, err := both(in, out)
		if err != nil {
			return err
		}
		r := c.Persistent().Allreduce(Sum, a, b)
		if done, _, err := r.Test(); !done || err != nil {
			return fmt.Errorf("a request that was not started: %v, %w", done, err)
		}
		for round := range 30 {
			in[0], in[1] = float64(round), float64(c.Rank())
			if err := r.Start(); err != nil {
				return err
			}
			if _, err := r.Wait(); err != nil {
				return err
			}
			if err := expect(out, []float64{float64(3 * round), 3}); err != nil {
				return err
			}
		}
		if err := Isend(c, in, ProcNull, 0).Start(); err != nil {
			return err
		}
		x := Isend(c, in, c.Rank(), 0)
		if err := x.Start(); !errors.Is(err, ErrRequest) {
			return fmt.Errorf("a request that is no persistent one starts again: %w", err)
		}
		_, _, err = Recv(c, out, c.Rank(), 0)
		return err
	})
}

// TestImmediateWaits: an operation whose peers have not come is under way, may be waited for with a time limit, and
// cannot be started again.
func TestImmediateWaits(t *testing.T) {
	each(t, 2, func(c *Comm) error {
		if c.Rank() == 1 {
			if _, _, err := Recv(c, []int32{0}, 0, 0); err != nil {
				return err
			}
			_, err := c.Immediate().Barrier().Wait()
			return err
		}
		r := c.Persistent().Barrier()
		if err := r.Start(); err != nil {
			return err
		}
		soon, stop := context.WithTimeout(t.Context(), 10*time.Millisecond)
		defer stop()
		if _, err := r.WaitContext(soon); !errors.Is(err, context.DeadlineExceeded) {
			return fmt.Errorf("a barrier at which rank 1 has not come: %w", err)
		}
		if done, _, err := r.Test(); done || err != nil {
			return fmt.Errorf("it is done: %v, %w", done, err)
		}
		if err := r.Start(); !errors.Is(err, nmad.ErrActive) {
			return fmt.Errorf("it is started again: %w", err)
		}
		if err := Send(c, []int32{1}, 1, 0); err != nil {
			return err
		}
		_, err := r.Wait()
		return err
	})
}

// TestImmediateFails: ranks that say different things about how much there is are told so, and nothing hangs.
func TestImmediateFails(t *testing.T) {
	errs := eachErrs(t, 3, func(c *Comm) error {
		_, err := Allgather(c.Immediate(), make([]int32, 10+c.Rank()), make([]int32, 3*(10+c.Rank()))).Wait()
		if again := c.Barrier(); err != nil && again == nil {
			return errors.New("an operation works after one that has failed")
		}
		return err
	})
	failed := 0
	for _, err := range errs {
		if errors.Is(err, ErrCount) {
			failed++
		} else if err != nil && !known(err) {
			t.Error(err)
		}
	}
	if failed == 0 {
		t.Errorf("no rank says what is wrong: %v", errs)
	}
}
