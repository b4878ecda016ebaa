package marcel_test

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"time"

	"github.com/pm2-go/pm2/marcel"
	"github.com/pm2-go/pm2/sched"
)

// A square is a job that carries its data.
type square struct {
	n    int
	done *marcel.WaitGroup
}

func (s *square) Run() {
	s.n *= s.n
	s.done.Done()
}

// Many threads from one slice: none of them needs a closure.
func ExampleSpawnBody() {
	marcel.Run(func() {
		var wg marcel.WaitGroup
		squares := make([]square, 4)
		wg.Add(len(squares))
		for i := range squares {
			squares[i] = square{n: i, done: &wg}
			marcel.SpawnBody(&squares[i])
		}
		wg.Wait()
		for _, s := range squares {
			fmt.Print(s.n, " ")
		}
		fmt.Println()
	})
	// Output: 0 1 4 9
}

// A child process that may use all CPUs, not only that of the thread's VP.
func ExampleStartProcess() {
	marcel.Run(func() {
		var output strings.Builder
		cmd := exec.Command("echo", "hello")
		cmd.Stdout = &output
		err := marcel.StartProcess(cmd)
		if err == nil {
			marcel.Blocking(func() { err = cmd.Wait() })
		}
		fmt.Print(output.String())
		fmt.Println(err)
	})
	// Output:
	// hello
	// <nil>
}

// What each thread waits for, when a program stands still.
func ExampleWriteThreads() {
	var permit marcel.Semaphore
	t := marcel.SpawnWith(marcel.Attr{Name: "guard"}, permit.Acquire)
	for {
		var list strings.Builder
		if err := marcel.WriteThreads(&list); err != nil {
			fmt.Println(err)
			break
		}
		if line := regexp.MustCompile(`.*guard.*semaphore.*`).FindString(list.String()); line != "" {
			fmt.Println("the guard is listed, and that it waits in a semaphore")
			break
		}
		marcel.Sleep(time.Millisecond)
	}
	permit.Release()
	_ = t.Join()
	// Output: the guard is listed, and that it waits in a semaphore
}

// A limit for one wait in a loop of several.
func ExampleAfter() {
	var news marcel.Mailbox[string]
	switch marcel.Select(news.Receiver(), marcel.After(time.Millisecond)) {
	case 0:
		fmt.Println("news")
	case 1:
		fmt.Println("nothing in a millisecond")
	}
	// Output: nothing in a millisecond
}

// The case of a context, beside others.
func ExampleDone() {
	ctx, cancel := context.WithCancel(context.Background())
	marcel.Run(func() {
		var news marcel.Mailbox[string]
		marcel.Spawn(func() { cancel() })
		if marcel.Select(news.Receiver(), marcel.Done(ctx)) == 1 {
			fmt.Println(ctx.Err())
		}
	})
	// Output: context canceled
}

// Which of two is done first.
func ExampleEnded() {
	marcel.Run(func() {
		var never marcel.Semaphore
		slow := marcel.Spawn(never.Acquire)
		quick := marcel.Spawn(func() {})
		fmt.Println(marcel.Select(marcel.Ended(slow), marcel.Ended(quick)))
		never.Release()
	})
	// Output: 1
}

// For trees of threads the youngest goes first: depth first needs less memory
// than breadth first.
func ExamplePolicy() {
	for _, policy := range []marcel.Policy{marcel.Fair, marcel.LIFO} {
		s, err := sched.New(sched.Config{VPs: 1, Policy: policy, Slice: time.Minute})
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			return
		}
		marcel.RunOn(s, func() {
			var wg marcel.WaitGroup
			var order []int // one VP, and no preemption: no lock is needed
			for i := range 4 {
				wg.Go(func() { order = append(order, i) })
			}
			wg.Wait()
			fmt.Println(order)
		})
		_ = s.Stop(context.Background())
	}
	// Output:
	// [0 1 2 3]
	// [3 2 1 0]
}

// What is urgent goes first.
func ExamplePriority() {
	s, err := sched.New(sched.Config{VPs: 1, Slice: time.Minute})
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return
	}
	defer s.Stop(context.Background())
	marcel.RunOn(s, func() {
		var wg marcel.WaitGroup
		for name, p := range map[string]marcel.Priority{
			"batch": marcel.PriorityBatch, "normal": marcel.PriorityDefault, "urgent": marcel.PriorityUserRealTime,
		} {
			wg.Add(1)
			marcel.SpawnWith(marcel.Attr{Priority: p}, func() {
				fmt.Println(name)
				wg.Done()
			})
		}
		wg.Wait()
	})
	// Output:
	// urgent
	// normal
	// batch
}

// The bubble that a thread is in.
func ExampleBubbleOf() {
	marcel.Run(func() {
		b := marcel.NewBubble(marcel.Spread{})
		t := marcel.SpawnWith(marcel.Attr{Bubble: b}, func() {
			fmt.Println("in it:", marcel.BubbleOf(marcel.Self()) == b)
		})
		b.Wake()
		_ = t.Join()
		fmt.Println("outside:", marcel.BubbleOf(marcel.Self()) == nil)
	})
	// Output:
	// in it: true
	// outside: true
}
