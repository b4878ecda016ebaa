package pool

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/pm2-go/pm2/marcel"
	"github.com/pm2-go/pm2/nmad"
	"github.com/pm2-go/pm2/nmad/launch"
	"github.com/pm2-go/pm2/nmad/rma"
	"github.com/pm2-go/pm2/pioman"
)

// Tests with real processes: this program starts itself, and POOL_TEST tells it how many workers to have.
const workersVariable = "POOL_TEST"

func TestMain(m *testing.M) {
	workers, err := strconv.Atoi(os.Getenv(workersVariable))
	if err != nil {
		os.Exit(m.Run())
	}
	marcel.Run(func() { err = act(workers) })
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

const depth = 14 // of the tree

// act counts a binary tree with some workers, and prints how many nodes they have met.
func act(workers int) error {
	stop, err := pioman.Enable()
	if err != nil {
		return err
	}
	defer stop()
	s, err := nmad.Join(context.Background())
	if err != nil {
		return err
	}
	world, err := rma.Open(s)
	if err != nil {
		return err
	}
	p, err := Open(world, Config{Workers: workers, Shelf: 16})
	if err != nil {
		return err
	}
	errs, done, ts := make([]error, workers), make([]int64, workers), make([]marcel.Thread, workers)
	for i := range workers {
		ts[i] = marcel.Spawn(func() {
			w, err := p.Worker(i)
			if err == nil && s.Rank() == 0 && i == 0 {
				err = w.Push(binary.LittleEndian.AppendUint64(nil, 0))
			}
			if err == nil {
				err = w.Run(context.Background(), func(task []byte) error {
					level := binary.LittleEndian.Uint64(task)
					if level == depth {
						return nil
					}
					var child [8]byte
					binary.LittleEndian.PutUint64(child[:], level+1)
					return errors.Join(w.Push(child[:]), w.Push(child[:]))
				})
				done[i] = w.Done
			}
			errs[i] = err
		})
	}
	for i, t := range ts {
		errs[i] = errors.Join(errs[i], t.Join())
	}
	for _, n := range done {
		fmt.Println(n)
	}
	return errors.Join(errors.Join(errs...), p.Close(), world.Close(), s.Close())
}

// TestTree: processes, each of some workers, meet each node of a tree once, over shared memory and by messages.
func TestTree(t *testing.T) {
	for _, x := range []struct {
		driver             string
		processes, workers int
	}{{"shm", 1, 1}, {"shm", 2, 1}, {"shm", 1, 3}, {"shm", 3, 2}, {"tcp", 2, 1}} {
		t.Run(fmt.Sprint(x), func(t *testing.T) {
			var mu sync.Mutex
			var out strings.Builder
			write := writer(func(b []byte) (int, error) {
				mu.Lock()
				defer mu.Unlock()
				return out.Write(b)
			})
			to := func(int) io.Writer { return write }
			j, err := launch.Start(launch.Spec{N: x.processes, Driver: x.driver, Stdout: to, Stderr: to, Env: []string{fmt.Sprint(workersVariable, "=", x.workers)}})
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(j.Kill)
			if err := j.Wait(); err != nil {
				t.Fatal(err, out.String())
			}
			sum := 0
			for line := range strings.Lines(out.String()) {
				n, err := strconv.Atoi(strings.TrimSpace(line))
				if err != nil {
					t.Fatal(err)
				}
				sum += n
			}
			if want := 1<<(depth+1) - 1; sum != want {
				t.Errorf("%d nodes of %d", sum, want)
			}
		})
	}
}

type writer func(b []byte) (int, error)

func (w writer) Write(b []byte) (int, error) { return w(b) }

// TestConfig: what cannot be is an error that says so.
func TestConfig(t *testing.T) {
	s, err := nmad.Open(t.Context(), nmad.Config{Size: 1})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	world, err := rma.Open(s)
	if err != nil {
		t.Fatal(err)
	}
	defer world.Close()
	if _, err := Open(world, Config{Workers: -1}); !errors.Is(err, ErrConfig) {
		t.Error(err)
	}
	p, err := Open(world, Config{TaskBytes: 3})
	if err != nil {
		t.Fatal(err)
	}
	w, err := p.Worker(0)
	if err != nil {
		t.Fatal(err)
	}
	if err := w.Push(make([]byte, 4)); !errors.Is(err, ErrConfig) {
		t.Error(err)
	}
	wrong := errors.New("wrong")
	if err := errors.Join(w.Push([]byte("abc")), w.Run(t.Context(), func(task []byte) error {
		if string(task) != "abc" {
			t.Errorf("%q", task)
		}
		return wrong
	})); !errors.Is(err, wrong) {
		t.Error(err)
	}
	if err := p.Close(); err != nil {
		t.Error(err)
	}
}
