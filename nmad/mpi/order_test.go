package mpi

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
)

// TestOneOrder: with one order all reductions have the same bits, in each way and form: those of a sum from the
// last rank to the first. Without, those of a way are the same at all ranks, call after call.
func TestOneOrder(t *testing.T) {
	const size, n = 10, 7
	operand := func(rank int) []float64 {
		r, x := rand.New(rand.NewPCG(uint64(rank), 5)), make([]float64, n)
		for i := range x {
			x[i] = (r.Float64() - 0.5) * math.Pow(10, float64(r.IntN(20)))
		}
		return x
	}
	fold := func(from, to int) []float64 { // to is not part
		acc := operand(to - 1)
		for r := to - 2; r >= from; r-- {
			for i, x := range operand(r) {
				acc[i] = x + acc[i]
			}
		}
		return acc
	}
	for name, hostOf := range ways {
		for _, ordered := range []bool{true, false} {
			t.Run(fmt.Sprintf("%s, ordered %v", name, ordered), func(t *testing.T) {
				each(t, size, func(c *Comm) error {
					c.job.hostOf, c.job.inOrder = hostOf, ordered
					in, whole, first := operand(c.Rank()), fold(0, size), []float64(nil)
					for round := range 4 {
						out := make([]float64, n)
						var err error
						if round%2 == 0 {
							err = Allreduce(c, Sum, in, out)
						} else {
							_, err = Allreduce(c.Immediate(), Sum, in, out).Wait()
						}
						if err != nil {
							return err
						}
						if first == nil || round == 1 && !ordered {
							first = append([]float64(nil), out...)
						}
						if ordered {
							first = whole
						}
						if !ordered && round == 2 {
							continue // the form of round 0
						}
						if err := expect(out, first); err != nil {
							return fmt.Errorf("round %d: %w", round, err)
						}
						all := make([]float64, n*size)
						if err := Allgather(c, out, all); err != nil {
							return err
						}
						for r := range size {
							if err := expect(all[r*n:][:n], out); err != nil {
								return fmt.Errorf("round %d: at rank %d: %w", round, r, err)
							}
						}
					}
					if !ordered {
						return nil
					}
					out := make([]float64, n)
					if err := Reduce(c, Sum, in, out, 5); err != nil {
						return err
					}
					if c.Rank() == 5 {
						if err := expect(out, whole); err != nil {
							return fmt.Errorf("reduce: %w", err)
						}
					}
					if err := Scan(c, Sum, in, out); err != nil {
						return err
					}
					if err := expect(out, fold(0, c.Rank()+1)); err != nil {
						return fmt.Errorf("scan: %w", err)
					}
					if err := Exscan(c, Sum, in, out); err != nil || c.Rank() == 0 {
						return err
					}
					if err := expect(out, fold(0, c.Rank())); err != nil {
						return fmt.Errorf("exscan: %w", err)
					}
					return nil
				})
			})
		}
	}
}
