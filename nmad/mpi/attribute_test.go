package mpi

import (
	"errors"
	"fmt"
	"testing"
)

// TestKeys: a value stays with its communicator, goes to a dup as its key says, and its end is told once.
func TestKeys(t *testing.T) {
	each(t, 1, func(c *Comm) error {
		ended := map[string]int{}
		copied := NewKey(func(_ *Comm, v string) (string, bool) { return v + "'", v != "secret" }, func(_ *Comm, v string) { ended[v]++ })
		alone := NewKey[int](nil, nil)
		if _, there := copied.Get(c); there {
			return errors.New("a value that was not set")
		}
		copied.Set(c, "first")
		copied.Set(c, "second")
		alone.Set(c, 7)
		d, err := c.Dup()
		if err != nil {
			return err
		}
		v, there := copied.Get(d)
		_, other := alone.Get(d)
		if v != "second'" || !there || other {
			return fmt.Errorf("a dup has %q, %v, and of a key that is not copied %v", v, there, other)
		}
		copied.Set(c, "secret")
		e, err := c.Dup()
		if _, there := copied.Get(e); there || err != nil {
			return fmt.Errorf("a value that is not to be copied: %v, %w", there, err)
		}
		d.Free()
		d.Free()
		copied.Delete(c)
		copied.Delete(c)
		if n, _ := alone.Get(c); n != 7 {
			return fmt.Errorf("%d is kept", n)
		}
		for _, what := range []string{"first", "second", "second'", "secret"} {
			if ended[what] != 1 {
				return fmt.Errorf("ends: %v", ended)
			}
		}
		return nil
	})
}

// TestSplitByHost: sessions of one host are together.
func TestSplitByHost(t *testing.T) {
	each(t, 3, func(c *Comm) error {
		host, err := c.SplitByHost(-c.Rank())
		if err != nil || host.Size() != 3 || host.Rank() != 2-c.Rank() {
			return fmt.Errorf("%v, %w", host, err)
		}
		return nil
	})
}
