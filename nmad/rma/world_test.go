package rma

import (
	"context"
	"errors"
	"fmt"
	"net"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/pm2-go/pm2/nmad"
	_ "github.com/pm2-go/pm2/nmad/driver/fault"
	"github.com/pm2-go/pm2/pioman"
)

// way is one in which memory of others is reached.
type way struct {
	name, driver string
	ranks        int
	o            options
}

var everyWay = []way{
	{"self", "shm", 1, options{}},
	{"mapped", "shm", 3, options{}},
	{"apart", "shm", 3, options{apart: true}},
	{"tcp", "tcp", 3, options{}},
	{"unix", "unix", 2, options{}},
	{"fault", "fault:tcp", 2, options{}},
}

// onEveryWay runs a test for each, with the Worlds of all processes, which are all in this one.
func onEveryWay(t *testing.T, f func(t *testing.T, worlds []*World)) {
	for _, y := range slices.Concat(everyWay, builtIn) {
		t.Run(y.name, func(t *testing.T) { f(t, job(t, y.driver, y.ranks, y.o)) })
	}
}

// job opens the sessions of n processes, all of them in this one, and their Worlds.
func job(t testing.TB, driver string, n int, o options) []*World {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	worlds, failed := make([]*World, n), make([]error, n)
	sessions := make([]*nmad.Session, n)
	var all sync.WaitGroup
	stop := []func(){}
	for rank := range n {
		engine := pioman.New(pioman.Config{})
		enabled, err := engine.Enable()
		if err != nil {
			t.Fatal(err)
		}
		stop = append(stop, enabled)
		all.Go(func() {
			cfg := nmad.Config{Rank: rank, Size: n, Driver: driver, Rendezvous: l.Addr().String(), Secret: []byte("a secret of the test"), Unbound: true, Engine: engine}
			if rank == 0 {
				cfg.Listener = l
			}
			if sessions[rank], failed[rank] = nmad.Open(context.Background(), cfg); failed[rank] == nil {
				worlds[rank], failed[rank] = open(sessions[rank], o)
			}
		})
	}
	all.Wait()
	if err := errors.Join(failed...); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		each(t, worlds, func(w *World) error { return errors.Join(w.Close(), w.Session().Close()) })
		for _, f := range stop {
			f()
		}
	})
	return worlds
}

// each runs f for all processes at once.
func each(t testing.TB, worlds []*World, f func(w *World) error) {
	t.Helper()
	failed := make([]error, len(worlds))
	var all sync.WaitGroup
	for rank, w := range worlds {
		all.Go(func() {
			if err := f(w); err != nil {
				failed[rank] = fmt.Errorf("rank %d: %w", rank, err)
			}
		})
	}
	all.Wait()
	if err := errors.Join(failed...); err != nil {
		t.Fatal(err)
	}
}

// segments has all processes allocate.
func segments(t testing.TB, worlds []*World, bytes int) []*Segment {
	t.Helper()
	s := make([]*Segment, len(worlds))
	each(t, worlds, func(w *World) (err error) {
		s[w.Rank()], err = w.Alloc(bytes)
		return err
	})
	return s
}

// patience is how long a wait in a test may take before it is taken for lost.
func patience(t testing.TB) context.Context {
	ctx, cancel := context.WithTimeoutCause(context.Background(), 60*time.Second, errors.New("the test has no more patience"))
	t.Cleanup(cancel)
	return ctx
}

// TestPlaces: Worlds of different processes come in the same contexts, one after the other. Processes that were in
// more of them than others find these all the same.
func TestPlaces(t *testing.T) {
	worlds := job(t, "shm", 3, options{})
	for _, ranks := range [][]int{{0, 1}, {0, 1, 2}, {2, 0}, {0, 2}, {0, 1, 2}, {1, 2}, {0, 1}} {
		each(t, worlds, func(w *World) error {
			if !slices.Contains(ranks, w.rank) {
				return nil
			}
			x, err := OpenAmong(w.s, LastContext+1, ranks...)
			if err != nil {
				return err
			}
			s, err := x.Alloc(64)
			if err != nil {
				return err
			}
			return errors.Join(s.Free(), x.Close())
		})
	}
	each(t, worlds, (*World).Close)
}
