package sched_test

import (
	"os"
	"runtime"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/pm2-go/pm2/sched"
)

// TestStopRestoresProcs: GOMAXPROCS is what it was, also if Stop is called on an OS
// thread that is bound to one CPU.
func TestStopRestoresProcs(t *testing.T) {
	var all, one unix.CPUSet
	if err := unix.SchedGetaffinity(0, &all); err != nil {
		t.Fatal(err)
	}
	procs := runtime.GOMAXPROCS(0)
	if all.Count() < 2 || procs != runtime.NumCPU() || os.Getenv("GOMAXPROCS") != "" {
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
		s, err := sched.New(sched.Config{VPs: 1})
		if err != nil {
			t.Error(err)
			return
		}
		if err := unix.SchedSetaffinity(0, &one); err != nil {
			t.Error(err)
		}
		stop(t, s)
	}()
	<-done
	if n := runtime.GOMAXPROCS(0); n != procs {
		t.Errorf("GOMAXPROCS is %d, was %d", n, procs)
	}
}
