package mpi_test

import (
	"context"
	"fmt"

	"github.com/pm2-go/pm2/nmad"
	"github.com/pm2-go/pm2/nmad/mpi"
)

// Each process adds its part of a sum; without a launcher the job has one process.
func Example() {
	session, err := nmad.Open(context.Background(), nmad.Config{Size: 1})
	if err != nil {
		fmt.Println(err)
		return
	}
	world, err := mpi.New(session)
	if err != nil {
		fmt.Println(err)
		return
	}
	sum := []float64{1, 2, 3}
	if err := mpi.Allreduce(world, mpi.Sum, nil, sum); err != nil {
		fmt.Println(err)
	}
	fmt.Println(world, sum)
	if err := world.Finalize(); err != nil {
		fmt.Println(err)
	}
	// Output: communicator "world", rank 0 of 1 [1 2 3]
}
