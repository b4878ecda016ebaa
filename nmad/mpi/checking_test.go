package mpi

import (
	"errors"
	"fmt"
	"strings"
	"testing"
)

// TestChecking: with checks all operations work as without; and calls that differ, in what, root, operation, size or
// form, which would wait for ever, or give nonsense, fail at all ranks, and the error names a rank and both calls.
func TestChecking(t *testing.T) {
	each(t, 3, func(c *Comm) error {
		c.job.checks = true
		for root := range 3 {
			if err := collectives(c, 5, root); err != nil {
				return err
			}
		}
		_, err := Allreduce(c.Immediate(), Sum, []int64{1}, []int64{0}).Wait()
		return err
	})
	one := func() []int64 { return make([]int64, 1) }
	for name, calls := range map[string][2]func(c *Comm) error{
		"what":      {(*Comm).Barrier, func(c *Comm) error { return Bcast(c, one(), 0) }},
		"root":      {func(c *Comm) error { return Bcast(c, one(), 0) }, func(c *Comm) error { return Bcast(c, one(), 2) }},
		"operation": {func(c *Comm) error { return Allreduce(c, Sum, one(), one()) }, func(c *Comm) error { return Allreduce(c, Max, one(), one()) }},
		"size":      {func(c *Comm) error { return Allreduce(c, Sum, one(), one()) }, func(c *Comm) error { return Allreduce(c, Sum, make([]int64, 2), make([]int64, 2)) }},
		"kind":      {func(c *Comm) error { return Bcast(c, one(), 0) }, func(c *Comm) error { return Bcast(c, []float64{0}, 0) }},
		"form":      {(*Comm).Barrier, func(c *Comm) error { _, err := c.Immediate().Barrier().Wait(); return err }},
		"immediate": {func(c *Comm) error { _, err := c.Immediate().Barrier().Wait(); return err }, func(c *Comm) error { _, err := Bcast(c.Immediate(), one(), 1).Wait(); return err }},
	} {
		t.Run(name, func(t *testing.T) {
			told := 0
			for rank, err := range eachErrs(t, 3, func(c *Comm) error {
				c.job.checks = true
				call := calls[0]
				if c.Rank() == 1 {
					call = calls[1]
				}
				err := call(c)
				if next := c.Barrier(); err == nil {
					err = next // an immediate operation may be done before it is compared
				}
				if err == nil {
					return errors.New("works")
				}
				return fmt.Errorf("as it should: %w", err)
			}) {
				if errors.Is(err, ErrCall) && strings.Contains(err.Error(), "it calls") || name == "immediate" && errors.Is(err, ErrCount) {
					told++
				} else if !known(err) {
					t.Errorf("rank %d: %v", rank, err)
				}
			}
			if told == 0 {
				t.Error("no rank says what differs")
			}
		})
	}
}

// TestErrorHandler: a handler is told of what calls return, of a communicator like that, too; and errors have their
// classes.
func TestErrorHandler(t *testing.T) {
	each(t, 1, func(c *Comm) error {
		var told []Class
		c.SetErrorHandler(func(_ *Comm, err error) { told = append(told, ClassOf(err)) })
		d, err := c.Dup()
		if err != nil {
			return err
		}
		for _, x := range []*Comm{c, d} {
			r := Irecv(x, []int32{0}, 0, 0)
			if err := Send(x, []int32{1, 2}, 0, 0); err != nil {
				return err
			}
			if _, err := r.Wait(); ClassOf(err) != ClassTruncate {
				return fmt.Errorf("a receive that is too short: %v, class %v", err, ClassOf(err))
			}
		}
		if want := []Class{ClassTruncate, ClassTruncate}; fmt.Sprint(told) != fmt.Sprint(want) {
			return fmt.Errorf("told of %v, want %v", told, want)
		}
		for class, err := range map[Class]error{ClassNone: nil, ClassOther: errors.New("other"), ClassRank: Send(c, []int32{1}, 5, 0), ClassTag: Send(c, []int32{1}, 0, -1)} {
			if ClassOf(err) != class {
				return fmt.Errorf("%v is of class %v, want %v", err, ClassOf(err), class)
			}
		}
		return nil
	})
}
