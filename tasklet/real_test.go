package tasklet_test

import (
	"context"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/pm2-go/pm2/sched"
	"github.com/pm2-go/pm2/tasklet"
)

// The real scheduler is one that tasklets can use.
var _ tasklet.Scheduler = (*sched.Scheduler)(nil)

// start gives a scheduler of its own to a test.
func start(t testing.TB, vps int) (*sched.Scheduler, *tasklet.Vector) {
	t.Helper()
	s, err := sched.New(sched.Config{VPs: vps})
	if err != nil {
		t.Fatal(err)
	}
	v, err := tasklet.Attach(s)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		v.Detach()
		ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
		defer cancel()
		if err := s.Stop(ctx); err != nil {
			t.Error(err)
		}
	})
	return s, v
}

// within fails the test if done does not come; the limit is far beyond anything
// that the machine could need.
func within(t testing.TB, what string, done <-chan struct{}) {
	t.Helper()
	select {
	case <-done:
	case <-time.After(time.Minute):
		t.Fatalf("still waiting: %s", what)
	}
}

// Threads schedule tasklets where they run, on all VPs, with everything at
// once: the threads' switches, idle VPs, the timer.
func TestRealThreadsScheduleTasklets(t *testing.T) {
	s, v := start(t, 2)
	const threads, each = 20, 2000
	var posted, handled atomic.Int64
	var inside atomic.Int32
	tks := make([]*tasklet.Tasklet, 3)
	for i := range tks {
		var mine atomic.Int32
		tks[i] = tasklet.New(v, func() {
			if mine.Add(1) != 1 {
				t.Error("a tasklet runs twice at once")
			}
			inside.Add(1)
			handled.Add(posted.Swap(0))
			inside.Add(-1)
			mine.Add(-1)
		})
	}
	var all sync.WaitGroup
	for n := range threads {
		all.Add(1)
		s.Spawn(sched.Attr{}, func() {
			defer all.Done()
			for i := range each {
				posted.Add(1)
				tks[(n+i)%len(tks)].Schedule()
				if i%16 == 0 {
					sched.Yield()
				}
			}
		})
	}
	done := make(chan struct{})
	go func() { all.Wait(); close(done) }()
	within(t, "the threads", done)
	for deadline := time.Now().Add(time.Minute); handled.Load() != threads*each; runtime.Gosched() {
		if time.Now().After(deadline) {
			t.Fatalf("%d of %d events handled", handled.Load(), threads*each)
		}
	}
	for _, tk := range tks {
		if !tk.Kill() {
			t.Error("not over")
		}
	}
}

// While all VPs compute, the timer runs what a goroutine schedules.
func TestRealTimerRunsTaskletsWhileAllCompute(t *testing.T) {
	s, v := start(t, 2)
	var stop atomic.Bool
	var all sync.WaitGroup
	for vp := range 2 {
		all.Add(1)
		s.Spawn(sched.Attr{VPs: sched.OneVP(vp)}, func() {
			defer all.Done()
			for !stop.Load() {
			}
		})
	}
	done := make(chan struct{}, 1)
	tk := tasklet.New(v, func() { done <- struct{}{} })
	for range 20 {
		tk.Schedule()
		within(t, "the timer", done)
	}
	stop.Store(true)
	all.Wait()
}

// A thread that has lost its VP because it computed for too long schedules a
// tasklet and computes on: the VP, which sleeps meanwhile, wakes up for it.
func TestRealThreadWithoutAVPSchedules(t *testing.T) {
	s, v := start(t, 1)
	var ran, other, giveUp atomic.Bool
	tk := tasklet.New(v, func() { ran.Store(true) })
	done := make(chan struct{})
	s.Spawn(sched.Attr{}, func() {
		defer close(done)
		s.Spawn(sched.Attr{}, func() { other.Store(true) })
		for !other.Load() { // it can run only if our VP is taken from us
		}
		for begin := time.Now(); time.Since(begin) < 100*time.Millisecond; {
		}
		tk.Schedule()
		for !ran.Load() && !giveUp.Load() {
		}
	})
	select {
	case <-done:
	case <-time.After(time.Minute):
		giveUp.Store(true)
		<-done
		t.Fatal("the tasklet has to wait for the thread")
	}
}

// Schedule, a switch to another thread, and the run on it; beside the switch alone.
func BenchmarkReal(b *testing.B) {
	for _, c := range []struct {
		name     string
		schedule bool
	}{{"schedule-yield-run", true}, {"peer-yield", false}} {
		b.Run(c.name, func(b *testing.B) {
			s, v := start(b, 1)
			var runs int
			tk := tasklet.New(v, func() { runs++ })
			var stop atomic.Bool
			done := make(chan struct{}, 2)
			s.Spawn(sched.Attr{VPs: sched.OneVP(0)}, func() {
				s.Spawn(sched.Attr{VPs: sched.OneVP(0)}, func() {
					for !stop.Load() {
						sched.Yield()
					}
					done <- struct{}{}
				})
				sched.Yield()
				for b.Loop() {
					if c.schedule {
						tk.Schedule()
					}
					sched.Yield()
				}
				stop.Store(true)
				done <- struct{}{}
			})
			<-done
			<-done
			tk.Kill()
			if c.schedule {
				b.ReportMetric(float64(runs)/float64(b.N), "runs/op")
			}
		})
	}
}
