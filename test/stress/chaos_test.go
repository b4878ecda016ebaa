//go:build chaos

package stress

import (
	"testing"
	"time"

	"github.com/pm2-go/pm2/sched"
)

// TestChaosTakesPlace: with the tag, all tests here meet what the tag is for.
func TestChaosTakesPlace(t *testing.T) {
	collecting(t)
	on(t, config(2), func(s *sched.Scheduler) {
		m := newMix(t, s, uint64(time.Now().UnixNano()))
		m.run(total() / 10)
		n := s.Stats()
		t.Logf("%d switches, %d thefts of %d threads", n.Total.Switches, n.Total.Steals, n.Total.Items)
		if n.Total.Steals == 0 {
			t.Error("no thread was stolen")
		}
	})
}
