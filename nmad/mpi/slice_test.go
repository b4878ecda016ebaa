package mpi

import (
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/pm2-go/pm2/nmad"
)

// TestNilSlices: a rank that has nothing to give, or to get, has a nil slice, which is in place only where in place may be.
func TestNilSlices(t *testing.T) {
	for name, hostOf := range ways {
		t.Run(name, func(t *testing.T) {
			each(t, 3, func(c *Comm) error {
				c.job.hostOf = hostOf
				const silent = 1
				rank := c.Rank()
				var mine []int
				counts, sent := []int{2, 0, 2}, []int{0, 0, 0}
				if rank != silent {
					mine, sent = []int{rank, rank + 10}, []int{1, 0, 1}
				}
				var all []int
				if rank == 0 {
					all = make([]int, 4)
				}
				if err := Gatherv(c, mine, all, counts, nil, 0); err != nil || rank == 0 && !slices.Equal(all, []int{0, 10, 2, 12}) {
					return fmt.Errorf("gathered %v: %w", all, err)
				}
				var got []int
				if rank != silent {
					got = make([]int, 2)
				}
				if err := Scatterv(c, all, counts, nil, got, 0); err != nil || !slices.Equal(got, mine) {
					return fmt.Errorf("scattered %v: %w", got, err)
				}
				if rank != silent {
					got = make([]int, 2)
				}
				want := []int{rank / 2 * 10, 2 + rank/2*10}[:len(got)]
				if err := Alltoallv(c, mine, sent, got, sent); err != nil || !slices.Equal(got, want) {
					return fmt.Errorf("exchanged %v, not %v: %w", got, want, err)
				}
				return nil
			})
		})
	}
}

// TestBufferedSend: memory given to the communicator's session takes the message of a Bsend before there is a receive.
func TestBufferedSend(t *testing.T) {
	each(t, 2, func(c *Comm) error {
		other := 1 - c.Rank()
		mine := make([]int, 100_000)
		mine[99_999] = c.Rank()
		b, err := On(mine)
		if err != nil {
			return err
		}
		if err := c.Bsend(b, other, 1); !errors.Is(err, nmad.ErrBuffer) {
			return fmt.Errorf("without memory: %w", err)
		}
		if err := SessionOf(c).Attach(make([]byte, 1<<20)); err != nil {
			return err
		}
		if err := c.Bsend(b, other, 1); err != nil {
			return err
		}
		clear(mine) // the message has been copied
		got := make([]int, 100_000)
		if _, _, err := Recv(c, got, other, 1); err != nil || got[99_999] != other {
			return fmt.Errorf("received %d from rank %d: %w", got[99_999], other, err)
		}
		return nil
	})
	if SessionOf(nil) != nil {
		t.Error("a nil communicator has a session")
	}
}
