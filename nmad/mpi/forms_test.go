package mpi

import (
	"errors"
	"fmt"
	"testing"
)

// checked collects what is wrong with the results of operations in one form. end waits for an operation that was called.
type checked[R any] struct {
	end  func(R) error
	errs []error
}

// try ends an operation, and compares what it has left in got.
func (ck *checked[R]) try(name string, r R, got []int64, want ...int64) {
	if err := errors.Join(ck.end(r), expect(got, want)); err != nil {
		ck.errs = append(ck.errs, fmt.Errorf("%s: %w", name, err))
	}
}

// Ends of operations in each form. A persistent one is started twice.
func endBlocking(err error) error { return err }

func endImmediate(r *Request) error {
	_, err := r.Wait()
	return err
}

func endPersistent(r *Request) error {
	var errs []error
	for range 2 {
		errs = append(errs, r.Start(), endImmediate(r))
	}
	return errors.Join(errs...)
}

// ofSlices calls each function for slices on a communicator of three ranks, or a view of one.
func ofSlices[R any](c Collective[R], rank int, end func(R) error) error {
	const n, root = 3, 1
	ck, own := &checked[R]{end: end}, []int64{int64(rank + 1)}
	one, all := func() []int64 { return make([]int64, 1) }, func() []int64 { return make([]int64, n) }
	atRoot := func() []int64 { return make([]int64, either(rank == root, n, 0)) }
	wants := func(want ...int64) []int64 { return want[:either(rank == root, len(want), 0)] }
	counts, backwards := []int{1, 1, 1}, []int{2, 1, 0}
	r := int64(rank)

	got := one()
	if rank == root {
		got[0] = 7
	}
	ck.try("bcast", Bcast(c, got, root), got, 7)
	got = one()
	ck.try("reduce", Reduce(c, Sum, own, got, root), got, int64(either(rank == root, 6, 0)))
	got = one()
	ck.try("allreduce", Allreduce(c, Max, own, got), got, 3)
	got = one()
	ck.try("scan", Scan(c, Sum, own, got), got, (r+1)*(r+2)/2)
	got = one()
	ck.try("exscan", Exscan(c, Sum, own, got), got, r*(r+1)/2)
	got = atRoot()
	ck.try("gather", Gather(c, own, got, root), got, wants(1, 2, 3)...)
	got = atRoot()
	ck.try("gatherv", Gatherv(c, own, got, counts, backwards, root), got, wants(3, 2, 1)...)
	got = one()
	ck.try("scatter", Scatter(c, wants(4, 5, 6), got, root), got, 4+r)
	got = one()
	ck.try("scatterv", Scatterv(c, wants(4, 5, 6), counts, backwards, got, root), got, 6-r)
	got = all()
	ck.try("allgather", Allgather(c, own, got), got, 1, 2, 3)
	got = all()
	ck.try("allgatherv", Allgatherv(c, own, got, counts, backwards), got, 3, 2, 1)
	blocks := []int64{10 * r, 10*r + 1, 10*r + 2}
	got = all()
	ck.try("alltoall", Alltoall(c, blocks, got), got, r, 10+r, 20+r)
	got = all()
	ck.try("alltoallv", Alltoallv(c, blocks, counts, got, counts), got, r, 10+r, 20+r)
	got = one()
	ck.try("reduce-scatter", ReduceScatter(c, Sum, blocks, nil, got), got, 30+3*r)
	got = one()
	ck.try("reduce-scatter, counts", ReduceScatter(c, Sum, blocks, counts, got), got, 30+3*r)
	return errors.Join(ck.errs...)
}

// TestSlicesInAllForms: each function for slices blocks on a communicator, and returns a request on its views; so it does
// on a grid.
func TestSlicesInAllForms(t *testing.T) {
	each(t, 3, func(c *Comm) error {
		grid, err := NewCart(c, []int{3}, []bool{false})
		if err != nil {
			return err
		}
		return errors.Join(
			ofSlices(c, c.Rank(), endBlocking), ofSlices(c.Immediate(), c.Rank(), endImmediate), ofSlices(c.Persistent(), c.Rank(), endPersistent),
			ofSlices(grid, c.Rank(), endBlocking), ofSlices(grid.Immediate(), c.Rank(), endImmediate),
		)
	})
}

// slicesBetween calls functions for slices between a group of one process, which is the root, and another one of two.
func slicesBetween[R any](x Collective[R], alone bool, rank int, end func(R) error) error {
	ck := &checked[R]{end: end}
	root, own, peers := 0, []int64{int64(rank + 1)}, 1
	if alone {
		root, own, peers = Root, []int64{10}, 2
	}
	mine := func() []int64 { return make([]int64, either(alone, 2, 0)) }
	sum := either(alone, int64(3), 10) // of the other group

	got := []int64{7}
	if !alone {
		got[0] = 0
	}
	ck.try("bcast", Bcast(x, got, root), got, 7)
	got = mine()
	ck.try("gather", Gather(x, own[:either(alone, 0, 1)], got, root), got, []int64{1, 2}[:len(got)]...)
	got = make([]int64, either(alone, 0, 1))
	ck.try("scatter", Scatter(x, []int64{4, 5}[:either(alone, 2, 0)], got, root), got, []int64{4 + int64(rank)}[:len(got)]...)
	got = make([]int64, 1)
	ck.try("allreduce", Allreduce(x, Sum, own, got), got, sum)
	got = make([]int64, peers)
	ck.try("allgather", Allgather(x, own, got), got, either(alone, []int64{1, 2}, []int64{10})...)
	return errors.Join(ck.errs...)
}

// TestSlicesBetweenGroups: functions for slices take an intercommunicator, and its views.
func TestSlicesBetweenGroups(t *testing.T) {
	each(t, 3, func(w *Comm) error {
		x, err := halves(w, 1)
		if err != nil {
			return err
		}
		defer x.Free()
		alone := w.Rank() == 0
		return errors.Join(
			slicesBetween(x, alone, x.Rank(), endBlocking), slicesBetween(x.Immediate(), alone, x.Rank(), endImmediate), slicesBetween(x.Persistent(), alone, x.Rank(), endPersistent),
			w.Barrier(),
		)
	})
}

// TestIssend: the request of an Issend is done when the receive was posted, and not before.
func TestIssend(t *testing.T) {
	each(t, 2, func(c *Comm) error {
		if c.Rank() == 1 {
			got := []int64{0}
			err := c.Barrier()
			_, _, failed := Recv(c, got, 0, 3)
			return errors.Join(err, failed, expect(got, []int64{5}))
		}
		r := Issend(c, []int64{5}, 1, 3)
		if done, _, err := r.Test(); done || err != nil {
			return fmt.Errorf("without a receive: %v, %w", done, err)
		}
		err := c.Barrier()
		_, failed := r.Wait()
		_, wrong := Issend(c, []string{"x"}, 1, 3).Wait()
		if !errors.Is(wrong, ErrType) {
			wrong = fmt.Errorf("a slice of strings: %w", wrong)
		} else {
			wrong = nil
		}
		return errors.Join(err, failed, wrong)
	})
}
