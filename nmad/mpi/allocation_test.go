//go:build !race

// The race detector has pools drop what they hold.

package mpi

import (
	"errors"
	"fmt"
	"testing"

	"github.com/pm2-go/pm2/internal/test/effort"
)

// TestNoAllocation: blocking messages, those with a request of the caller, and collective operations allocate nothing
// once they have run.
func TestNoAllocation(t *testing.T) {
	effort.SkipIfNotInlined(t)
	each(t, 2, func(c *Comm) error {
		in, out, all := make([]float64, 8), make([]float64, 8), make([]float64, 16)
		window := make([]Request, 4)
		var err error
		step := func() {
			for i := range window {
				b, e := On(all[i : i+1])
				if c.Rank() == 0 {
					e = errors.Join(e, window[i].Send(c, b, 1, i))
				} else {
					e = errors.Join(e, window[i].Recv(c, b, 0, i))
				}
				err = errors.Join(err, e)
			}
			for i := range window {
				_, e := window[i].Wait()
				err = errors.Join(err, e)
			}
			err = errors.Join(err, Allreduce(c, Sum, in, out), c.Barrier(), Bcast(c, out, 0), Alltoall(c, all, all[:16:16]))
			if c.Rank() == 0 {
				err = errors.Join(err, Send(c, in, 1, 0))
			} else {
				_, _, e := Recv(c, in, 0, 0)
				err = errors.Join(err, e)
			}
		}
		if c.Rank() == 1 {
			for range 111 {
				step()
			}
			return err
		}
		for range 10 {
			step()
		}
		n := testing.AllocsPerRun(100, step)
		if err == nil && n > 0 {
			return fmt.Errorf("%v allocations a round", n)
		}
		return err
	})
}
