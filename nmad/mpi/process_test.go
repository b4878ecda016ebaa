package mpi

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/pm2-go/pm2/nmad"
	"github.com/pm2-go/pm2/nmad/launch"
)

// childVariable tells this program, started by one of its tests, what to be.
const childVariable = "MPI_TEST"

func TestMain(m *testing.M) {
	switch what := os.Getenv(childVariable); what {
	case "":
		os.Exit(m.Run())
	case "sessions":
		if err := sessions(); err != nil {
			fmt.Fprintln(os.Stderr, err)
		}
	case "machine":
		os.Exit(beMachine(os.Args[1], os.Args[2], os.Args[3], os.Args[4:]))
	case "host":
		beHost()
	default:
		Main(child(what))
	}
	os.Exit(0)
}

// works does a little of everything, and says so.
func works(world *Comm) error {
	for _, n := range []int{1, 1000, 200_000} {
		if err := collectives(world, n, n%world.Size()); err != nil {
			return err
		}
	}
	half, err := world.Split(world.Rank()%2, 0)
	if err != nil {
		return err
	}
	sum := []int32{1}
	r := Allreduce(half.Immediate(), Sum, nil, sum)
	if _, err := r.Wait(); err != nil || int(sum[0]) != half.Size() {
		return fmt.Errorf("%v, %w", sum, err)
	}
	fmt.Println("rank", world.Rank(), "is done")
	return nil
}

// sessions opens two sessions, as a program and a library would, each with communicators of its own.
func sessions() error {
	first, err := OpenSession(context.Background())
	if err != nil {
		return fmt.Errorf("the first: %w", err)
	}
	second, err := OpenSession(context.Background())
	if err != nil {
		return fmt.Errorf("the second: %w", err)
	}
	for _, s := range []*Session{first, second} {
		for _, set := range s.Sets() {
			g, err := s.Group(set)
			if err != nil {
				return err
			}
			hints, err := s.Info(set)
			if err != nil {
				return err
			}
			if size, _ := hints.Get("mpi_size"); size != fmt.Sprint(g.Size()) {
				return fmt.Errorf("%s has %s processes, the group %d", set, size, g.Size())
			}
			c, err := s.Comm(g, "test of "+set)
			if err != nil {
				return err
			}
			if err := collectives(c, 10, 0); err != nil {
				return fmt.Errorf("%v: %w", c, err)
			}
		}
		if _, err := s.Group("mpi://NONE"); !errors.Is(err, ErrGroup) {
			return fmt.Errorf("a set that is not there: %w", err)
		}
	}
	if err := errors.Join(first.Close(), first.Close()); err != nil {
		return err
	}
	g, _ := second.Group(SetWorld)
	c, err := second.Comm(g, "after the first has closed")
	if err != nil {
		return err
	}
	if err := c.Barrier(); err != nil {
		return err
	}
	fmt.Println("rank", c.Rank(), "has had sessions")
	return second.Close()
}

// TestSessions: sessions in processes of a job.
func TestSessions(t *testing.T) {
	text, err := run(t, "sessions", 3, "")
	if err != nil || strings.Count(text, "has had sessions") < 3 {
		t.Errorf("%v: %s", err, text)
	}
}

// fails returns an error at one rank, while the others wait for it.
func fails(world *Comm) error {
	if world.Rank() == 1 {
		return errors.New("rank 1 has had enough")
	}
	return world.Barrier()
}

// dies ends at one rank, without a word.
func dies(world *Comm) error {
	if world.Rank() == 1 {
		os.Exit(7)
	}
	_, _, err := Recv(world, []int32{0}, 1, 0)
	if !errors.Is(err, nmad.ErrPeerLost) {
		return fmt.Errorf("a receive from a process that has died: %w", err)
	}
	fmt.Println("rank", world.Rank(), "has lost rank 1")
	return nil
}

// diesInside ends at one rank, while all reduce.
func diesInside(world *Comm) error {
	if world.Rank() == world.Size()-1 {
		time.AfterFunc(20*time.Millisecond, func() { os.Exit(7) })
	}
	s := make([]float64, 50_000)
	for {
		err := Allreduce(world, Sum, nil, s)
		switch {
		case err == nil:
			clear(s)
		case known(err):
			fmt.Println("rank", world.Rank(), "knows")
			return nil
		default:
			return err
		}
	}
}

// run starts this program as a job, and returns what it has printed, and how it has ended.
func run(t *testing.T, what string, n int, driver string) (string, error) {
	t.Helper()
	var mu sync.Mutex
	var text strings.Builder
	w := writer(func(b []byte) (int, error) {
		mu.Lock()
		defer mu.Unlock()
		return text.Write(b)
	})
	j, err := launch.Start(launch.Spec{
		N: n, Driver: driver, Grace: 10 * time.Second, Env: []string{childVariable + "=" + what},
		Stdout: func(int) io.Writer { return w }, Stderr: func(int) io.Writer { return w },
	})
	if err != nil {
		t.Fatal(err)
	}
	defer j.Kill()
	select {
	case <-j.Done():
	case <-time.After(2 * time.Minute):
		t.Fatalf("the job does not end; it says: %s", text.String())
	}
	err = j.Wait()
	mu.Lock()
	defer mu.Unlock()
	return text.String(), err
}

type writer func([]byte) (int, error)

func (wr writer) Write(b []byte) (int, error) { return wr(b) }

// TestProcesses: a program that Main runs, as jobs of one to four processes.
func TestProcesses(t *testing.T) {
	for _, n := range []int{1, 2, 3, 4} {
		for _, driver := range []string{"shm", "tcp"} {
			t.Run(fmt.Sprintf("%d over %s", n, driver), func(t *testing.T) {
				text, err := run(t, "works", n, driver)
				if err != nil || strings.Count(text, "is done") != n {
					t.Errorf("%v, and it says: %s", err, text)
				}
			})
		}
	}
}

// TestOneFails: an error at one rank ends the job, and is what the job says.
func TestOneFails(t *testing.T) {
	text, err := run(t, "fails", 3, "shm")
	if err == nil || !strings.Contains(text, "rank 1 has had enough") {
		t.Errorf("%v, and it says: %s", err, text)
	}
}

// TestOneDies: a receive from a process that has died ends.
func TestOneDies(t *testing.T) {
	text, err := run(t, "dies", 2, "shm")
	if err == nil || !strings.Contains(text, "has lost rank 1") {
		t.Errorf("%v, and it says: %s", err, text)
	}
}

// TestOneDiesInside: when a process dies in a collective operation all others return from it.
func TestOneDiesInside(t *testing.T) {
	for _, n := range []int{2, 3, 5} {
		text, err := run(t, "dies inside", n, "shm")
		if err == nil || strings.Count(text, "knows") != n-1 {
			t.Errorf("%d processes: %v, and they say: %s", n, err, text)
		}
	}
}
