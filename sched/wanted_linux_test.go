package sched

import (
	"runtime"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/pm2-go/pm2/sched/topo"
)

// TestWantedCPU: a goroutine that polls beside an OS thread that computes on its CPU finds out by some offers that the CPU is wanted, and then
// gives up polling without any: each of them would cost it a time slice of the other one's.
func TestWantedCPU(t *testing.T) {
	if !isDirect {
		t.Skip("threads are bound in the direct mode only")
	}
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(4)) // so that none waits for the P of the goroutine that polls
	forget := func() { goroutines.wantedUntil.Store(0); goroutines.wantedFor.Store(0) }
	forget()
	defer forget() // other tests have their CPU to themselves
	const polls = 200
	cpu := topo.ProcessMask().First()
	var over atomic.Bool
	defer over.Store(true)
	bound, again, offers := make(chan error), make(chan bool), make(chan int64)
	go func() { // it ends locked, and its OS thread with it
		runtime.LockOSThread()
		bound <- bindTo(gettid(), cpu)
		for !over.Load() {
		}
	}()
	if err := <-bound; err != nil {
		t.Skip("threads cannot be bound here: ", err)
	}
	go func() {
		runtime.LockOSThread()
		_ = bindTo(gettid(), cpu) // as the other one was
		for range again {
			before := switchesOfThread(t)
			for range polls {
				if Poll(time.Millisecond, false, func() Found { return FoundNothing }) {
					t.Error("what never comes is there")
				}
			}
			offers <- switchesOfThread(t) - before
		}
	}()
	const tries = 4 // other processes take the CPU too
	defer close(again)
	for try := 1; ; try++ {
		again <- true
		n := <-offers
		if n <= polls/2 {
			return
		}
		if t.Logf("the CPU was given away %d times in %d waits", n, polls); try == tries {
			t.Fatalf("so it was in %d tries", tries)
		}
	}
}

// switchesOfThread counts how often the calling OS thread has lost its CPU without sleeping.
func switchesOfThread(t *testing.T) int64 {
	var u unix.Rusage
	if err := unix.Getrusage(unix.RUSAGE_THREAD, &u); err != nil {
		t.Error(err)
	}
	return u.Nivcsw
}
