package nas

import (
	"fmt"
	"math"

	"github.com/pm2-go/pm2/cmd/demo/internal/ep"
	"github.com/pm2-go/pm2/nmad/mpi"
)

// The sizes of EP, and the published sums.
var epClasses = []struct {
	m    int
	x, y float64
}{
	{24, -3.247834652034740e3, -6.958407078382297e3},
	{25, -2.863319731645753e3, -6.320053679109499e3},
	{28, -4.295875165629892e3, -1.580732573678431e4},
}

const epSteps = 16

// parallel is the problem of EP: each rank computes every n-th batch of deviates, and the ranks reduce the sums.
type parallel struct {
	c     *mpi.Comm
	class int
}

// epState is the sums of a rank, after the last step those of all ranks.
type epState struct {
	*parallel
	sums ep.Sums
}

func newEP(c *mpi.Comm, class int) problem { return &parallel{c, class} }

func (p *parallel) steps() int   { return epSteps }
func (p *parallel) begin() state { return &epState{parallel: p} }

func (s *epState) set(from state) { s.sums = from.(*epState).sums }

// step computes a share of the rank's batches. The last one reduces the sums.
func (s *epState) step(i int) error {
	size, rank := s.c.Size(), s.c.Rank()
	own := (ep.Batches(epClasses[s.class].m) - rank + size - 1) / size
	for k := i * own / epSteps; k < (i+1)*own/epSteps; k++ {
		s.sums.Add(ep.Batch(rank + k*size))
	}
	if i < epSteps-1 {
		return nil
	}
	xy := []float64{s.sums.X, s.sums.Y}
	if err := mpi.Allreduce(s.c, mpi.Sum, nil, xy); err != nil {
		return err
	}
	s.sums.X, s.sums.Y = xy[0], xy[1]
	return mpi.Allreduce(s.c, mpi.Sum, nil, s.sums.Counts[:])
}

func (s *epState) verify() (string, error) {
	want := epClasses[s.class]
	off := func(got, want float64) bool { return math.Abs((got-want)/want) > 1e-8 }
	value := fmt.Sprintf("sums %.15e %.15e", s.sums.X, s.sums.Y)
	if off(s.sums.X, want.x) || off(s.sums.Y, want.y) {
		return "", fmt.Errorf("%s, published are %.15e %.15e", value, want.x, want.y)
	}
	return value, nil
}
