// A port of the averages ("avg.c" and "all_avg.c") of "mpitutorial.com".

package main

import (
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"

	"github.com/pm2-go/pm2/nmad/mpi"
)

// numbers returns as many, from 0 to 1, the same in each process.
func numbers(n int) []float64 {
	all, random := make([]float64, n), rand.New(rand.NewPCG(1, 2))
	for i := range all {
		all[i] = random.Float64()
	}
	return all
}

func mean(s []float64) float64 {
	sum := 0.0
	for _, x := range s {
		sum += x
	}
	return sum / float64(len(s))
}

func main() {
	mpi.Main(func(world *mpi.Comm) error {
		if len(os.Args) != 2 {
			return fmt.Errorf("usage: %s NUMBERS-PER-RANK", os.Args[0])
		}
		n, err := strconv.Atoi(os.Args[1])
		if err != nil {
			return err
		}
		rank, size := world.Rank(), world.Size()
		var all []float64
		if rank == 0 {
			all = numbers(n * size)
		}
		mine := make([]float64, n)
		if err := mpi.Scatter(world, all, mine, 0); err != nil {
			return err
		}
		part := []float64{mean(mine)}
		atRoot, everywhere := make([]float64, size), make([]float64, size)
		if err := mpi.Gather(world, part, atRoot, 0); err != nil {
			return err
		}
		if err := mpi.Allgather(world, part, everywhere); err != nil {
			return err
		}
		alone := mean(numbers(n * size))
		fmt.Printf("rank %d has the average of %d numbers: %t\n", rank, n*size, math.Abs(mean(everywhere)-alone) < 1e-12)
		if rank == 0 {
			fmt.Println("gathered at the root it is the same:", slices.Equal(atRoot, everywhere))
		}
		return nil
	})
}
