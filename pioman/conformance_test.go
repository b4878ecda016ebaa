package pioman_test

import (
	"context"
	"runtime"
	"testing"
	"time"

	"github.com/pm2-go/pm2/internal/test/piomantest"
	"github.com/pm2-go/pm2/marcel"
	"github.com/pm2-go/pm2/pioman"
	"github.com/pm2-go/pm2/sched"
)

// The same suite passes whatever makes the progress (a scheduler of the program's own, marcel's default one, none, the
// callers alone), with goroutines, goroutines that are locked to their OS threads, and threads of marcel as callers.
func TestConformance(t *testing.T) {
	s, err := sched.New(sched.Config{VPs: 2})
	if err != nil {
		t.Fatal(err)
	}
	defer stopped(t, s)
	spawn := func(attr marcel.Attr, f func()) { s.Spawn(attr, f) }
	for _, w := range []piomantest.World{
		{Name: "scheduler", Spawn: callers(spawn), Start: func(e *pioman.Engine) (piomantest.Host, error) {
			stop, err := e.Attach(s)
			return piomantest.Host{Hooks: s.Hooks(), Stir: func() { spawn(marcel.Attr{}, func() {}) }, Stop: stop}, err
		}},
		{Name: "no scheduler", Spawn: callers(spawn), Start: func(e *pioman.Engine) (piomantest.Host, error) {
			stop, err := e.Attach(nil)
			return piomantest.Host{Stop: stop}, err
		}},
		{Name: "explicit", Spawn: callers(spawn)},
	} {
		piomantest.Run(t, w)
	}
}

// With the default scheduler an engine is enabled, also while that scheduler starts.
func TestConformanceOfDefault(t *testing.T) {
	defer func() { stopped(t, sched.Default()) }()
	spawn := func(attr marcel.Attr, f func()) { marcel.SpawnWith(attr, f) }
	piomantest.Run(t, piomantest.World{Name: "default scheduler", Spawn: callers(spawn), Start: func(e *pioman.Engine) (piomantest.Host, error) {
		stop, err := e.Enable()
		return piomantest.Host{Hooks: sched.Default().Hooks(), Stir: func() { spawn(marcel.Attr{}, func() {}) }, Stop: stop}, err
	}})
}

// callers are all kinds; spawn starts a thread.
func callers(spawn func(marcel.Attr, func())) map[string]func(func()) {
	return map[string]func(func()){
		"goroutine": func(f func()) { go f() },
		"locked":    func(f func()) { go func() { runtime.LockOSThread(); f() }() },
		"thread":    func(f func()) { spawn(marcel.Attr{}, f) },
	}
}

func stopped(t *testing.T, s *sched.Scheduler) {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	if err := s.Stop(ctx); err != nil {
		t.Error(err)
	}
}
