package pioman

import (
	"sync/atomic"
	"testing"
	"time"

	"github.com/pm2-go/pm2/hooks"
	"github.com/pm2-go/pm2/marcel"
	"github.com/pm2-go/pm2/sched"
)

// A thread that sleeps in Wait enters a call that may block: the library point is on its way.
// Submit is not: it is allowed where a poll is not.
func TestWaitPassesTheLibraryPoint(t *testing.T) {
	e := engine(t, Config{})
	s := scheduler(t, sched.Config{VPs: 1})
	attach(t, e, s)
	var entered atomic.Int32
	h, err := s.Hooks().Register(hooks.Library, 0, "count", func(int) hooks.Verdict {
		entered.Add(1)
		return hooks.Quiet
	})
	if err != nil {
		t.Fatal(err)
	}
	defer h.Unregister()
	marcel.RunOn(s, func() {
		var task Task
		task.Init("inactive", func(*Task) Status { return Again }, Repeat)
		before := entered.Load()
		if err := e.Submit(&task); err != nil {
			t.Error(err)
		}
		if n := entered.Load(); n != before {
			t.Errorf("Submit passed the library point %d times", n-before)
		}
		var c Completion
		go func() {
			for !c.hasWaiter() {
				time.Sleep(100 * time.Microsecond)
			}
			c.Signal(1)
		}()
		if err := c.Wait(e, 1); err != nil {
			t.Error(err)
		}
		if entered.Load() == before {
			t.Error("a Wait that slept did not pass the library point")
		}
		if err := task.Cancel(); err != nil {
			t.Error(err)
		}
	})
}
