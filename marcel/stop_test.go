package marcel_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/pm2-go/pm2/marcel"
	"github.com/pm2-go/pm2/sched"
)

// busy has a scheduler do all that makes it start OS threads and runners.
func busy(t *testing.T, vps int) {
	t.Helper()
	s, err := sched.New(brisk(vps))
	if err != nil {
		t.Fatal(err)
	}
	within(t, func() {
		marcel.RunOn(s, func() {
			var all []marcel.Thread
			for i := range 40 {
				all = append(all, marcel.SpawnWith(marcel.Attr{Catch: true}, func() {
					switch i % 8 {
					case 0:
						marcel.Blocking(func() { nap(100 * time.Microsecond) })
					case 1:
						nap(2 * time.Millisecond)
					case 2:
						compute(2 * time.Millisecond)
					case 3:
						time.Sleep(100 * time.Microsecond)
					case 4:
						marcel.Sleep(100 * time.Microsecond)
					case 5:
						marcel.Exit()
					case 6:
						culprit(errOops)
					}
					marcel.Yield()
				}))
			}
			for i, x := range all {
				if err := x.Join(); (err != nil) != (i%8 == 6) {
					t.Errorf("thread %d: %v", i, err)
				}
			}
		})
		must(t, s.Stop(context.Background()))
	}, s)
}

// Stop waits for the threads; if it is told not to wait any longer it says how
// many there are, and the scheduler goes on.
func TestStopWithThreadsAlive(t *testing.T) {
	s := start(t, brisk(2))
	within(t, func() {
		var permit marcel.Semaphore
		for range 3 {
			s.Spawn(marcel.Attr{}, permit.Acquire)
		}
		patience, cancel := context.WithTimeout(context.Background(), time.Millisecond)
		defer cancel()
		err := s.Stop(patience)
		if !errors.Is(err, sched.ErrAlive) || !errors.Is(err, context.DeadlineExceeded) || !strings.Contains(fmt.Sprint(err), "3") {
			t.Errorf("Stop with 3 threads alive: %v", err)
		}
		ran := false
		must(t, s.Spawn(marcel.Attr{}, func() { ran = true }).Join())
		if !ran {
			t.Error("the scheduler did not go on")
		}
		x := s.Spawn(marcel.Attr{}, func() {
			if err := s.Stop(context.Background()); err == nil {
				t.Error("stopped from one of its threads")
			}
		})
		must(t, x.Join())
		var all sync.WaitGroup
		for range 3 { // several may stop it; all wait
			all.Go(func() { must(t, s.Stop(context.Background())) })
			permit.Release()
		}
		all.Wait()
		must(t, s.Stop(context.Background())) // once more: it is stopped
		must(t, x.Join())                     // handles stay right
		panics(t, "stopped", func() { s.Spawn(marcel.Attr{}, func() {}) })
		panics(t, "stopped", func() { marcel.RunOn(s, func() {}) })
	}, s)
}

// The default scheduler starts when it is needed, also again; and may be
// configured in between.
func TestDefaultRestarts(t *testing.T) {
	within(t, func() {
		marcel.Run(func() {})
		first := sched.Default()
		if err := sched.Configure(sched.Config{VPs: 3}); err == nil {
			t.Error("configured while it runs")
		}
		must(t, first.Stop(context.Background()))
		for _, bad := range []sched.Config{{VPs: -1}, {VPs: 1 << 20}, {CPUs: []int{1 << 20}}, {CPUs: []int{-1}}, {VPs: 8, MaxLWPs: 4}} {
			if err := sched.Configure(bad); err == nil {
				t.Errorf("accepted: %+v", bad)
			}
			if s, err := sched.New(bad); err == nil {
				t.Errorf("started: %+v", bad)
				stop(t, s)
			}
		}
		must(t, sched.Configure(sched.Config{VPs: 3}))
		ran := false
		marcel.Run(func() { ran = marcel.OnThread() })
		second := sched.Default()
		if !ran || second == first || second.NumVP() != 3 {
			t.Errorf("ran: %v, new: %v, %d VPs", ran, second != first, second.NumVP())
		}
		must(t, second.Stop(context.Background()))
		must(t, sched.Configure(sched.Config{}))
		marcel.Run(func() {})
	}, sched.Default())
}
