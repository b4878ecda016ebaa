package marcel_test

import (
	"context"
	"testing"
	"time"

	"github.com/pm2-go/pm2/marcel"
	"github.com/pm2-go/pm2/sched"
)

// Neither messages nor Selects allocate in steady state. (A sync.Pool does under
// the race detector, which drops what it holds at random.)
func TestMessagesAndSelectsDoNotAllocate(t *testing.T) {
	needsPools(t)
	if underRace {
		t.Skip("sync.Pool")
	}
	var (
		direct, back marcel.Mailbox[*int]
		box          = marcel.NewMailbox[*int](4)
		s, never     marcel.Semaphore
		x            int
		tx, rx       = direct.Sender(&x), back.Receiver()
		unit, none   = s.Case(), never.Case()
		soon, hour   = marcel.After(time.Microsecond), marcel.After(time.Hour)
		ended        = marcel.Ended(marcel.Spawn(never.Acquire))
		background   = marcel.Done(context.Background())
		echo         = func() {
			v, _ := direct.Recv()
			_ = back.Send(v)
		}
	)
	defer never.Release()
	for _, it := range []struct {
		name    string
		op      func()
		partner func()
	}{
		{"stored", func() { _ = box.Send(&x); _, _ = box.Recv() }, nil},
		{"TryRecv in vain", func() { _, _ = box.TryRecv() }, nil},
		{"rendezvous", func() { _ = direct.Send(&x); _, _ = back.Recv() }, echo},
		{"bounded rendezvous", func() {
			_ = direct.SendTimeout(&x, time.Hour)
			_, _ = back.RecvContext(context.Background())
		}, echo},
		{"RecvTimeout in vain", func() { _, _ = box.RecvTimeout(time.Microsecond) }, nil},
		{"Select of what is ready", func() { s.Release(); marcel.Select(none, unit) }, nil},
		{"TrySelect in vain", func() { marcel.TrySelect(none, unit, rx, nil, hour) }, nil},
		{"Select that waits", func() {
			marcel.Select(none, unit, nil, tx, hour, ended, background)
			marcel.Select(none, rx, unit, hour)
		}, echo},
		{"Select until a time limit", func() { marcel.Select(none, unit, soon) }, nil},
		{"SelectTimeout in vain", func() { marcel.SelectTimeout(time.Microsecond, none, unit, rx) }, nil},
	} {
		run(t, undisturbed(), func(*sched.Scheduler) {
			stop := false
			var partner marcel.Thread
			if it.partner != nil {
				partner = marcel.Spawn(func() {
					for !stop {
						it.partner()
					}
				})
			}
			for range 200 { // until everything has its size
				it.op()
			}
			if n := testing.AllocsPerRun(200, it.op); n != 0 {
				t.Errorf("%s: %v allocations", it.name, n)
			}
			if it.partner != nil {
				for range 3 {
					marcel.Yield() // it waits now
				}
				stop = true
				it.op()
				must(t, partner.Join())
			}
		})
	}
}
