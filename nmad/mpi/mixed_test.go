package mpi

import (
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/pm2-go/pm2/marcel"
)

// TestMixed: threads and goroutines, each with a communicator of its own, have collective operations under way,
// blocking, immediate and persistent ones, with messages beside them in the same communicators, exact and from any
// source, and others in the world; nothing meets what it is not for.
func TestMixed(t *testing.T) {
	until := time.Now().Add(2 * time.Second)
	if testing.Short() {
		until = time.Now().Add(time.Second / 2)
	}
	each(t, 3, func(w *Comm) error {
		const callers = 4
		var all sync.WaitGroup
		errs := make([]error, callers)
		for i := range callers {
			c, err := w.Dup()
			if err != nil {
				return err
			}
			all.Add(1)
			work := func() {
				defer all.Done()
				errs[i] = mixed(w, c, i, until)
			}
			if i%2 == 0 {
				marcel.SpawnWith(marcel.Attr{Detached: true}, work)
			} else {
				go work()
			}
		}
		all.Wait()
		return errors.Join(errs...)
	})
}

// mixed is one caller; all ranks do as many rounds.
func mixed(w, c *Comm, caller int, until time.Time) error {
	size, rank := c.Size(), c.Rank()
	next, last := (rank+1)%size, (rank+size-1)%size
	held, sum := []int64{0}, []int64{0}
	a, b, err := both(held, sum)
	if err != nil {
		return err
	}
	again := c.Persistent().Allreduce(Sum, a, b)
	for round := 0; ; round++ {
		n := []int{1, 100, 30_000}[round%3]
		mine := ramp(n, func(i int) int64 { return int64(rank*7 + i + round) })
		sums, got, inWorld := make([]int64, n), make([]int64, n), []int64{0}
		held[0] = int64(rank + round)
		from := last
		if round%2 == 0 {
			from = AnySource
		}
		under := []*Request{
			Irecv(c, got, from, round%5), Allreduce(c.Immediate(), Max, mine, sums), Irecv(w, inWorld, last, 100+caller), Isend(c, mine, next, round%5), Isend(w, []int64{int64(caller*1000 + round)}, next, 100+caller),
		}
		if err := again.Start(); err != nil {
			return err
		}
		stop := []int64{0}
		if rank == 0 && time.Now().After(until) {
			stop[0] = 1
		}
		if err := Bcast(c, stop, 0); err != nil {
			return err
		}
		if err := collectives(c, 3, round%size); err != nil {
			return fmt.Errorf("caller %d, round %d: %w", caller, round, err)
		}
		if _, err := WaitAll(append(under, again)...); err != nil {
			return fmt.Errorf("caller %d, round %d: %w", caller, round, err)
		}
		if err := errors.Join(
			expect(got, ramp(n, func(i int) int64 { return int64(last*7 + i + round) })),
			expect(sums, ramp(n, func(i int) int64 { return int64((size-1)*7 + i + round) })),
			expect(sum, []int64{int64(size*round + size*(size-1)/2)}),
			expect(inWorld, []int64{int64(caller*1000 + round)}),
		); err != nil {
			return fmt.Errorf("caller %d, round %d: %w", caller, round, err)
		}
		if stop[0] != 0 {
			return nil
		}
	}
}
