package mpi

import (
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/pm2-go/pm2/nmad/mpi/datatype"
	"github.com/pm2-go/pm2/nmad/rma"
)

// TestWindowWrong: wrong use is an error that says of what, and harms nothing.
func TestWindowWrong(t *testing.T) {
	over(t, []int{2}, func(c *Comm) error {
		w, err := NewAllocatedWindow(c, 64*(c.Rank()+1), 8)
		if err != nil {
			return err
		}
		w.SetName("grid")
		told := 0
		w.SetErrorHandler(func(x *Window, err error) {
			if x == w {
				told++
			}
		})
		wrong := 0
		var all error
		try := func(what string, err, is error) {
			wrong++
			if !errors.Is(err, is) || err == nil || !strings.Contains(err.Error(), "grid") || !strings.Contains(err.Error(), fmt.Sprintf("rank %d of 2", c.Rank())) {
				all = errors.Join(all, fmt.Errorf("%s: %w, want %w", what, err, is))
			}
		}
		one, next := []int64{1}, 1-c.Rank()
		half, _ := datatype.Contiguous(1, datatype.Of(datatype.Int32))
		back, _ := datatype.Hindexed([]int{1}, []int{-8}, datatype.Of(datatype.Int64))
		huge, _ := datatype.Hvector(2, 1, datatype.MaxBytes/2, datatype.Of(datatype.Int64))
		mixed, _ := datatype.Struct([]int{1, 2}, []int{0, 8}, []*datatype.Type{datatype.Of(datatype.Float64), datatype.Of(datatype.Int64)})
		b, _ := On(one)

		try("outside of an epoch", Put(w, one, next, 0), ErrEpoch)
		try("unlock without lock", w.Unlock(next), ErrEpoch)
		try("unlock all", w.UnlockAll(), ErrEpoch)
		try("complete", w.Complete(), ErrEpoch)
		try("wait", w.Wait(), ErrEpoch)
		_, err = w.Test()
		try("test", err, ErrEpoch)
		try("flush", w.Flush(next), ErrEpoch)
		try("flush all", w.FlushAll(), ErrEpoch)
		if err := w.Lock(LockExclusive, next, 0); err != nil {
			return err
		}
		try("lock twice", w.Lock(LockShared, next, 0), ErrEpoch)
		try("lock all after lock", w.LockAll(0), ErrEpoch)
		try("no such kind", w.Lock(7, next, 0), ErrEpoch)
		try("no such rank", Put(w, one, 2, 0), ErrRank)
		try("another target", Put(w, one, c.Rank(), 0), ErrEpoch)
		end := 8 * (next + 1)
		try("at the end", Put(w, one, next, end), ErrRange)
		try("over the end", Get(w, []int64{1, 2}, next, end-1), ErrRange)
		try("before the beginning", Get(w, one, next, -1), ErrRange)
		try("far", Get(w, one, next, math.MaxInt), ErrRange)
		try("far back", Get(w, one, next, math.MinInt), ErrRange)
		try("before it by the datatype", Get(w, one, next, 0, Layout{1, back}), ErrRange)
		try("a huge datatype", Get(w, []int64{1, 2}, next, 0, Layout{1, huge}), ErrRange)
		try("fewer there", Put(w, one, next, 0, Layout{1, half}), ErrCount)
		try("another kind there", Put(w, one, next, 0, Layout{2, half}), ErrType)
		try("less than none", w.Put(Buffer{Base: b.Base, Count: -1, Type: b.Type}, next, 0), ErrCount)
		try("no datatype", w.Put(Buffer{}, next, 0), ErrType)
		try("no datatype there", Put(w, one, next, 0, Layout{}), ErrType)
		try("several kinds", w.Accumulate(Sum, Buffer{Base: datatype.AddressOf(make([]int64, 3)), Count: 1, Type: mixed}, next, 0), ErrType)
		try("and of floats", Accumulate(w, BAnd, []float64{1}, next, 0), ErrOp)
		try("location of numbers", Accumulate(w, MinLoc, []float64{1}, next, 0), ErrOp)
		mine := &Op{}
		try("an operation of the program", Accumulate(w, mine, one, next, 0), ErrOp)
		try("no operation", Accumulate(w, nil, one, next, 0), ErrOp)
		try("not aligned", w.GetAccumulate(Sum, b, b, next, 0, Layout{1, must(datatype.Hindexed([]int{1}, []int{4}, b.Type))}), rma.ErrAlign)
		try("results of another size", GetAccumulate(w, Sum, one, make([]int64, 2), next, 0), ErrCount)
		try("swap of two", w.CompareAndSwap(b, Buffer{Base: datatype.AddressOf(make([]int64, 2)), Count: 2, Type: b.Type}, b, next, 0), ErrType)
		_, err = FetchAndOp(w, MaxLoc, int64(1), next, 0)
		try("fetch of a location", err, ErrOp)
		_, err = w.Rget(b, next, end).Wait()
		try("a request", err, ErrRange)
		_, err = w.Attach(make([]byte, 8))
		try("attach", err, ErrWindow)
		_, err = w.Shared(next)
		try("shared", err, ErrWindow)
		if err := w.Unlock(next); err != nil {
			return err
		}
		if err := c.Barrier(); err != nil {
			return err
		}
		if err := w.Post(w.Group(), 0); err != nil {
			return err
		}
		try("post twice", w.Post(w.Group(), 0), ErrEpoch)
		if err := w.Start(w.Group(), 0); err != nil {
			return err
		}
		try("start twice", w.Start(w.Group(), 0), ErrEpoch)
		if err := errors.Join(Put(w, one, next, 0), w.Complete(), w.Wait()); err != nil {
			return err
		}
		self, _ := c.Group().Include(c.Rank())
		if part, err := c.Create(self); err != nil {
			return err
		} else if x, err := NewAllocatedWindow(part, 8, 8); err != nil {
			return err
		} else if err := x.Start(c.Group(), 0); !errors.Is(err, ErrGroup) {
			return fmt.Errorf("a group that the window has not: %w", err)
		} else if err := x.Free(); err != nil {
			return err
		}
		if told != wrong {
			all = errors.Join(all, fmt.Errorf("the handler was told of %d errors of %d", told, wrong))
		}
		if err := errors.Join(Put(w, one, ProcNull, 0), w.Lock(LockShared, ProcNull, 0), w.Flush(ProcNull), w.Unlock(ProcNull)); err != nil {
			return err
		}
		if ClassOf(w.UnlockAll()) != ClassEpoch {
			all = errors.Join(all, fmt.Errorf("the class is %v", ClassOf(w.UnlockAll())))
		}

		ended := 0
		key := NewKey[int](nil, func(_ *Comm, v int) { ended = v })
		key.Set(w.Comm(), -5)
		if all = errors.Join(all, w.LockAll(0)); c.Rank() == 0 {
			all = errors.Join(all, w.UnlockAll())
		}
		if err := w.Free(); c.Rank() == 0 && err != nil || c.Rank() == 1 && !errors.Is(err, ErrEpoch) {
			all = errors.Join(all, fmt.Errorf("free: %w", err))
		}
		if ended != -5 {
			all = errors.Join(all, errors.New("an attribute has not ended"))
		}
		try("freed", Put(w, one, next, 0), ErrWindow)
		try("freed twice", w.Free(), ErrWindow)
		try("fence", w.Fence(0), ErrWindow)
		try("lock", w.Lock(LockShared, next, 0), ErrWindow)
		var none *Window
		if err := errors.Join(Put(none, one, 0, 0)); !errors.Is(err, ErrWindow) {
			all = errors.Join(all, err)
		}
		for i, err := range []error{
			second(NewAllocatedWindow(c, -1, 1)), second(NewAllocatedWindow(c, 8, 0)), second(NewAllocatedWindow(c, math.MaxInt, 1)), second(NewAllocatedWindow(c, 8, c.Rank())), second(NewSharedWindow(c, -c.Rank(), 1)),
		} {
			if err == nil {
				all = errors.Join(all, fmt.Errorf("wrong window %d: no error", i))
			}
		}
		return all
	})
}

func must(x *datatype.Type, err error) *datatype.Type {
	if err != nil {
		panic(err)
	}
	return x
}

func second(_ *Window, err error) error { return err }
