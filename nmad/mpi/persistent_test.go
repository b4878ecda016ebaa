package mpi

import (
	"errors"
	"fmt"
	"testing"

	"github.com/pm2-go/pm2/nmad/mpi/datatype"
)

// TestPersistentMessages: requests that are started again and again send and receive what lies in their buffers then,
// in one piece or not.
func TestPersistentMessages(t *testing.T) {
	every, err := datatype.Vector(3, 1, 2, datatype.Of(datatype.Int32))
	if err != nil {
		t.Fatal(err)
	}
	each(t, 2, func(c *Comm) error {
		const rounds = 20
		dense, gaps := make([]int32, 50_000), make([]int32, 6)
		b, err := On(dense)
		if err != nil {
			return err
		}
		g := Buffer{Base: datatype.AddressOf(gaps), Count: 1, Type: every}
		var all []*Request
		if peer := 1 - c.Rank(); c.Rank() == 0 {
			all = []*Request{c.Persistent().Send(b, peer, 1), c.Persistent().Ssend(g, peer, 2), c.Persistent().Send(b, ProcNull, 3)}
		} else {
			all = []*Request{c.Persistent().Recv(b, peer, 1), c.Persistent().Recv(g, AnySource, AnyTag), c.Persistent().Recv(b, ProcNull, 3)}
		}
		if done, s, err := TestAll(all...); !done || err != nil || len(s) != len(all) || s[0] != noStatus {
			return fmt.Errorf("requests that were not started: %t, %v, %w", done, s, err)
		}
		for round := range int32(rounds) {
			if c.Rank() == 0 {
				dense[7], gaps[0], gaps[1], gaps[4] = round, round, 99, -round
			}
			for _, r := range all {
				if err := r.Start(); err != nil {
					return err
				}
			}
			s, err := WaitAll(all...)
			if err != nil {
				return err
			}
			if c.Rank() == 1 {
				if s[1] != (Status{0, 2, 12}) || s[2] != noStatus {
					return fmt.Errorf("%+v", s)
				}
				if err := expect([]int32{dense[7], gaps[0], gaps[1], gaps[4]}, []int32{round, round, 0, -round}); err != nil {
					return err
				}
			}
		}
		if err := c.Persistent().Send(b, 7, 0).Start(); !errors.Is(err, ErrRank) {
			return fmt.Errorf("a send to rank 7 of 2: %w", err)
		}
		return nil
	})
}

// TestClaim: a message that a thread has claimed is its alone.
func TestClaim(t *testing.T) {
	each(t, 2, func(c *Comm) error {
		const messages, threads = 60, 3
		if c.Rank() == 0 {
			for i := range messages {
				if err := Send(c, make([]int32, 1+i%20), 1, i); err != nil {
					return err
				}
			}
			return nil
		}
		got := make(chan error, messages)
		for range threads {
			go func() {
				for range messages / threads {
					m, err := c.Mprobe(t.Context(), AnySource, AnyTag)
					if err != nil {
						got <- err
						continue
					}
					s := make([]int32, m.Count(datatype.Of(datatype.Int32)))
					b, err := On(s)
					if err == nil {
						var status Status
						if status, err = m.Recv(b); err == nil && (len(s) != 1+m.Tag%20 || status.Source != 0) {
							err = fmt.Errorf("%+v and %+v: %d elements", m.Status, status, len(s))
						}
					}
					if _, again := m.Recv(b); err == nil && !errors.Is(again, ErrRequest) {
						err = fmt.Errorf("a message is received again: %w", again)
					}
					got <- err
				}
			}()
		}
		var all error
		for range messages {
			all = errors.Join(all, <-got)
		}
		if m, err := c.Immediate().Mprobe(0, AnyTag); m != nil || err != nil {
			return fmt.Errorf("one more message: %v, %w", m, err)
		}
		return all
	})
}

// TestWaitSome: all that are done are named, each once.
func TestWaitSome(t *testing.T) {
	each(t, 2, func(c *Comm) error {
		const n = 30
		if c.Rank() == 0 {
			for i := range n {
				if err := Send(c, []int32{int32(i)}, 1, i); err != nil {
					return err
				}
			}
			return nil
		}
		all, in := make([]*Request, n), make([][]int32, n)
		for i := range all {
			in[i] = make([]int32, 1)
			all[i] = Irecv(c, in[i], 0, i)
		}
		for left := n; left > 0; {
			done, s, err := WaitSome(all...)
			if err != nil || len(done) == 0 || len(s) != len(done) {
				return fmt.Errorf("%v, %v, %w", done, s, err)
			}
			for k, i := range done {
				if s[k].Tag != i || in[i][0] != int32(i) {
					return fmt.Errorf("request %d: %+v, %v", i, s[k], in[i])
				}
				all[i] = nil
			}
			left -= len(done)
		}
		done, _, err := WaitSome(all...)
		if len(done) != 0 || err != nil {
			return fmt.Errorf("of none %v are done: %w", done, err)
		}
		return nil
	})
}
