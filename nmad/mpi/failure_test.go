package mpi

import (
	"errors"
	"fmt"
	"testing"

	"github.com/pm2-go/pm2/nmad"
)

// operations are collective ones that a test has fail: each is called with so many elements a rank.
var operations = map[string]func(c *Comm, n int) *Request{
	"bcast": func(c *Comm, n int) *Request { return Bcast(c.Immediate(), make([]int64, n), c.Size()/2) },
	"reduce": func(c *Comm, n int) *Request {
		return Reduce(c.Immediate(), Sum, make([]int64, n), make([]int64, n), 0)
	},
	"allreduce": func(c *Comm, n int) *Request { return Allreduce(c.Immediate(), Sum, nil, make([]int64, n)) },
	"scan":      func(c *Comm, n int) *Request { return Scan(c.Immediate(), Sum, nil, make([]int64, n)) },
	"allgather": func(c *Comm, n int) *Request {
		return Allgather(c.Immediate(), make([]int64, n), make([]int64, n*c.Size()))
	},
	"alltoall": func(c *Comm, n int) *Request {
		return Alltoall(c.Immediate(), make([]int64, n*c.Size()), make([]int64, n*c.Size()))
	},
}

// blockingOperations are the same for a caller that waits.
var blockingOperations = map[string]func(c *Comm, n int) error{
	"bcast":     func(c *Comm, n int) error { return Bcast(c, make([]int64, n), c.Size()/2) },
	"reduce":    func(c *Comm, n int) error { return Reduce(c, Sum, make([]int64, n), make([]int64, n), 0) },
	"allreduce": func(c *Comm, n int) error { return Allreduce(c, Sum, nil, make([]int64, n)) },
	"scan":      func(c *Comm, n int) error { return Scan(c, Sum, nil, make([]int64, n)) },
	"allgather": func(c *Comm, n int) error { return Allgather(c, make([]int64, n), make([]int64, n*c.Size())) },
	"alltoall": func(c *Comm, n int) error {
		return Alltoall(c, make([]int64, n*c.Size()), make([]int64, n*c.Size()))
	},
}

// known are the ways in which an operation may fail that fails somewhere.
func known(err error) bool {
	return errors.Is(err, ErrCount) || errors.Is(err, ErrCall) || errors.Is(err, ErrElsewhere) || errors.Is(err, nmad.ErrPeerLost)
}

// TestFailsEverywhere: an operation in which the counts of one rank differ, or that one rank leaves, hangs nowhere,
// whatever it is and however long its messages; and the next one fails at all ranks.
func TestFailsEverywhere(t *testing.T) {
	for name := range operations {
		for _, size := range []int{2, 3, 5} {
			for _, n := range []int{3, 60_000} { // the longer ones wait for their receives
				for _, how := range []string{"other counts", "leaves"} {
					for _, blocks := range []bool{true, false} {
						t.Run(fmt.Sprintf("%s of %d by %d, %s, blocks %v", name, n, size, how, blocks), func(t *testing.T) {
							errs := eachErrs(t, size, func(c *Comm) error { return failingAt(c, name, size-1, n, how, blocks) })
							for rank, err := range errs {
								if err != nil {
									t.Errorf("rank %d: %v", rank, err)
								}
							}
						})
					}
				}
			}
		}
	}
}

func failingAt(c *Comm, name string, bad, n int, how string, blocks bool) error {
	// So that links are there, and what the ranks share.
	if _, err := Alltoall(c.Immediate(), make([]int64, c.Size()), make([]int64, c.Size())).Wait(); err != nil {
		return err
	}
	if err := c.Barrier(); err != nil {
		return err
	}
	if c.Rank() == bad {
		if how == "leaves" {
			return nil
		}
		n += 7
	}
	var err error
	if blocks {
		err = blockingOperations[name](c, n)
	} else {
		_, err = operations[name](c, n).Wait()
	}
	if err != nil && !known(err) {
		return err
	}
	if next := c.Barrier(); next == nil {
		return fmt.Errorf("%s said %w, and then a barrier works", name, err)
	} else if !known(next) {
		return next
	}
	return nil
}
