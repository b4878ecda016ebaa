package sched_test

import (
	"math/rand/v2"
	"sync/atomic"
	"testing"
	"time"

	"github.com/pm2-go/pm2/hooks"
	"github.com/pm2-go/pm2/marcel"
	"github.com/pm2-go/pm2/sched"
)

// slowSleeper lets one OS thread in at a time, and that one takes its time to
// leave, as on a loaded machine.
type slowSleeper struct {
	inside atomic.Bool
	wake   chan struct{}
}

func (sl *slowSleeper) Wake() {
	select {
	case sl.wake <- struct{}{}:
	default:
	}
}

func (sl *slowSleeper) Sleep(*atomic.Uint32) bool {
	if !sl.inside.CompareAndSwap(false, true) {
		sl.Wake()
		return false
	}
	<-sl.wake
	nap(time.Duration(rand.IntN(300)) * time.Microsecond)
	sl.inside.Store(false)
	return true
}

// TestSomebodyWatches: while hooks say that something is pending, and nothing
// else is to be done, one LWP ends up in the Sleeper.
func TestSomebodyWatches(t *testing.T) {
	rounds := 1500
	if testing.Short() {
		rounds = 200
	}
	s := start(t, sched.Config{VPs: 3, IdleSpin: time.Microsecond, PollSpin: time.Microsecond})
	if _, err := s.Hooks().Register(hooks.Idle, 0, "pending", func(int) hooks.Verdict { return hooks.Waiting }); err != nil {
		t.Fatal(err)
	}
	sl := &slowSleeper{wake: make(chan struct{}, 1)}
	s.SetSleeper(sl)
	s.Kick(-1)
	for round := range rounds {
		var ts []marcel.Thread
		for range 1 + rand.IntN(4) {
			ts = append(ts, s.Spawn(marcel.Attr{}, func() { marcel.Spawn(func() {}) }))
		}
		for _, x := range ts {
			_ = x.Join()
		}
		if round%3 == 0 {
			nap(time.Duration(rand.IntN(400)) * time.Microsecond)
		}
		// It may be on its way in or out; only that none comes is wrong.
		end := time.Now().Add(20 * time.Second)
		for quiet := 0; quiet < 3; {
			if sl.inside.Load() {
				quiet++
			}
			if time.Now().After(end) {
				t.Fatalf("round %d: no LWP watches", round)
			}
			nap(20 * time.Microsecond)
		}
	}
}
