package nmad_test

import (
	"context"
	"errors"
	"fmt"

	"github.com/pm2-go/pm2/nmad"
	"github.com/pm2-go/pm2/pioman"
)

func compute() {}

// One of two processes that a launcher has started: it is compiled here, and run as README has it.
func Example() {
	_, err := pioman.Enable()                    // messages move while the program computes; else inside Wait only
	job, err2 := nmad.Join(context.Background()) // this process and the others, as the launcher says
	if err := errors.Join(err, err2); err != nil {
		panic(err)
	}
	g := job.Gate(1 - job.Rank()) // the way to the other one
	in := make([]byte, 1<<20)
	send, receive := g.Isend(7, make([]byte, 1<<20)), g.Irecv(7, in)
	compute()                                      // both messages move meanwhile
	err = errors.Join(send.Wait(), receive.Wait()) // polls a little, then blocks this thread only
	fmt.Println(receive.Len(), err, job.Close())
}
