// The program that the tests build in each way there is.
package main

import (
	"fmt"
	"os"
	"runtime"
	"syscall"
	"time"

	"github.com/pm2-go/pm2/marcel"
	"github.com/pm2-go/pm2/sched"
	"github.com/pm2-go/pm2/test/runtime/exercise"
)

func main() {
	d, err := time.ParseDuration(os.Args[2])
	if err != nil {
		panic(err)
	}
	switch os.Args[1] {
	case "all":
	case "setuid":
		go everyThread(d)
	case "wait":
		waitForSignal(d)
	}
	r, err := exercise.All(d)
	fmt.Printf("%+v\n", r)
	if err != nil || r.Turns == 0 || r.Blocks == 0 || r.Sums == 0 || r.Trees == 0 {
		fmt.Println("wrong:", err)
		os.Exit(1)
	}
	fmt.Println("done")
}

// everyThread makes system calls on all OS threads at once, and changes the number of Ps.
func everyThread(d time.Duration) {
	n := runtime.GOMAXPROCS(0)
	for end := time.Now().Add(d); time.Now().Before(end); {
		if err := syscall.Setuid(syscall.Getuid()); err != nil {
			fmt.Println("setuid:", err)
			os.Exit(1)
		}
		runtime.GOMAXPROCS(n + 1)
		runtime.GOMAXPROCS(n)
		time.Sleep(time.Millisecond)
	}
}

// waitForSignal has threads wait, compute and be stopped until the process is killed.
func waitForSignal(d time.Duration) {
	var sem marcel.Semaphore
	for range 3 {
		marcel.Spawn(func() { parkedInSemaphore(&sem) })
		marcel.Spawn(func() { waitsInChannel() })
	}
	for range 2 * len(sched.Default().Stats().VPs) {
		marcel.Spawn(computes)
	}
	time.Sleep(50 * time.Millisecond)
	fmt.Println("ready")
	time.Sleep(d)
	os.Exit(3)
}

//go:noinline
func parkedInSemaphore(sem *marcel.Semaphore) { sem.Acquire() }

//go:noinline
func waitsInChannel() { <-make(chan int) }

//go:noinline
func computes() {
	for {
		exercise.Sum(1_000_000)
	}
}
