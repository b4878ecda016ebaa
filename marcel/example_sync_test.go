package marcel_test

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/pm2-go/pm2/marcel"
)

// A lock that is not to be had in time is not taken at all.
func ExampleMutex_LockContext() {
	var mu marcel.Mutex
	mu.Lock()
	ctx, cancel := context.WithTimeout(context.Background(), time.Millisecond)
	defer cancel()
	err := mu.LockContext(ctx)
	fmt.Println(errors.Is(err, context.DeadlineExceeded), mu.LockTimeout(time.Millisecond))
	mu.Unlock()
	fmt.Println(mu.TryLock())
	// Output:
	// true false
	// true
}

func ExampleSemaphore_AcquireContext() {
	var never marcel.Semaphore
	ctx, cancel := context.WithCancelCause(context.Background())
	cancel(errors.New("the user went away"))
	fmt.Println(never.AcquireContext(ctx))
	// Output: the user went away
}

func ExampleCond_WaitContext() {
	var mu marcel.Mutex
	changed := marcel.NewCond(&mu)
	ctx, cancel := context.WithTimeout(context.Background(), time.Millisecond)
	defer cancel()
	mu.Lock()
	defer mu.Unlock() // it is locked, however the wait ended
	fmt.Println(changed.WaitContext(ctx))
	// Output: context deadline exceeded
}

// A function that locks may call another one that locks.
func ExampleRecursiveMutex() {
	var mu marcel.RecursiveMutex
	var walk func(depth int)
	walk = func(depth int) {
		mu.Lock()
		defer mu.Unlock()
		if depth > 0 {
			walk(depth - 1)
			return
		}
		other := marcel.Spawn(func() { fmt.Println("another thread may lock:", mu.TryLock()) })
		_ = other.Join()
	}
	walk(3)
	fmt.Println("free again:", mu.TryLock())
	// Output:
	// another thread may lock: false
	// free again: true
}

func ExampleRWMutex() {
	var mu marcel.RWMutex
	prices := map[string]int{"tea": 2}
	mu.RLock()
	fmt.Println("a second reader:", mu.TryRLock())
	fmt.Println("a writer:", mu.TryLock())
	fmt.Println(prices["tea"])
	mu.RUnlock()
	mu.RUnlock()

	mu.Lock()
	prices["tea"] = 3
	fmt.Println("a reader:", mu.TryRLock())
	mu.Unlock()
	// Output:
	// a second reader: true
	// a writer: false
	// 2
	// a reader: false
}

// While a writer waits, readers that come stand behind it, unless they are
// preferred.
func ExampleNewRWMutex() {
	for _, p := range []marcel.Preference{marcel.PreferNeither, marcel.PreferReaders} {
		marcel.Run(func() {
			mu := marcel.NewRWMutex(p)
			mu.RLock()
			writer := marcel.Spawn(func() {
				mu.Lock()
				defer mu.Unlock()
			})
			for range 3 {
				marcel.Sleep(time.Millisecond) // the writer waits
			}
			fmt.Println(mu.TryRLock())
			if p == marcel.PreferReaders {
				mu.RUnlock()
			}
			mu.RUnlock()
			_ = writer.Join()
		})
	}
	// Output:
	// false
	// true
}

func ExampleOnce() {
	var once marcel.Once
	var users []marcel.Thread
	for range 5 {
		users = append(users, marcel.Spawn(func() {
			once.Do(func() { fmt.Println("set up") })
		}))
	}
	for _, u := range users {
		_ = u.Join()
	}
	// Output: set up
}

// All start at the same time.
func ExampleLatch() {
	start := marcel.NewLatch(1)
	var runners marcel.WaitGroup
	var running atomic.Int32
	for range 10 {
		runners.Go(func() {
			start.Wait()
			running.Add(1)
		})
	}
	fmt.Println("running:", running.Load())
	start.CountDown()
	runners.Wait()
	fmt.Println("running:", running.Load())
	// Output:
	// running: 0
	// running: 10
}

func ExampleWaitGroup() {
	var wg marcel.WaitGroup
	var sum atomic.Int64
	for i := range 100 {
		wg.Go(func() { sum.Add(int64(i)) }) // as sync.WaitGroup, on a thread
	}
	wg.Wait()
	fmt.Println(sum.Load())
	// Output: 4950
}

func ExampleWaitGroup_WaitTimeout() {
	var wg marcel.WaitGroup
	wg.Add(1)
	fmt.Println(wg.WaitTimeout(time.Millisecond))
	wg.Done()
	fmt.Println(wg.WaitTimeout(time.Millisecond))
	// Output:
	// false
	// true
}

func ExampleSpinLock() {
	var mu marcel.SpinLock
	hits := 0
	hit := func() { // short, and without a wait: a hook could do it
		mu.Lock()
		hits++
		mu.Unlock()
	}
	var wg marcel.WaitGroup
	for range 100 {
		wg.Go(hit)
	}
	wg.Wait()
	fmt.Println(hits)
	// Output: 100
}

// A primitive of one's own: a door that is shut and opened again and again.
func ExampleFutex() {
	const shut, open = 0, 1
	var (
		door  atomic.Uint32
		queue marcel.Futex
	)
	pass := func() {
		for door.Load() == shut {
			queue.Wait(&door, shut) // not if it has been opened by now
		}
		fmt.Println("passed")
	}
	var wg marcel.WaitGroup
	wg.Go(pass)
	wg.Go(pass)
	door.Store(open)
	queue.WakeAll()
	wg.Wait()
	// Output:
	// passed
	// passed
}

// Of those that wait for an event and will then want a lock, one is woken; the others
// are moved to the lock's queue.
func ExampleFutex_Requeue() {
	marcel.Run(func() {
		var event, lock marcel.Futex
		var word atomic.Uint32
		var wg marcel.WaitGroup
		for range 5 {
			wg.Go(func() { event.Wait(&word, 0) })
		}
		woken, moved := 0, 0
		for woken+moved < 5 { // until they have come
			w, m := event.Requeue(&lock, 1-woken, -1)
			woken, moved = woken+w, moved+m
			marcel.Yield()
		}
		fmt.Println(woken, moved)
		fmt.Println(lock.WakeAll())
		wg.Wait()
	})
	// Output:
	// 1 4
	// 4
}

// Work that needs none of the others goes between arriving and waiting.
func ExampleBarrier_Arrive() {
	const n = 4
	barrier := marcel.NewBarrier(n)
	var wg marcel.WaitGroup
	var border [n]int
	for i := range n {
		wg.Go(func() {
			border[i] = i * i
			phase := barrier.Arrive() // the others may read my border
			inner := 1000 * i
			phase.Wait() // I may read theirs
			if i == 0 {
				fmt.Println(inner+border[1], border[2], border[3])
			}
		})
	}
	wg.Wait()
	// Output: 1 4 9
}

func ExampleBarrier_WaitTimeout() {
	barrier := marcel.NewBarrier(2)
	fmt.Println(barrier.WaitTimeout(time.Millisecond)) // as if it had never come
	other := marcel.Spawn(func() { barrier.Wait() })
	fmt.Println(barrier.WaitTimeout(time.Minute))
	_ = other.Join()
	// Output:
	// false
	// true
}
