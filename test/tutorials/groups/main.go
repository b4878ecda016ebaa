// A port of the groups and communicators ("comm_split.c" and "comm_groups.c") of "mpitutorial.com".

package main

import (
	"fmt"
	"slices"

	"github.com/pm2-go/pm2/nmad/mpi"
)

const rowLength = 2 // ranks of the world in a row

var primes = []int{1, 2, 3, 5, 7, 11, 13} // as the tutorial has them

// sum returns the sum of the world's ranks that are in a communicator.
func sum(c *mpi.Comm, rank int) (int, error) {
	total := []int{rank}
	err := mpi.Allreduce(c, mpi.Sum, nil, total)
	return total[0], err
}

func main() {
	mpi.Main(func(world *mpi.Comm) error {
		rank, size := world.Rank(), world.Size()
		row, err := world.Split(rank/rowLength, rank)
		if err != nil {
			return err
		}
		defer row.Free()
		got, err := sum(row, rank)
		if err != nil {
			return err
		}
		want, first := 0, rank/rowLength*rowLength
		for r := first; r < min(first+rowLength, size); r++ {
			want += r
		}
		fmt.Printf("rank %d of %d is rank %d of %d in its row, the sum is right: %t\n", rank, size, row.Rank(), row.Size(), got == want)

		there := slices.DeleteFunc(slices.Clone(primes), func(p int) bool { return p >= size })
		group, err := world.Group().Include(there...)
		if err != nil || !slices.Contains(there, rank) {
			return err
		}
		prime, err := world.CreateGroup(group, 0)
		if err != nil {
			return err
		}
		defer prime.Free()
		if got, err = sum(prime, rank); err != nil {
			return err
		}
		want = 0
		for _, p := range there {
			want += p
		}
		fmt.Printf("rank %d of %d is rank %d of %d primes, the sum is right: %t\n", rank, size, prime.Rank(), prime.Size(), got == want)
		return nil
	})
}
