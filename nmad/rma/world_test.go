package rma

import (
	"context"
	"errors"
	"fmt"
	"net"
	"sync"
	"testing"

	"github.com/pm2-go/pm2/nmad"
	"github.com/pm2-go/pm2/pioman"
)

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
	for rank := range n {
		all.Go(func() {
			cfg := nmad.Config{Rank: rank, Size: n, Driver: driver, Rendezvous: l.Addr().String(), Secret: []byte("a secret of the test"), Unbound: true}
			if rank == 0 {
				cfg.Listener = l
			}
			cfg.Engine = pioman.New(pioman.Config{})
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

func TestThin(t *testing.T) {
	for _, n := range []int{1, 2, 3} {
		worlds := job(t, "shm", n, options{})
		each(t, worlds, func(w *World) error {
			s, err := w.Alloc(5000)
			if err != nil {
				return err
			}
			d := w.Default()
			next := (w.Rank() + 1) % w.Size()
			for i := range 1000 {
				if err := d.PutSignal(s.At(next, 64), []byte{byte(i), 7}, s.At(next, 0), SignalAdd, 1); err != nil {
					return err
				}
				if _, err := d.WaitSignal(context.Background(), s.At(w.Rank(), 0), GE, uint64(i+1)); err != nil {
					return err
				}
				if s.Bytes()[64] != byte(i) && n == 1 {
					return fmt.Errorf("%d: %d", i, s.Bytes()[64])
				}
				if _, err := Fetch(d, Add, s.At(0, 8), int64(1)); err != nil {
					return err
				}
			}
			if err := s.Free(); err != nil {
				return err
			}
			if err := d.Put(s.At(0, 0), []byte{1}); w.Rank() == 0 && !errors.Is(err, ErrKey) {
				return fmt.Errorf("freed: %w", err)
			}
			return nil
		})
	}
}
