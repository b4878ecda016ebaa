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

// A kernelLatch is what threads wait for until it is opened.
type kernelLatch chan struct{}

func newKernelLatch(testing.TB) kernelLatch { return make(kernelLatch) }
func (kl kernelLatch) wait()                { <-kl }
func (kl kernelLatch) open()                { close(kl) }
