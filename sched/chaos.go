//go:build chaos

package sched

import (
	"math/rand/v2"
	"runtime"
)

// With the build tag chaos a scheduler meets all the time what it else meets now and then:
//
//   - run queues begin with room for two threads, so that they grow and wrap around;
//   - thieves take any number of threads from any VP, however far, few or young they are;
//   - the Go scheduler moves an LWP to another OS thread in the middle of one switch out
//     of some hundred, so that its binding has to be made again.
//
// It is for the tests (go test -tags chaos ./test/stress): slow, and no figure of it means
// anything.

const firstRing = 2

const reckless = true

// movesPerSwitch: one switch in so many changes the OS thread.
const movesPerSwitch = 1.0 / 200

// movers are goroutines with OS threads of their own: whom one of them makes ready has its
// P, but not its OS thread.
var movers = make(chan chan struct{})

func init() {
	for range 2 {
		go func() {
			runtime.LockOSThread()
			for c := range movers {
				close(c)
			}
		}()
	}
}

// letGo unlocks the calling coroutine from its OS thread before a switch, and now and then
// lets it come to another one there.
func letGo() {
	runtime.UnlockOSThread()
	if rand.Float64() < movesPerSwitch {
		c := make(chan struct{})
		movers <- c
		<-c
	}
}
