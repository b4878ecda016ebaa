package mpi

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/pm2-go/pm2/nmad"
)

// windowsOf uses windows of all kinds, as the model does, and says so.
func windowsOf(world *Comm) error {
	for _, epoch := range []string{"fence", "post-start", "lock", "lock all"} {
		for _, f := range []windowKind{allocatedWindow, createdWindow, dynamicWindow} {
			if err := modelTest(world, f, epoch, 5, 3, false); err != nil {
				return fmt.Errorf("%s: %w", epoch, err)
			}
		}
	}
	w, err := NewAllocatedWindow(world, 8, 8)
	if err != nil {
		return err
	}
	const times = 200
	err = w.LockAll(0)
	for range times {
		_, e := FetchAndOp(w, Sum, int64(1), 0, 0)
		err = errors.Join(err, e)
	}
	err = errors.Join(err, w.UnlockAll(), world.Barrier())
	if n, e := Memory[int64](w, world.Rank()); world.Rank() == 0 && err == nil && (e != nil || n[0] != int64(times*world.Size())) {
		err = fmt.Errorf("%d, %w", n, e)
	}
	if err = errors.Join(err, w.Free()); err != nil {
		return err
	}
	fmt.Println("rank", world.Rank(), "has had windows")
	return nil
}

// windowOfDead ends at one rank while that has the lock of another.
func windowOfDead(world *Comm) error {
	w, err := NewAllocatedWindow(world, 8, 8)
	if err != nil {
		return err
	}
	last := world.Size() - 1
	if world.Rank() == last {
		err = w.Lock(LockExclusive, 0, 0)
	}
	if err = errors.Join(err, world.Barrier()); err != nil {
		return err
	}
	if world.Rank() == last {
		time.AfterFunc(20*time.Millisecond, func() { os.Exit(7) })
	}
	if world.Rank() != last {
		if err := w.Lock(LockShared, 0, 0); !errors.Is(err, nmad.ErrPeerLost) || !strings.Contains(err.Error(), fmt.Sprintf("rank %d of the window may have it", last)) {
			return fmt.Errorf("lock: %w", err)
		}
		if err := untilLost(func() error {
			return errors.Join(w.Lock(LockShared, last, NoCheck), Put(w, []int64{1}, last, 0), w.Unlock(last))
		}); !errors.Is(err, nmad.ErrPeerLost) {
			return fmt.Errorf("put: %w", err)
		}
		fmt.Println("rank", world.Rank(), "knows")
		_, _, err := Sendrecv(world, []byte{1}, 1-world.Rank(), 0, []byte{0}, 1-world.Rank(), 0) // neither of two leaves first
		return err
	}
	select {}
}

// TestWindowProcesses: windows of jobs of one to four processes.
func TestWindowProcesses(t *testing.T) {
	for _, n := range []int{1, 2, 4} {
		for _, driver := range []string{"shm", "tcp"} {
			t.Run(fmt.Sprintf("%d over %s", n, driver), func(t *testing.T) {
				text, err := run(t, "windows", n, driver)
				if err != nil || strings.Count(text, "has had windows") != n {
					t.Errorf("%v, and it says: %s", err, text)
				}
			})
		}
	}
}

// TestWindowOneDies: a process that dies with a lock leaves none that waits for it.
func TestWindowOneDies(t *testing.T) {
	for _, driver := range []string{"shm", "tcp"} {
		text, err := run(t, "window of the dead", 3, driver)
		if err == nil || strings.Count(text, "knows") != 2 {
			t.Errorf("over %s: %v, and they say: %s", driver, err, text)
		}
	}
}
