package sched

import (
	"context"
	"os"
	"runtime"
	"testing"
	"time"

	"github.com/pm2-go/pm2/sched/topo"
)

// TestStopRestoresProcs: GOMAXPROCS is what it was, also if Stop is called on an OS
// thread that is bound to one CPU.
func TestStopRestoresProcs(t *testing.T) {
	all, err := topo.Affinity(0)
	if err != nil {
		t.Fatal(err)
	}
	before := runtime.GOMAXPROCS(0)
	if all.Count() < 2 || before != runtime.NumCPU() || os.Getenv("GOMAXPROCS") != "" {
		t.Skip("needs two CPUs and the default GOMAXPROCS")
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
		if err := topo.CPUs(all.First()).Bind(0); err != nil {
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
