package marcel_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/pm2-go/pm2/marcel"
	"github.com/pm2-go/pm2/sched"
)

// drone is a case that must be polled for ever, and is never ready.
type drone struct{ marcel.Case }

func (drone) Poll() bool { return true }

// A Select that polls stands in no queue where a cancel finds it, and ends by that all the same; and one that no cancel ends goes on.
func TestCancelOfSelectThatPolls(t *testing.T) {
	run(t, brisk(2), func(*sched.Scheduler) {
		var never, unit marcel.Semaphore
		polled := drone{never.Case()}
		ctx, stop := context.WithCancel(context.Background())
		defer stop()
		for _, it := range []struct {
			name string
			wait func()
			ends bool
		}{
			{"Select", func() { marcel.Select(polled, unit.Case()) }, true},
			{"SelectTimeout", func() { marcel.SelectTimeout(time.Hour, polled, unit.Case()) }, true},
			{"SelectContext", func() { _, _ = marcel.SelectContext(ctx, polled, unit.Case()) }, true},
			{"SelectContextUninterruptible", func() { _, _ = marcel.SelectContextUninterruptible(ctx, polled, unit.Case()) }, false},
		} {
			got := false
			x := marcel.Spawn(func() {
				it.wait()
				got = true
			})
			marcel.Sleep(200 * time.Microsecond)
			must(t, x.Cancel())
			ended, err := x.JoinTimeout(100 * time.Millisecond)
			if it.ends {
				ended, err = x.JoinTimeout(10 * time.Second)
			}
			if ended != it.ends || it.ends && !errors.Is(err, marcel.ErrCanceled) {
				t.Errorf("%s: ended by the cancel: %v, %v", it.name, ended, err)
			}
			unit.Release()
			if !ended {
				must(t, x.Join())
			}
			if got == it.ends {
				t.Errorf("%s: went on: %v", it.name, got)
			}
			if unit.TryAcquire() != it.ends {
				t.Errorf("%s: the unit: it is not where it should be", it.name)
			}
		}
	})
}
