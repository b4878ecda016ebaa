package pioman_test

import (
	"context"
	"runtime"
	"testing"
	"time"

	"github.com/pm2-go/pm2/marcel"
	"github.com/pm2-go/pm2/pioman"
	"github.com/pm2-go/pm2/pioman/piomantest"
	"github.com/pm2-go/pm2/sched"
)

// The same suite passes whatever polls, with goroutines, goroutines that are locked to their OS threads, and threads of marcel as
// callers.
func TestConformance(t *testing.T) {
	s, err := sched.New(sched.Config{VPs: 2})
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
		defer cancel()
		if err := s.Stop(ctx); err != nil {
			t.Error(err)
		}
	}()
	callers := map[string]func(func()){
		"goroutine": func(f func()) { go f() },
		"locked":    func(f func()) { go func() { runtime.LockOSThread(); f() }() },
		"thread":    func(f func()) { s.Spawn(marcel.Attr{}, f) },
	}
	for _, w := range []piomantest.World{
		{Name: "scheduler", Spawn: callers, Start: func(e *pioman.Engine) (piomantest.Host, error) {
			stop, err := e.Attach(s)
			return piomantest.Host{Hooks: s.Hooks(), Stir: func() { s.Spawn(marcel.Attr{}, func() {}) }, Stop: stop}, err
		}},
		{Name: "no scheduler", Spawn: callers, Start: func(e *pioman.Engine) (piomantest.Host, error) {
			stop, err := e.Attach(nil)
			return piomantest.Host{Stop: stop}, err
		}},
		{Name: "explicit", Spawn: callers},
	} {
		piomantest.Run(t, w)
	}
}
