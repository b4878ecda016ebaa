package mpi

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/pm2-go/pm2/internal/test/effort"
	"github.com/pm2-go/pm2/nmad/mpi/datatype"
)

// sums has all ranks add to the memory of rank 0, runs and single elements of it at once, in some kinds of epochs,
// and says what is wrong with what is there then.
func sums[T int32 | int64 | float32 | float64 | int8 | uint16](c *Comm, allocate func(bytes int) (*Window, error), n, rounds int, serial bool) error {
	w, err := allocate(n * sizeOf[T]())
	if err != nil {
		return err
	}
	w.Serialize(serial)
	ones, halves := make([]T, n), make([]T, (n+1)/2)
	for i := range ones {
		ones[i] = 1
	}
	for i := range halves {
		halves[i] = 1
	}
	second, err := datatype.Vector((n+1)/2, 1, 2, mustType[T]()) // each second element
	if err != nil {
		return err
	}
	all, singles := 0, 0
	for round := range rounds {
		var end error
		switch round % 5 {
		case 0:
			end = w.Lock(LockShared, 0, 0)
		case 1:
			end = w.Lock(LockExclusive, 0, 0)
		case 2:
			end = w.LockAll(0)
		case 3:
			end = w.Lock(LockShared, 0, []Assert{0, NoCheck, 0}[c.Rank()])
		case 4:
			end = w.Fence(0)
		}
		olds := make([]T, n)
		err = errors.Join(err, end, Accumulate(w, Sum, ones, 0, 0), GetAccumulate(w, Sum, ones, olds, 0, 0))
		at := (7 * round) % n
		old, failed := FetchAndOp(w, Sum, T(1), 0, at)
		if err = errors.Join(err, failed, Accumulate(w, Sum, halves, 0, 0, Layout{1, second})); err == nil && (old < olds[at] || n > 1 && olds[1] < 1) && sizeOf[T]() > 1 {
			err = fmt.Errorf("round %d: it reads %v, after %v", round, old, olds[at])
		}
		switch round % 5 {
		case 2:
			err = errors.Join(err, w.UnlockAll())
		case 4:
			err = errors.Join(err, w.Fence(NoSucceed))
		default:
			err = errors.Join(err, w.Unlock(0))
		}
		if round%5 != 4 { // a lock that is not checked meets none that excludes it
			err = errors.Join(err, c.Barrier())
		}
		all, singles = all+2*c.Size(), singles+c.Size()
	}
	if err = errors.Join(err, c.Barrier(), w.Lock(LockShared, 0, 0)); err != nil {
		return err
	}
	now := make([]T, n)
	if err := errors.Join(GetAccumulate(w, NoOp, nil, now, 0, 0), w.Unlock(0)); err != nil {
		return err
	}
	total := 0.0
	for i, x := range now {
		want := all
		if i%2 == 0 {
			want += singles
		}
		total += float64(x) - float64(T(want))
	}
	if total != float64(singles) && sizeOf[T]() > 1 {
		return fmt.Errorf("%d elements of %v: the sum is %v too high, want %d for those that were added one by one", n, mustType[T](), total, singles)
	}
	return errors.Join(c.Barrier(), w.Free())
}

// TestWindowMany: runs of elements and single ones that all ranks add at once are all there, wherever the memory is,
// with and without atomics.
func TestWindowMany(t *testing.T) {
	for _, driver := range []string{"shm", "tcp"} {
		t.Run(driver, func(t *testing.T) {
			eachOver(t, driver, 3, func(c *Comm) error {
				ways := []func(unit int) func(int) (*Window, error){
					func(unit int) func(int) (*Window, error) {
						return func(n int) (*Window, error) { return NewAllocatedWindow(c, n, unit) }
					},
					func(unit int) func(int) (*Window, error) {
						return func(n int) (*Window, error) { return NewWindow(c, aligned(n), unit) }
					},
				}
				rounds := 5 + effort.Of(20)
				for i, way := range ways {
					for _, serial := range []bool{false, true} {
						err := errors.Join(
							sums[float64](c, way(8), 1301, rounds, serial), sums[int32](c, way(4), 2900, rounds, serial),
							sums[float32](c, way(4), 400, rounds, serial), sums[int64](c, way(8), 200, rounds, serial),
							sums[uint16](c, way(2), 301, rounds, serial), sums[int8](c, way(1), 99, 5, serial))
						if err != nil {
							return fmt.Errorf("way %d, %v: %w", i, serial, err)
						}
					}
				}
				return nil
			})
		})
	}
}

// replaced has rank 0 replace words of its own by even numbers, and another one make one of them odd each time, and
// says how often that is undone by the same number.
func replaced[T int32 | int64](c *Comm, at, n int) error {
	w, err := NewAllocatedWindow(c, (n+2)*sizeOf[T](), sizeOf[T]())
	if err != nil {
		return err
	}
	if err := errors.Join(w.LockAll(0), Accumulate(w, Sum, []T{0}, 0, 0), w.Flush(0), c.Barrier()); err != nil {
		return err
	}
	if c.Rank() == 0 {
		v := make([]T, n)
		for round, end := T(1), T(0); err == nil && end == 0; round++ {
			for i := range v {
				v[i] = 2 * round
			}
			if err = Accumulate(w, Replace, v, 0, 1); err == nil {
				end, err = FetchAndOp(w, NoOp, T(0), 0, 0)
			}
		}
	} else {
		undone, until := 0, time.Now().Add(250*time.Millisecond)
		for last, changes := T(-1), 0; err == nil && changes < 300 && time.Now().Before(until); {
			var old T
			if old, err = FetchAndOp(w, BOr, T(1), 0, 1+at); old == last {
				continue
			}
			if changes++; old == last-1 {
				undone++
			}
			last = old | 1
		}
		if err = errors.Join(err, Accumulate(w, Replace, []T{1}, 0, 0)); undone > 0 {
			err = errors.Join(err, fmt.Errorf("word %d of %d of %d B: it is undone %d times", at, n, sizeOf[T](), undone))
		}
	}
	return errors.Join(err, w.UnlockAll(), w.Free())
}

// TestWindowReplaces: a run of words replaces each once, so what another process does to one that it has found
// replaced stays.
func TestWindowReplaces(t *testing.T) {
	each(t, 2, func(c *Comm) (err error) {
		const n = 1 << 14 // words, of which copy writes some near either end twice, with all the others between
		return errors.Join(replaced[int64](c, 3, n), replaced[int64](c, n-15, n), replaced[int32](c, 7, n), replaced[int32](c, n-30, n))
	})
}
