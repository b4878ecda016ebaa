package sched_test

import (
	"context"
	"testing"
	"time"

	"github.com/pm2-go/pm2/hooks"
	"github.com/pm2-go/pm2/marcel"
	"github.com/pm2-go/pm2/sched"
)

// soon waits for something that the scheduler's own threads bring about.
func soon(t *testing.T, what string, f func() bool) {
	t.Helper()
	for end := time.Now().Add(time.Minute); !f(); time.Sleep(100 * time.Microsecond) {
		if time.Now().After(end) {
			t.Fatal(what)
		}
	}
}

// A VP is idle and asleep, idle and awake while a hook keeps it so, not idle while
// a thread runs on it, and not idle while it is disabled.
func TestIdle(t *testing.T) {
	s, err := sched.New(sched.Config{VPs: 2})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Stop(context.Background()); err != nil {
			t.Error(err)
		}
	})
	is := func(vp int, idle, awake bool) func() bool {
		return func() bool {
			i, a := s.Idle(vp)
			return i == idle && a == awake
		}
	}
	soon(t, "VP 1 does not sleep", is(1, true, false))
	h, err := s.Hooks().Register(hooks.Idle, 0, "busy", func(int) hooks.Verdict { return hooks.Busy })
	if err != nil {
		t.Fatal(err)
	}
	s.Kick(1)
	soon(t, "VP 1 does not look for work", is(1, true, true))
	marcel.RunOn(s, func() {
		vp := s.CurrentVP()
		if idle, awake := s.Idle(vp); idle || awake {
			t.Errorf("the VP %d of a running thread: idle %v, awake %v", vp, idle, awake)
		}
	})
	h.Unregister()
	if err := s.DisableVP(1); err != nil {
		t.Fatal(err)
	}
	soon(t, "VP 1 is disabled and idle", is(1, false, false))
	if err := s.EnableVP(1); err != nil {
		t.Fatal(err)
	}
	soon(t, "VP 1 does not sleep again", is(1, true, false))
}
