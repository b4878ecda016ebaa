package sched_test

import (
	"runtime"
	"sync/atomic"
	"testing"
	"time"

	"github.com/pm2-go/pm2/hooks"
	"github.com/pm2-go/pm2/sched"
)

// exitingSleeper ends the goroutine of every third one that sleeps in it.
type exitingSleeper struct{ naps atomic.Int64 }

func (es *exitingSleeper) Wake() {}
func (es *exitingSleeper) Sleep(*atomic.Uint32) bool {
	if es.naps.Add(1)%3 == 0 {
		runtime.Goexit()
	}
	time.Sleep(50 * time.Microsecond)
	return true
}

// A hook, or what runs in the Sleeper, that ends its goroutine does not take a virtual
// processor or the timer along: threads run, and Stop ends.
func TestSchedulerSurvivesHooksThatExit(t *testing.T) {
	s := start(t, sched.Config{VPs: 2, PollSpin: 20 * time.Microsecond, Period: 250 * time.Microsecond})
	var calls [hooks.NumPoints]atomic.Int64
	var over atomic.Bool
	for _, p := range []hooks.Point{hooks.Idle, hooks.Timer} {
		h, err := s.Hooks().Register(p, 0, "exits", func(int) hooks.Verdict {
			if over.Load() {
				return hooks.Quiet
			}
			if calls[p].Add(1)%5 == 0 {
				runtime.Goexit()
			}
			return hooks.Waiting
		})
		if err != nil {
			t.Fatal(err)
		}
		defer h.Unregister()
	}
	sl := &exitingSleeper{}
	s.SetSleeper(sl)
	var ran atomic.Int64
	end := time.Now().Add(2 * time.Minute)
	for i := int64(1); calls[hooks.Idle].Load() < 100 || calls[hooks.Timer].Load() < 20 || sl.naps.Load() < 20; i++ {
		s.Spawn(sched.Attr{}, func() { ran.Add(1) })
		for ran.Load() < i {
			if time.Now().After(end) {
				t.Fatalf("thread %d does not run", i)
			}
			time.Sleep(20 * time.Microsecond)
		}
		if time.Now().After(end) {
			t.Fatalf("idle %d, timer %d, Sleeper %d", calls[hooks.Idle].Load(), calls[hooks.Timer].Load(), sl.naps.Load())
		}
	}
	over.Store(true)
	s.SetSleeper(nil)
}
