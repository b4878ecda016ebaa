package marcel_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"sync/atomic"
	"time"

	"github.com/pm2-go/pm2/marcel"
	"github.com/pm2-go/pm2/sched"
)

// The main function as a thread: then what it spawns is spawned as cheaply as
// can be, and its waits let other threads run.
func ExampleRun_main() {
	marcel.Run(func() {
		var mu marcel.Mutex
		sum := 0
		var workers []marcel.Thread
		for i := range 1000 {
			workers = append(workers, marcel.Spawn(func() {
				mu.Lock()
				sum += i
				mu.Unlock()
			}))
		}
		for _, w := range workers {
			_ = w.Join()
		}
		fmt.Println(sum)
	})
	// Output: 499500
}

func ExampleSpawn() {
	answer := 0
	t := marcel.Spawn(func() { answer = 6 * 7 }) // where one wrote: go func() { ... }()
	if err := t.Join(); err != nil {
		fmt.Println(err)
	}
	fmt.Println(answer)
	// Output: 42
}

// With Attr.Catch a panic ends the thread, not the program.
func ExampleSpawnWith() {
	t := marcel.SpawnWith(marcel.Attr{Name: "reader", Catch: true}, func() {
		if _, err := os.ReadFile("/no/such/file"); err != nil {
			panic(err)
		}
	})
	err := t.Join()

	var p *marcel.PanicError
	if errors.As(err, &p) {
		fmt.Println("ended by a panic:", p.Thread)
		fmt.Println("value:", p.Value)
		fmt.Println("stack kept:", len(p.Stack) > 0)
	}
	fmt.Println("errors.Is sees through:", errors.Is(err, fs.ErrNotExist))
	// Output:
	// ended by a panic: marcel thread "reader"
	// value: open /no/such/file: no such file or directory
	// stack kept: true
	// errors.Is sees through: true
}

// A thread that stays on one VP: bound to one CPU, it finds its data in that
// CPU's caches.
func ExampleSpawnWith_onOneVP() {
	t := marcel.SpawnWith(marcel.Attr{VPs: marcel.OneVP(0)}, func() {
		for range 3 {
			marcel.Yield() // others may run in between, but it is not moved
		}
		fmt.Println("VP", sched.CurrentVP())
	})
	_ = t.Join()
	// Output: VP 0
}

// A thread that moves itself to another VP's CPU, for instance to where its data
// are.
func ExampleVPSet() {
	t := marcel.SpawnWith(marcel.Attr{VPs: marcel.OneVP(0)}, func() {
		n := marcel.FullVPs() // anywhere, but not here
		n.Clear(0)
		if err := marcel.Self().SetVPs(n); err != nil {
			fmt.Println("there is no other VP on this machine")
		}
	})
	_ = t.Join()
	fmt.Println(marcel.OneVP(2).Or(marcel.OneVP(3)), marcel.VPSet{})
	// Output: 2-3 none
}

// Any number of threads and goroutines may join one thread, also after its end.
func ExampleThread_Join() {
	t := marcel.Spawn(func() { fmt.Println("working") })
	fmt.Println(t.Join(), t.Join())

	var none marcel.Thread
	fmt.Println(errors.Is(none.Join(), marcel.ErrNoThread))
	// Output:
	// working
	// <nil> <nil>
	// true
}

// The time limit and the thread's own error are told apart.
func ExampleThread_JoinTimeout() {
	marcel.Run(func() {
		var permit marcel.Semaphore
		t := marcel.SpawnWith(marcel.Attr{Name: "slow", Catch: true}, func() {
			permit.Acquire()
			panic("no paper")
		})
		ended, err := t.JoinTimeout(time.Millisecond)
		fmt.Println(ended, err)
		permit.Release()
		ended, err = t.JoinTimeout(time.Minute)
		var p *marcel.PanicError
		fmt.Println(ended, errors.As(err, &p), p.Value)
	})
	// Output:
	// false <nil>
	// true true no paper
}

func ExampleThread_JoinContext() {
	ctx, cancel := context.WithCancelCause(context.Background())
	var permit marcel.Semaphore
	t := marcel.Spawn(permit.Acquire)
	cancel(errors.New("we go home"))
	fmt.Println(t.JoinContext(ctx))
	permit.Release()
	fmt.Println(t.JoinContext(context.Background()))
	// Output:
	// false we go home
	// true <nil>
}

func ExampleThread_TryJoin() {
	var permit marcel.Semaphore
	t := marcel.Spawn(permit.Acquire)
	fmt.Println(t.TryJoin())
	permit.Release()
	_ = t.Join()
	fmt.Println(t.TryJoin())
	// Output:
	// false <nil>
	// true <nil>
}

// It stays where it began.
func ExampleAttr_nonMigratable() {
	marcel.Run(func() {
		t := marcel.SpawnWith(marcel.Attr{NonMigratable: true}, func() {
			fmt.Println("VPs on which it may run:", marcel.Self().VPs().Count())
		})
		fmt.Println(t.Join())
	})
	// Output:
	// VPs on which it may run: 1
	// <nil>
}

func ExampleThread_Detach() {
	var finished marcel.Semaphore
	var end marcel.Semaphore
	t := marcel.Spawn(func() {
		end.Acquire()
		finished.Release()
	})
	t.Detach() // no thread will ask for its end
	fmt.Println(errors.Is(t.Join(), marcel.ErrDetached))
	end.Release()
	finished.Acquire()
	// Output: true
}

func ExampleThread_Ended() {
	var permit marcel.Semaphore
	t := marcel.Spawn(permit.Acquire)
	fmt.Println(t.Ended())
	permit.Release()
	_ = t.Join()
	fmt.Println(t.Ended())
	// Output:
	// false
	// true
}

// Two threads of one VP take turns.
func ExampleYield() {
	marcel.Run(func() {
		speak := func(words ...string) func() {
			return func() {
				for _, w := range words {
					fmt.Println(w)
					marcel.Yield()
				}
			}
		}
		on := marcel.Attr{VPs: marcel.OneVP(0)} // both on the same one
		a := marcel.SpawnWith(on, speak("one", "three"))
		b := marcel.SpawnWith(on, speak("two", "four"))
		_, _ = a.Join(), b.Join()
	})
	// Unordered output:
	// one
	// two
	// three
	// four
}

func ExampleSelf() {
	t := marcel.SpawnWith(marcel.Attr{Name: "worker"}, func() {
		fmt.Println(marcel.Self())
		fmt.Println(marcel.Self().Join())
	})
	_ = t.Join()
	fmt.Println(marcel.Self() == marcel.Thread{}) // a plain goroutine is no thread
	// Output:
	// marcel thread "worker"
	// marcel: a thread cannot join itself
	// true
}

// A thread polls for its message before it sleeps, as long as no other thread could use the VP.
func ExamplePoll() {
	var arrived atomic.Bool
	marcel.Run(func() {
		marcel.Spawn(func() { arrived.Store(true) })
		look := func() marcel.Found {
			if arrived.Load() {
				return marcel.FoundArrived
			}
			return marcel.FoundNothing
		}
		for !marcel.Poll(20*time.Microsecond, false, look) {
			marcel.Yield()
		}
		fmt.Println("a message")
	})
	// Output: a message
}

func ExampleOnThread() {
	fmt.Println(marcel.OnThread())
	marcel.Run(func() { fmt.Println(marcel.OnThread()) })
	// Output:
	// false
	// true
}

func ExampleExit() {
	t := marcel.Spawn(func() {
		defer fmt.Println("deferred calls run")
		func() {
			marcel.Exit() // from any depth
		}()
		fmt.Println("never")
	})
	fmt.Println(t.Join())
	// Output:
	// deferred calls run
	// <nil>
}

// While one thread waits in the kernel, or in Go's own primitives, the others of
// its VP go on at once.
func ExampleBlocking() {
	marcel.Run(func() {
		lines := make(chan string)
		reader := marcel.Spawn(func() {
			var line string
			marcel.Blocking(func() { line = <-lines })
			fmt.Println(line)
		})
		writer := marcel.Spawn(func() {
			marcel.Blocking(func() { lines <- "hello" })
		})
		_, _ = reader.Join(), writer.Join()
	})
	// Output: hello
}

func ExampleSleep() {
	marcel.Run(func() {
		begin := time.Now()
		marcel.Sleep(2 * time.Millisecond) // the VP runs others meanwhile
		fmt.Println(time.Since(begin) >= 2*time.Millisecond)
	})
	// Output: true
}

// Polling is welcome as long as no other thread could use the VP.
func ExampleOthersReady() {
	marcel.Run(func() {
		polls := 0
		for polls < 10 && !marcel.OthersReady() {
			polls++ // look for a message
		}
		fmt.Println(polls <= 10)
	})
	// Output: true
}

// A panic in the thread comes out of Run, with the thread's stack.
func ExampleRun() {
	defer func() {
		var p *marcel.PanicError
		if err, ok := recover().(error); ok && errors.As(err, &p) {
			fmt.Println("recovered:", p.Value)
		}
	}()
	marcel.Run(func() {
		fmt.Println("a thread:", marcel.OnThread())
		panic("oops")
	})
	// Output:
	// a thread: true
	// recovered: oops
}

// A scheduler of one's own, with two VPs.
func ExampleRunOn() {
	s, err := sched.New(sched.Config{VPs: 2})
	if err != nil {
		fmt.Println(err)
		return
	}
	marcel.RunOn(s, func() {
		_ = marcel.Spawn(func() { fmt.Println("one of", s.NumVP(), "VPs") }).Join() // of s, too
	})
	fmt.Println(s.Stop(context.Background()))
	// Output:
	// one of 2 VPs
	// <nil>
}

// At most two at a time.
func ExampleSemaphore() {
	marcel.Run(func() {
		seats := marcel.NewSemaphore(2)
		var guests []marcel.Thread
		for range 10 {
			guests = append(guests, marcel.Spawn(func() {
				seats.Acquire()
				defer seats.Release()
				marcel.Yield()
			}))
		}
		for _, g := range guests {
			_ = g.Join()
		}
		fmt.Println(seats.TryAcquire(), seats.TryAcquire(), seats.TryAcquire())
	})
	// Output: true true false
}

// A semaphore without units is an event: here from a goroutine to a thread.
func ExampleSemaphore_Release() {
	var arrived marcel.Semaphore
	message := ""
	go func() {
		message = "hello"
		arrived.Release() // never blocks: hooks and signal handlers' goroutines may call it
	}()
	marcel.Run(func() {
		arrived.Acquire()
		fmt.Println(message)
	})
	// Output: hello
}

// It waits for three events.
func ExampleNewSemaphore() {
	done := marcel.NewSemaphore(1 - 3)
	for range 3 {
		marcel.Spawn(done.Release)
	}
	done.Acquire()
	fmt.Println("all three")
	// Output: all three
}

func ExampleSemaphore_AcquireTimeout() {
	var never marcel.Semaphore
	fmt.Println(never.AcquireTimeout(time.Millisecond))
	// Output: false
}

// The zero value is ready. Threads and goroutines may use the same one.
func ExampleMutex() {
	var mu marcel.Mutex
	count := 0
	add := func() {
		mu.Lock()
		defer mu.Unlock()
		count++
	}
	done := make(chan bool)
	go func() { defer close(done); add() }()
	_ = marcel.Spawn(add).Join()
	<-done
	fmt.Println(count)
	// Output: 2
}

func ExampleMutex_TryLock() {
	var mu marcel.Mutex
	mu.Lock()
	fmt.Println(mu.TryLock())
	mu.Unlock()
	fmt.Println(mu.TryLock())
	// Output:
	// false
	// true
}

func ExampleCond() {
	marcel.Run(func() {
		var mu marcel.Mutex
		notEmpty := marcel.NewCond(&mu)
		var queue []string

		consumer := marcel.Spawn(func() {
			mu.Lock()
			defer mu.Unlock()
			for range 2 {
				for len(queue) == 0 {
					notEmpty.Wait()
				}
				fmt.Println(queue[0])
				queue = queue[1:]
			}
		})
		for _, item := range []string{"first", "second"} {
			mu.Lock()
			queue = append(queue, item)
			mu.Unlock()
			notEmpty.Signal()
		}
		_ = consumer.Join()
	})
	// Output:
	// first
	// second
}

func ExampleCond_Broadcast() {
	marcel.Run(func() {
		var mu marcel.Mutex
		start := marcel.NewCond(&mu)
		started, running := false, 0
		var runners []marcel.Thread
		for range 5 {
			runners = append(runners, marcel.Spawn(func() {
				mu.Lock()
				defer mu.Unlock()
				for !started {
					start.Wait()
				}
				running++
			}))
		}
		mu.Lock()
		started = true
		mu.Unlock()
		start.Broadcast()
		for _, r := range runners {
			_ = r.Join()
		}
		fmt.Println(running)
	})
	// Output: 5
}

func ExampleCond_WaitTimeout() {
	var mu marcel.Mutex
	changed := marcel.NewCond(&mu)
	mu.Lock()
	defer mu.Unlock()
	fmt.Println(changed.WaitTimeout(time.Millisecond))
	// Output: false
}

// None begins the second phase before all have ended the first.
func ExampleBarrier() {
	marcel.Run(func() {
		const n = 4
		barrier := marcel.NewBarrier(n)
		var squares [n]int
		var all []marcel.Thread
		for i := range n {
			all = append(all, marcel.Spawn(func() {
				squares[i] = i * i
				if barrier.Wait() { // one of them gets true
					fmt.Println(squares)
				}
			}))
		}
		for _, t := range all {
			_ = t.Join()
		}
	})
	// Output: [0 1 4 9]
}

// A thread that runs another program.
func ExampleRunProcess() {
	t := marcel.Spawn(func() {
		cmd := exec.Command("echo", "hello")
		cmd.Stdout = os.Stdout
		if err := marcel.RunProcess(cmd); err != nil { // the other threads go on
			fmt.Println(err)
		}
	})
	_ = t.Join()
	// Output: hello
}

// Whether threads run already says whether the program may still choose how: how many VPs there are, and on which processors.
func ExampleRunning() {
	marcel.Run(func() { fmt.Println("a thread:", marcel.Running()) })
	// Output: a thread: true
}
