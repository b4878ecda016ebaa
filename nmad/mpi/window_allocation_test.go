//go:build !race

package mpi

import (
	"errors"
	"fmt"
	"testing"

	"github.com/pm2-go/pm2/internal/test/effort"
	"github.com/pm2-go/pm2/nmad/mpi/datatype"
)

// TestWindowNoAllocation: accesses of contiguous data allocate nothing, nor do locks that are free.
func TestWindowNoAllocation(t *testing.T) {
	effort.SkipIfNotInlined(t)
	each(t, 2, func(c *Comm) error {
		w, err := NewAllocatedWindow(c, 1<<12, 8)
		if err != nil {
			return err
		}
		in, out := make([]float64, 8), make([]float64, 8)
		next := 1 - c.Rank()
		b, err := On(in)
		if err != nil {
			return err
		}
		as := Layout{8, datatype.Of(datatype.Float64)}
		step := func() {
			err = errors.Join(err, w.LockAll(0), Put(w, in, next, 0), w.Put(b, next, 8, as), w.Flush(next), Get(w, out, next, 0), w.FlushAll(), Accumulate(w, Sum, in[:1], next, 20), Accumulate(w, Sum, in, next, 40))
			_, err1 := FetchAndOp(w, Sum, int64(1), next, 30)
			_, err2 := CompareAndSwap(w, int32(1), 1, next, 31)
			err = errors.Join(err, err1, err2, w.UnlockAll(), w.Lock(LockExclusive, next, 0), Put(w, in, next, 0), w.Unlock(next), w.Sync())
		}
		if c.Rank() == 0 {
			for range 10 {
				step()
			}
			if n := testing.AllocsPerRun(100, step); err == nil && n > 0 {
				err = fmt.Errorf("%v allocations a round", n)
			}
		}
		err = errors.Join(err, c.Barrier(), w.Fence(0), Put(w, in, next, 0), w.Fence(NoSucceed))
		return errors.Join(err, w.Free())
	})
}

func BenchmarkWindow(b *testing.B) {
	t := &testing.T{}
	each(t, 2, func(c *Comm) error {
		w, err := NewAllocatedWindow(c, 1<<20, 8)
		if err != nil || c.Rank() == 1 {
			return errors.Join(err, c.Barrier(), w.Free())
		}
		err = w.LockAll(0)
		for _, n := range []int{1, 1 << 9, 1 << 16} {
			s := make([]int64, n)
			b.Run(fmt.Sprintf("put-flush-%d", 8*n), func(b *testing.B) {
				for range b.N {
					err = errors.Join(err, Put(w, s, 1, 0), w.Flush(1))
				}
			})
			b.Run(fmt.Sprintf("get-flush-%d", 8*n), func(b *testing.B) {
				for range b.N {
					err = errors.Join(err, Get(w, s, 1, 0), w.Flush(1))
				}
			})
			b.Run(fmt.Sprintf("accumulate-flush-%d", 8*n), func(b *testing.B) {
				for range b.N {
					err = errors.Join(err, Accumulate(w, Sum, s, 1, 0), w.Flush(1))
				}
			})
		}
		b.Run("fetch-and-op", func(b *testing.B) {
			for range b.N {
				_, err = FetchAndOp(w, Sum, int64(1), 1, 0)
			}
		})
		b.Run("compare-and-swap", func(b *testing.B) {
			for range b.N {
				_, err = CompareAndSwap(w, int64(1), 2, 1, 0)
			}
		})
		err = errors.Join(err, w.UnlockAll())
		b.Run("lock-put-unlock", func(b *testing.B) {
			for range b.N {
				err = errors.Join(err, w.Lock(LockExclusive, 1, 0), Put(w, []int64{1}, 1, 0), w.Unlock(1))
			}
		})
		return errors.Join(err, c.Barrier(), w.Free())
	})
}
