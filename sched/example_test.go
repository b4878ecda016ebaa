package sched_test

import (
	"fmt"

	"github.com/pm2-go/pm2/sched"
)

// A thread waits in a queue until it is woken.
func Example() {
	mu, queue := new(sched.Spin), new(sched.WaitQueue)
	t := sched.Default().Spawn(sched.Attr{}, func() {
		c := sched.Enter() // the thread holds its VP
		mu.Lock()
		c.Wait(queue, mu) // parks, and then unlocks mu; it leaves by itself
	})
	for w := (*sched.Waiter)(nil); w == nil; sched.Yield() { // until it has waited
		c := sched.Visit() // nil on a goroutine, as here: what follows works nevertheless
		mu.Lock()
		w = queue.Pop()
		mu.Unlock()
		c.WakeAll(w)
		c.Leave()
	}
	fmt.Println(t.Join())
	// Output: <nil>
}
