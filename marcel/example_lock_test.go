package marcel_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/pm2-go/pm2/marcel"
)

// What can be put off is done only if no other thread uses the data just now.
func ExampleRWMutex_TryLock() {
	var mu marcel.RWMutex
	tidy := func() bool {
		if !mu.TryLock() {
			return false
		}
		defer mu.Unlock()
		return true
	}
	mu.RLock()
	fmt.Println("tidied beside a reader:", tidy())
	mu.RUnlock()
	fmt.Println("tidied:", tidy())
	// Output:
	// tidied beside a reader: false
	// tidied: true
}

// A reader that does not wait for a writer, and says so.
func ExampleRWMutex_TryRLock() {
	var mu marcel.RWMutex
	price := 2
	read := func() string {
		if !mu.TryRLock() {
			return "it changes just now"
		}
		defer mu.RUnlock()
		return fmt.Sprint(price)
	}
	fmt.Println(read())
	mu.Lock()
	fmt.Println(read())
	price = 3
	mu.Unlock()
	fmt.Println(read())
	// Output:
	// 2
	// it changes just now
	// 3
}

func ExampleRWMutex_LockTimeout() {
	var mu marcel.RWMutex
	mu.RLock()
	fmt.Println(mu.LockTimeout(time.Millisecond))
	fmt.Println("readers may enter:", mu.TryRLock()) // the writer that gave up keeps none out
	mu.RUnlock()
	mu.RUnlock()
	fmt.Println(mu.LockTimeout(time.Millisecond))
	// Output:
	// false
	// readers may enter: true
	// true
}

func ExampleRWMutex_RLockTimeout() {
	var mu marcel.RWMutex
	mu.Lock()
	fmt.Println(mu.RLockTimeout(time.Millisecond))
	mu.Unlock()
	fmt.Println(mu.RLockTimeout(time.Millisecond))
	// Output:
	// false
	// true
}

// A writer that is told to stop while readers are inside.
func ExampleRWMutex_LockContext() {
	marcel.Run(func() {
		var mu marcel.RWMutex
		ctx, cancel := context.WithCancelCause(context.Background())
		mu.RLock()
		writer := marcel.Spawn(func() { fmt.Println(mu.LockContext(ctx)) })
		cancel(errors.New("the user went away"))
		_ = writer.Join()
		mu.RUnlock()
		fmt.Println("free:", mu.TryLock())
	})
	// Output:
	// the user went away
	// free: true
}

// A context that is done is an error, even if the lock was to be had.
func ExampleRWMutex_RLockContext() {
	var mu marcel.RWMutex
	ctx, cancel := context.WithCancel(context.Background())
	fmt.Println(mu.RLockContext(ctx))
	mu.RUnlock()
	cancel()
	fmt.Println(mu.RLockContext(ctx))
	fmt.Println("free:", mu.TryLock())
	// Output:
	// <nil>
	// context canceled
	// free: true
}

// For code that takes any sync.Locker.
func ExampleRWMutex_RLocker() {
	locked := func(l sync.Locker, f func()) {
		l.Lock()
		defer l.Unlock()
		f()
	}
	var mu marcel.RWMutex
	locked(mu.RLocker(), func() { fmt.Println("a second reader:", mu.TryRLock()) })
	mu.RUnlock()
	locked(&mu, func() { fmt.Println("beside a writer:", mu.TryRLock()) })
	// Output:
	// a second reader: true
	// beside a writer: false
}

func ExampleSpinLock_TryLock() {
	var mu marcel.SpinLock
	fmt.Println(mu.TryLock())
	fmt.Println(mu.TryLock())
	mu.Unlock()
	fmt.Println(mu.TryLock())
	// Output:
	// true
	// false
	// true
}

func ExampleSpinLock_LockTimeout() {
	var mu marcel.SpinLock
	mu.Lock()
	fmt.Println(mu.LockTimeout(time.Millisecond)) // it spins all the time
	mu.Unlock()
	fmt.Println(mu.LockTimeout(time.Millisecond))
	// Output:
	// false
	// true
}

func ExampleSpinLock_LockContext() {
	var mu marcel.SpinLock
	ctx, cancel := context.WithCancelCause(context.Background())
	cancel(errors.New("the user went away"))
	fmt.Println(mu.LockContext(ctx))
	fmt.Println("free:", mu.TryLock())
	// Output:
	// the user went away
	// free: true
}

// The owner locks once more, others do not; it is free when it has been unlocked as
// often.
func ExampleRecursiveMutex_TryLock() {
	var mu marcel.RecursiveMutex
	other := func() {
		t := marcel.Spawn(func() {
			ok := mu.TryLock()
			if ok {
				mu.Unlock()
			}
			fmt.Println("another thread:", ok)
		})
		_ = t.Join()
	}
	mu.Lock()
	fmt.Println("the owner:", mu.TryLock())
	mu.Unlock()
	other()
	mu.Unlock()
	other()
	// Output:
	// the owner: true
	// another thread: false
	// another thread: true
}

func ExampleRecursiveMutex_LockTimeout() {
	var mu marcel.RecursiveMutex
	mu.Lock()
	fmt.Println("the owner:", mu.LockTimeout(time.Millisecond))
	other := marcel.Spawn(func() { fmt.Println("another thread:", mu.LockTimeout(time.Millisecond)) })
	_ = other.Join()
	mu.Unlock()
	mu.Unlock()
	// Output:
	// the owner: true
	// another thread: false
}

// A context that is done is an error, for the owner as well; the mutex is locked as
// often as before.
func ExampleRecursiveMutex_LockContext() {
	var mu marcel.RecursiveMutex
	ctx, cancel := context.WithCancel(context.Background())
	fmt.Println(mu.LockContext(ctx))
	cancel()
	fmt.Println(mu.LockContext(ctx))
	mu.Unlock()
	other := marcel.Spawn(func() { fmt.Println("free:", mu.TryLock()) })
	_ = other.Join()
	// Output:
	// <nil>
	// context canceled
	// free: true
}
