package mpi

import (
	"errors"
	"fmt"
	"testing"

	"github.com/pm2-go/pm2/nmad"
)

// TestRecover: after a process has left, those that are left revoke the communicator, whatever they are waiting for
// in it; shrink it; and go on in the new one, in all ways of collective operations. The same with a communicator of
// some processes only.
func TestRecover(t *testing.T) {
	for _, whole := range []bool{true, false} {
		for name, hostOf := range ways {
			t.Run(fmt.Sprintf("%s, whole %v", name, whole), func(t *testing.T) {
				each(t, 5, func(w *Comm) error {
					w.job.hostOf = hostOf
					c, gone := w, 2
					if !whole {
						g, err := w.Group().Include(4, 1, 2, 0)
						if err != nil {
							return err
						}
						if c, err = w.Create(g); err != nil || c == nil {
							return err
						}
					}
					if err := c.Barrier(); err != nil && !errors.Is(err, ErrRevoked) { // others may be through, and revoke
						return err
					}
					if c.Rank() == gone {
						return nil
					}
					return goOnWithout(t, c, gone)
				})
			})
		}
	}
}

func goOnWithout(t *testing.T, c *Comm, gone int) error {
	waits := Irecv(c, make([]int64, 1), (gone+1)%c.Size(), 5) // nothing is sent
	var err error
	switch c.Rank() { // only the last one finds out
	case 0:
		err = c.Barrier()
	case 1:
		_, err = Allreduce(c.Immediate(), Sum, []int64{1}, []int64{0}).Wait()
	case c.Size() - 1:
		_, _, err = Recv(c, []int64{1}, gone, 0)
	default:
		_, err = waits.Wait()
	}
	if err == nil {
		return errors.New("an operation with a process that has left works")
	}
	if err := c.Failures().Revoke(); err != nil {
		return err
	}
	if _, err := waits.Wait(); !errors.Is(err, ErrRevoked) && !errors.Is(err, nmad.ErrPeerLost) {
		return fmt.Errorf("a receive in what was revoked: %w", err)
	}
	flags, err := c.Failures().Agree(t.Context(), (1<<c.Size()-1)&^(1<<c.Rank()))
	if !errors.Is(err, nmad.ErrPeerLost) {
		return fmt.Errorf("an agreement does not tell of the lost process: %w", err)
	}
	if lost := c.Failures().Acknowledge(); lost.Size() != 1 || lost.Rank(0, lost) != 0 || c.group.rankOf(lost.job[0]) != gone {
		return fmt.Errorf("lost are %v, want rank %d", lost, gone)
	}
	want := uint64(1) << gone // all others have taken their bit out
	if flags != want {
		return fmt.Errorf("agreed on %b, want %b", flags, want)
	}
	for range 2 { // again and again
		left, err := c.Failures().Shrink(t.Context())
		if err != nil {
			return err
		}
		if left.Size() != c.Size()-1 {
			return fmt.Errorf("%d processes are left of %d", left.Size(), c.Size())
		}
		if err := collectives(left, 5, 1); err != nil {
			return err
		}
		left.Free()
	}
	if err := c.Barrier(); err == nil {
		return errors.New("what was revoked works")
	}
	return nil
}
