package mpi

import (
	"errors"
	"fmt"
	"testing"
)

// halves splits a world into two groups of given sizes, and makes an intercommunicator of them.
func halves(w *Comm, first int) (*Intercomm, error) {
	color, remote := 0, first
	if w.Rank() >= first {
		color, remote = 1, 0
	}
	half, err := w.Split(color, 0)
	if err != nil {
		return nil, err
	}
	defer half.Free()
	return NewIntercomm(half, 0, w, remote, 3)
}

// TestIntercomm: messages and all operations between two groups, of several sizes, in both directions, blocking and
// immediate.
func TestIntercomm(t *testing.T) {
	for _, sizes := range [][2]int{{1, 1}, {1, 3}, {2, 2}, {3, 2}} {
		t.Run(fmt.Sprint(sizes), func(t *testing.T) {
			each(t, sizes[0]+sizes[1], func(w *Comm) error {
				x, err := halves(w, sizes[0])
				if err != nil {
					return err
				}
				d, err := x.Dup()
				if err != nil {
					return err
				}
				defer d.Free()
				for _, c := range []*Intercomm{x, d} {
					if err := betweenGroups(c, w.Rank() < sizes[0]); err != nil {
						return err
					}
				}
				m, err := x.Merge(w.Rank() < sizes[0]) // the second group first
				if err != nil {
					return err
				}
				if want := (w.Rank() + sizes[1]) % w.Size(); m.Rank() != want {
					return fmt.Errorf("rank %d of the world is %d of the merged ones, want %d", w.Rank(), m.Rank(), want)
				}
				return m.Barrier()
			})
		})
	}
}

// value is what a process of a group gives.
func value(first bool, rank int) int64 {
	if first {
		return int64(rank + 1)
	}
	return int64(100 * (rank + 1))
}

// total is what a group gives, summed.
func total(first bool, size int) (sum int64) {
	for r := range size {
		sum += value(first, r)
	}
	return sum
}

func betweenGroups(x *Intercomm, first bool) error {
	if x.Group().Size() != x.Size() || x.RemoteGroup().Size() != x.RemoteSize() || x.Group().Intersection(x.RemoteGroup()).Size() != 0 {
		return fmt.Errorf("groups %v and %v", x.Group(), x.RemoteGroup())
	}
	mine, err := On([]int64{value(first, x.Rank())})
	if err != nil {
		return err
	}
	// Messages: each to the one with its rank modulo the size.
	to := x.Rank() % x.RemoteSize()
	send := x.Immediate().Send(mine, to, 1)
	for r := range x.RemoteSize() {
		if r%x.Size() != x.Rank() {
			continue
		}
		got := make([]int64, 1)
		b, _ := On(got)
		s, err := x.Recv(b, r, 1)
		if err != nil || got[0] != value(!first, r) || s.Source != r {
			return fmt.Errorf("from rank %d of the other group: %d, %+v, %w", r, got[0], s, err)
		}
	}
	if _, err := send.Wait(); err != nil {
		return err
	}
	if err := x.Send(mine, x.RemoteSize(), 1); !errors.Is(err, ErrRank) {
		return fmt.Errorf("to a rank that is not there: %w", err)
	}
	// Operations without a root.
	n := x.RemoteSize()
	all, sum, share := make([]int64, n), make([]int64, 1), make([]int64, 1)
	a, _ := On(all)
	s, _ := On(sum)
	sh, _ := On(share)
	out := Blocks{Buffer: a, Each: 1}
	same := func(what string, got int64, want int64) {
		if got != want && err == nil {
			err = fmt.Errorf("%s: %d, want %d", what, got, want)
		}
	}
	join := func(e error) {
		if err == nil {
			err = e
		}
	}
	join(x.Barrier())
	join(x.Allgather(mine, out))
	for r := range n {
		same("allgather", all[r], value(!first, r))
	}
	clear(all)
	_, e := x.Immediate().Allgather(mine, out).Wait()
	join(e)
	for r := range n {
		same("iallgather", all[r], value(!first, r))
	}
	each := make([]int64, n)
	for r := range each {
		each[r] = value(first, x.Rank())*10 + int64(r)
	}
	in, _ := On(each)
	join(x.Alltoall(Blocks{Buffer: in, Each: 1}, out))
	for r := range n {
		same("alltoall", all[r], value(!first, r)*10+int64(x.Rank()))
	}
	join(x.Allreduce(Sum, mine, s))
	same("allreduce", sum[0], total(!first, n))
	_, e = x.Immediate().Allreduce(Max, mine, s).Wait()
	join(e)
	same("iallreduce", sum[0], value(!first, n-1))
	if x.Size() == n {
		join(x.ReduceScatter(Sum, Blocks{Buffer: in, Each: 1}, sh))
		same("reduce-scatter", share[0], total(!first, n)*10+int64(n*x.Rank()))
	}
	// Operations with a root, in both directions.
	for _, firstRoots := range []bool{true, false} {
		root := 0 // of the last rank of the group that has it
		switch last := x.Size() - 1; {
		case first == firstRoots && x.Rank() == last:
			root = Root
		case first == firstRoots:
			root = ProcNull
		default:
			root = n - 1
		}
		sum[0] = value(firstRoots, 7)
		join(x.Bcast(s, root))
		same("bcast", sum[0], value(firstRoots, 7))
		join(x.Reduce(Sum, mine, s, root))
		if root == Root {
			same("reduce", sum[0], total(!first, n))
		}
		join(x.Gather(mine, out, root))
		if root == Root {
			for r := range n {
				same("gather", all[r], value(!first, r))
			}
		}
		for r := range all {
			all[r] = int64(1000 + r)
		}
		join(x.Scatter(out, sh, root))
		if root >= 0 {
			same("scatter", share[0], int64(1000+x.Rank()))
		}
	}
	return err
}

// TestIntercommWrong: groups with a process in common make none, and every rank is told.
func TestIntercommWrong(t *testing.T) {
	each(t, 2, func(w *Comm) error {
		if _, err := NewIntercomm(w, 0, w, w.Rank(), 0); !errors.Is(err, ErrGroup) {
			return fmt.Errorf("a group with itself: %w", err)
		}
		if _, err := NewIntercomm(w, 5, w, 0, 0); !errors.Is(err, ErrRank) {
			return fmt.Errorf("a leader that is not there: %w", err)
		}
		for _, root := range []int{1, -5} {
			x, err := NewIntercomm(w.Self(), 0, w, 1-w.Rank(), 0)
			if err != nil {
				return err
			}
			if err := x.Bcast(Buffer{}, root); !errors.Is(err, ErrRank) {
				return fmt.Errorf("root %d: %w", root, err)
			}
		}
		return nil
	})
}

// TestIntercommForeignMessage: a message of the program that a leader takes for the other group is refused, whatever it
// has.
func TestIntercommForeignMessage(t *testing.T) {
	each(t, 2, func(w *Comm) error {
		for _, sent := range [][]int64{{0, 0, 0}, {7, 0, 1}, {-3, 0, 1}, {1, 2, 0}, {1, -1, 0}, {2, 1, 1}} {
			if w.Rank() == 1 {
				if err := Send(w, sent, 0, 3); err != nil {
					return err
				}
				if _, _, err := Recv(w, make([]int64, 3), 0, 3); err != nil {
					return err
				}
			} else if _, err := NewIntercomm(w.Self(), 0, w, 1, 3); !errors.Is(err, ErrGroup) {
				return fmt.Errorf("group %v: %w", sent, err)
			}
		}
		return nil
	})
}
