package sched

import (
	"context"
	"os"
	"runtime"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// TestStopRestoresProcs: GOMAXPROCS is what it was, also if Stop is called on an OS
// thread that is bound to one CPU.
func TestStopRestoresProcs(t *testing.T) {
	var all, one unix.CPUSet
	if err := unix.SchedGetaffinity(0, &all); err != nil {
		t.Fatal(err)
	}
	before := runtime.GOMAXPROCS(0)
	if all.Count() < 2 || before != runtime.NumCPU() || os.Getenv("GOMAXPROCS") != "" {
		t.Skip("needs two CPUs and the default GOMAXPROCS")
	}
	for cpu := 0; one.Count() == 0; cpu++ {
		if all.IsSet(cpu) {
			one.Set(cpu)
		}
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		runtime.LockOSThread() // and ends locked
		s, err := New(Config{VPs: 1})
		if err != nil {
			t.Error(err)
			return
		}
		if err := unix.SchedSetaffinity(0, &one); err != nil {
			t.Error(err)
		}
		ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
		defer cancel()
		if err := s.Stop(ctx); err != nil {
			t.Error(err)
		}
	}()
	<-done
	if n := runtime.GOMAXPROCS(0); n != before {
		t.Errorf("GOMAXPROCS is %d, was %d", n, before)
	}
}
