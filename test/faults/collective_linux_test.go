package faults

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/pm2-go/pm2/marcel"
	"github.com/pm2-go/pm2/nmad"
	"github.com/pm2-go/pm2/nmad/mpi"
)

// collectives has this rank take part in collective operations of all ranks, blocking and immediate ones in turns,
// until one fails. Those that are left then revoke the communicator, shrink it, and go on in the smaller one.
func (t *traffic) collectives(world *mpi.Comm) {
	rng := stream{t.p, 0, 0, 1 << 41}.dice(7) // all ranks draw the same
	pace := time.Duration(rng.Int64N(int64(t.p.Pace)))
	for i := range 4 * t.p.Messages {
		if i%8 == 0 {
			marcel.Sleep(pace)
		}
		n := []int{1, 100, 20_000}[rng.IntN(3)]
		began := time.Now()
		wrong, err := operation(world, rng.IntN(8), n, i)
		if wrong != "" {
			t.b.bad("collective operation %d: %s", i, wrong)
		}
		if err == nil {
			continue
		}
		if !errors.Is(err, nmad.ErrPeerLost) && !errors.Is(err, mpi.ErrElsewhere) && !errors.Is(err, mpi.ErrRevoked) {
			t.b.bad("collective operation %d fails with %v", i, err)
		}
		if errors.Is(err, nmad.ErrPeerLost) || t.p.Kind.harmless() {
			t.b.failed("collective", t.p.Victim, began, err)
		}
		t.goOn(world)
		return
	}
}

// goOn is what survivors do: only where all of them lose the victim.
func (t *traffic) goOn(world *mpi.Comm) {
	if err := world.Failures().Revoke(); err != nil {
		t.b.bad("revoke: %v", err)
		return
	}
	if !t.p.loses() || t.s.Rank() == t.p.Victim {
		return
	}
	began := time.Now()
	ctx, stop := context.WithTimeout(context.Background(), time.Minute)
	defer stop()
	left, err := world.Failures().Shrink(ctx)
	if err != nil {
		t.b.bad("shrink, after %v%s: %v", time.Since(began), starved("", err), err)
		return
	}
	if left.Size() != t.p.Size-1 {
		t.b.bad("%d ranks are left of %d (starved?)", left.Size(), t.p.Size) // if others have been lost, and that others are lost is said besides
	}
	for i := range 16 {
		wrong, err := operation(left, i%8, 50, i)
		if wrong != "" || err != nil {
			t.b.bad("operation %d without the victim%s: %s, %v", i, starved(wrong, err), wrong, err)
			return
		}
	}
}

// starved marks what a survivor that was lost for want of processors explains, but for wrong results.
func starved(wrong string, err error) string {
	if wrong == "" && (errors.Is(err, nmad.ErrPeerLost) || errors.Is(err, mpi.ErrElsewhere) || errors.Is(err, nmad.ErrExcluded)) {
		return " (starved?)"
	}
	return ""
}

// operation does one, whose result it knows.
func operation(c *mpi.Comm, which, n, round int) (wrong string, err error) {
	size := c.Size()
	mine, out, all := make([]int64, n), make([]int64, n), make([]int64, n*size)
	for i := range mine {
		mine[i] = int64(c.Rank() + i + round)
	}
	want := func(f func(i int) int64) []int64 {
		x := make([]int64, n)
		for i := range x {
			x[i] = f(i)
		}
		return x
	}
	sum := func(i int) int64 { return int64(size*(i+round) + size*(size-1)/2) }
	root := round % size
	expected := want(sum)
	switch which {
	case 0:
		return "", c.Barrier()
	case 1:
		err = mpi.Allreduce(c, mpi.Sum, mine, out)
	case 2:
		_, err = mpi.Allreduce(c.Immediate(), mpi.Sum, mine, out).Wait()
	case 3:
		copy(out, mine)
		expected = want(func(i int) int64 { return int64(root + i + round) })
		err = mpi.Bcast(c, out, root)
	case 4:
		copy(out, mine)
		expected = want(func(i int) int64 { return int64(root + i + round) })
		_, err = mpi.Bcast(c.Immediate(), out, root).Wait()
	case 5:
		if err = mpi.Reduce(c, mpi.Sum, mine, out, root); c.Rank() != root {
			return "", err
		}
	case 6:
		err = mpi.Allgather(c, mine, all)
		out, expected = all[root*n:][:n], want(func(i int) int64 { return int64(root + i + round) })
	default:
		in := make([]int64, n*size)
		for i := range in {
			in[i] = int64(c.Rank()*1000 + i/n)
		}
		err = mpi.Alltoall(c, in, all)
		out, expected = all[root*n:][:n], want(func(int) int64 { return int64(root*1000 + c.Rank()) })
	}
	if err == nil && !slices.Equal(out, expected) {
		wrong = fmt.Sprintf("operation %d of %d elements at rank %d of %d: %v..., want %v...", which, n, c.Rank(), size, out[0], expected[0])
	}
	return wrong, err
}
