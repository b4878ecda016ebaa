package mpi_test

import (
	"context"
	"errors"
	"fmt"

	"github.com/pm2-go/pm2/nmad"
	"github.com/pm2-go/pm2/nmad/mpi"
)

// Without a launcher the job has one process.
func Example() {
	mpi.Main(func(world *mpi.Comm) error {
		in, out := []float64{float64(world.Rank())}, make([]float64, 1)
		err := mpi.Allreduce(world, mpi.Sum, in, out)
		fmt.Println(out[0]) // 0 + 1 + 2 + ...
		return err
	})
	// Output: 0
}

// Each process adds its part of a sum; without a launcher the job has one process.
func ExampleNew() {
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

// A counter that all processes count with, and memory that they put into; without a launcher the job has one process.
func ExampleWindow() {
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
	memory := make([]int64, 4) // the first one is the counter
	w, err := mpi.WindowOf(world, memory)
	if err != nil {
		fmt.Println(err)
		return
	}
	err = w.LockAll(0)
	for range 3 {
		place, err2 := mpi.FetchAndOp(w, mpi.Sum, int64(1), 0, 0) // at rank 0, element 0
		err = errors.Join(err, err2, mpi.Put(w, []int64{10 * place}, 0, 1+int(place)))
	}
	err = errors.Join(err, w.UnlockAll(), w.Comm().Barrier())
	fmt.Println(memory, err)
	if err := errors.Join(w.Free(), world.Finalize()); err != nil {
		fmt.Println(err)
	}
	// Output: [3 0 10 20] <nil>
}
