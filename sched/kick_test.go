package sched

import (
	"context"
	"sync/atomic"
	"testing"
	"time"

	"github.com/pm2-go/pm2/hooks"
)

// awaited waits for what other threads bring about.
func awaited(t *testing.T, what string, f func() bool) {
	t.Helper()
	for deadline := time.Now().Add(time.Minute); !f(); time.Sleep(50 * time.Microsecond) {
		if time.Now().After(deadline) {
			t.Fatalf("%s: not within a minute", what)
		}
	}
}

// TestKickWhileBorrowed: a spare that was woken by a kick, and finds its VP borrowed,
// must not take the kick along when it goes back to sleep.
func TestKickWhileBorrowed(t *testing.T) {
	s := running(t, Config{VPs: 1, IdleSpin: time.Microsecond})
	var fired atomic.Int64
	h, err := s.Hooks().Register(hooks.Idle, 0, "counter", func(int) hooks.Verdict { fired.Add(1); return hooks.Quiet })
	if err != nil {
		t.Fatal(err)
	}
	defer h.Unregister()
	v := s.vps[0]
	for range 50 {
		var old uint32
		awaited(t, "the VP is free", func() (ok bool) {
			if v.mode() != vpFree || v.idle.waking() {
				return false
			}
			old, ok = v.borrow()
			return ok
		})
		if old != 0 {
			v.giveBack(old)
			continue
		}
		before := fired.Load()
		v.idle.kick()
		v.wakeSpare(toClaim, true)
		awaited(t, "the spare has looked", func() bool { return !v.idle.waking() })
		time.Sleep(200 * time.Microsecond) // and has gone on, likely
		v.giveBack(old)
		awaited(t, "the idle hook fires", func() bool { return fired.Load() > before })
	}
}

// TestKickWhileHeld: a thread may be inside an operation when its VP is kicked, and compute
// afterwards: the clock that sleeps has to wake up, because nothing else fires the timer's hooks.
func TestKickWhileHeld(t *testing.T) {
	s := running(t, Config{VPs: 1, IdleSpin: time.Microsecond, Period: 250 * time.Microsecond})
	v := s.vps[0]
	deadline := time.Now().Add(time.Minute)
	for {
		if s.clockAsleep() && !v.idle.waking() && v.word.claim(noLWP) {
			break // as if an LWP held it, of which the clock does not know
		}
		if time.Now().After(deadline) {
			t.Fatal("no clock asleep within a minute")
		}
		time.Sleep(50 * time.Microsecond)
	}
	if s.clock.wakeAt.Load() == maxAt { // else it wakes by itself
		s.Kick(0)
		for s.clockAsleep() {
			if time.Now().After(deadline) {
				t.Error("the clock sleeps on")
				break
			}
			time.Sleep(50 * time.Microsecond)
		}
	}
	v.word.release(noLWP)
	v.wakeIfDue(false)
}

// noLWP is the id of no LWP.
const noLWP = 1 << 20

// neverAsleep is a Sleeper that lets no LWP in; it counts the attempts.
type neverAsleep struct{ tried atomic.Int64 }

func (na *neverAsleep) Sleep(*atomic.Uint32) bool { na.tried.Add(1); return false }
func (na *neverAsleep) Wake()                     {}

// TestWokenOnTheWayToTheSleeper: an LWP that is given an order when it is about to try the
// Sleeper, and then finds nothing to do, has yet to try it: others may have gone to sleep
// elsewhere because it was polling.
func TestWokenOnTheWayToTheSleeper(t *testing.T) {
	s := running(t, Config{VPs: 1, IdleSpin: time.Microsecond})
	v := s.vps[0]
	var sleeper neverAsleep
	s.SetSleeper(&sleeper)
	defer s.SetSleeper(nil)
	var armed atomic.Bool
	var before atomic.Int64
	h, err := s.Hooks().Register(hooks.Idle, 0, "order", func(int) hooks.Verdict {
		if armed.Load() {
			before.Store(sleeper.tried.Load())
			s.lwps.entries()[v.word.holder()-1].Load().wake.Store(toClaim) // as a post would that is just too late
			armed.Store(false)
		}
		return hooks.Quiet
	})
	if err != nil {
		t.Fatal(err)
	}
	defer h.Unregister()
	for range 50 {
		armed.Store(true)
		s.Kick(-1)
		awaited(t, "the idle hook fires", func() bool { return !armed.Load() })
		awaited(t, "the Sleeper is tried", func() bool { return sleeper.tried.Load() > before.Load() })
	}
}

// running starts a scheduler that is stopped after the test.
func running(t testing.TB, cfg Config) *Scheduler {
	t.Helper()
	s, err := New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Stop(context.Background()); err != nil {
			t.Error(err)
		}
	})
	return s
}
