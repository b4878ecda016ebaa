package mpi

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/pm2-go/pm2/internal/test/effort"
	"github.com/pm2-go/pm2/marcel"
	"github.com/pm2-go/pm2/nmad/mpi/datatype"
)

// over runs f for each rank of jobs over each network, and expects no error.
func over(t *testing.T, sizes []int, f func(c *Comm) error) {
	t.Helper()
	for _, driver := range []string{"shm", "tcp", "unix"} {
		t.Run(driver, func(t *testing.T) {
			for _, size := range sizes {
				for rank, err := range errsOver(t, driver, size, f) {
					if err != nil {
						t.Errorf("rank %d of %d: %v", rank, size, err)
					}
				}
			}
		})
	}
}

// TestWindowSlices: the functions that take slices.
func TestWindowSlices(t *testing.T) {
	over(t, []int{1, 2, 4}, func(c *Comm) error {
		own := make([]int64, 10)
		w, err := WindowOf(c, own)
		if err != nil {
			return err
		}
		next, last := (c.Rank()+1)%c.Size(), (c.Rank()+c.Size()-1)%c.Size()
		got, was := make([]int64, 2), make([]int64, 2)
		err = errors.Join(w.Fence(NoPrecede), Put(w, []int64{int64(c.Rank()), 7}, next, 3), w.Fence(0))
		err = errors.Join(err, expect(own[3:5], []int64{int64(last), 7}))
		err = errors.Join(err, w.Fence(0), Get(w, got, last, 3), Accumulate(w, Sum, []int64{1, 2, 3}, next, 0), w.Fence(0))
		err = errors.Join(err, expect(got, []int64{int64((last + c.Size() - 1) % c.Size()), 7}), expect(own[:3], []int64{1, 2, 3}))
		err = errors.Join(err, w.Fence(0), GetAccumulate(w, Max, []int64{9, 0}, was, next, 1), GetAccumulate(w, NoOp, nil, got, next, 1), w.Fence(NoSucceed))
		err = errors.Join(err, expect(was, []int64{2, 3}), expect(got, []int64{9, 3}), expect(own[:3], []int64{1, 9, 3}), c.Barrier())

		// The columns of a matrix at the target from a row here.
		column, err2 := datatype.Vector(3, 1, 3, datatype.Of(datatype.Int64))
		if err = errors.Join(err, err2, w.LockAll(0), Put(w, []int64{10, 11, 12}, next, 1, Layout{1, column}), w.UnlockAll(), w.Comm().Barrier()); err != nil {
			return err
		}
		err = expect([]int64{own[1], own[4], own[7]}, []int64{10, 11, 12})

		// Requests.
		err = errors.Join(err, c.Barrier(), w.Lock(LockShared, next, 0))
		b, _ := On([]int64{5})
		r, _ := On(got[:1])
		x, _ := On(was[:1])
		_, err2 = WaitAll(w.Rput(b, next, 8), w.Raccumulate(Sum, b, next, 9))
		err = errors.Join(err, err2, w.Flush(next))
		_, err2 = WaitAll(w.Rget(r, next, 8), w.RgetAccumulate(Replace, b, x, next, 9))
		err = errors.Join(err, err2, expect(got[:1], []int64{5}), expect(was[:1], []int64{5}), w.Unlock(next))
		return errors.Join(err, w.Free())
	})
}

// TestWindowCounter: the numbers that FetchAndOp of a counter gives to the threads of all ranks are all different,
// and without gaps; CompareAndSwap counts likewise.
func TestWindowCounter(t *testing.T) {
	const threads, times = 3, 20
	over(t, []int{1, 3}, func(c *Comm) error {
		w, err := NewAllocatedWindow(c, 24, 8)
		if err != nil {
			return err
		}
		if err := w.LockAll(0); err != nil {
			return err
		}
		mine, failed := make([]int64, threads*times), make([]error, threads)
		var all sync.WaitGroup
		for i := range threads {
			all.Go(func() {
				for k := range times {
					var err error
					if mine[i*times+k], err = FetchAndOp(w, Sum, int64(1), 0, 0); err == nil {
						_, err = FetchAndOp(w, Prod, int64(3), 0, 2) // 0 stays
					}
					for old := int64(0); err == nil; {
						var was int64
						if was, err = CompareAndSwap(w, old, old+1, 0, 1); was == old {
							break
						}
						old = was
					}
					failed[i] = errors.Join(failed[i], err)
				}
			})
		}
		all.Wait()
		got := make([]int64, len(mine)*c.Size())
		err = errors.Join(errors.Join(failed...), w.UnlockAll(), Allgather(c, mine, got))
		slices.Sort(got)
		for i, v := range got {
			if v != int64(i) && err == nil {
				err = fmt.Errorf("number %d is %d", i, v)
			}
		}
		if c.Rank() == 0 {
			memory, err2 := Memory[int64](w, 0)
			err = errors.Join(err, err2, expect(memory, []int64{int64(len(got)), int64(len(got)), 0}))
		}
		return errors.Join(err, w.Free())
	})
}

// TestWindowLocks: with an exclusive lock a read, a step and a write are one, for threads of one process, and of
// several; readers with shared locks see no half of it.
func TestWindowLocks(t *testing.T) {
	const threads, times = 3, 15
	over(t, []int{1, 4}, func(c *Comm) error {
		w, err := NewAllocatedWindow(c, 64, 8)
		if err != nil {
			return err
		}
		target, failed := c.Size()-1, make([]error, threads)
		var all sync.WaitGroup
		for i := range threads {
			all.Go(func() {
				step := func(kind LockKind) error {
					v := make([]int64, 2)
					err := errors.Join(w.Lock(kind, target, 0), Get(w, v, target, 0), w.Flush(target))
					if v[0] != v[1] {
						err = errors.Join(err, fmt.Errorf("half of it: %v", v))
					}
					if kind == LockExclusive {
						err = errors.Join(err, Put(w, []int64{v[0] + 1}, target, 0))
						marcel.Yield()
						err = errors.Join(err, Put(w, []int64{v[0] + 1}, target, 1))
					}
					return errors.Join(err, w.Unlock(target))
				}
				for range times {
					failed[i] = errors.Join(failed[i], step(LockExclusive), step(LockShared))
				}
			})
		}
		all.Wait()
		err = errors.Join(errors.Join(failed...), c.Barrier())
		if c.Rank() == target {
			v, err2 := Memory[int64](w, target)
			err = errors.Join(err, err2, expect(v[:2], []int64{int64(threads * times * c.Size()), int64(threads * times * c.Size())}))
		}
		return errors.Join(err, w.Free())
	})
}

// TestWindowMutex: elements that have no atomic are combined under a lock, whichever thread does it.
func TestWindowMutex(t *testing.T) {
	const threads, times = 2, 10
	over(t, []int{3}, func(c *Comm) error {
		w, err := NewAllocatedWindow(c, 64, 16)
		if err != nil {
			return err
		}
		if err := w.Fence(0); err != nil {
			return err
		}
		failed := make([]error, threads)
		var all sync.WaitGroup
		for i := range threads {
			all.Go(func() {
				for k := range times {
					failed[i] = errors.Join(failed[i], Accumulate(w, Sum, []complex128{1 + 2i}, 0, 0), Accumulate(w, Sum, []int16{1}, 0, 1),
						Accumulate(w, MaxLoc, []pairDouble{{float64(k), int32(c.Rank())}}, 0, 2))
				}
			})
		}
		all.Wait()
		err = errors.Join(errors.Join(failed...), w.Fence(0))
		if n := threads * times * c.Size(); c.Rank() == 0 {
			sum, err2 := Memory[complex128](w, 0)
			count, err3 := Memory[int16](w, 0)
			best, err4 := Memory[pairDouble](w, 0)
			if err = errors.Join(err, err2, err3, err4); err == nil && (sum[0] != complex(float64(n), float64(2*n)) || count[8] != int16(n) || best[2] != pairDouble{times - 1, 0}) {
				err = fmt.Errorf("%v, %v, %v", sum[0], count[8], best[2])
			}
		}
		return errors.Join(err, w.Free())
	})
}

// TestWindowGroups: rounds of Post, Start, Complete and Wait or Test between the even ranks and the odd ones.
func TestWindowGroups(t *testing.T) {
	over(t, []int{2, 5}, func(c *Comm) error {
		own := make([]int32, c.Size())
		w, err := WindowOf(c, own)
		if err != nil {
			return err
		}
		var even, odd []int
		for r := range c.Size() {
			if r%2 == 0 {
				even = append(even, r)
			} else {
				odd = append(odd, r)
			}
		}
		origins, err1 := w.Group().Include(even...)
		targets, err2 := w.Group().Include(odd...)
		err = errors.Join(err1, err2)
		for round := int32(1); round <= 5 && err == nil; round++ {
			if c.Rank()%2 == 0 {
				err = w.Start(targets, 0)
				for _, r := range odd {
					err = errors.Join(err, Put(w, []int32{round}, r, c.Rank()))
				}
				err = errors.Join(err, w.Complete())
				continue
			}
			err = w.Post(origins, 0)
			if round%2 == 0 {
				err = errors.Join(err, w.Wait())
			} else {
				for done := false; !done && err == nil; {
					if done, err = w.Test(); !done {
						marcel.Yield()
					}
				}
			}
			for _, r := range even {
				if own[r] != round && err == nil {
					err = fmt.Errorf("round %d: rank %d has put %d", round, r, own[r])
				}
			}
		}
		return errors.Join(err, w.Free())
	})
}

// TestWindowShared: what one process stores in memory that all share the others load.
func TestWindowShared(t *testing.T) {
	each(t, 4, func(c *Comm) error {
		w, err := NewSharedWindow(c, 8*(c.Rank()+1), 8)
		if err != nil {
			return err
		}
		own, err := Memory[int64](w, c.Rank())
		if err == nil {
			err = w.LockAll(NoCheck)
		}
		for round := range int64(10) {
			for i := range own {
				own[i] = round + int64(c.Rank())
			}
			err = errors.Join(err, w.Sync(), c.Barrier(), w.Sync())
			for r := range c.Size() {
				its, err2 := Memory[int64](w, r)
				if err = errors.Join(err, err2); err == nil && (len(its) != r+1 || its[r] != round+int64(r)) {
					err = fmt.Errorf("round %d, rank %d: %v", round, r, its)
				}
			}
			err = errors.Join(err, c.Barrier())
		}
		return errors.Join(err, w.UnlockAll(), w.Free())
	})
	for _, err := range errsOver(t, "tcp", 2, func(c *Comm) error {
		_, err := NewSharedWindow(c, 8, 8)
		return err
	}) {
		if err == nil || !strings.Contains(err.Error(), "share no memory") {
			t.Errorf("over tcp: %v", err)
		}
	}
}

// TestWindowDynamic: memory comes and goes; what is not there is an error.
func TestWindowDynamic(t *testing.T) {
	over(t, []int{1, 3}, func(c *Comm) error {
		w, err := NewDynamicWindow(c)
		if err != nil {
			return err
		}
		next := (c.Rank() + 1) % c.Size()
		for round := range 3 {
			var parts [][]int32
			var at []int
			for n := range 3 {
				parts = append(parts, make([]int32, 4+n+round))
				a, err := Attach(w, parts[n])
				if err != nil {
					return err
				}
				at = append(at, a)
			}
			if _, err := Attach(w, parts[0][1:]); !errors.Is(err, ErrRange) {
				return fmt.Errorf("attached twice: %w", err)
			}
			all := make([]int, 3*c.Size())
			if err := Allgather(c, at, all); err != nil {
				return err
			}
			if err := errors.Join(w.LockAll(0), Put(w, []int32{8, 9}, next, all[3*next+1]+4), w.UnlockAll(), c.Barrier(), expect(parts[1][:4], []int32{0, 8, 9, 0}), c.Barrier(), Detach(w, parts[1]), c.Barrier()); err != nil {
				return err
			}
			if err := errors.Join(w.Fence(0), Accumulate(w, Sum, []int32{1}, next, all[3*next])); err != nil {
				return err
			}
			if err := Put(w, []int32{1}, next, all[3*next+1]); !errors.Is(err, ErrRange) {
				return fmt.Errorf("detached: %w", err)
			}
			if err := errors.Join(w.Fence(NoSucceed), expect(parts[0][:1], []int32{1}), Detach(w, parts[0])); err != nil {
				return err
			}
			if err := Detach(w, parts[0]); !errors.Is(err, ErrRange) {
				return fmt.Errorf("detached twice: %w", err)
			}
		}
		return w.Free()
	})
}

// TestWindowOfSome: processes of the job that are in no communicator with windows need not call anything.
func TestWindowOfSome(t *testing.T) {
	over(t, []int{4}, func(c *Comm) error {
		half, err := c.Split([]int{Undefined, 1, 1, Undefined}[c.Rank()], 0)
		if err != nil {
			return err
		}
		if half != nil {
			w, err := NewAllocatedWindow(half, 8, 8)
			if err != nil {
				return err
			}
			if err := errors.Join(w.Fence(0), Put(w, []int64{1}, 1-half.Rank(), 0), w.Fence(0), w.Free()); err != nil {
				return err
			}
		}
		return c.Barrier()
	})
}

// TestWindowsAtOnce: there are as many windows as there are numbers of communicators, those of the same processes
// share what they can, and each has memory and words of its own. Where the numbers are used up all are told, and
// freed ones make room.
func TestWindowsAtOnce(t *testing.T) {
	each(t, 2, func(c *Comm) error {
		n := 100 * effort.Of(25) // 2,500 with -long
		self, err := c.Group().Include(c.Rank())
		if err != nil {
			return err
		}
		alone, err := c.Create(self)
		if err != nil {
			return err
		}
		next := 1 - c.Rank()
		var all []*Window
		for i := range n {
			var w *Window
			switch i % 50 {
			case 0:
				w, err = NewWindow(c, aligned(8), 8)
			case 1:
				w, err = NewDynamicWindow(c)
			case 2:
				w, err = NewAllocatedWindow(alone, 8, 8)
			default:
				w, err = NewAllocatedWindow(c, 8, 8)
			}
			if err != nil {
				return fmt.Errorf("window %d: %w", i, err)
			}
			all = append(all, w)
		}
		for i, w := range all {
			if i%50 > 2 && i%7 == 0 {
				if err = errors.Join(err, w.Lock(LockExclusive, next, 0), Put(w, []int64{int64(i)}, next, 0), w.Unlock(next)); err != nil {
					return err
				}
			}
		}
		if err := c.Barrier(); err != nil {
			return err
		}
		if len(c.job.windowGroups.all) != 2 {
			return fmt.Errorf("%d lists of processes have something of their own", len(c.job.windowGroups.all))
		}
		for i, w := range all {
			if i%50 > 2 && i%7 == 0 {
				if x, err := Memory[int64](w, c.Rank()); err != nil || x[0] != int64(i) {
					return fmt.Errorf("window %d has %d, %w", i, x, err)
				}
			}
		}
		taken := c.job.numbers.taken
		if err := c.Barrier(); err != nil {
			return err
		}
		if c.Rank() == 1 { // where none is left
			c.job.numbers.mu.Lock()
			for i := range c.job.numbers.taken {
				for x := range blockSize {
					c.job.numbers.taken[i].set(x)
				}
			}
			c.job.numbers.mu.Unlock()
		}
		if _, err := NewAllocatedWindow(c, 8, 8); !errors.Is(err, ErrComm) {
			return fmt.Errorf("one too many: %w", err)
		}
		if c.Rank() == 1 {
			c.job.numbers.mu.Lock()
			c.job.numbers.taken = taken
			c.job.numbers.mu.Unlock()
		}
		for i := range all {
			if err := all[(i*101)%n].Free(); err != nil { // n is no multiple of 101
				return fmt.Errorf("free window %d: %w", i, err)
			}
		}
		if len(c.job.windowGroups.all) != 0 {
			return fmt.Errorf("%d lists of processes have something left", len(c.job.windowGroups.all))
		}
		w, err := NewAllocatedWindow(c, 8, 8)
		if err != nil {
			return err
		}
		return errors.Join(w.Fence(0), Put(w, []int64{1}, next, 0), w.Fence(NoSucceed), w.Free())
	})
}

// TestWindowPieces: an access may go over memory that was attached in several pieces, if these lie one behind the
// other; but no element of an accumulate lies in two.
func TestWindowPieces(t *testing.T) {
	over(t, []int{2}, func(c *Comm) error {
		w, err := NewDynamicWindow(c)
		if err != nil {
			return err
		}
		next, memory := 1-c.Rank(), make([]int64, 40)
		bytes := bytesOf(memory)
		for _, piece := range [][]byte{bytes[20*8 : 30*8+4], bytes[:20*8], bytes[30*8+4 : 39*8]} {
			if _, err := w.Attach(piece); err != nil {
				return err
			}
		}
		at := make([]int, 2)
		if err := Allgather(c, []int{numberOf(bytes)}, at); err != nil {
			return err
		}
		src, got, want := make([]int64, 39), make([]int64, 39), make([]int64, 39)
		for i := range src {
			src[i], want[i] = int64(i), int64(i)
		}
		second := must(datatype.Vector(14, 1, 2, datatype.Of(datatype.Int64)))
		err = errors.Join(w.LockAll(0), Put(w, src, next, at[next]), w.Flush(next), Get(w, got, next, at[next]), w.Flush(next))
		if err = errors.Join(err, expect(got, want)); err != nil {
			return err
		}
		err = errors.Join(Accumulate(w, Sum, src[:25], next, at[next]+5*8), GetAccumulate(w, Prod, src[:10], got[:10], next, at[next]+15*8), Accumulate(w, Sum, src[:14], next, at[next], Layout{1, second}))
		for i := range 25 {
			want[i+5] += int64(i)
		}
		if err = errors.Join(err, expect(got[:10], want[15:25])); err != nil {
			return err
		}
		for i := range 10 {
			want[i+15] *= int64(i)
		}
		for i := range 14 {
			want[2*i] += int64(i)
		}
		if err = errors.Join(err, w.Flush(next), Get(w, got, next, at[next]), w.Flush(next), expect(got, want)); err != nil {
			return err
		}
		if err := Accumulate(w, Sum, src[:2], next, at[next]+30*8); !errors.Is(err, ErrRange) {
			return fmt.Errorf("an element in two pieces: %w", err)
		}
		if _, err := FetchAndOp(w, Sum, int64(1), next, at[next]+30*8); !errors.Is(err, ErrRange) {
			return fmt.Errorf("one element in two pieces: %w", err)
		}
		if err := Get(w, got[:2], next, at[next]+38*8); !errors.Is(err, ErrRange) {
			return fmt.Errorf("behind the pieces: %w", err)
		}
		return errors.Join(w.UnlockAll(), c.Barrier(), w.Free())
	})
}
