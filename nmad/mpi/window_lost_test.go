package mpi

import (
	"errors"
	"fmt"
	"testing"

	"github.com/pm2-go/pm2/nmad"
)

// TestWindowLost: when a process leaves, those that wait for it in a window end, with an error that names it.
func TestWindowLost(t *testing.T) {
	waits := map[string]func(w *Window) error{
		"fence": func(w *Window) error { return w.Fence(0) },
		"start": func(w *Window) error {
			g, _ := w.Group().Include(0)
			return w.Start(g, 0)
		},
		"wait": func(w *Window) error {
			g, _ := w.Group().Include(0)
			err := w.Post(g, 0)
			if err == nil {
				err = w.Wait()
			}
			return err
		},
		"lock":       func(w *Window) error { return w.Lock(LockExclusive, 1, 0) }, // rank 0 has it
		"put":        func(w *Window) error { return untilLost(func() error { return Put(w, []byte{1}, 0, 0) }) },
		"accumulate": func(w *Window) error { return untilLost(func() error { return Accumulate(w, Sum, []int8{1}, 0, 0) }) },
	}
	for name, wait := range waits {
		t.Run(name, func(t *testing.T) {
			for _, size := range []int{2, 5} {
				for rank, err := range errsOver(t, "shm", size, func(c *Comm) error {
					w, err := c.AllocateWindow(64, 1)
					if err != nil {
						return err
					}
					switch {
					case name == "lock" && c.Rank() == 0:
						err = w.Lock(LockExclusive, 1, 0)
					case name == "put" || name == "accumulate":
						err = w.Fence(0)
					}
					if err = errors.Join(err, c.Barrier()); err != nil || c.Rank() == 0 {
						return err
					}
					if err := wait(w); !errors.Is(err, nmad.ErrPeerLost) {
						return fmt.Errorf("%s: %w", name, err)
					}
					return nil
				}) {
					if err != nil {
						t.Errorf("rank %d of %d: %v", rank, size, err)
					}
				}
			}
		})
	}
}

// untilLost calls f until it fails.
func untilLost(f func() error) error {
	for {
		if err := f(); err != nil {
			return err
		}
	}
}
