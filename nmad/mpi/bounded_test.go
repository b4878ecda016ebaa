package mpi

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"
)

// TestBounded: a receive whose context ends takes no later message, and a send whose context ends goes on.
func TestBounded(t *testing.T) {
	each(t, 2, func(c *Comm) error {
		b, err := On(make([]int64, 1<<20))
		if err != nil {
			return err
		}
		soon, stop := context.WithTimeout(t.Context(), time.Second/2)
		defer stop()
		if c.Rank() == 0 {
			if _, err := c.Immediate().Send(b, 1, 2).WaitContext(soon); !errors.Is(err, context.DeadlineExceeded) {
				return fmt.Errorf("a long send without a receive: %w", err)
			}
			return errors.Join(c.Barrier(), c.Send(b.Part(0, 1), 1, 1), c.Barrier())
		}
		if _, err := c.Immediate().Recv(b, 0, 1).WaitThenCancel(soon); !errors.Is(err, context.DeadlineExceeded) {
			return fmt.Errorf("nothing comes: %w", err)
		}
		if err := c.Barrier(); err != nil {
			return err
		}
		for tag, want := range map[int]int{1: 8, 2: 8 << 20} {
			if s, err := c.Immediate().Recv(b, 0, tag).WaitThenCancel(t.Context()); err != nil || s.Bytes != want {
				return fmt.Errorf("tag %d: %+v, %w", tag, s, err)
			}
		}
		return c.Barrier()
	})
}
