package mpi

import (
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"

	"github.com/pm2-go/pm2/nmad"
)

// TestPartitioned: parts leave in any order, from several threads, and arrive one by one, where the two sides have
// different numbers of parts, in several rounds, and beside another message of the same tag.
func TestPartitioned(t *testing.T) {
	for _, parts := range [][2]int{{1, 1}, {4, 4}, {6, 2}, {2, 12}, {3, 4}} {
		for _, n := range []int{12, 12 * 5000} {
			t.Run(fmt.Sprintf("%v parts of %d", parts, n), func(t *testing.T) {
				each(t, 2, func(w *Comm) error {
					if w.Rank() == 0 {
						return sendParts(w, n, parts[0])
					}
					return receiveParts(w, n, parts[1])
				})
			})
		}
	}
}

func sendParts(w *Comm, n, parts int) error {
	s := make([]int64, n)
	b, err := On(s)
	if err != nil {
		return err
	}
	p, err := NewPartitionedSend(w, b, parts, 1, 4)
	if err != nil {
		return err
	}
	q, err := NewPartitionedSend(w, b, parts, 1, 4)
	if err != nil {
		return err
	}
	if err := p.Ready(0); !errors.Is(err, ErrRequest) {
		return fmt.Errorf("ready before its start: %w", err)
	}
	for round := range 5 {
		for i := range s {
			s[i] = int64(round*n + i)
		}
		for _, x := range []*Partitioned{q, p} {
			if err := x.Start(); err != nil {
				return err
			}
			if err := x.Start(); !errors.Is(err, nmad.ErrActive) {
				return fmt.Errorf("started while it is under way: %w", err)
			}
			var all sync.WaitGroup
			errs := make([]error, parts)
			for i := range parts {
				all.Go(func() { errs[i] = x.Ready(parts - 1 - i) })
			}
			all.Wait()
			if err := errors.Join(errs...); err != nil {
				return err
			}
			if _, err := x.Wait(); err != nil {
				return err
			}
		}
		if err := w.Barrier(); err != nil {
			return err
		}
	}
	return nil
}

func receiveParts(w *Comm, n, parts int) error {
	s, s2 := make([]int64, n), make([]int64, n)
	b, err := On(s)
	if err != nil {
		return err
	}
	b2, _ := On(s2)
	p, err := NewPartitionedReceive(w, b, parts, 0, 4)
	if err != nil {
		return err
	}
	q, err := NewPartitionedReceive(w, b2, parts, 0, 4)
	if err != nil {
		return err
	}
	if there, err := p.Arrived(parts - 1); !there || err != nil {
		return fmt.Errorf("a part of a message that was not started has not arrived: %w", err)
	}
	for round := range 5 {
		clear(s)
		clear(s2)
		if err := errors.Join(p.Start(), q.Start()); err != nil {
			return err
		}
		each := n / parts
		for i := range parts {
			for there := false; !there; {
				if there, err = q.Arrived(i); err != nil {
					return err
				}
			}
			want := ramp(each, func(k int) int64 { return int64(round*n + i*each + k) })
			if !slices.Equal(s2[i*each:][:each], want) {
				return fmt.Errorf("round %d: part %d has arrived, and is %v...", round, i, s2[i*each])
			}
		}
		for _, x := range []*Partitioned{p, q} {
			if st, err := x.Wait(); err != nil || st.Bytes != 8*n || st.Source != 0 || st.Tag != 4 {
				return fmt.Errorf("round %d: %+v, %w", round, st, err)
			}
		}
		if err := w.Barrier(); err != nil {
			return err
		}
	}
	return nil
}

// TestPartitionedWrong: sizes that differ, and parts that are not there, are told.
func TestPartitionedWrong(t *testing.T) {
	each(t, 2, func(w *Comm) error {
		b, err := On(make([]int64, 12))
		if err != nil {
			return err
		}
		if _, err := NewPartitionedSend(w, b, 5, 1-w.Rank(), 0); !errors.Is(err, ErrCount) {
			return fmt.Errorf("12 elements in 5 parts: %w", err)
		}
		if w.Rank() == 0 {
			p, err := NewPartitionedSend(w, b.Part(0, 6), 3, 1, 0)
			if err != nil {
				return err
			}
			if _, err := p.Arrived(0); !errors.Is(err, ErrRequest) {
				return fmt.Errorf("a sender asks what has arrived: %w", err)
			}
			return w.Barrier()
		}
		p, err := NewPartitionedReceive(w, b, 3, 0, 0)
		if err != nil {
			return err
		}
		if err := p.Start(); err != nil {
			return err
		}
		if _, err := p.Wait(); !errors.Is(err, ErrCount) {
			return fmt.Errorf("6 elements where 12 are expected: %w", err)
		}
		none, err := NewPartitionedSend(w, b, 3, ProcNull, 0)
		if err != nil {
			return err
		}
		if err := errors.Join(none.Start(), none.Ready(0, 1, 2)); err != nil {
			return err
		}
		return w.Barrier()
	})
}
