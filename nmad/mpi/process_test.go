package mpi

import (
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
	if what := os.Getenv(childVariable); what != "" {
		Main(map[string]func(*Comm) error{"works": works, "fails": fails, "dies": dies, "dies inside": diesInside}[what])
		os.Exit(0)
	}
	os.Exit(m.Run())
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
	r := Iallreduce(half, Sum, nil, sum)
	if _, err := r.Wait(); err != nil || int(sum[0]) != half.Size() {
		return fmt.Errorf("%v, %w", sum, err)
	}
	fmt.Println("rank", world.Rank(), "is done")
	return nil
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

func (w writer) Write(b []byte) (int, error) { return w(b) }

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
