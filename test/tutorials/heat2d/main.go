// A port of the heat equation ("mpi_heat2D.c") of LLNL's MPI tutorial.

package main

import (
	"errors"
	"fmt"

	"github.com/pm2-go/pm2/nmad/mpi"
)

const rows, columns, steps = 20, 20, 100
const work, up, down, done = 1, 2, 3, 4 // tags

type grid [rows][columns]float32

// update computes some rows of next; the edge of the grid stays as it is.
func (g *grid) update(next *grid, first, end int) {
	for x := max(first, 1); x < min(end, rows-1); x++ {
		for y := 1; y < columns-1; y++ {
			next[x][y] = g[x][y] + 0.1*(g[x-1][y]+g[x+1][y]-2*g[x][y]) + 0.1*(g[x][y-1]+g[x][y+1]-2*g[x][y])
		}
	}
}

// A band is the rows of a worker, the ranks that have those before and behind them, and the grid, where only its rows
// count.
type band struct {
	first, end, above, below int
	points                   grid
}

func master(world *mpi.Comm) error {
	var all grid
	for x := range rows {
		for y := range columns {
			all[x][y] = float32(x * (rows - 1 - x) * y * (columns - 1 - y))
		}
	}
	for w, size := 0, world.Size(); w < size; w++ {
		b := band{rows * w / size, rows * (w + 1) / size, w - 1, w + 1, all}
		if w == 0 {
			b.above = mpi.ProcNull
		}
		if w == size-1 {
			b.below = mpi.ProcNull
		}
		if err := mpi.Send(world, []band{b}, w, work); err != nil {
			return err
		}
	}
	now, next := all, all
	for range steps { // meanwhile the same alone
		now.update(&next, 0, rows)
		now, next = next, now
	}
	for range world.Size() {
		b := make([]band, 1)
		if _, _, err := mpi.Recv(world, b, mpi.AnySource, done); err != nil {
			return err
		}
		copy(all[b[0].first:b[0].end], b[0].points[b[0].first:b[0].end])
	}
	fmt.Printf("%d points after %d steps are as computed alone: %t\n", rows*columns, steps, all == now)
	return nil
}

func worker(world *mpi.Comm) error {
	own := make([]band, 1)
	if _, _, err := mpi.Recv(world, own, 0, work); err != nil {
		return err
	}
	b := &own[0]
	now, next := b.points, b.points
	for range steps {
		_, _, err := mpi.Sendrecv(world, now[b.first][:], b.above, up, now[min(b.end, rows-1)][:], b.below, up)
		_, _, err2 := mpi.Sendrecv(world, now[b.end-1][:], b.below, down, now[max(b.first-1, 0)][:], b.above, down)
		if err := errors.Join(err, err2); err != nil {
			return err
		}
		now.update(&next, b.first, b.end)
		now, next = next, now
	}
	b.points = now
	return mpi.Send(world, own, 0, done)
}

func main() {
	mpi.Main(func(world *mpi.Comm) error {
		if world.Rank() > 0 {
			return worker(world)
		}
		result := make(chan error, 2)
		go func() { result <- worker(world) }() // rank 0 is one, too
		go func() { result <- master(world) }()
		if err := <-result; err != nil {
			return err
		}
		return <-result
	})
}
