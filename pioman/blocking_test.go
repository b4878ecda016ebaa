package pioman

import (
	"testing"
	"time"

	"github.com/pm2-go/pm2/internal/test/effort"
	"github.com/pm2-go/pm2/marcel"
	"github.com/pm2-go/pm2/sched"
)

// A request progresses while its thread is away in a blocking call, whether it was
// posted long before, or inside, and however long nothing had happened till then.
func TestProgressInBlocking(t *testing.T) {
	rounds := effort.Choose(8, 15, 30)
	for _, vps := range []int{1, 2} {
		e := engine(t, Config{})
		s := scheduler(t, sched.Config{VPs: vps})
		attach(t, e, s)
		c := newCounted(t, e, 0)
		polled := func() {
			n := c.polls.Load()
			eventually(t, "polled", func() bool { return c.polls.Load() > n })
		}
		finishes(t, "thread", func() {
			marcel.RunOn(s, func() {
				for i := range rounds {
					e.AddPending()
					marcel.Sleep(2 * time.Millisecond) // its kick is forgotten by now
					if i%2 == 0 {
						for end := time.Now().Add(30 * time.Millisecond); time.Now().Before(end); {
						}
					}
					marcel.Blocking(polled)
					e.RemovePending()
					marcel.Sleep(time.Millisecond)
					marcel.Blocking(func() {
						time.Sleep(500 * time.Microsecond)
						e.AddPending()
						polled()
						e.RemovePending()
					})
				}
			})
		})
	}
}
