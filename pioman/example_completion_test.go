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

// A continuation runs inside the Signal that it waited for.
func ExampleCompletion_Then() {
	e := pioman.New(pioman.Config{})
	defer e.Close()
	var received pioman.Completion
	var next pioman.Continuation
	next.Init(e, "next", func(k *pioman.Continuation) { fmt.Printf("status %b\n", k.Status()) })
	if err := received.Then(&next, 4); err != nil {
		fmt.Println(err)
	}
	received.Signal(1)
	fmt.Println("not yet")
	received.Signal(4)
	// Output:
	// not yet
	// status 101
}

// One that has to block runs in a thread, or a goroutine, of its own.
func ExampleContinuation_InitThread() {
	e := pioman.New(pioman.Config{})
	defer e.Close()
	var first, second, over pioman.Completion
	var next pioman.Continuation
	next.InitThread(func(f func()) { go f() }, e, "next", func(*pioman.Continuation) {
		fmt.Println(second.Wait(e, 1))
		over.Signal(1)
	})
	if err := first.Then(&next, 1); err != nil {
		fmt.Println(err)
	}
	first.Signal(1)
	second.Signal(1)
	fmt.Println(over.Wait(e, 1))
	// Output:
	// <nil>
	// <nil>
}

func ExampleContinuation_Cancel() {
	e := pioman.New(pioman.Config{})
	defer e.Close()
	var c pioman.Completion
	var next pioman.Continuation
	next.Init(e, "next", func(*pioman.Continuation) { fmt.Println("ran") })
	if err := c.Then(&next, 1); err != nil {
		fmt.Println(err)
	}
	fmt.Println(next.Cancel())
	c.Signal(1)
	fmt.Println(next.Cancel())
	// Output:
	// true
	// false
}

// While a task is masked its owner may change what the handler reads.
func ExampleTask_Mask() {
	e := pioman.New(pioman.Config{})
	defer e.Close()
	what := "before"
	var task pioman.Task
	task.Init("prints", func(*pioman.Task) pioman.Status { fmt.Println(what); return pioman.Again }, pioman.Repeat)
	if err := e.Submit(&task); err != nil {
		fmt.Println(err)
	}
	e.Poll()
	if err := task.Mask(); err != nil {
		fmt.Println(err)
	}
	e.Poll()
	fmt.Println(task.State())
	what = "after"
	if err := task.Unmask(); err != nil {
		fmt.Println(err)
	}
	e.Poll()
	// Output:
	// before
	// masked
	// after
}

// Fire and forget: the memory belongs to the handler, and no thread awaits the end.
func ExampleOptions() {
	e := pioman.New(pioman.Config{})
	defer e.Close()
	pool := sync.Pool{New: func() any { return new(pioman.Task) }}
	task := pool.Get().(*pioman.Task)
	task.Init("notice", func(t *pioman.Task) pioman.Status {
		fmt.Println("noticed")
		pool.Put(t) // the one that gets it may Init and Submit it at once
		return pioman.Done
	}, pioman.OneShot|pioman.Destroy|pioman.NoWait)
	if err := e.Submit(task); err != nil {
		fmt.Println(err)
	}
	e.Poll()
	// Output: noticed
}
