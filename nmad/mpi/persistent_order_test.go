package mpi

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"runtime"
	"slices"
	"testing"
)

// lastingOnes are persistent operations of a communicator of three, which all ranks make in this order, and what each
// leaves in its buffer in a round.
func lastingOnes(c *Comm) (requests []*Request, put func(round int), check func(round int) error, err error) {
	ring, err := NewCart(c, []int{3}, []bool{true})
	if err != nil {
		return nil, nil, nil, err
	}
	graph, err := NewDistGraphAdjacent(c, []int{(c.Rank() + 1) % 3}, []int{(c.Rank() + 2) % 3})
	if err != nil {
		return nil, nil, nil, err
	}
	cast, in, sum, again := make([]int64, 4), make([]int64, 4), make([]int64, 4), make([]int64, 4)
	to, from, out, back := make([]int64, 2), make([]int64, 2), make([]int64, 1), make([]int64, 1)
	var b [8]Buffer
	for i, s := range [][]int64{cast, in, sum, again, to, from, out, back} {
		if b[i], err = On(s); err != nil {
			return nil, nil, nil, err
		}
	}
	equal := func(b Buffer) Blocks { return Blocks{Buffer: b, Each: 1} }
	requests = []*Request{
		c.Persistent().Bcast(b[0], 1), c.Persistent().Allreduce(Sum, b[1], b[2]), c.Persistent().Barrier(), c.Persistent().Bcast(b[3], 2),
		ring.Persistent().NeighborAlltoall(equal(b[4]), equal(b[5])), graph.Persistent().NeighborAlltoall(equal(b[6]), equal(b[7])),
	}
	put = func(round int) {
		for i := range cast {
			cast[i], in[i], again[i] = int64(either(c.Rank() == 1, round, -1)), int64(round*c.Rank()), int64(either(c.Rank() == 2, 2*round, -1))
		}
		to[0], to[1], out[0] = int64(10*round+c.Rank()), int64(100*round+c.Rank()), int64(round+c.Rank())
	}
	check = func(round int) error {
		next, last := (c.Rank()+1)%3, (c.Rank()+2)%3
		return errors.Join(
			expect(cast, slices.Repeat([]int64{int64(round)}, 4)), expect(sum, slices.Repeat([]int64{int64(3 * round)}, 4)), expect(again, slices.Repeat([]int64{int64(2 * round)}, 4)),
			expect(from, []int64{int64(100*round + last), int64(10*round + next)}), expect(back, []int64{int64(round + next)}))
	}
	return requests, put, check, nil
}

// TestPersistentInAnyOrder: persistent operations belong together as they were made, in whatever order the ranks
// start them, in each round, with others between; also with checks.
func TestPersistentInAnyOrder(t *testing.T) {
	for _, checks := range []bool{false, true} {
		each(t, 3, func(c *Comm) error {
			c.job.checks = checks
			requests, put, check, err := lastingOnes(c)
			if err != nil {
				return err
			}
			order := rand.New(rand.NewPCG(uint64(c.Rank()), 7))
			for round := range 40 {
				put(round)
				for _, i := range order.Perm(len(requests)) {
					if err := requests[i].Start(); err != nil {
						return err
					}
				}
				if round%4 == 0 { // in the order of calls, whatever goes on beside it
					if err := Allreduce(c, Sum, nil, []int64{1}); err != nil {
						return err
					}
				}
				if _, err := WaitAll(requests...); err != nil {
					return fmt.Errorf("round %d: %w", round, err)
				}
				if err := check(round); err != nil {
					return fmt.Errorf("round %d: %w", round, err)
				}
			}
			return collectives(c, 5, 1)
		})
	}
}

// TestPersistentBetweenGroups is that of an intercommunicator, of the operations that it has.
func TestPersistentBetweenGroups(t *testing.T) {
	each(t, 3, func(w *Comm) error {
		x, err := halves(w, 1)
		if err != nil {
			return err
		}
		first := w.Rank() == 0
		size, others := either(first, 1, 2), either(first, 2, 1)
		cast, all, sum, in := make([]int64, 1), make([]int64, others), make([]int64, 1), make([]int64, 1)
		gathered, mine, dealt, part := make([]int64, others), make([]int64, 1), make([]int64, others), make([]int64, 1)
		least, blocks, share, to, from := make([]int64, 1), make([]int64, 2*size), make([]int64, either(first, 2, 1)), make([]int64, others), make([]int64, others)
		var b []Buffer
		for _, s := range [][]int64{cast, all, sum, in, gathered, mine, dealt, part, least, blocks, share, to, from} {
			y, err := On(s)
			if err != nil {
				return err
			}
			b = append(b, y)
		}
		root := either(first, Root, 0)
		each := func(i int) Blocks { return Blocks{Buffer: b[i], Each: 1} }
		requests := []*Request{
			x.Persistent().Bcast(b[0], root), x.Persistent().Allgather(b[3], each(1)), x.Persistent().Allreduce(Sum, b[3], b[2]), x.Persistent().Barrier(), x.Persistent().Gather(b[5], each(4), root),
			x.Persistent().Scatter(each(6), b[7], root), x.Persistent().Reduce(Min, b[3], b[8], root), x.Persistent().Alltoall(each(11), each(12)),
		}
		order := rand.New(rand.NewPCG(uint64(w.Rank()), 9))
		for round := range 20 {
			if in[0], mine[0] = value(first, x.Rank())+int64(round), int64(round+x.Rank()); first {
				cast[0] = int64(7 * round)
			}
			for i := range to {
				to[i], dealt[i] = int64(1000*round+10*w.Rank()+i), int64(round*(i+1))
			}
			for _, i := range order.Perm(len(requests)) {
				if err := requests[i].Start(); err != nil {
					return err
				}
			}
			if _, err := WaitAll(requests...); err != nil {
				return err
			}
			theirs := ramp(others, func(r int) int64 { return value(!first, r) + int64(round) })
			total := int64(0)
			for _, v := range theirs {
				total += v
			}
			came := ramp(others, func(r int) int64 { return int64(1000*round + 10*either(first, r+1, 0) + x.Rank()) })
			err := errors.Join(expect(cast, []int64{int64(7 * round)}), expect(all, theirs), expect(sum, []int64{total}), expect(from, came))
			if first {
				err = errors.Join(err, expect(gathered, []int64{int64(round), int64(round + 1)}), expect(least, []int64{slices.Min(theirs)}))
			} else {
				err = errors.Join(err, expect(part, []int64{int64(round * (x.Rank() + 1))}))
			}
			if err != nil {
				return fmt.Errorf("round %d: %w", round, err)
			}
		}
		return nil
	})
}

// TestPersistentFails: a rank that makes a mistake in one operation refuses the persistent ones, too, that others
// have started, and it not.
func TestPersistentFails(t *testing.T) {
	for _, checks := range []bool{false, true} {
		for rank, err := range eachErrs(t, 3, func(c *Comm) error {
			c.job.checks = checks
			requests, put, _, err := lastingOnes(c)
			if err != nil {
				return err
			}
			put(1)
			wrong := c.Persistent().Bcast(some(1), either(c.Rank() == 1, 9, 0))
			if c.Rank() == 1 {
				if err := wrong.Start(); !errors.Is(err, ErrRank) {
					return fmt.Errorf("root 9 of 3: %w", err)
				}
				_, _, err := Recv(c, []int64{0}, 0, 0) // until then it calls no operation
				return err
			}
			for _, i := range []int{1, 0, 3, 2} {
				if err = requests[i].Start(); err == nil {
					_, err = requests[i].Wait()
				}
				if err == nil && i < 2 { // they need rank 1
					return fmt.Errorf("request %d works", i)
				}
			}
			if c.Rank() == 0 {
				if err := Send(c, []int64{1}, 1, 0); err != nil {
					return err
				}
			}
			if !known(err) {
				return fmt.Errorf("it says %w", err)
			}
			return nil
		}) {
			if err != nil {
				t.Errorf("checks %v, rank %d: %v", checks, rank, err)
			}
		}
	}
}

// TestPersistentForgotten: of requests that the program has no more nothing stays at the communicator.
func TestPersistentForgotten(t *testing.T) {
	each(t, 2, func(c *Comm) error {
		b := some(1)
		for range 50 {
			r := c.Persistent().Bcast(b, 0)
			if err := r.Start(); err != nil {
				return err
			}
			if _, err := r.Wait(); err != nil {
				return err
			}
		}
		for range 100 {
			runtime.GC()
			c.mu.Lock()
			n := len(c.kept)
			c.mu.Unlock()
			if n < 10 {
				return nil
			}
			runtime.Gosched()
		}
		return errors.New("the communicator still has most of 50 persistent operations")
	})
}
