package marcel_test

import (
	"fmt"

	"github.com/pm2-go/pm2/marcel"
)

func fib(n int) (a int) {
	if n < 2 {
		return n
	}
	var b int
	marcel.Do(func() { a = fib(n - 1) }, func() { b = fib(n - 2) }) // fork and join, the fast form
	return a + b
}

func Example() {
	answers := marcel.NewMailbox[int](1)                    // where one wrote: make(chan int, 1)
	t := marcel.Spawn(func() { _ = answers.Send(fib(25)) }) // where one wrote: go func() { ... }()
	n, _ := answers.Recv()                                  // blocks this thread, or goroutine, only
	fmt.Println(n, t.Join())
	// Output: 75025 <nil>
}
