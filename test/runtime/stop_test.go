package runtime_test

import (
	"runtime"
	"slices"
	"testing"
	"time"

	"github.com/pm2-go/pm2/internal/test/effort"
	"github.com/pm2-go/pm2/marcel"
	"github.com/pm2-go/pm2/sched"
	"github.com/pm2-go/pm2/sched/direct"
	"github.com/pm2-go/pm2/test/runtime/exercise"
)

// TestCPUBound: threads that compute, call closures and make system calls are stopped, and go on
// with the same registers and stacks, on another VP perhaps; those that switch have their turn.
func TestCPUBound(t *testing.T) {
	alwaysCollecting(t)
	r := checked(t)(exercise.CPUBound(effort.Of(4 * time.Second)))
	for r.Seizures == 0 { // on a machine in use the threads may have run too little
		r = checked(t)(exercise.CPUBound(time.Second))
	}
	if r.Turns == 0 || r.Sums == 0 {
		t.Error("not all have had their turn")
	}
}

// TestAll: everything at once.
func TestAll(t *testing.T) { checked(t)(exercise.All(effort.Of(4 * time.Second))) }

// TestStorm: threads that yield, or compute for a moment, are asked to stop all the time, under
// collections: with slices and ticks as short as they can be.
func TestStorm(t *testing.T) {
	alwaysCollecting(t)
	s, err := sched.New(sched.Config{VPs: 2, Slice: 20 * time.Microsecond, Period: 50 * time.Microsecond})
	if err != nil {
		t.Fatal(err)
	}
	defer stop(t, s)
	last := *storm
	if last == 0 {
		last = effort.Of(2 * time.Second)
	}
	end := time.Now().Add(last)
	garbage := make([][]byte, 64)
	marcel.RunOn(s, func() {
		var all []marcel.Thread
		for i := range 16 {
			all = append(all, marcel.Spawn(func() {
				for n := 0; time.Now().Before(end); n++ {
					if want, got := exercise.Sum(10_000 * (1 + i%4*20)); want != got {
						t.Errorf("computed %v, not %v", got, want)
						return
					}
					garbage[i] = make([]byte, 10_000)
					for range i {
						marcel.Yield()
					}
					if n%8 == 0 {
						_ = marcel.Spawn(func() { exercise.Sum(1000) }).Join()
					}
				}
			}))
		}
		for _, x := range all {
			_ = x.Join()
		}
	})
	total := s.Stats().Total
	if t.Logf("%d switches, %d stopped", total.Switches, total.Seizures); total.Seizures == 0 {
		t.Error("no thread was stopped")
	}
}

// TestEnds: threads end while they are asked to stop, or have lost their VP; the goroutines
// that the runtime then uses again are not stopped in their place.
func TestEnds(t *testing.T) {
	s, err := sched.New(sched.Config{VPs: 2, Slice: 100 * time.Microsecond, Period: 50 * time.Microsecond})
	if err != nil {
		t.Fatal(err)
	}
	defer stop(t, s)
	end := time.Now().Add(effort.Of(2 * time.Second))
	ended := 0
	marcel.RunOn(s, func() {
		for n := 0; time.Now().Before(end); n++ {
			var all []marcel.Thread
			plain := make(chan bool, 20)
			for i := range 20 {
				all = append(all, marcel.Spawn(func() {
					exercise.Sum(2000 * (1 + (i+n)%40)) // about a slice
					switch i % 4 {
					case 0:
						runtime.Goexit() // its goroutine ends as well
					case 1:
						time.Sleep(20 * time.Microsecond) // it ends without its VP
					case 2:
						marcel.Yield()
					}
				}))
				go func() { // on one of the goroutines that have ended
					exercise.Sum(1000)
					plain <- true
				}()
			}
			for _, x := range all {
				if err := x.Join(); err != nil {
					t.Error(err)
				}
				ended++
			}
			for range 20 {
				select {
				case <-plain:
				case <-time.After(20 * time.Second):
					t.Error("a goroutine does not go on")
					return
				}
			}
		}
	})
	t.Logf("%d threads, %d stopped", ended, s.Stats().Total.Seizures)
}

// TestStopTheWorld reports how long the runtime takes to stop the world beside threads that
// do nothing but switch, which it cannot interrupt in the middle of that.
func TestStopTheWorld(t *testing.T) {
	done := make(chan struct{})
	go func() {
		defer close(done)
		checked(t)(exercise.Switching(effort.Of(2 * time.Second)))
	}()
	var took []time.Duration
	var m runtime.MemStats
	for over := false; !over; {
		select {
		case <-done:
			over = true
		case <-time.After(500 * time.Microsecond):
			began := time.Now()
			runtime.ReadMemStats(&m) // stops the world, reads, starts it
			took = append(took, time.Since(began))
		}
	}
	slices.Sort(took)
	if len(took) == 0 {
		t.Fatal("never")
	}
	median, p99 := took[len(took)/2], took[len(took)*99/100]
	if t.Logf("%d times: median %v, p99 %v, longest %v", len(took), median, p99, took[len(took)-1]); median > 100*time.Millisecond {
		t.Error("it takes far too long")
	}
}

// isDirect reports whether threads are switched straight from stack to stack here.
func isDirect() bool { return direct.Supported() }
