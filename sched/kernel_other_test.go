//go:build !linux

package sched_test

import (
	"testing"
	"time"
)

func nap(d time.Duration) { time.Sleep(d) }

func osThreads(t testing.TB) int {
	t.Skip("this system does not list the OS threads")
	return 0
}

// A gate is what threads wait for until it is opened.
type gate chan struct{}

func newGate(testing.TB) gate { return make(gate) }
func (g gate) wait()          { <-g }
func (g gate) open()          { close(g) }
