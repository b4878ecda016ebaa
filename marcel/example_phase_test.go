package marcel_test

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/pm2-go/pm2/marcel"
)

func ExampleLatch_TryWait() {
	parts := marcel.NewLatch(2)
	for range 3 { // one more than it needs
		fmt.Println(parts.TryWait(), parts.Count())
		parts.CountDown()
	}
	fmt.Println(parts.TryWait(), parts.Count())
	// Output:
	// false 2
	// false 1
	// true 0
	// true 0
}

func ExampleLatch_WaitTimeout() {
	ready := marcel.NewLatch(1)
	fmt.Println(ready.WaitTimeout(time.Millisecond))
	server := marcel.Spawn(ready.CountDown)
	fmt.Println(ready.WaitTimeout(time.Minute))
	_ = server.Join()
	// Output:
	// false
	// true
}

// The end of the program ends the wait as well.
func ExampleLatch_WaitContext() {
	ready := marcel.NewLatch(1)
	ctx, cancel := context.WithCancelCause(context.Background())
	waiter := marcel.Spawn(func() { fmt.Println(ready.WaitContext(ctx)) })
	cancel(errors.New("the user went away"))
	_ = waiter.Join()
	ready.CountDown()
	fmt.Println(ready.WaitContext(context.Background()))
	// Output:
	// the user went away
	// <nil>
}

// One that could do something else meanwhile does not wait for another one's call.
func ExampleOnce_TryDo() {
	var once marcel.Once
	again := func() { fmt.Println("never called") }
	once.Do(func() {
		other := marcel.Spawn(func() { fmt.Println("while it is done:", once.TryDo(again)) })
		_ = other.Join()
	})
	fmt.Println("since it has been done:", once.TryDo(again))
	// Output:
	// while it is done: false
	// since it has been done: true
}

// The limit is for the wait, not for the function.
func ExampleOnce_DoTimeout() {
	var once marcel.Once
	again := func() { fmt.Println("never called") }
	setUp := func() {
		other := marcel.Spawn(func() { fmt.Println("another thread:", once.DoTimeout(time.Millisecond, again)) })
		_ = other.Join() // takes longer
	}
	fmt.Println("the caller:", once.DoTimeout(time.Nanosecond, setUp))
	// Output:
	// another thread: false
	// the caller: true
}

// One that is told to stop has not used up the call.
func ExampleOnce_DoContext() {
	var once marcel.Once
	setUp := func() { fmt.Println("set up") }
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	fmt.Println(once.DoContext(ctx, setUp))
	fmt.Println(once.DoContext(context.Background(), setUp))
	// Output:
	// context canceled
	// set up
	// <nil>
}

// The last one to come need not wait; the one that is not the last has not come.
func ExampleBarrier_TryWait() {
	barrier := marcel.NewBarrier(2)
	fmt.Println(barrier.TryWait())
	phase := barrier.Arrive()
	fmt.Println(barrier.TryWait(), phase.TryWait())
	// Output:
	// false
	// true true
}

// One that gives up has not arrived: the phase still wants two.
func ExampleBarrier_WaitContext() {
	barrier := marcel.NewBarrier(2)
	ctx, cancel := context.WithCancelCause(context.Background())
	cancel(errors.New("the user went away"))
	fmt.Println(barrier.WaitContext(ctx))
	phase := barrier.Arrive()
	fmt.Println(phase.TryWait())
	// Output:
	// the user went away
	// false
}

// Small pieces of work, until the others have come.
func ExamplePhase_TryWait() {
	marcel.Run(func() {
		barrier := marcel.NewBarrier(2)
		other := marcel.Spawn(func() { barrier.Wait() })
		phase := barrier.Arrive()
		for !phase.TryWait() {
			marcel.Yield() // or a piece of work
		}
		_ = other.Join()
		fmt.Println("both have come")
	})
	// Output: both have come
}

// The arrival stands, however the wait ends: the same phase may be waited for again.
func ExamplePhase_WaitTimeout() {
	barrier := marcel.NewBarrier(2)
	phase := barrier.Arrive()
	fmt.Println(phase.WaitTimeout(time.Millisecond))
	other := marcel.Spawn(func() { barrier.Arrive() })
	fmt.Println(phase.WaitTimeout(time.Minute))
	_ = other.Join()
	// Output:
	// false
	// true
}

// One that is told to stop waiting keeps no other: it has arrived, and the other one
// passes.
func ExamplePhase_WaitContext() {
	barrier := marcel.NewBarrier(2)
	ctx, cancel := context.WithCancel(context.Background())
	phase := barrier.Arrive()
	cancel()
	fmt.Println(phase.WaitContext(ctx))
	fmt.Println("the last to come:", barrier.Wait())
	// Output:
	// context canceled
	// the last to come: true
}
