package mpi

import (
	"errors"
	"fmt"
	"testing"
)

// TestCompare: communicators of the same processes are congruent, or similar if the order differs; so it is with two
// groups of each.
func TestCompare(t *testing.T) {
	each(t, 3, func(w *Comm) error {
		dup, err := w.Dup()
		if err != nil {
			return err
		}
		backwards, err := w.Split(0, -w.Rank())
		if err != nil {
			return err
		}
		x, err := halves(w, 1)
		if err != nil {
			return err
		}
		like, err := x.Dup()
		if err != nil {
			return err
		}
		y, err := halves(w, 2)
		if err != nil {
			return err
		}
		var errs []error
		check := func(what string, got, want Comparison) {
			if got != want {
				errs = append(errs, fmt.Errorf("%s: %v, want %v", what, got, want))
			}
		}
		check("itself", Compare(w, w), Identical)
		check("a dup", Compare(w, dup), Congruent)
		check("in another order", Compare(w, backwards), Similar)
		check("one process", Compare(w, w.Self()), Unequal)
		check("none", Compare(w, nil), Unequal)
		check("two groups, itself", Compare(x, x), Identical)
		check("two groups, a dup", Compare(x, like), Congruent)
		check("other groups", Compare(x, y), Unequal)
		check("groups in another order", w.Group().Compare(backwards.Group()), Similar)
		return errors.Join(errs...)
	})
}
