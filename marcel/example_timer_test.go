package marcel_test

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/pm2-go/pm2/marcel"
)

// An answer, or the end of our patience.
func ExampleTimer() {
	patience := marcel.NewTimer(time.Hour)
	answers := marcel.NewMailbox[int](1)
	marcel.Spawn(func() { _ = answers.Send(42) })
	in := answers.Receiver()
	switch marcel.Select(in, patience.Case()) {
	case 0:
		fmt.Println("the answer:", in.Value)
	case 1:
		fmt.Println("too late")
	}
	fmt.Println("still running:", patience.Stop())
	// Output:
	// the answer: 42
	// still running: true
}

func ExampleTimer_Wait() {
	begin := time.Now()
	t := marcel.NewTimer(2 * time.Millisecond)
	fmt.Println(t.Wait(), time.Since(begin) >= 2*time.Millisecond)
	fmt.Println(t.Wait()) // it runs no more
	// Output:
	// true true
	// false
}

func ExampleTimer_WaitTimeout() {
	t := marcel.NewTimer(time.Hour)
	fmt.Println(t.WaitTimeout(time.Millisecond))
	t.Reset(time.Millisecond)
	fmt.Println(t.WaitTimeout(time.Minute))
	// Output:
	// false
	// true
}

// The next tick, or the end of the program.
func ExampleTicker_WaitContext() {
	ctx, cancel := context.WithCancel(context.Background())
	t := marcel.NewTicker(time.Millisecond)
	defer t.Stop()
	n, err := t.WaitContext(ctx)
	fmt.Println(n > 0, err)
	cancel()
	fmt.Println(t.WaitContext(ctx))
	// Output:
	// true <nil>
	// 0 context canceled
}

// The function runs as a thread.
func ExampleAfterFunc() {
	var done marcel.Semaphore
	marcel.AfterFunc(time.Millisecond, func() {
		fmt.Println("on a thread:", marcel.OnThread())
		done.Release()
	})
	never := marcel.AfterFunc(time.Hour, func() { fmt.Println("an hour is over") })
	done.Acquire()
	fmt.Println("stopped:", never.Stop())
	// Output:
	// on a thread: true
	// stopped: true
}

// One that comes late is told how many ticks have passed.
func ExampleTicker() {
	t := marcel.NewTicker(time.Millisecond)
	defer t.Stop()
	ticks := t.Wait()
	marcel.Sleep(3 * time.Millisecond)
	ticks += t.Wait()
	fmt.Println(ticks >= 3)
	// Output: true
}

// Ticks for which no thread waited are there to be taken, all at once.
func ExampleTicker_TryWait() {
	t := marcel.NewTicker(time.Hour)
	defer t.Stop()
	fmt.Println(t.TryWait())
	t.Reset(time.Millisecond)
	marcel.Sleep(3 * time.Millisecond)
	fmt.Println(t.TryWait() >= 3)
	// Output:
	// 0
	// true
}

func ExampleTicker_WaitTimeout() {
	t := marcel.NewTicker(time.Hour)
	defer t.Stop()
	fmt.Println(t.WaitTimeout(time.Millisecond))
	t.Reset(time.Millisecond)
	fmt.Println(t.WaitTimeout(time.Minute) > 0)
	// Output:
	// 0
	// true
}

// One that waits for a ticker learns that there will be no tick.
func ExampleTicker_Stop() {
	t := marcel.NewTicker(time.Hour)
	waiter := marcel.Spawn(func() { fmt.Println(t.Wait()) })
	t.Stop()
	_ = waiter.Join()
	// Output: 0
}

func ExampleSleepContext() {
	ctx, cancel := context.WithTimeout(context.Background(), time.Millisecond)
	defer cancel()
	err := marcel.SleepContext(ctx, time.Hour)
	fmt.Println(errors.Is(err, context.DeadlineExceeded))
	// Output: true
}

func ExampleSleepUntil() {
	t := time.Now().Add(time.Millisecond)
	marcel.SleepUntil(t)
	fmt.Println(time.Now().Before(t))
	// Output: false
}
