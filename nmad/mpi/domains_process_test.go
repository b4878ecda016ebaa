package mpi

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/pm2-go/pm2/internal/test/effort"
)

// pairs has each rank of the lower half exchange 8 bytes with one of the upper half: in the world where there are
// many processes, or, of two processes, by goroutines with a communicator and a private domain each. Rank 0 says how
// long a message takes one way.
func pairs(goroutines, exchanges int) func(world *Comm) error {
	return func(world *Comm) error {
		half := world.Size() / 2
		peer, first := (world.Rank()+half)%world.Size(), world.Rank() < half
		if goroutines == 0 {
			took := []float64{pingpong(world, peer, first, exchanges)}
			if err := Allreduce(world, Sum, nil, took); err != nil {
				return err
			}
			if world.Rank() == 0 {
				fmt.Printf("took %.1f\n", took[0]/float64(world.Size()))
			}
			return nil
		}
		took, errs := make([]float64, goroutines), make([]error, goroutines)
		var all sync.WaitGroup
		for i := range goroutines {
			parent, err := world.Dup()
			if err != nil {
				return err
			}
			all.Go(func() {
				own, err := parent.Dup(NewInfo(KeyDomain, "private"))
				if errs[i] = err; err == nil {
					took[i] = pingpong(own, peer, first, exchanges)
				}
			})
		}
		all.Wait()
		sum := 0.0
		for _, x := range took {
			sum += x
		}
		if world.Rank() == 0 {
			fmt.Printf("took %.1f\n", sum/float64(goroutines))
		}
		return errors.Join(errs...)
	}
}

// pingpong is the median of some samples of exchanges, in ns one way.
func pingpong(c *Comm, peer int, first bool, exchanges int) float64 {
	const samples = 11
	b, took := make([]byte, 8), make([]float64, samples)
	for i := range took {
		began := time.Now()
		for range exchanges {
			var err, err2 error
			if first {
				err = Send(c, b, peer, 1)
			}
			_, _, err2 = Recv(c, b, peer, 1)
			if !first {
				err = Send(c, b, peer, 1)
			}
			if err := errors.Join(err, err2); err != nil {
				panic(err)
			}
		}
		took[i] = float64(time.Since(began).Nanoseconds()) / float64(2*exchanges)
	}
	slices.Sort(took)
	return took[samples/2]
}

// TestThreadsBesideProcesses logs what messages take of goroutines with domains of their own, and of as many
// processes. With -long.
func TestThreadsBesideProcesses(t *testing.T) {
	counts := []int{2}
	if effort.Long() {
		counts = []int{1, 2, 4, 8}
	}
	for _, n := range counts {
		var ns [2]float64
		for i, what := range []string{fmt.Sprint("pairs ", n), "pairs 0"} {
			text, err := run(t, fmt.Sprint(what, " ", effort.Of(1000)), []int{2, 2 * n}[i], "shm")
			found := regexp.MustCompile(`took ([0-9.]+)`).FindStringSubmatch(text)
			if err != nil || found == nil {
				t.Fatalf("%s: %v: %s", what, err, text)
			}
			ns[i], _ = strconv.ParseFloat(found[1], 64)
		}
		t.Logf("%d goroutines with a domain each: %.0f ns; %d processes on as many cores: %.0f ns; ratio %.2f", n, ns[0], n, ns[1], ns[0]/ns[1])
	}
}

// child is what a process of a test is to be.
func child(what string) func(*Comm) error {
	if n, ok := strings.CutPrefix(what, "pairs "); ok {
		goroutines, exchanges, _ := strings.Cut(n, " ")
		of, _ := strconv.Atoi(goroutines)
		many, _ := strconv.Atoi(exchanges)
		return pairs(of, many)
	}
	return map[string]func(*Comm) error{"works": works, "fails": fails, "dies": dies, "dies inside": diesInside, "counted": counted, "privates": privates, "mistaken": mistaken, "mistaken, goes on": mistakenGoesOn, "windows": windowsOf, "window of the dead": windowOfDead}[what]
}
