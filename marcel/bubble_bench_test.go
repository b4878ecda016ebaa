package marcel_test

import (
	"testing"
	"time"

	"github.com/pm2-go/pm2/marcel"
)

// BenchmarkBubbleBesideSleepingVP is 20 threads of 100 us in a bubble of one VP, beside a VP that sleeps: what the
// wake of that VP, which then asks the bubble's policy, is for.
func BenchmarkBubbleBesideSleepingVP(b *testing.B) {
	s := start(b, machine(b, "numa:2 core:1 pu:1"))
	for b.Loop() {
		b.StopTimer()
		all, inner := marcel.NewBubbleOn(s, marcel.Steal{}), marcel.NewBubbleOn(s, nil)
		if err := all.InsertBubble(inner); err != nil {
			b.Fatal(err)
		}
		fill(s, inner, 20, func() {
			for began := time.Now(); time.Since(began) < 100*time.Microsecond; {
			}
		})
		time.Sleep(3 * time.Millisecond) // the VPs fall asleep
		b.StartTimer()
		if err := all.Wake(); err != nil {
			b.Fatal(err)
		}
		if err := all.Join(); err != nil {
			b.Fatal(err)
		}
	}
}
