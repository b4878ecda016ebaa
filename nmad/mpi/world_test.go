package mpi

import (
	"errors"
	"fmt"
	"net"
	"os"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/pm2-go/pm2/nmad"
	"github.com/pm2-go/pm2/pioman"
)

// each runs f for each rank of a job whose processes are sessions of this one, each with an engine that progresses in
// the background, and expects no error.
func each(t *testing.T, size int, f func(world *Comm) error) {
	t.Helper()
	eachOver(t, "shm", size, f)
}

// eachOver is each over that driver.
func eachOver(t *testing.T, driver string, size int, f func(world *Comm) error) {
	t.Helper()
	for rank, err := range errsOver(t, driver, size, f) {
		if err != nil {
			t.Errorf("rank %d: %v", rank, err)
		}
	}
}

func eachErrs(t *testing.T, size int, f func(world *Comm) error) []error {
	t.Helper()
	return errsOver(t, "shm", size, f)
}

// errsOver is eachErrs over that driver.
func errsOver(t *testing.T, driver string, size int, f func(world *Comm) error) []error {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	errs, sessions := make([]error, size), make([]atomic.Pointer[nmad.Session], size)
	var all sync.WaitGroup
	for rank := range size {
		all.Go(func() {
			engine := pioman.New(pioman.Config{})
			defer engine.Close()
			cfg := nmad.Config{
				Rank: rank, Size: size, Rendezvous: l.Addr().String(), Secret: []byte("sixteen bytes and more of a test"),
				Engine: engine, Driver: driver, Timeout: 30 * time.Second, Linger: time.Second,
			}
			if rank == 0 {
				cfg.Listener = l
			}
			session, err := nmad.Open(t.Context(), cfg)
			if err != nil {
				errs[rank] = err
				return
			}
			sessions[rank].Store(session)
			world, err := New(session)
			if err == nil {
				err = f(world)
				errs[rank] = err
				err = world.Finalize()
			}
			errs[rank] = errors.Join(errs[rank], err)
		})
	}
	over := make(chan struct{})
	go func() { all.Wait(); close(over) }()
	select {
	case <-over:
	case <-time.After(time.Minute):
		fmt.Fprintln(os.Stderr, "mpi: a test hangs")
		for i := range sessions {
			fmt.Fprintln(os.Stderr, sessions[i].Load())
		}
		panic("hang")
	}
	return errs
}

// expect compares.
func expect[T comparable](got, want []T) error {
	if len(got) != len(want) {
		return fmt.Errorf("%d elements, want %d", len(got), len(want))
	}
	for i := range got {
		if got[i] != want[i] {
			return fmt.Errorf("element %d of %d is %v, want %v", i, len(got), got[i], want[i])
		}
	}
	return nil
}
