// A port of the random walk ("random_walk.cc") of "mpitutorial.com".

package main

import (
	"context"
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"

	"github.com/pm2-go/pm2/nmad/mpi"
	"github.com/pm2-go/pm2/nmad/mpi/datatype"
)

const (
	domain  = 101 // places; behind the last one comes the first one
	longest = 500 // steps of a walk
	each    = 25  // walkers of a rank
)

type walker struct{ place, steps int }

// part is where the places of a rank begin and end.
func part(rank, size int) (first, end int) { return domain * rank / size, domain * (rank + 1) / size }

// begin returns the walkers that begin at a rank.
func begin(rank, size int) []walker {
	walkers, random := make([]walker, each), rand.New(rand.NewPCG(7, uint64(rank)))
	for i := range walkers {
		walkers[i].place, _ = part(rank, size)
		walkers[i].steps = random.IntN(longest)
	}
	return walkers
}

func main() {
	mpi.Main(func(world *mpi.Comm) error {
		rank, size := world.Rank(), world.Size()
		_, end := part(rank, size)
		next, last := (rank+1)%size, (rank+size-1)%size
		kind, err := datatype.OfGo(reflect.TypeFor[walker]())
		if err != nil {
			return err
		}
		here, ended := begin(rank, size), []int{}
		for range longest/(domain/size) + 1 {
			var leave []walker
			for _, w := range here {
				n := min(w.steps, end-w.place)
				if w.place+n < end {
					ended = append(ended, w.place+n)
				} else {
					leave = append(leave, walker{(w.place + n) % domain, w.steps - n})
				}
			}
			send := mpi.Isend(world, leave, next, 0)
			status, err := world.Probe(context.Background(), last, 0)
			if err != nil {
				return err
			}
			here = make([]walker, status.Count(kind))
			if _, _, err := mpi.Recv(world, here, last, 0); err != nil {
				return err
			}
			if _, err := send.Wait(); err != nil {
				return err
			}
		}
		counts, all := make([]int, size), make([]int, each*size)
		if err := mpi.Allgather(world, []int{len(ended)}, counts); err != nil {
			return err
		}
		if err := mpi.Gatherv(world, ended, all, counts, nil, 0); err != nil || rank != 0 {
			return err
		}
		var alone []int
		for r := range size {
			for _, w := range begin(r, size) {
				alone = append(alone, (w.place+w.steps)%domain)
			}
		}
		slices.Sort(all)
		slices.Sort(alone)
		fmt.Printf("%d walkers are where they end alone: %t\n", len(all), slices.Equal(all, alone))
		return nil
	})
}
