package mpi

import (
	"errors"
	"fmt"
	"testing"
)

// TestGraph: neighbors of a graph exchange blocks, in all forms; edges are told by the processes that have them, or
// by one for all, some of them twice.
func TestGraph(t *testing.T) {
	each(t, 4, func(w *Comm) error {
		size, rank := w.Size(), w.Rank()
		next, last := (rank+1)%size, (rank+size-1)%size
		ring, err := NewDistGraphAdjacent(w, []int{last, last, rank}, []int{next, next, rank})
		if err != nil {
			return err
		}
		var edges [][2]int
		if rank == 2 {
			for r := range size {
				edges = append(edges, [2]int{r, (r + 1) % size}, [2]int{r, (r + 1) % size}, [2]int{r, r})
			}
		}
		told, err := NewDistGraph(w, edges)
		if err != nil {
			return err
		}
		for _, g := range []*Graph{ring, told} {
			if err := aroundRing(g, next, last); err != nil {
				return err
			}
		}
		star, err := NewGraph(w, [][]int{{1, 2}, {0}, {0}})
		if err != nil || (star == nil) != (rank == 3) {
			return fmt.Errorf("a star of 3: %v, %w", star, err)
		}
		if star != nil {
			from, _ := star.Neighbors()
			out := make([]int32, len(from))
			in, _ := On([]int32{int32(10 + rank)})
			b, _ := On(out)
			if err := star.NeighborAllgather(in, Blocks{Buffer: b, Each: 1}); err != nil {
				return err
			}
			for i, r := range from {
				if out[i] != int32(10+r) {
					return fmt.Errorf("neighbor %d gives %d", r, out[i])
				}
			}
		}
		if _, err := NewDistGraphAdjacent(w, []int{9}, nil); !errors.Is(err, ErrRank) {
			return fmt.Errorf("a neighbor that is not there: %w", err)
		}
		return w.Barrier()
	})
}

// aroundRing has each send two different blocks to the next one, and one to itself.
func aroundRing(g *Graph, next, last int) error {
	from, to := g.Neighbors()
	block := func(from, to, which int) int64 { return int64(from*100 + to*10 + which) }
	out := make([]int64, len(from))
	in := make([]int64, len(to))
	count := map[int]int{}
	for i, r := range to {
		in[i] = block(g.Rank(), r, count[r])
		count[r]++
	}
	a, err := On(in)
	if err != nil {
		return err
	}
	b, _ := On(out)
	persistent := g.Persistent().NeighborAlltoall(Blocks{Buffer: a, Each: 1}, Blocks{Buffer: b, Each: 1})
	for _, exchange := range []func() error{
		func() error { return g.NeighborAlltoall(Blocks{Buffer: a, Each: 1}, Blocks{Buffer: b, Each: 1}) },
		func() error {
			_, err := g.Immediate().NeighborAlltoall(Blocks{Buffer: a, Each: 1}, Blocks{Buffer: b, Each: 1}).Wait()
			return err
		},
		func() error {
			err := persistent.Start()
			_, err2 := persistent.Wait()
			return errors.Join(err, err2)
		},
	} {
		clear(out)
		if err := exchange(); err != nil {
			return err
		}
		clear(count)
		for i, r := range from {
			if want := block(r, g.Rank(), count[r]); out[i] != want {
				return fmt.Errorf("block %d from %d is %d, want %d", i, r, out[i], want)
			}
			count[r]++
		}
	}
	return nil
}
