package marcel_test

import (
	"errors"
	"sync/atomic"
	"testing"

	"github.com/pm2-go/pm2/internal/test/effort"
	"github.com/pm2-go/pm2/marcel"
	"github.com/pm2-go/pm2/sched"
)

// While descriptors are used again and again, a holder of a handle of an earlier
// life does everything with it that one can do: it reaches no other one.
func TestStaleHandles(t *testing.T) {
	for _, vps := range []int{1, 3} {
		run(t, brisk(vps), func(*sched.Scheduler) {
			var old [8]atomic.Pointer[marcel.Thread]
			var stop atomic.Bool
			var all []marcel.Thread
			for i := range 3 {
				all = append(all, marcel.SpawnWith(marcel.Attr{Name: "meddler"}, func() {
					for n := i; !stop.Load(); n++ {
						if x := old[n%len(old)].Load(); x != nil {
							for what, err := range map[string]error{
								"Cancel": x.Cancel(), "Suspend": x.Suspend(), "Resume": x.Resume(), "SetPriority": x.SetPriority(marcel.PriorityIdle),
							} {
								if !errors.Is(err, marcel.ErrNoThread) {
									t.Errorf("%s of one that has ended: %v", what, err)
								}
							}
							x.Detach()
							if !x.Ended() || x.Name() != "" {
								t.Errorf("ended: %v, name %q", x.Ended(), x.Name())
							}
							must(t, x.Join())
							marcel.YieldTo(*x)
						}
						marcel.Yield()
					}
				}))
			}
			for i := range effort.Of(20000) {
				var me marcel.Thread
				var s marcel.Semaphore
				x := marcel.Spawn(func() {
					me = marcel.Self()
					marcel.Yield()
					if i%2 == 0 {
						marcel.Spawn(s.Release)
						s.Acquire() // a cancellation point, and a scheduling point
					}
					marcel.TestCancel()
				})
				if err := x.Join(); err != nil || me != x || x.ID() != me.ID() {
					t.Fatalf("thread %v (%v): Join returned %v", x, me, err)
				}
				old[i%len(old)].Store(&x)
			}
			stop.Store(true)
			for _, x := range all {
				must(t, x.Join())
			}
		})
	}
}
