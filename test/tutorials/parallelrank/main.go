// A port of the parallel rank ("tmpi_rank.c" and "random_rank.c") of "mpitutorial.com".

package main

import (
	"cmp"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"

	"github.com/pm2-go/pm2/nmad/mpi"
)

// placeOf returns the place of x among the values of all ranks, in rising order.
func placeOf[T cmp.Ordered](c *mpi.Comm, x T) (int, error) {
	var all []T
	var places []int
	if c.Rank() == 0 {
		all = make([]T, c.Size())
	}
	if err := mpi.Gather(c, []T{x}, all, 0); err != nil {
		return 0, err
	}
	if c.Rank() == 0 {
		places = order(all)
	}
	mine := []int{0}
	err := mpi.Scatter(c, places, mine, 0)
	return mine[0], err
}

// order returns the place of each value; of equal ones the first comes first.
func order[T cmp.Ordered](all []T) []int {
	owners, places := make([]int, len(all)), make([]int, len(all))
	for i := range owners {
		owners[i] = i
	}
	slices.SortStableFunc(owners, func(a, b int) int { return cmp.Compare(all[a], all[b]) })
	for place, owner := range owners {
		places[owner] = place
	}
	return places
}

// values returns what each rank has, the same in each process.
func values[T cmp.Ordered](size int, next func(*rand.Rand) T) []T {
	all, random := make([]T, size), rand.New(rand.NewPCG(3, 4))
	for i := range all {
		all[i] = next(random)
	}
	return all
}

// right reports whether this rank learns the place of its value.
func right[T cmp.Ordered](c *mpi.Comm, next func(*rand.Rand) T) (bool, error) {
	all := values(c.Size(), next)
	place, err := placeOf(c, all[c.Rank()])
	below := 0 // counted one by one, in place of sorted
	for i, x := range all {
		if x < all[c.Rank()] || x == all[c.Rank()] && i < c.Rank() {
			below++
		}
	}
	return place == below, err
}

func main() {
	mpi.Main(func(world *mpi.Comm) error {
		floats, err := right(world, (*rand.Rand).Float32)
		if err != nil {
			return err
		}
		ints, err := right(world, func(r *rand.Rand) int { return r.IntN(3) })
		if err != nil {
			return err
		}
		_, err = placeOf(world, "text")
		fmt.Printf("rank %d knows its place: %t of float32, %t of int, string is no datatype: %t\n",
			world.Rank(), floats, ints, errors.Is(err, mpi.ErrType))
		return nil
	})
}
