// Threads that call C, which calls Go, which blocks, yields, computes and nests.
package main

/*
#include <stdint.h>
extern int64_t visit(int64_t depth, int64_t n);
static int64_t call(int64_t depth, int64_t n) {
	volatile int64_t canary = depth * 1000003 + n; // lies on the OS thread's stack
	int64_t got = visit(depth, n);
	return canary == depth * 1000003 + n ? got : -1;
}
*/
import "C"

import (
	"fmt"
	"os"
	"runtime"
	"sync/atomic"
	"time"

	"github.com/pm2-go/pm2/marcel"
	"github.com/pm2-go/pm2/sched"
	"github.com/pm2-go/pm2/test/runtime/exercise"
)

var (
	mutex   marcel.Mutex
	counter int
	ch      = make(chan int)
	visits  atomic.Int64
)

//export visit
func visit(depth, n C.int64_t) C.int64_t {
	visits.Add(1)
	me := marcel.Self()
	switch n % 6 {
	case 0:
		marcel.Yield()
	case 1:
		mutex.Lock()
		counter++
		marcel.Yield()
		mutex.Unlock()
	case 2:
		<-ch
	case 3:
		marcel.Sleep(100 * time.Microsecond)
	case 4:
		if want, got := exercise.Sum(100_000); want != got {
			return -2
		}
	case 5:
		if marcel.Spawn(func() { marcel.Yield() }).Join() != nil {
			return -3
		}
	}
	if marcel.Self() != me {
		return -4
	}
	if depth > 0 {
		if got := C.call(depth-1, n+1); got != C.int64_t(depth-1)+(n+1) {
			return got
		}
		marcel.Yield()
	}
	return depth + n
}

func main() {
	go func() {
		for {
			ch <- 1
			runtime.GC()
		}
	}()
	want := int64(0)
	marcel.Run(func() {
		var all []marcel.Thread
		for i := range 6 {
			all = append(all, marcel.Spawn(func() {
				for n := range 60 {
					depth := (n + i) % 5
					if got := C.call(C.int64_t(depth), C.int64_t(n)); got != C.int64_t(depth+n) {
						fmt.Println("wrong:", depth, n, got)
						os.Exit(1)
					}
				}
			}))
			for n := range 60 {
				want += int64((n+i)%5 + 1)
			}
		}
		cpuBound := marcel.Spawn(func() { // preempts those in callbacks
			for range 10 {
				exercise.Sum(5_000_000)
			}
		})
		for _, t := range append(all, cpuBound) {
			if err := t.Join(); err != nil {
				fmt.Println("wrong:", err)
				os.Exit(1)
			}
		}
	})
	if visits.Load() != want || counter == 0 {
		fmt.Println("wrong:", visits.Load(), want, counter)
		os.Exit(1)
	}
	fmt.Println("done", sched.Default().Stats().Total.Switches)
}
