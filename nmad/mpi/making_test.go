package mpi

import (
	"errors"
	"fmt"
	"sync"
	"testing"
)

// TestNumbersAgain: a communicator's number is used again when all have freed it, as often as one likes; not while a
// message is unread in it; and such a message reaches no later communicator.
func TestNumbersAgain(t *testing.T) {
	each(t, 3, func(w *Comm) error {
		seen := map[int]bool{}
		for round := range blockSize + blockSize/2 {
			d, err := w.Dup()
			if err != nil {
				return fmt.Errorf("round %d: %w", round, err)
			}
			seen[d.number] = true
			if round%100 == 0 {
				if err := collectives(d, 5, round%3); err != nil {
					return err
				}
				if s, there, err := d.Immediate().Probe(AnySource, AnyTag); there || err != nil {
					return fmt.Errorf("round %d: a message in a new communicator: %+v, %w", round, s, err)
				}
			}
			if round%500 == 250 && w.Rank() == 1 { // no rank receives it
				if err := Send(d, []int64{1}, 2, 9); err != nil {
					return err
				}
			}
			d.Free()
		}
		if len(seen) > blockSize {
			return fmt.Errorf("%d numbers", len(seen))
		}
		return nil
	})
}

// TestNumbersUsedUp: where no number is left at one rank, all are told; and after some were freed there are
// communicators again.
func TestNumbersUsedUp(t *testing.T) {
	if testing.Short() {
		t.Skip("makes as many communicators as a block has: a minute under the race detector")
	}
	const left = blockSize + 50
	each(t, 2, func(w *Comm) error {
		var all []*Comm
		if w.Rank() == 1 { // all others are in use there
			n := &w.job.numbers
			n.mu.Lock()
			for x := blockSize; x < maxComms-50; x++ {
				n.taken[x/blockSize].set(x % blockSize)
			}
			n.mu.Unlock()
		}
		for {
			d, err := w.Dup()
			if err != nil {
				if !errors.Is(err, ErrComm) || len(all) < left-10 {
					return fmt.Errorf("after %d communicators: %w", len(all), err)
				}
				break
			}
			all = append(all, d)
		}
		for _, d := range all[10:20] {
			d.Free()
		}
		for range 10 {
			d, err := w.Dup()
			if err != nil {
				return fmt.Errorf("after some were freed: %w", err)
			}
			if err := d.Barrier(); err != nil {
				return err
			}
		}
		return nil
	})
}

// TestMakingAtOnce: threads make communicators from several ones at once, blocking, immediate, of groups, and with domains.
func TestMakingAtOnce(t *testing.T) {
	each(t, 3, func(w *Comm) error {
		var from [4]*Comm
		for i := range from {
			var err error
			if from[i], err = w.Dup(); err != nil {
				return err
			}
		}
		var all sync.WaitGroup
		errs := make([]error, len(from))
		for i, c := range from {
			all.Go(func() {
				for round := range 20 {
					d, err := makeOne(c, i, round)
					if err == nil && d != nil {
						err = collectives(d, 3, 0)
						d.Free()
					}
					if err != nil {
						errs[i] = fmt.Errorf("thread %d, round %d: %w", i, round, err)
						return
					}
				}
			})
		}
		all.Wait()
		return errors.Join(errs...)
	})
}

func makeOne(c *Comm, thread, round int) (*Comm, error) {
	switch (thread + round) % 4 {
	case 0:
		var d *Comm
		r := Idup(c, &d)
		if _, err := r.Wait(); err != nil {
			return nil, err
		}
		return d, nil
	case 1:
		if c.Rank() == 1 {
			return nil, nil
		}
		g, err := c.Group().Include(2, 0)
		if err != nil {
			return nil, err
		}
		return c.CreateGroup(g, thread)
	case 2:
		return c.Dup(NewInfo(KeyDomain, [...]string{"shared", "serialized"}[round%2]))
	}
	return c.Split(c.Rank()%2, -c.Rank())
}

// TestPrivateDomain: a communicator whose domain is one goroutine's works there, and nowhere else.
func TestPrivateDomain(t *testing.T) {
	each(t, 2, func(w *Comm) error {
		d, err := w.Dup(NewInfo(KeyDomain, "private", "other", "kept"))
		if err != nil {
			return err
		}
		if v, _ := d.Info().Get("other"); v != "kept" {
			return fmt.Errorf("hints %v", d.Info())
		}
		if err := collectives(d, 5, 1); err != nil {
			return err
		}
		elsewhere := make(chan error)
		go func() { elsewhere <- Send(d, []int64{1}, 1-d.Rank(), 0) }()
		if err := <-elsewhere; err == nil {
			return errors.New("another goroutine sends in a private domain")
		}
		d.Free()
		if _, err := w.Dup(NewInfo(KeyDomain, "odd")); !errors.Is(err, ErrInfo) {
			return fmt.Errorf("a domain of no kind: %w", err)
		}
		return w.Barrier()
	})
}

// TestRequestOfProgram: a request that the program completes is waited for like others, and with others.
func TestRequestOfProgram(t *testing.T) {
	each(t, 1, func(w *Comm) error {
		r := NewRequest(func() bool { return true })
		if done, _, err := r.Test(); done || err != nil || !r.Cancel() {
			return fmt.Errorf("before its end: %v, %w", done, err)
		}
		go r.Complete(Status{Source: 0, Tag: 5, Bytes: 8}, ErrCount)
		if i, s, err := WaitAny(nil, r); i != 1 || s.Tag != 5 || !errors.Is(err, ErrCount) {
			return fmt.Errorf("waited for %d: %+v, %w", i, s, err)
		}
		return nil
	})
}
