package mpi

import (
	"errors"
	"fmt"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// TestDims: the factors multiply to all processes, fall, keep what was said, and no largest one is smaller.
func TestDims(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n, k := rapid.IntRange(1, 300).Draw(t, "n"), rapid.IntRange(1, 4).Draw(t, "dimensions")
		got, err := Dims(n, make([]int, k)...)
		if err != nil {
			t.Fatal(err)
		}
		product := 1
		for _, d := range got {
			product *= d
		}
		if product != n || len(got) != k || !slices.IsSortedFunc(got, func(a, b int) int { return b - a }) {
			t.Fatalf("%d in %d dimensions: %v", n, k, got)
		}
		var least func(n, k int) int // the smallest largest factor
		least = func(n, k int) int {
			if k == 1 {
				return n
			}
			best := n
			for f := 1; f <= n; f++ {
				if n%f == 0 {
					best = min(best, max(f, least(n/f, k-1)))
				}
			}
			return best
		}
		if got[0] != least(n, k) {
			t.Fatalf("%d in %d dimensions: %v, and the largest factor could be %d", n, k, got, least(n, k))
		}
	})
	if got, err := Dims(24, 0, 4, 0); err != nil || !slices.Equal(got, []int{3, 4, 2}) {
		t.Errorf("%v, %v", got, err)
	}
	for _, bad := range [][]int{{5}, {0, 5}, {-1, 0}, {2, 2}} {
		if got, err := Dims(24, bad...); !errors.Is(err, ErrCount) {
			t.Errorf("%v: %v, %v", bad, got, err)
		}
	}
}

// TestCart: coordinates and ranks are each other's inverse, shifts lead to neighbours, and the parts of a grid are its rows.
func TestCart(t *testing.T) {
	each(t, 6, func(c *Comm) error {
		g, err := c.Cart([]int{2, 3}, []bool{false, true})
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
			if err := neighbours(c, edge.dims, edge.periodic); err != nil {
				return fmt.Errorf("%v: %w", edge, err)
			}
		}
		if _, err := c.Cart([]int{4, 2}, []bool{true, true}); !errors.Is(err, ErrCount) {
			return fmt.Errorf("a grid of 8 in 6: %w", err)
		}
		return nil
	})
}

// neighbours has all of a grid tell their neighbours who they are, and in which direction they say so.
func neighbours(c *Comm, dims []int, periodic []bool) error {
	g, err := c.Cart(dims, periodic)
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
	r := g.NeighborAlltoallInit(Blocks{Buffer: a, Each: 1}, Blocks{Buffer: b, Each: 1})
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
