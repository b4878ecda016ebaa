package marcel_test

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/pm2-go/pm2/marcel"
)

// The first error ends the others.
func ExampleGroup() {
	marcel.Run(func() {
		g, ctx := marcel.NewGroup(context.Background())
		for i := range 3 {
			g.Go(func() error {
				if i == 2 {
					return errors.New("the disk is full")
				}
				marcel.Select(marcel.Done(ctx)) // works until it is told to stop
				return context.Cause(ctx)
			})
		}
		fmt.Println(g.Wait())
	})
	// Output: the disk is full
}

// Four at a time.
func ExampleGroup_SetLimit() {
	marcel.Run(func() {
		var g marcel.Group
		g.SetLimit(4)
		squares := make([]int, 8)
		for i := range squares {
			g.Go(func() error { squares[i] = i * i; return nil })
		}
		fmt.Println(g.Wait(), squares)
	})
	// Output: <nil> [0 1 4 9 16 25 36 49]
}

// Whether it is done is one thing, how it has ended another.
func ExampleGroup_WaitTimeout() {
	marcel.Run(func() {
		var g marcel.Group
		var permit marcel.Semaphore
		g.Go(func() error { permit.Acquire(); return errors.New("the disk is full") })
		fmt.Println(g.WaitTimeout(time.Millisecond))
		permit.Release()
		fmt.Println(g.WaitTimeout(time.Minute))
	})
	// Output:
	// false <nil>
	// true the disk is full
}

// A latch in a Select: all have arrived, or it has taken too long.
func ExampleLatch_Case() {
	marcel.Run(func() {
		arrived := marcel.NewLatch(3)
		for range 3 {
			marcel.Spawn(arrived.CountDown)
		}
		switch marcel.SelectTimeout(time.Minute, arrived.Case()) {
		case 0:
			fmt.Println("all are here")
		default:
			fmt.Println("it took too long")
		}
	})
	// Output: all are here
}

func ExampleWaitGroup_Case() {
	marcel.Run(func() {
		var jobs marcel.WaitGroup
		var quit marcel.Semaphore
		jobs.Go(func() {})
		switch marcel.Select(jobs.Case(), quit.Case()) {
		case 0:
			fmt.Println("all jobs are done")
		case 1:
			fmt.Println("told to stop")
		}
	})
	// Output: all jobs are done
}
