package pioman_test

import (
	"context"
	"testing"
	"time"

	"github.com/pm2-go/pm2/marcel"
	"github.com/pm2-go/pm2/pioman"
	"github.com/pm2-go/pm2/pioman/piomantest"
	"github.com/pm2-go/pm2/pioman/pollers"
	"github.com/pm2-go/pm2/sched"
)

// Every flavour passes the same suite, with goroutines and threads of marcel as callers.
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
		"thread":    func(f func()) { s.Spawn(marcel.Attr{}, f) },
	}
	pool := func(c pollers.Config) func(*pioman.Engine) (piomantest.Host, error) {
		return func(e *pioman.Engine) (piomantest.Host, error) {
			p, err := pollers.Start(c)
			if err != nil {
				return piomantest.Host{}, err
			}
			stop, err := e.Attach(p)
			if err != nil {
				p.Stop()
				return piomantest.Host{}, err
			}
			return piomantest.Host{Hooks: p.Hooks(), Stir: func() { p.Kick(-1) }, Stop: func() { stop(); p.Stop() }}, nil
		}
	}
	for _, w := range []piomantest.World{
		{Name: "marcel", Spawn: callers, Start: func(e *pioman.Engine) (piomantest.Host, error) {
			stop, err := e.Attach(s)
			return piomantest.Host{Hooks: s.Hooks(), Stir: func() { s.Spawn(marcel.Attr{}, func() {}) }, Stop: stop}, err
		}},
		{Name: "threads", Spawn: callers, Start: pool(pollers.Config{})},
		{Name: "threads at ordinary priority", Spawn: callers, Start: pool(pollers.Config{Ordinary: true})},
		{Name: "no threads", Spawn: callers},
	} {
		piomantest.Run(t, w)
	}
}
