package sched

import (
	"sync/atomic"
	"testing"
	"time"
)

// TestCPUBoundTakeTurns: threads that compute without end on one VP have it in turns, and stay on its OS
// threads. In the portable mode they lose it, and go on as goroutines.
func TestCPUBoundTakeTurns(t *testing.T) {
	s := running(t, Config{VPs: 1, Slice: time.Millisecond, Period: 250 * time.Microsecond})
	const computing = 3
	var end atomic.Bool
	defer end.Store(true)
	var turns [computing]atomic.Int64
	var last atomic.Int64
	for i := range computing {
		s.Spawn(Attr{}, func() {
			for !end.Load() {
				if me := int64(i + 1); last.Swap(me) != me {
					turns[i].Add(1)
				}
			}
		})
	}
	awaited(t, "each has had the VP five times", func() bool {
		return turns[0].Load() >= 5 && turns[1].Load() >= 5 && turns[2].Load() >= 5
	})
	seizures := uint64(3 * 4)
	if !isDirect {
		seizures = 2
	}
	if st := s.Stats(); st.Total.Seizures < seizures || st.Total.Seized != 0 || st.LWPs > spareLWPs+1 {
		t.Errorf("%d preempted, %d without the VP, %d LWPs", st.Total.Seizures, st.Total.Seized, st.LWPs)
	}
}
