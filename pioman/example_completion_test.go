package pioman_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/pm2-go/pm2/pioman"
)

// Two tasks make two halves of a request; one that needs both waits for both.
func ExampleCompletion_WaitAll() {
	e := pioman.New(pioman.Config{})
	defer e.Close()
	const header, body = 1, 2
	var done pioman.Completion
	var tasks [2]pioman.Task
	for i, bit := range []uint32{header, body} {
		tasks[i].Init("half", func(*pioman.Task) pioman.Status { return pioman.Done }, pioman.OneShot)
		tasks[i].Notify(&done, bit)
		if err := e.Submit(&tasks[i]); err != nil {
			fmt.Println(err)
		}
	}
	fmt.Println(done.WaitAll(e, header|body), done.TestAll(header|body))
	// Output: <nil> true
}

// Any number may wait for the same completion.
func ExampleCompletion_Wait() {
	e := pioman.New(pioman.Config{})
	defer e.Close()
	var done pioman.Completion
	var waiters sync.WaitGroup
	for range 3 {
		waiters.Go(func() {
			if err := done.Wait(e, 1); err != nil {
				fmt.Println(err)
			}
		})
	}
	done.Signal(1)
	waiters.Wait()
	fmt.Println("all came back")
	// Output: all came back
}

func ExampleCompletion_WaitContext() {
	e := pioman.New(pioman.Config{})
	defer e.Close()
	var never pioman.Completion
	ctx, cancel := context.WithTimeout(context.Background(), time.Millisecond)
	defer cancel()
	err := never.WaitContext(ctx, e, 1)
	fmt.Println(errors.Is(err, context.DeadlineExceeded))
	// Output: true
}

// A poller calls the function once the bits are set: here the poll of a waiter for something else.
func ExampleCompletion_Then() {
	e := pioman.New(pioman.Config{})
	defer e.Close()
	var received, noticed pioman.Completion
	if err := received.Then(e, 4, func(status uint32) {
		fmt.Printf("status %b\n", status)
		noticed.Signal(1)
	}); err != nil {
		fmt.Println(err)
	}
	received.Signal(1)
	fmt.Println("not yet")
	received.Signal(4)
	fmt.Println(noticed.Wait(e, 1))
	// Output:
	// not yet
	// status 101
	// <nil>
}
