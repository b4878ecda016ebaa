package mpi

import (
	"errors"
	"fmt"
	"strings"
	"testing"
)

// TestMistakeInMaking: where one rank cannot make a communicator that it asks for, it says why, none has one, and
// what it was to be made from goes on.
func TestMistakeInMaking(t *testing.T) {
	each(t, 3, func(w *Comm) error {
		wrong := w.Rank() == 1
		part, err := w.Group().Include(either(wrong, []int{1}, []int{0, 2})...)
		if err != nil {
			return err
		}
		c, err := w.Create(part)
		if err != nil {
			return err
		}
		if wrong {
			c = w
		}
		grid, err := NewCart(w, []int{3, 1}, []bool{false, false})
		if err != nil {
			return err
		}
		foreign, _ := w.Group().Include(0, 2)
		for name, made := range []func() (any, error){
			func() (any, error) { return NewCart(w, []int{either(wrong, 4, 3)}, []bool{true}) },
			func() (any, error) { return NewCart(w, []int{3}, make([]bool, either(wrong, 2, 1))) },
			func() (any, error) { return grid.Sub(make([]bool, either(wrong, 3, 2))...) },
			func() (any, error) { return NewDistGraphAdjacent(w, []int{either(wrong, 5, 0)}, []int{0}) },
			func() (any, error) { return NewDistGraph(w, [][2]int{{0, either(wrong, 5, 0)}}) },
			func() (any, error) { return NewGraph(w, make([][]int, either(wrong, 4, 3))) },
		} {
			if _, err := made(); err == nil || wrong == errors.Is(err, ErrElsewhere) && name != 4 {
				return fmt.Errorf("%d: it says %w", name, err)
			}
			if err := collectives(w, 3, 0); err != nil {
				return fmt.Errorf("%d, and then: %w", name, err)
			}
		}
		if c != w && c.Rank() == 0 { // a group of others
			whole := w.Group()
			if _, err := c.Create(whole); !errors.Is(err, ErrGroup) {
				return fmt.Errorf("a group of others: %w", err)
			}
		} else if c != w {
			if _, err := c.Create(foreign); !errors.Is(err, ErrElsewhere) {
				return fmt.Errorf("beside a group of others: %w", err)
			}
		}
		return w.Barrier()
	})
}

// mistaken makes a mistake at one rank, before there is any link.
func mistaken(world *Comm) error {
	if err := world.Bcast(some(1), either(world.Rank() == 1, 9, 0)); err != nil {
		return err
	}
	return world.Barrier()
}

// mistakenGoesOn is the same in a program that goes on without the communicator.
func mistakenGoesOn(world *Comm) error {
	spare, err := world.Dup()
	if err != nil {
		return err
	}
	if err := mistaken(world); err == nil || errors.Is(err, ErrElsewhere) == (world.Rank() == 1) {
		return fmt.Errorf("rank %d is not told: %w", world.Rank(), err)
	}
	if err := spare.Barrier(); err != nil {
		return err
	}
	fmt.Println("rank", world.Rank(), "goes on")
	return nil
}

// TestMistakenProcesses: a job ends soon in which a process has made a mistake, and each line that it prints says
// briefly what has happened; a program may also go on, and ends as others do.
func TestMistakenProcesses(t *testing.T) {
	text, err := run(t, "mistaken", 4, "")
	if err == nil || !strings.Contains(text, "root 9 of 4") {
		t.Errorf("%v, and it says: %s", err, text)
	}
	for line := range strings.Lines(text) {
		if len(line) > 250 || strings.Contains(line, "cannot link") {
			t.Errorf("a line of %d bytes: %s", len(line), line)
		}
	}
	for _, driver := range []string{"shm", "tcp"} {
		text, err := run(t, "mistaken, goes on", 3, driver)
		if err != nil || strings.Count(text, "goes on") != 3 {
			t.Errorf("%s: %v, and it says: %s", driver, err, text)
		}
	}
}

// TestShrinkAfterMistake: a communicator like the one that has failed is to be had, for operations and for groups;
// and messages go on in that one, in parts, too.
func TestShrinkAfterMistake(t *testing.T) {
	each(t, 3, func(w *Comm) error {
		if err := mistaken(w); !errors.Is(err, ErrRank) && !errors.Is(err, ErrElsewhere) {
			return fmt.Errorf("it says %w", err)
		}
		next, last := (w.Rank()+1)%3, (w.Rank()+2)%3
		out, err1 := NewPartitionedSend(w, some(4), 2, next, 1)
		in, err2 := NewPartitionedReceive(w, some(4), 4, last, 1)
		if err := errors.Join(err1, err2); err != nil {
			return err
		}
		if err := errors.Join(in.Start(), out.Start(), out.Ready(0, 1)); err != nil {
			return err
		}
		if _, err := WaitAll(in.Request, out.Request); err != nil {
			return fmt.Errorf("parts: %w", err)
		}
		g, err := w.CreateGroup(w.Group(), 3)
		if err != nil {
			return err
		}
		c, err := w.Failures().Shrink(t.Context())
		if err != nil {
			return err
		}
		return errors.Join(collectives(g, 3, 1), collectives(c, 3, 1))
	})
}
