package mpi

import (
	"errors"
	"fmt"
	"slices"
	"testing"
)

// TestCart: coordinates and ranks are each other's inverse, shifts lead to neighbors, and the parts of a grid are
// its rows.
func TestCart(t *testing.T) {
	each(t, 6, func(c *Comm) error {
		g, err := NewCart(c, []int{2, 3}, []bool{false, true})
		if err != nil {
			return err
		}
		for rank := range 6 {
			at := g.Coords(rank)
			if back, err := g.At(at...); back != rank || err != nil {
				return fmt.Errorf("rank %d is at %v, where %d is: %w", rank, at, back, err)
			}
		}
		up, down, err := g.Shift(0, 1)
		if err != nil || g.Rank() < 3 && (up != ProcNull || down != g.Rank()+3) || g.Rank() >= 3 && (up != g.Rank()-3 || down != ProcNull) {
			return fmt.Errorf("above %d is %d, below %d, %w", g.Rank(), up, down, err)
		}
		left, right, err := g.Shift(1, 1)
		if row := g.Rank() / 3 * 3; err != nil || left != row+(g.Rank()+2)%3 || right != row+(g.Rank()+1)%3 {
			return fmt.Errorf("beside %d are %d and %d, %w", g.Rank(), left, right, err)
		}
		row, err := g.Sub(false, true)
		if err != nil || row.Size() != 3 || row.Rank() != g.Rank()%3 || !slices.Equal(row.Dims(), []int{3}) {
			return fmt.Errorf("a row of %v, %v, %w", row.Dims(), row, err)
		}
		for _, edge := range []struct {
			dims     []int
			periodic []bool
		}{{[]int{2, 3}, []bool{false, true}}, {[]int{2}, []bool{true}}, {[]int{1, 6}, []bool{true, false}}, {[]int{5}, []bool{true}}, {nil, nil}} {
			if err := exchangeAroundGrid(c, edge.dims, edge.periodic); err != nil {
				return fmt.Errorf("%v: %w", edge, err)
			}
		}
		if _, err := NewCart(c, []int{4, 2}, []bool{true, true}); !errors.Is(err, ErrCount) {
			return fmt.Errorf("a grid of 8 in 6: %w", err)
		}
		return nil
	})
}

// exchangeAroundGrid has all of a grid tell their neighbors who they are, and in which direction they say so.
func exchangeAroundGrid(c *Comm, dims []int, periodic []bool) error {
	g, err := NewCart(c, dims, periodic)
	if g == nil {
		return err
	}
	n := 2 * len(dims)
	in, out, want := make([]int32, n), slices.Repeat([]int32{-1}, n), slices.Repeat([]int32{-1}, n)
	for d := range dims {
		from, to, err := g.Shift(d, 1)
		if err != nil {
			return err
		}
		in[2*d], in[2*d+1] = int32(10*g.Rank()), int32(10*g.Rank()+1)
		if from != ProcNull {
			want[2*d] = int32(10*from + 1) // it sent that behind itself
		}
		if to != ProcNull {
			want[2*d+1] = int32(10 * to)
		}
	}
	a, b, err := both(in, out)
	if err != nil {
		return err
	}
	r := g.Persistent().NeighborAlltoall(Blocks{Buffer: a, Each: 1}, Blocks{Buffer: b, Each: 1})
	for range 3 {
		copy(out, slices.Repeat([]int32{-1}, n))
		if err := r.Start(); err != nil {
			return err
		}
		if _, err := r.Wait(); err != nil {
			return err
		}
		if err := expect(out, want); err != nil {
			return err
		}
	}
	all := slices.Repeat([]int32{-1}, n)
	own, b, err := both([]int32{int32(g.Rank())}, all)
	if err != nil {
		return err
	}
	if err := g.NeighborAllgather(own, Blocks{Buffer: b, Each: 1}); err != nil {
		return err
	}
	for i := range want {
		if want[i] >= 0 {
			want[i] /= 10
		}
	}
	return expect(all, want)
}
