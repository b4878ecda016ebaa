package mpi

import (
	"errors"
	"fmt"
	"testing"

	"github.com/pm2-go/pm2/nmad"
	"github.com/pm2-go/pm2/nmad/mpi/datatype"
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
					w, err := NewAllocatedWindow(c, 64, 1)
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

// TestWindowFreeAfterFailure: windows whose communicator has failed, by a mistake or as a process is lost, are freed,
// and nothing of them is in the way of those that come after.
func TestWindowFreeAfterFailure(t *testing.T) {
	for _, lost := range []bool{false, true} {
		for rank, err := range eachErrs(t, 3, func(c *Comm) (err error) {
			var all [2]*Window
			for i := range all {
				if all[i], err = NewAllocatedWindow(c, 64, 8); err != nil {
					return err
				}
			}
			if err := c.Barrier(); err != nil || lost && c.Rank() == 2 {
				return err
			}
			for _, w := range all {
				if !lost {
					_ = w.Comm().Bcast(some(1), either(c.Rank() == 1, 9, 0)) // a mistake at one rank
				}
				if failed := w.Fence(0); failed == nil {
					return errors.New("it works")
				} else if err = w.Free(); lost != errors.Is(err, nmad.ErrPeerLost) && !(lost && errors.Is(err, ErrElsewhere)) {
					return fmt.Errorf("free: %w", err)
				}
			}
			left := c
			if lost {
				if left, err = c.Failures().Shrink(t.Context()); err != nil {
					return err
				}
			}
			w, err := NewAllocatedWindow(left, 64, 8)
			if err != nil {
				return err
			}
			err = errors.Join(w.Fence(0), Accumulate(w, Sum, []int64{1}, 0, 0), w.Fence(NoSucceed))
			if n := wordAt(datatype.AddressOf(w.Bytes()), 8); left.Rank() == 0 && n != uint64(left.Size()) {
				err = errors.Join(err, fmt.Errorf("%d of %d have added", n, left.Size()))
			}
			if err = errors.Join(err, w.Free()); err == nil && len(c.job.windowGroups.all) != 0 {
				err = fmt.Errorf("%d lists of processes have something left", len(c.job.windowGroups.all))
			}
			return err
		}) {
			if err != nil {
				t.Errorf("lost %v, rank %d: %v", lost, rank, err)
			}
		}
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
