package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/pm2-go/pm2/nmad"
	"github.com/pm2-go/pm2/pioman"
)

func main() {
	_, err := pioman.Enable()                    // from here on messages move while the program computes
	job, err2 := nmad.Join(context.Background()) // this process and the others, as the launcher says
	if err := errors.Join(err, err2); err != nil {
		panic(err)
	}
	other := job.Gate(1 - job.Rank())
	out, in := make([]byte, 1<<20), make([]byte, 1<<20)
	send, receive := other.Isend(7, out), other.Irecv(7, in) // 7 is the tag
	sum := 0
	for i := range 100_000_000 { // both messages arrive meanwhile
		sum += i & 1
	}
	err = errors.Join(send.Wait(), receive.Wait(), job.Close())
	fmt.Println("rank", job.Rank(), "computed", sum, "and received", receive.Len(), "bytes, error", err)
}
