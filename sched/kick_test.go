package sched

import (
	"context"
	"sync/atomic"
	"testing"
	"time"

	"github.com/pm2-go/pm2/hooks"
)

// TestKickWhileLent: a spare that was woken by a kick, and finds its VP borrowed,
// must not take the kick along when it goes back to sleep.
func TestKickWhileLent(t *testing.T) {
	s, err := New(Config{VPs: 1, IdleSpin: time.Microsecond})
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := s.Stop(context.Background()); err != nil {
			t.Error(err)
		}
	}()
	var fired atomic.Int64
	h, err := s.Hooks().Register(hooks.Idle, 0, "counter", func(int) hooks.Verdict { fired.Add(1); return hooks.Quiet })
	if err != nil {
		t.Fatal(err)
	}
	defer h.Unregister()
	v := s.vps[0]
	await := func(what string, f func() bool) {
		t.Helper()
		for deadline := time.Now().Add(time.Minute); !f(); time.Sleep(50 * time.Microsecond) {
			if time.Now().After(deadline) {
				t.Fatalf("%s: not within a minute", what)
			}
		}
	}
	for range 50 {
		var old uint32
		await("the VP is free", func() (ok bool) {
			if modeOf(v.word.load()) != free || v.called.Load() != 0 {
				return false
			}
			old, ok = v.word.borrow()
			return ok
		})
		if modeOf(old) != free {
			v.word.giveBack(old)
			continue
		}
		before := fired.Load()
		v.kicked.Store(1)
		v.call(toClaim, true)
		await("the spare has looked", func() bool { return v.called.Load() == 0 })
		time.Sleep(200 * time.Microsecond) // and has gone on, likely
		v.word.giveBack(old)
		v.nudge(false)
		await("the idle hook fires", func() bool { return fired.Load() > before })
	}
}
