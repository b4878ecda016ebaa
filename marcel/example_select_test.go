package marcel_test

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/pm2-go/pm2/marcel"
	"github.com/pm2-go/pm2/sched"
)

// Whichever comes first: a message, the end of a thread, or a time limit.
func ExampleSelect() {
	marcel.Run(func() {
		var words marcel.Mailbox[string]
		speaker := marcel.Spawn(func() {
			_ = words.Send("hello")
			_ = words.Send("world")
		})
		in, ended := words.Receiver(), marcel.Ended(speaker)
		for {
			switch marcel.Select(in, ended, marcel.After(time.Minute)) {
			case 0:
				fmt.Println(in.Value)
				continue
			case 1:
				fmt.Println("the speaker has ended")
			case 2:
				fmt.Println("it took too long")
			}
			return
		}
	})
	// Output:
	// hello
	// world
	// the speaker has ended
}

// A select statement with a default: take what is there.
func ExampleTrySelect() {
	permits := marcel.NewSemaphore(1)
	for range 2 {
		if marcel.TrySelect(permits.Case()) < 0 {
			fmt.Println("none left")
			continue
		}
		fmt.Println("got one")
	}
	// Output:
	// got one
	// none left
}

func ExampleSelectTimeout() {
	var never marcel.Semaphore
	fmt.Println(marcel.SelectTimeout(time.Millisecond, never.Case()))
	// Output: -1
}

func ExampleSelectContext() {
	ctx, cancel := context.WithTimeout(context.Background(), time.Millisecond)
	defer cancel()
	var jobs marcel.Mailbox[int]
	i, err := marcel.SelectContext(ctx, jobs.Receiver())
	fmt.Println(i, err)
	// Output: -1 context deadline exceeded
}

// A canceled thread first gets what it has waited for.
func ExampleSelectContextUninterruptible() {
	marcel.Run(func() {
		var answer marcel.Semaphore
		asker := marcel.Spawn(func() {
			_, _ = marcel.SelectContextUninterruptible(context.Background(), answer.Case())
			fmt.Println("answered")
			marcel.TestCancel()
		})
		_ = asker.Cancel()
		answer.Release()
		fmt.Println(asker.Join())
	})
	// Output:
	// answered
	// marcel: the thread was canceled
}

// A Go channel, such as a signal's or a ticker's, beside what threads use.
func ExampleReceiveFrom() {
	marcel.Run(func() {
		lines := make(chan string) // of a goroutine that reads a terminal
		go func() {
			lines <- "first"
			close(lines)
		}()
		in := marcel.ReceiveFrom(lines)
		defer in.Stop()
		for marcel.Select(in, marcel.After(time.Minute)); in.OK; marcel.Select(in) {
			fmt.Println(in.Value)
		}
		fmt.Println("closed")
	})
	// Output:
	// first
	// closed
}

// A condition and a way out. L is locked when Select is called and when it returns.
func ExampleCond_Case() {
	marcel.Run(func() {
		var mu marcel.Mutex
		var quit marcel.Semaphore
		filled, level := marcel.NewCond(&mu), 0
		marcel.Spawn(func() {
			mu.Lock()
			level = 3
			mu.Unlock()
			filled.Signal()
		})
		mu.Lock()
		for level < 3 {
			if marcel.Select(filled.Case(), quit.Case()) == 1 {
				break
			}
		}
		fmt.Println("level", level)
		mu.Unlock()
	})
	// Output: level 3
}

// event is something of one's own that Select can wait for: it is set once, and
// from then on it is ready.
type event struct {
	mu  sched.Spin
	set bool
	q   sched.WaitQueue
}

func (e *event) Set() {
	c := sched.Visit() // so that the thread keeps its VP while it has the lock
	e.mu.Lock()
	e.set = true
	all := e.q.PopAll()
	e.mu.Unlock()
	c.WakeAll(all)
	c.Leave()
}

// under runs f with the lock.
func (e *event) under(f func()) {
	c := sched.Visit()
	e.mu.Lock()
	f()
	e.mu.Unlock()
	c.Leave()
}

func (e *event) Try() (ok bool) {
	e.under(func() { ok = e.set })
	return ok
}

func (e *event) Enlist(w *marcel.Waiter) (ok bool) {
	e.under(func() {
		if ok = !e.set; ok {
			e.q.Add(w)
		}
	})
	return ok
}

func (e *event) Withdraw(w *marcel.Waiter)   { e.under(func() { e.q.Remove(w) }) }
func (e *event) Taken(w *marcel.Waiter) bool { return true }

// A Case of one's own.
func ExampleCase() {
	marcel.Run(func() {
		var ready event
		marcel.Spawn(ready.Set)
		fmt.Println(marcel.Select(&ready, marcel.After(time.Minute)))
		fmt.Println(marcel.TrySelect(&ready))
	})
	// Output:
	// 0
	// 0
}

// A pipeline: each stage is a thread, each arrow a mailbox.
func ExampleMailbox() {
	marcel.Run(func() {
		numbers, squares := marcel.NewMailbox[int](8), marcel.NewMailbox[int](8)
		marcel.Spawn(func() {
			for i := range 4 {
				_ = numbers.Send(i)
			}
			numbers.Close()
		})
		marcel.Spawn(func() {
			for n := range numbers.All() {
				_ = squares.Send(n * n)
			}
			squares.Close()
		})
		for s := range squares.All() {
			fmt.Println(s)
		}
	})
	// Output:
	// 0
	// 1
	// 4
	// 9
}

// The zero value stores nothing: a send is over when its message was received.
func ExampleMailbox_TrySend() {
	var m marcel.Mailbox[string]
	fmt.Println(errors.Is(m.TrySend("anybody?"), marcel.ErrWouldBlock))
	m.Close()
	fmt.Println(m.TrySend("anybody?"))
	// Output:
	// true
	// marcel: the mailbox is closed
}

// A send that can be given up, among other things.
func ExampleMailbox_Sender() {
	full := marcel.NewMailbox[int](1)
	_ = full.Send(1)
	out := full.Sender(2)
	fmt.Println(marcel.SelectTimeout(time.Millisecond, out))
	_, _ = full.Recv()
	fmt.Println(marcel.SelectTimeout(time.Millisecond, out), full.Len())
	// Output:
	// -1
	// 0 1
}
