package marcel_test

import (
	"fmt"
	"time"

	"github.com/pm2-go/pm2/marcel"
	"github.com/pm2-go/pm2/sched"
)

// Numbers of threads are never given twice.
func ExampleThread_ID() {
	a := marcel.Spawn(func() {})
	b := marcel.SpawnWith(marcel.Attr{Detached: true}, func() {})
	fmt.Println(a.ID() != b.ID(), a.Join(), b.ID() != 0)
	// Output: true <nil> true
}

// A buffer per thread, given back when the thread ends.
func ExampleKey() {
	buffer := marcel.NewKey(func(b []byte) { fmt.Println("given back:", string(b)) })
	work := func() {
		b, _ := buffer.Get() // no parameter needed
		if err := buffer.Set(append(b, '!')); err != nil {
			fmt.Println(err) // a goroutine has no values
		}
	}
	for _, name := range []string{"one", "two"} {
		_ = marcel.Spawn(func() {
			_ = buffer.Set([]byte(name))
			work()
		}).Join()
	}
	work()
	// Output:
	// given back: one!
	// given back: two!
	// marcel: the caller is a plain goroutine, not a thread
}

func ExampleNewKey() {
	connection := marcel.NewKey(func(to string) { fmt.Println("closing", to) })
	_ = marcel.Spawn(func() { _ = connection.Set("peer 3") }).Join()
	// Output: closing peer 3
}

// What one function begins and another one ends.
func ExamplePushCleanup() {
	begin := func() { _ = marcel.PushCleanup(func() { fmt.Println("rolled back") }) }
	commit := func() { _ = marcel.PopCleanup(false) }
	_ = marcel.Spawn(func() { begin(); commit() }).Join()
	_ = marcel.Spawn(func() { begin(); marcel.Exit() }).Join()
	// Output: rolled back
}

func ExamplePopCleanup() {
	_ = marcel.Spawn(func() {
		_ = marcel.PushCleanup(func() { fmt.Println("closed") })
		_ = marcel.PopCleanup(true)
		fmt.Println("and on")
	}).Join()
	// Output:
	// closed
	// and on
}

func ExampleAtExit() {
	_ = marcel.Spawn(func() {
		_ = marcel.AtExit(func() { fmt.Println("the last word") })
		defer fmt.Println("a deferred call")
		marcel.Exit()
	}).Join()
	// Output:
	// a deferred call
	// the last word
}

func ExampleAfterExit() {
	var gone marcel.Semaphore
	_ = marcel.Spawn(func() {
		me := marcel.Self()
		_ = marcel.AfterExit(func() {
			fmt.Println("ended:", me.Ended())
			gone.Release()
		})
	})
	gone.Acquire()
	// Output: ended: true
}

// How often has this thread been away?
func ExampleOnSwitch() {
	_ = marcel.Spawn(func() {
		switches := 0
		_ = marcel.OnSwitch(func() { switches++ })
		marcel.Sleep(time.Microsecond)
		marcel.Sleep(time.Microsecond)
		fmt.Println(switches)
	}).Join()
	// Output: 2
}

// Divide and conquer: what no other VP has begun meanwhile is a call.
func ExampleDo() {
	var sum func(v []int) int
	sum = func(v []int) (n int) {
		if len(v) < 2 {
			return v[0]
		}
		var left, right int
		marcel.Do(
			func() { left = sum(v[:len(v)/2]) },
			func() { right = sum(v[len(v)/2:]) },
		)
		return left + right
	}
	marcel.Run(func() { fmt.Println(sum([]int{1, 2, 3, 4, 5, 6, 7})) })
	// Output: 28
}

// A thread that stops itself until another one lets it go on.
func ExampleThread_Suspend() {
	var stopped marcel.Semaphore
	t := marcel.Spawn(func() {
		stopped.Release()
		_ = marcel.Self().Suspend()
		fmt.Println("resumed")
	})
	stopped.Acquire()
	for !t.Ended() { // it may not have stopped yet
		_ = t.Resume()
		marcel.Yield()
	}
	fmt.Println(t.Suspend())
	// Output:
	// resumed
	// marcel: no such thread
}

func ExampleYieldTo() {
	marcel.Run(func() {
		t := marcel.Spawn(func() { fmt.Println("my turn") })
		for !t.Ended() {
			marcel.YieldTo(t) // false if another VP has it
		}
	})
	// Output: my turn
}

// What threads of one VP share needs no lock while they are not preempted.
func ExampleDisablePreemption() {
	var perVP [64]int
	marcel.Run(func() {
		_ = marcel.DisablePreemption()
		perVP[sched.CurrentVP()]++
		_ = marcel.EnablePreemption()
	})
	sum := 0
	for _, n := range perVP {
		sum += n
	}
	fmt.Println(sum)
	// Output: 1
}

// A worker that waits for ever, until it is not needed any more.
func ExampleThread_Cancel() {
	var work marcel.Semaphore
	var mu marcel.Mutex
	t := marcel.Spawn(func() {
		_ = marcel.PushCleanup(func() { fmt.Println("clean") })
		mu.Lock()
		defer mu.Unlock()
		work.Acquire() // a cancellation point
		fmt.Println("never comes here")
	})
	_ = t.Cancel()
	fmt.Println(t.Join())
	fmt.Println(mu.TryLock())
	// Output:
	// clean
	// marcel: the thread was canceled
	// true
}

// A computation that lets itself be canceled.
func ExampleTestCancel() {
	t := marcel.Spawn(func() {
		for {
			marcel.TestCancel()
		}
	})
	_ = t.Cancel()
	fmt.Println(t.Join())
	// Output: marcel: the thread was canceled
}

// What must be done as a whole.
func ExampleSetCancelState() {
	var step marcel.Semaphore
	t := marcel.Spawn(func() {
		was := marcel.SetCancelState(false)
		step.Acquire()
		fmt.Println("both")
		marcel.SetCancelState(was)
		marcel.TestCancel()
		fmt.Println("never comes here")
	})
	marcel.Sleep(time.Millisecond)
	_ = t.Cancel()
	step.Release()
	_ = t.Join()
	// Output: both
}

// What each thread waits for.
func ExampleThreads() {
	var permit marcel.Semaphore
	t := marcel.SpawnWith(marcel.Attr{Name: "guard"}, permit.Acquire)
	for listed := false; !listed; {
		marcel.Yield()
		for _, i := range marcel.Threads() {
			if i.Thread == t && i.State == marcel.StateBlocked {
				fmt.Println(i.Name, "is", i.State, "in a", i.In)
				listed = true
			}
		}
	}
	permit.Release()
	_ = t.Join()
	// Output: guard is blocked in a semaphore
}
